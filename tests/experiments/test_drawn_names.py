"""Slots of texts, and the names that are drawn for them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.drawn_answers import arm_drawn, asked, asked_about
from snellen.experiments.drawn_names import drawn_names, filled, slots_in
from snellen.experiments.template_parts import select
from snellen.memory.samples import Sample

THINGS = ["apple", "bus", "cat", "piece of cake", "ox"]
POOLS = {"gizmo": THINGS, "thing": ["cat", "ox"]}


def design_of(**changes: Any) -> Design:  # noqa: ANN401 - fields of a design
    arms = [
        Arm(answer=answer, select=select(f"[a thing] {shown} [another thing]"))
        for answer, shown in (("yes", "above"), ("no", "below"))
    ]
    made = Design(
        difficulty=1, purpose="One.", skill="telling", question="Is the [thing] above the [other thing]?", arms=arms,
        pools={"thing": THINGS}, claims=[Claim(kind="ability", model="it", threshold=0.75)],
    )  # fmt: skip
    return made.model_copy(update=changes)


def test_slots_are_filled_with_the_article_in_the_plural_and_with_another_name() -> None:
    names = {"thing": "apple", "other thing": "piece of cake", "color": "red"}
    text = "[a thing], [another thing] and 3 [things], the [other thing]s beside [other things]: [color]"
    assert filled(text, names) == (
        "an apple, a piece of cake and 3 apples, the piece of cakes beside pieces of cake: red"
    )


def test_a_pool_may_be_called_other_things() -> None:
    slots, unknown = slots_in(["[a thing] and [another thing] and [fork]"], ["thing", "other thing"])
    assert {name: slot.pool for name, slot in slots.items()} == {"thing": "thing", "other thing": "other thing"}
    assert unknown == ["fork"]


@given(seed=st.text(max_size=20))
def test_two_names_of_one_pool_differ_and_a_seed_draws_the_same(seed: str) -> None:
    slots = design_of().slots
    names = drawn_names(slots, {"thing": THINGS}, seed)
    assert names["thing"] != names["other thing"]
    assert names == drawn_names(slots, {"thing": THINGS}, seed)


@given(seed=st.text(max_size=20))
def test_names_of_overlapping_pools_differ(seed: str) -> None:
    slots, _ = slots_in(["[a thing] or [another thing]", "[a gizmo] and [another gizmo] and [a third gizmo]"], POOLS)
    names = drawn_names(slots, POOLS, seed)
    assert set(names) == {"thing", "other thing", "gizmo", "other gizmo", "third gizmo"}
    assert sorted(names.values()) == sorted(THINGS)
    assert filled("[a third gizmo] beside [an other thing]", names).startswith(("a ", "an "))


def test_all_pairs_are_drawn_alike() -> None:
    slots = design_of().slots
    drawn = Counter(tuple(drawn_names(slots, {"thing": THINGS}, str(seed)).values()) for seed in range(4_000))
    assert len(drawn) == 20
    assert all(150 < count < 250 for count in drawn.values()), "200 of each, give or take three and a half deviations"


def test_a_sample_keeps_what_was_drawn_and_is_asked_about_that() -> None:
    design = design_of()
    drawn = arm_drawn(design, design.arms[1], "7")
    one, other = drawn.names["thing"], drawn.names["other thing"]
    sample = Sample("i", 0, 0, 1, "changed", "plain", "any", "", 0, drawn.details)
    put = asked(design, sample)
    assert put.question == f"Is the {one} above the {other}?"
    assert put.answer == "no"
    assert put == asked_about(design, design.arms[1], "any", "another seed", names=drawn.names)
    assert filled("[a thing] below [another thing]", drawn.names) == drawn.arm.select.arguments["class_name"]


def test_a_stored_design_without_pools_asks_what_it_says_brackets_and_all() -> None:
    stored = {
        "difficulty": 2, "purpose": "Old.", "skill": "telling", "question": "Is the banana [here] left of the ant?",
        "arms": [{"answer": name, "select": {"name": "TextToImageGeneration", "arguments": {"class_name": "a banana"}}}
                 for name in ("yes", "no")],
        "claims": [{"kind": "ability", "model": "it", "threshold": 0.75}],
    }  # fmt: skip
    design = checked(Design.model_validate(stored), ["it"])
    put = asked(design, Sample("i", 0, 0, 1, "changed", "plain", "banana", ""))
    assert (put.question, put.choices, put.answer) == (stored["question"], ("yes", "no"), "no")
    assert arm_drawn(design, design.arms[0], "1").details == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"question": "Is the [gizmo] above the [other thing]?"}, r"no pool fills \[gizmo\]"),
        ({"pools": {"thing": THINGS[:1]}}, "2 different names are drawn"),
        ({"pools": {"thing": THINGS, "color": []}}, "drawn from 'color'"),
        ({"arms": [Arm(answer=name, select=select("cat")) for name in ("yes", "no")]}, "has a slot"),
        ({"known": ["gizmo"]}, "names slots"),
    ],
)
def test_slots_that_cannot_be_filled_are_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        checked(design_of(**changes), ["it"])
