"""Scores of answers to instructions, and the steps that are named as being at fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmarks.composed_scenes import sample_questions
from benchmarks.instruction_scores import InstructionAnswer, is_right
from benchmarks.oracle import Oracle
from benchmarks.program_tables import write_page
from benchmarks.programs import measure
from benchmarks.reference_programs import SeenScenes, read_references
from benchmarks.step_faults import difference, faults_of
from snellen.microworld.concepts import vocabulary
from snellen.microworld.scenes import Scene
from snellen.tools.program import StepRecord
from snellen.values import Region, Value

BEFORE = Image.linear_gradient("L").resize((40, 40)).convert("RGB")


@pytest.mark.parametrize(
    ("row", "text", "right"),
    [
        ({"answers": ["yes"]}, "Yes, it is", True),
        ({"answers": ["yes"]}, "eyes", False),
        ({"answers": ["no"]}, "false", True),
        ({"answers": ["3"]}, "three", True),
        ({"answers": ["3"]}, "3 cats", False),
        ({"answers": ["wine glass"]}, "a wine glass", True),
        ({"answers": ["books"]}, "book", True),
        ({"answers": ["red"]}, "red book", False),
        ({"contains": [["cat"], ["dog", "puppy"]]}, "a puppy and a cat", True),
        ({"contains": [["cat"], ["dog"]], "ordered": True}, "dog, cat", False),
        ({"contains": [["cat"], ["dog"]], "only": True}, "dog, cat, house", False),
        ({"contains": [["cat"], ["dog"]], "at_least": 1}, "a dog", True),
        ({"contains": [["cat"]], "absent": ["dog"]}, "cat, dog", False),
    ],
)
def test_texts_are_right_as_the_corpus_says(row: dict[str, Any], text: str, *, right: bool) -> None:
    assert is_right(row, InstructionAnswer(text), BEFORE) is right


def test_tags_are_right_where_they_are_on_each_thing_and_on_nothing_else() -> None:
    row = {"expect_regions": [{"box": [0, 0, 10, 10]}]}
    assert is_right(row, InstructionAnswer("", BEFORE, [(0, 0, 10, 9)]), BEFORE)
    assert not is_right(row, InstructionAnswer("", BEFORE, [(0, 0, 10, 9), (20, 20, 30, 30)]), BEFORE)
    assert not is_right(row, InstructionAnswer("", BEFORE), BEFORE)
    assert not is_right(row, InstructionAnswer("two"), BEFORE)


def test_a_crop_is_right_by_its_place_in_the_picture() -> None:
    row = {"crop": {"box": [5, 5, 25, 25]}}
    assert is_right(row, InstructionAnswer("", BEFORE.crop((5, 5, 24, 25))), BEFORE)
    assert not is_right(row, InstructionAnswer("", BEFORE.crop((15, 15, 40, 40))), BEFORE)
    assert not is_right(row, InstructionAnswer("", Image.new("RGB", (20, 20), "red")), BEFORE)


def test_an_edit_changes_what_it_should_and_nothing_else() -> None:
    row = {"changed": [{"box": [0, 0, 20, 20]}], "unchanged": [{"points": [[30, 30], [31, 31]]}]}
    edited = BEFORE.copy()
    edited.paste("red", (0, 0, 20, 20))
    assert is_right(row, InstructionAnswer("", edited), BEFORE)
    assert not is_right(row, InstructionAnswer("", BEFORE), BEFORE)
    assert not is_right(row, InstructionAnswer("", Image.new("RGB", BEFORE.size, "red")), BEFORE)


class Misled(SeenScenes):
    """Sees perfectly but for some steps, whose outputs are made up."""

    def __init__(self, scenes: Sequence[Scene], wrong: Mapping[str, Value]) -> None:
        super().__init__(scenes)
        self.wrong = wrong

    def look(self, program: str, overrides: Mapping[str, Value] | None = None) -> list[StepRecord]:
        return Oracle.run(self._oracle, program, {**self.wrong, **(overrides or {})})


def test_the_step_at_fault_is_the_one_whose_truth_makes_the_answer_right() -> None:
    reference = next(each for each in read_references() if each.id == "d027")
    cats = [Region((0, 0, 9, 9), 0.5, "cat")]
    seen = Misled(reference.scenes, {"1": [], "2": cats})
    assert not seen.is_right(seen.look(reference.program), reference.row)
    faults = faults_of(seen, reference.program, lambda records: seen.is_right(records, reference.row))
    assert [(one.tool, one.cause) for one in faults] == [("LOC", "missed cat, cat")]


def test_a_difference_names_what_was_missed_mistaken_or_moved() -> None:
    dog, cat = Region((0, 0, 10, 10), 1.0, "dog"), Region((20, 20, 40, 40), 1.0, "cat")
    horse, ghost = Region((0, 0, 10, 9), 0.5, "horse"), Region((60, 60, 70, 70), 0.4, "dog")
    assert difference([horse, ghost], [dog, cat]) == "took horse for dog; missed cat; saw dog where none is"
    assert difference([Region((20, 22, 40, 40), 0.5, "cat")], [cat]) == "boxes off by up to 2 pixels"
    assert difference("blue", "red") == "'blue', and it is 'red'"


def test_composed_questions_are_right_with_perfect_sight() -> None:
    questions = sample_questions([each.name for each in vocabulary().concepts], scenes=60, seed=1)
    assert {each.kind for each in questions} == {"existence", "side", "beside", "nearest"}
    assert {each.answers for each in questions if each.kind == "side"} == {("yes",), ("no",)}
    wrong = []
    for each in questions:
        seen = SeenScenes([each.scene])
        answer = seen.answer(seen.truth(each.program)).text
        wrong += [each] if tuple(sorted(answer.split(", "))) != each.answers else []
    assert wrong == []


def test_perfect_sight_is_measured_and_written(tmp_path: Path) -> None:
    report = measure(["perfect"], scenes=0, seed=0)
    assert (report["perfect"]["right"], report["perfect"]["n"], len(report["refused"])) == (115, 115, 5)
    write_page(report, tmp_path / "README.md")
    assert "| **all** | 115 of 115 |" in (tmp_path / "README.md").read_text(encoding="utf-8")
