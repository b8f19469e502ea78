"""Instructions that people wrote without sight of this language: each has a meaning, and it is answered rightly.

The meanings in `instructions.json` were written by hand; `scenes.json` describes the six pictures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.meanings import EDITS, examine
from benchmarks.oracle import Oracle
from benchmarks.picture_graphs import graphs_of
from snellen.microworld.scenes import Scene
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.denotation import Depicted, Edited, denotation
from snellen.reasoning.meanings.meanings import read_meaning

HERE = Path(__file__).parent
SCENES = {name: Scene.from_json(scene) for name, scene in json.loads((HERE / "scenes.json").read_text()).items()}
CASES = json.loads((HERE / "instructions.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_denotation_of_an_instruction_is_the_right_answer(case: dict[str, Any]) -> None:
    scenes = [SCENES[name] for name in case["scenes"]]
    denoted = denotation(read_meaning(json.dumps(case["meaning"])), graphs_of(scenes))
    match denoted:
        case tuple() if isinstance(denoted[0], Edited):
            assert _sorted(entity.box for entity in denoted[0].entities) == _sorted(case["regions"])
        case Depicted():
            assert {entity.name for entity in denoted.entities} >= {names[0] for names in case["contains"][:2]}
        case bool():
            assert case["answers"] == ["yes" if denoted else "no"]
        case _:
            _check(case, denoted if isinstance(denoted, tuple) else (str(denoted),))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_program_of_an_instruction_answers_rightly_with_perfect_sight(case: dict[str, Any]) -> None:
    scenes = [SCENES[name] for name in case["scenes"]]
    meaning = read_meaning(json.dumps(case["meaning"]))
    assert examine(meaning, scenes).holds is not False
    record = Oracle(scenes).run(compile_meaning(meaning).program)[-1]
    if "regions" not in case:
        answers = record.output if isinstance(record.output, list) else [str(record.output)]
        _check(case, tuple(map(str, answers)))


def test_every_edit_is_among_the_instructions() -> None:
    named = {action["operation"] for case in CASES for action in case["meaning"].get("actions", [])}
    assert named == EDITS.keys() - {"emoji"}


def _check(case: dict[str, Any], answers: tuple[Any, ...]) -> None:
    text = ", ".join(map(str, answers))
    if "answers" in case:
        assert text in case["answers"]
        return
    places = [min((text.find(name) for name in names if name in text), default=-1) for names in case["contains"]]
    assert sum(place >= 0 for place in places) >= case.get("at_least", len(places))
    if case.get("ordered"):
        assert places == sorted(places)
    if case.get("only"):
        assert all(any(name in answer for names in case["contains"] for name in names) for answer in answers)


def _sorted(boxes: Any) -> list[tuple[int, ...]]:  # noqa: ANN401 - boxes of entities, or of JSON
    return sorted(map(tuple, boxes))
