"""Planted faults stay whenever the same is asked again, and concern nothing else."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.planting import Error, PlantedModels, RightRun, WrongAnswer, WrongBoxes, WrongLikeness, digest, plants
from snellen.memory.artifacts import ArtifactStore
from snellen.tools.program import StepRecord
from snellen.values import Region, to_json
from tests.learning.colours import Box, ColourModels, drawn

CAT: Box = (8, 8, 40, 40)
PICTURE, OTHER = drawn(("cat", CAT), ("dog", (50, 50, 80, 80))), drawn(("cat", CAT))


def planted(error: Error) -> PlantedModels:
    models: Any = ColourModels()
    return PlantedModels(models, error)


def test_a_blind_detector_is_blind_for_one_name_in_one_picture() -> None:
    models = planted(WrongBoxes(digest(PICTURE), frozenset({"cat"}), (CAT,)))
    assert models.detect([PICTURE, OTHER], [["cat"], ["cat"]])[0] == []
    assert models.glimpse([PICTURE], [["cat", "dog"]], threshold=0.1)[0][0].name == "dog"
    assert len(models.detect([OTHER], [["cat"]])[0]) == 1


def test_a_question_is_answered_wrongly_only_as_it_was_asked() -> None:
    models = planted(WrongAnswer(digest(PICTURE), "what is this?", "bus"))
    assert models.answer([PICTURE, OTHER, PICTURE], ["what is this?", "what is this?", "what?"]) == [
        "bus",
        "unknown",
        "unknown",
    ]


def test_a_crop_looks_like_something_else() -> None:
    models = planted(WrongLikeness(digest(OTHER), "bus"))
    logits = models.similarity([PICTURE, OTHER], ["cat", "dog", "bus"])
    assert np.argmax(logits[1]) == 2
    assert np.argmax(logits[0]) != 2
    assert np.argmax(models.similarity([PICTURE, OTHER], ["bus"])[:, 0]) == 1


def test_every_kind_is_planted_at_the_addresses_of_the_same_call(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    image = to_json(store.put(PICTURE))
    found = to_json([Region(CAT, 0.9, "cat")])
    steps = [
        StepRecord("1", 1, "", "LOC", {"image": image, "object": "cat"}, found),
        StepRecord("2", 2, "", "LOC", {"image": image, "object": "cat"}, found),
        StepRecord("3", 3, "", "VQA", {"image": image, "question": "What is this?"}, "cat"),
    ]
    program = "BOX0=LOC(image=LEFT,object='cat')\nA=EVAL(expr='{B} > 1')\nFINAL_RESULT=RESULT(var=A)\n"
    models: Any = ColourModels()
    run = RightRun(program, steps, store, models, "yes", ["cat", "dog"])
    for kind in ("LOC misses", "LOC adds", "LOC shifts"):
        assert {one.addresses for one in plants(kind, run, Random(0))} == {("1", "2")}
    assert [one.addresses for one in plants("VQA answers", run, Random(0))] == [("3",)]
    assert [one.addresses for one in plants("wrong argument", run, Random(0))] == [("1",)]
    assert {one.addresses for one in plants("wrong operator", run, Random(0))} == {("2",)}
    assert [one.addresses for one in plants("wrong direction", run, Random(0))] == [("1",)]
    assert all(one.program != program for one in plants("wrong direction", run, Random(0)))
