"""What is said of how sure an answer is, and of what nobody was taught, before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import SnellenError
from snellen.graphs.states import AskState
from snellen.profiles import Profile, load_profile
from snellen.reasoning.reading.remarks import Remark
from snellen.runtime.confidence import (
    Calibration,
    Confidence,
    calibration_of,
    confidence_in,
    features_of,
    kind_of_answer,
    rival_of,
    weights_of,
)
from snellen.summaries.chat_replies import answer_in_words
from snellen.summaries.runs import answer_with_confidence, caveat_in_words
from snellen.tools.program import StepRecord, decided_value
from snellen.values import Picture, Region, to_json


def step(tool: str, output: Any, **evidence: Any) -> dict[str, Any]:  # noqa: ANN401 - any value of a program
    return StepRecord("1", 1, f"X={tool}(…)", tool, output=to_json(output), evidence=evidence).to_json()


def dogs(*scores: float) -> list[Region]:
    return [Region((0, 0, 5, 5), score, "dog") for score in scores]


def calibrated(tmp_path: Path, **changed: Any) -> Profile:  # noqa: ANN401 - parts of the file
    """The embedded profile with a calibration by one feature."""
    profile = load_profile("embedded")
    kind = {"intercept": 0.0, "coefficients": {"weakest": 1.0}}
    content = {"weights": weights_of(profile), "kinds": {"number": kind, "yes": kind}} | changed
    file = tmp_path / "confidence.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return profile.model_copy(update={"confidence": profile.confidence.model_copy(update={"file": str(file)})})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "yes"),
        ("no", "no"),
        (3, "number"),
        ("three", "number"),
        ("red", "words"),
        ([], "words"),
        (dogs(0.9), "regions"),
        (Picture("0" * 64, 9, 9), "picture"),
    ],
)
def test_answers_are_of_a_kind(value: object, kind: str) -> None:
    assert kind_of_answer(value) == kind


def test_a_surer_step_makes_a_surer_answer(tmp_path: Path) -> None:
    profile = calibrated(tmp_path)
    runs = ([step("LOC", dogs(0.9, score), rejected=0.0)] for score in (0.9, 0.6))
    sure, unsure = (confidence_in(2, steps, [], profile) for steps in runs)
    assert sure == Confidence(0.9, None)
    assert unsure == Confidence(0.6, "1")


def test_nothing_is_said_of_kinds_checkpoints_and_reasoners_without_a_fit(tmp_path: Path) -> None:
    steps = [step("LOC", dogs(0.6), rejected=0.0)]
    assert confidence_in(1, [step("LOC", dogs(0.6))], [], calibrated(tmp_path)) == Confidence()
    assert confidence_in("red", steps, [], calibrated(tmp_path)) == Confidence()
    assert confidence_in("undecided", steps, [], calibrated(tmp_path)) == Confidence()
    assert calibration_of(calibrated(tmp_path, weights={"loc": "another"})) is None
    assert calibration_of(load_profile("hub")) is None
    chat = calibrated(tmp_path)
    assert calibration_of(chat) is not None
    assert (
        calibration_of(chat.model_copy(update={"reasoner": chat.reasoner.model_copy(update={"kind": "chat"})})) is None
    )


def test_a_damaged_calibration_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SnellenError, match=r"cannot be read .* correct confidence.file"):
        calibration_of(calibrated(tmp_path, kinds={"yes": {}}))


def test_features_take_the_least_sure_step_and_the_best_that_was_rejected() -> None:
    steps = [step("LOC", dogs(0.9, 0.5), rejected=0.5, alone=1), step("VQA", "red", probability=0.5)]
    features = features_of("red", steps, [])
    assert [features[name] for name in ("weakest", "rejected", "own", "probability")] == pytest.approx([0.0] * 4)
    assert features["strongest"] > 2
    assert features["trouble"] == features["nothing"] == 0
    assert features_of("red", [*steps, step("LOC", [])], [{"helped": True}])["trouble"] == 1


@pytest.mark.parametrize(
    ("value", "steps", "rival"),
    [
        ("yes", [], "no"),
        (False, [], "yes"),
        ("red", [step("VQA", "red", rivals={"red": "blue"})], "blue"),
        ("red", [], ""),
        (2, [step("LOC", dogs(0.9, 0.9), rejected=0.3)], "3"),
        (2, [step("LOC", dogs(0.9, 0.6), rejected=0.3)], "1"),
        (0, [step("LOC", [])], "1"),
    ],
)
def test_the_rival_is_what_would_have_been_said_next(value: object, steps: list[Any], rival: str) -> None:
    assert rival_of(value, steps) == rival


def test_an_answer_shows_its_confidence_and_where_it_is_unsure_the_rival() -> None:
    assert answer_with_confidence("2", AskState(confidence=0.934)) == "2 (0.93)"
    assert answer_with_confidence("2", AskState(confidence=0.9999)) == "2 (0.99)"
    assert answer_with_confidence("2", AskState(confidence=0.55, rival="3")) == "unsure: 2 (0.55), or 3"
    assert answer_with_confidence("2", AskState(confidence=0.55, rival="")) == "unsure: 2 (0.55)"
    assert answer_with_confidence("2", AskState()) == "2"


def test_what_nobody_was_taught_is_said_before_the_answer() -> None:
    state = AskState(
        answer="undecided", caveat="never taught wave; any answer is a guess; teach it: snellen learn wave"
    )
    first, answer = answer_in_words(state, Remark()).split("\n\n")[:2]
    assert first.startswith("Never taught wave; any answer is a guess")
    assert answer not in {"No", "No."}
    assert caveat_in_words(None) == ""


@pytest.mark.parametrize(
    ("answer", "said"),
    [("no", "undecided"), (0, "undecided"), ([], "undecided"), ("red", "red"), (2, 2)],
)
def test_a_denial_about_what_nobody_was_taught_decides_nothing(answer: object, said: object) -> None:
    guessed = StepRecord("1", 1, "A=VQA(…)", "VQA", output=answer, evidence={"untaught": ["wave"]})
    assert decided_value([guessed, StepRecord("2", 2, "R=RESULT(…)", "RESULT", output=answer)]) == said


def test_a_fitted_calibration_is_read_as_it_is_written() -> None:
    file = Path(str(load_profile("embedded").resolve(load_profile("embedded").confidence.file)))
    calibration = Calibration.from_json(json.loads(file.read_text(encoding="utf-8")))
    assert set(calibration.intercepts) == set(calibration.coefficients)
