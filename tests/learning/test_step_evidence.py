# ruff: noqa: ANN401 - outputs are any values
"""What other tools say about a step's result; vision is by colour (tests/learning/colours.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from snellen.learning.step_evidence import gather
from snellen.memory.artifacts import ArtifactStore
from snellen.profiles import SnellenError
from snellen.reasoning.critique import StepEvidence
from snellen.tools.program import StepRecord
from snellen.tools.registry import ToolContext
from snellen.values import Picture, Region, from_json, to_json
from tests.learning.colours import Box, ColourModels, drawn

CAT: Box = (8, 8, 40, 40)
DOG: Box = (56, 56, 88, 88)


class Scene:
    """One picture and what is asked about a step on it."""

    def __init__(self, folder: Path, *things: tuple[str, Box], models: ColourModels | None = None) -> None:
        store = ArtifactStore(folder)
        self.image: Picture = store.put(drawn(*things))
        self.models = models or ColourModels()
        tools: Any = self.models
        self.context = ToolContext(pictures=store, models=tools, list_knowledge=lambda *_: [], profile=None)

    def step(self, tool: str, output: Any, address: str = "1", **arguments: Any) -> StepRecord:
        written = {name: to_json(value) for name, value in {"image": self.image, **arguments}.items()}
        return StepRecord(address, 1, f"X={tool}(…)", tool, written, to_json(output))

    def about(self, record: StepRecord, *, deep: bool = False) -> tuple[StepEvidence, ...]:
        return gather([record], self.context, only=record.address if deep else None)[record.address]

    def region(self, box: Box, label: str, score: float = 0.9) -> Region:
        return Region(box, score, label, picture=self.image.id)


def against(evidence: tuple[StepEvidence, ...]) -> StepEvidence:
    return min(evidence, key=lambda one: one.support)


def test_a_missed_thing_is_seen_by_the_classifier_although_the_detector_is_blind(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT), models=ColourModels(blind=frozenset({"cat"})))
    worst = against(scene.about(scene.step("LOC", [], object="cat")))
    assert worst.support < -0.5
    assert [one.label for one in from_json(worst.suggests)] == ["cat"]


def test_a_wrong_box_is_doubted_and_a_right_one_is_not(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT), ("dog", DOG))
    right = scene.about(scene.step("LOC", [scene.region(CAT, "cat")], object="cat"))
    assert all(one.support > 0 for one in right)
    wrong = scene.about(scene.step("LOC", [scene.region(CAT, "cat"), scene.region(DOG, "cat")], object="cat"))
    assert [one.box for one in from_json(against(wrong).suggests)] == [CAT]


def test_a_shifted_box_suggests_the_right_place(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT), ("dog", DOG))
    evidence = scene.about(scene.step("LOC", [scene.region(DOG, "cat")], object="cat"))
    suggested = [from_json(one.suggests) for one in evidence if isinstance(one.suggests, list)]
    assert [CAT] in [[one.box for one in regions] for regions in suggested]


def test_questions_about_things_count_as_hearsay(tmp_path: Path) -> None:
    answers = {"how many cats are there?": "3", "is there a cat?": "no"}
    scene = Scene(tmp_path, ("cat", CAT), models=ColourModels(answers=answers))
    evidence = scene.about(scene.step("LOC", [scene.region(CAT, "cat")], object="cat"))
    assert [(one.value, one.suggests) for one in evidence if "VQA" in one.says] == [("3", 3), ("no", 0)]


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        ("what is this?", "dog", "cat"),
        ("is there a dog?", "yes", "no"),
        ("how many cats are there?", "2", "1"),
        ("is the cat left of the bus?", "no", "yes"),
    ],
)
def test_a_wrong_answer_is_contradicted_by_other_tools(tmp_path: Path, question: str, answer: str, right: str) -> None:
    scene = Scene(tmp_path, ("cat", CAT), ("bus", (60, 60, 70, 70)))
    worst = against(scene.about(scene.step("VQA", answer, question=question)))
    assert worst.support < -0.3
    assert worst.suggests == right


def test_the_same_question_in_other_words_is_heard(tmp_path: Path) -> None:
    answers = {"what is the weather?": "rainy", "what weather is it?": "rainy"}
    scene = Scene(tmp_path, models=ColourModels(answers=answers))
    worst = against(scene.about(scene.step("VQA", "snowy", question="What is the weather like?")))
    assert worst.suggests == "rainy"


def test_labels_are_compared_with_a_wider_look_and_with_what_was_found(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT))
    given, wrong = [scene.region(CAT, "cat")], [scene.region(CAT, "dog")]
    evidence = scene.about(scene.step("CLASSIFY", wrong, object=given, categories=["cat", "dog"]))
    assert len(evidence) == 2
    assert all(one.support < 0 and from_json(one.suggests)[0].label == "cat" for one in evidence)


def test_a_wrong_choice_is_doubted(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT), ("dog", DOG))
    given = [scene.region(CAT, ""), scene.region(DOG, "")]
    worst = against(scene.about(scene.step("SELECT", given[1:], object=given, query="cat")))
    assert from_json(worst.suggests)[0].box == CAT


def test_looking_deeply_needs_no_detector_at_all(tmp_path: Path) -> None:
    models = ColourModels(blind=frozenset({"cat", "dog", "bus"}))
    scene = Scene(tmp_path, ("cat", CAT), models=models)
    worst = against(scene.about(scene.step("LOC", [], object="cat"), deep=True))
    assert "the part" in worst.says
    assert len(from_json(worst.suggests)) == 1


def test_equal_calls_share_their_evidence_and_computing_steps_have_none(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT))
    steps = [scene.step("LOC", [], address, object="cat") for address in ("1", "4[2].1")]
    gathered = gather([*steps, scene.step("COUNT", 0, "5")], scene.context)
    assert set(gathered) == {"1", "4[2].1"}
    assert {one.about for one in gathered["4[2].1"]} == {"4[2].1"}
    assert [one.value for one in gathered["1"]] == [one.value for one in gathered["4[2].1"]]


def test_a_witness_that_fails_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, ("cat", CAT))

    def fail(*_: object, **__: object) -> object:
        msg = "no such checkpoint"
        raise SnellenError(msg)

    monkeypatch.setattr(ColourModels, "similarity", fail)
    assert scene.about(scene.step("LOC", [], object="cat")) == ()


def test_time_is_bounded(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ("cat", CAT))
    assert gather([scene.step("LOC", [], object="cat")], scene.context, seconds=0.0) == {"1": ()}
