"""Kinds of answers: whatever is of the right kind is right, and what was said stays known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.experiments.constant_answers import constant_answer
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.memory.samples import Sample
from snellen.tools.calls import ToolCall

KINDS = {"birds": ["a hen", "a robin"], "other things": ["a bus", "a cake"]}
NAMES = [name for names in KINDS.values() for name in names]
CLAIM = Claim(kind="ability", model="it", threshold=0.75)


def design(kinds: dict[str, list[str]]) -> Design:
    arms = [
        Arm(answer=name, select=ToolCall(name="TextToImageGeneration", arguments={"class_name": name.split()[1]}))
        for name in NAMES
    ]
    return Design(
        difficulty=1, purpose="p", skill="telling birds from other things", question="Which?", arms=arms, kinds=kinds,
        claims=[CLAIM],
    )  # fmt: skip


def evaluated(said: list[list[str | None]]) -> EvaluatedChoices:
    """Return what a model said of each round's four pictures, a hen, a robin, a bus and a cake."""
    samples = {
        Sample("t", 0, number, place, f"{number}/{place}", "", "", ""): answer
        for number, row in enumerate(said)
        for place, answer in enumerate(row)
    }
    return EvaluatedChoices(design(KINDS), list(samples), {("it", False): samples})


@given(st.lists(st.lists(st.sampled_from([*NAMES, None]), min_size=4, max_size=4), min_size=1, max_size=6))
def test_an_answer_of_the_right_kind_is_right(said: list[list[str | None]]) -> None:
    measured = evaluated(said)
    birds = [answer in KINDS["birds"] for row in said for answer in row[:2]]
    others = [answer in KINDS["other things"] for row in said for answer in row[2:]]
    right = (sum(birds) + sum(others)) / (4 * len(said))
    assert measured.observations(CLAIM).mean == pytest.approx(right)
    (result,) = measured.results(alpha=0.05)
    assert result.average == pytest.approx(right)
    assert result.by_class == pytest.approx(
        {"birds": sum(birds) / len(birds), "other things": sum(others) / len(others)}
    )
    told = [answer for row in said for answer in row]
    for place, name in enumerate(NAMES):
        row = [each[place] or "" for each in said]
        assert result.confusion[name] == {answer: row.count(answer) for answer in set(row)}
    alike = constant_answer(result)
    if alike is None:
        assert len(told) < 12 or all(told.count(name) < 0.95 * len(told) for name in NAMES)
    else:
        assert (alike.times, alike.n) == (told.count(alike.answer), len(told))


@pytest.mark.parametrize(
    "kinds",
    [
        {"birds": NAMES},
        {"birds": ["a hen", "a robin", "a bus"], "other things": ["a cake"]},
        {"birds": ["a hen", "a robin"]},
        {**KINDS, "fish": ["a cod"]},
    ],
)
def test_kinds_are_balanced_and_have_all_answers(kinds: dict[str, list[str]]) -> None:
    assert checked(design(KINDS), ["it"]).told_apart == list(KINDS)
    with pytest.raises(BadInput, match="kinds"):
        checked(design(kinds), ["it"])
