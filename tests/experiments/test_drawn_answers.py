"""Answers that are drawn for each picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.experiments.design import PLACES, Arm, Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.drawn_answers import arm_drawn, asked, said_in_words
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.template_parts import select
from snellen.memory.samples import Sample
from snellen.reasoning.language.inflection import with_article

BIRDS, OTHERS = ["robin", "hen", "penguin"], ["bus", "violin", "shirt", "igloo"]


def design_of(pools: dict[str, list[str]], places: int) -> Design:
    arms = [Arm(answer=place, select=select(pool)) for place in PLACES[:places] for pool in pools]
    claims = [Claim(kind="ability", model="it", threshold=0.75)]
    return Design(
        difficulty=1, purpose="One.", skill="telling things apart", question="Is it …?", arms=arms, pools=pools,
        claims=claims,
    )  # fmt: skip


def sample_of(design: Design, which: int, number: int) -> Sample:
    """Return a sample of an arm, of the class that is drawn for it."""
    arm = arm_drawn(design, design.arms[which], f"{which}/{number}").arm
    label = str(arm.select.arguments["class_name"])
    return Sample("i", 0, number, which, f"changed {number}", f"plain {number}", label, "", 0)


@given(which=st.integers(0, 3), number=st.integers(0, 10_000))
def test_the_right_name_is_at_its_place_beside_one_of_the_other_pool(which: int, number: int) -> None:
    design = design_of({"birds": BIRDS, "other things": OTHERS}, 2)
    sample = sample_of(design, which, number)
    put, arm = asked(design, sample), design.arms[which]
    assert said_in_words(design, put.choices, arm.answer) == with_article(sample.label)
    kinds = sorted(any(name == with_article(each) for each in BIRDS) for name in put.choices)
    assert kinds == [False, True]
    assert put.question == f"Is it {put.choices[0]} or {put.choices[1]}?"
    assert asked(design, replace(sample, picture="another")) == put, "the same before and after it was changed"


@given(number=st.integers(0, 10_000))
def test_names_of_one_pool_differ(number: int) -> None:
    design = design_of({"things": BIRDS + OTHERS}, 4)
    assert len(set(asked(design, sample_of(design, number % 4, number)).choices)) == 4


def test_classes_are_drawn_alike() -> None:
    design = design_of({"things": BIRDS + OTHERS}, 2)
    shown = Counter(sample_of(design, 0, number).label for number in range(2_100))
    assert set(shown) == {*BIRDS, *OTHERS}
    assert all(240 < count < 360 for count in shown.values()), "300 of each, give or take three and a half deviations"


def test_in_other_words_the_names_are_the_choices_alone() -> None:
    design = design_of({"birds": BIRDS, "other things": OTHERS}, 2)
    again = further_wordings(design)[0]
    put = asked(again, sample_of(again, 1, 5))
    assert put.question == "What is in the image?"
    assert put.choices == asked(design, sample_of(design, 1, 5)).choices


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"pools": {"things": BIRDS}}, "names one of them"),
        ({"pools": {"birds": ["robin"], "other things": OTHERS[:0]}}, "2 answers"),
        ({"arms": [Arm(answer=name, select=select("birds")) for name in BIRDS]}, "places"),
    ],
)
def test_pools_that_cannot_be_drawn_from_are_refused(change: dict[str, object], why: str) -> None:
    design = design_of({"birds": BIRDS, "other things": OTHERS}, 2).model_copy(update=change)
    with pytest.raises(BadInput, match=why):
        checked(design, ["it"])
