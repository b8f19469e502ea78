"""Instructions that people wrote without sight of this language: each has a meaning, and it is answered rightly.

The meanings in `instructions.json` were written by hand for the instructions of `tests/tools/reference_programs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmarks.instruction_scores import InstructionAnswer, is_right
from benchmarks.meanings import EDITS, examine
from benchmarks.picture_graphs import graphs_of
from benchmarks.reference_programs import Reference, SeenScenes, read_references
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.denotation import Denotation, Depicted, Edited, denotation
from snellen.reasoning.meanings.meanings import Meaning, read_meaning

MEANINGS = json.loads((Path(__file__).parent / "instructions.json").read_text(encoding="utf-8"))
REFERENCES = read_references()
ANSWERABLE = [each for each in REFERENCES if not each.refuse]


def meaning_of(reference: Reference) -> Meaning:
    return read_meaning(json.dumps(MEANINGS[reference.id]["meaning"]))


def test_every_instruction_that_can_be_answered_has_a_meaning() -> None:
    assert {name: row["says"] for name, row in MEANINGS.items()} == {each.id: each.says for each in ANSWERABLE}


@pytest.mark.parametrize("reference", ANSWERABLE, ids=lambda each: each.id)
def test_the_denotation_of_an_instruction_is_the_right_answer(reference: Reference) -> None:
    denoted = denotation(meaning_of(reference), graphs_of(reference.scenes))
    if isinstance(denoted, tuple) and isinstance(denoted[0], Edited):
        assert boxes(entity.box for entity in denoted[0].entities) == boxes(_boxes_of(reference.row, denoted[0]))
    else:
        assert is_right(reference.row, InstructionAnswer(_in_words(denoted)), Image.new("RGB", (128, 128)))


@pytest.mark.parametrize("reference", ANSWERABLE, ids=lambda each: each.id)
def test_the_program_of_an_instruction_answers_rightly_with_perfect_sight(reference: Reference) -> None:
    meaning, seen = meaning_of(reference), SeenScenes(reference.scenes)
    assert examine(meaning, reference.scenes).holds is not False
    assert seen.is_right(seen.truth(compile_meaning(meaning).program), reference.row)


def test_the_instructions_need_every_edit_but_one() -> None:
    named = {action["operation"] for row in MEANINGS.values() for action in row["meaning"].get("actions", [])}
    assert named == EDITS.keys() - {"emoji"}


def boxes(each: Iterable[Any]) -> list[tuple[int, ...]]:
    return sorted(map(tuple, each))


def _boxes_of(row: Any, edited: Edited) -> list[Any]:  # noqa: ANN401 - a row of TOML
    """Return the boxes of the things that an edit is about."""
    if "crop" in row:
        return [row["crop"]["box"]]
    key = "changed" if edited.operation in {"replace", "remove"} else "unchanged"
    return [each["box"] for each in row.get("expect_regions", row.get(key, []))]


def _in_words(denoted: Denotation) -> str:
    match denoted:
        case bool():
            return "yes" if denoted else "no"
        case Depicted():
            return ", ".join(entity.name for entity in denoted.entities)
        case tuple():
            return ", ".join(map(str, denoted))
    return str(denoted)
