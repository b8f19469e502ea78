"""The demonstrations that Snellen comes with are right where they say so, and wrong where they say so.

Their programs run with perfect sight on the scenes that are kept beside them. A picture as an answer is told by the
labels of the regions that it was made of.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from benchmarks.oracle import Oracle
from snellen.memory.demonstrations import read_seeds
from snellen.microworld.scenes import Scene, SceneObject
from snellen.reasoning.case_based.reasoner import SEEDS
from snellen.reasoning.subjects import subjects_of
from snellen.tools.program import ProgramError, StepRecord, inputs_for, load, parse
from snellen.tools.program.constructs import all_constructs, constructs_of
from snellen.values import Picture, as_text, from_json

ENTRIES: list[dict[str, Any]] = [one for one in json.loads(SEEDS.read_text(encoding="utf-8")) if "program" in one]
RIGHT = [one for one in ENTRIES if one.get("correct", True)]
WRONG = [one for one in ENTRIES if not one.get("correct", True)]
UNSEEN = {
    "Is the cup to the left or to the right of the lamp?",
    "Cover the face of Albert Einstein with a smiling_face emoji.",
    "What is the green toy in the picture?",
    "Exactly one of the pictures shows a kite.",
}
"""Seeds about what the microworld has not."""


@cache
def scenes() -> dict[str, Scene]:
    described = json.loads((SEEDS.parent / "scenes.json").read_text(encoding="utf-8"))
    return {
        name: Scene(name, **one | {"objects": tuple(SceneObject(**item) for item in one["objects"])})
        for name, one in described.items()
    }


def first_wording(entry: dict[str, Any]) -> str:
    return str([*entry.get("instructions", ()), entry.get("instruction")][0])


def answer_of(records: list[StepRecord]) -> str:
    value = records[-1].value
    if not isinstance(value, Picture):
        return as_text(value)
    arguments = next(record.arguments for record in reversed(records) if {"object", "box"} & set(record.arguments))
    regions = from_json(arguments.get("object", arguments.get("box")))
    return ", ".join(region.label for region in regions)


def seen(entry: dict[str, Any]) -> list[StepRecord]:
    return Oracle([scenes()[name] for name in entry["scene"]]).run(entry["program"])


def found_nothing(records: list[StepRecord]) -> bool:
    """Tell whether a step found nothing."""
    return any(record.value == [] for record in records)


@pytest.mark.parametrize("entry", [one for one in RIGHT if first_wording(one) not in UNSEEN], ids=first_wording)
def test_a_right_program_gives_the_right_answer(entry: dict[str, Any]) -> None:
    records = seen(entry)

    assert records[-1].error is None
    assert answer_of(records).strip() == entry["answer"].strip()


@pytest.mark.parametrize("entry", [one for one in WRONG if first_wording(one) not in UNSEEN], ids=first_wording)
def test_a_wrong_program_fails_as_it_says(entry: dict[str, Any]) -> None:
    assert entry["critique"]
    if entry["failure"] == "refused":
        with pytest.raises(ProgramError):
            load(entry["program"], inputs_for(len(entry["scene"])))
        return
    records = seen(entry)

    failure = "error" if records[-1].error else "empty" if found_nothing(records) else "wrong"
    assert failure == entry["failure"]
    assert records[-1].error or answer_of(records) != entry["answer"]


def test_every_construct_of_the_language_is_shown_rightly_and_in_several_wordings() -> None:
    wordings = dict.fromkeys(all_constructs(), 0)
    for entry in RIGHT:
        for construct in constructs_of(parse(entry["program"])):
            wordings[construct] += len(entry["instructions"])

    assert {construct for construct, count in wordings.items() if count < 3} == set()


def test_only_what_the_microworld_has_not_lacks_a_scene() -> None:
    assert {first_wording(one) for one in ENTRIES if "scene" not in one} == UNSEEN


def test_every_wrong_demonstration_concerns_a_construct() -> None:
    wrong = [one for one in read_seeds(SEEDS) if one.kind == "program" and not one.correct]
    assert [one.instruction for one in wrong if not subjects_of(one)] == []
    assert {one.failure for one in wrong} == {"refused", "error", "empty", "wrong"}
