"""Recordings of a chat model: requests are known again by what they ask."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.recordings import RecordedQuestion, Recordings
from snellen.errors import BadInput
from tests.benchmarks.chat_requests import COUNTED, PLAN, PROGRAM, corrected, plan_request, program_request

KEPT = Path(__file__).parents[1] / "reasoning" / "chat_tasks"


def test_a_question_has_the_instruction_and_the_plan_and_no_example() -> None:
    assert RecordedQuestion.of(plan_request(example="How many dogs?")).parts == (
        ("Inputs", "IMAGE (Picture)"),
        ("Instruction", COUNTED),
    )
    assert RecordedQuestion.of(program_request()).parts[-1] == ("Plan", "Step1, Locate the cats.\nStep2, Count them.")
    assert (
        str(RecordedQuestion.of(corrected(plan_request(), "no", "It is empty.")))
        == f"PlanReply, correction 1: {COUNTED}"
    )


def test_a_recording_answers_where_rules_and_examples_have_changed(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "kept.jsonl")
    recordings.add(plan_request(), PLAN)
    changed = plan_request(tools="NEAREST", example="How many dogs are there?")
    kept = Recordings(recordings.path).find(RecordedQuestion.of(changed), whole=True)
    assert kept is not None
    assert kept.reply == PLAN
    assert kept.prompt != changed.digest


def test_another_question_is_not_answered(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "kept.jsonl")
    recordings.add(plan_request(), PLAN)
    recordings.add(program_request(), PROGRAM)
    for other in (
        plan_request("How many dogs are there?"),
        program_request("How many dogs are there?"),
        corrected(program_request(), "{}", "It holds no program."),
    ):
        assert recordings.find(RecordedQuestion.of(other)) is None


def test_a_question_with_other_steps_is_answered_by_the_nearest_only_where_that_is_enough(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "kept.jsonl")
    recordings.add(program_request(), PROGRAM)
    recordings.add(program_request(plan={"steps": ["Guess."]}), {"program": "worse"})
    other = RecordedQuestion.of(program_request(plan={"steps": ["Count."]}))
    assert recordings.find(other, whole=True) is None
    latest, same = recordings.find(other), recordings.find(RecordedQuestion.of(program_request()))
    assert latest is not None
    assert latest.reply == {"program": "worse"}
    assert same is not None
    assert same.reply == PROGRAM


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        '{"reply": {}}',
        '{"question": {"kind": "PlanReply", "turn": "x", "parts": []}, "reply": {}, "prompt": ""}',
        '{"question": {"kind": "PlanReply", "turn": 0, "parts": [["Plan"]]}, "reply": {}, "prompt": ""}',
        '{"question": {"kind": "PlanReply", "turn": 0, "parts": []}, "reply": "text", "prompt": ""}',
    ],
)
def test_a_line_that_is_no_recording_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"Line 2 of .*kept\.jsonl .*: remove that line"):
        Recordings(path)


def test_what_is_kept_names_no_folder_of_the_machine_that_recorded_it(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "kept.jsonl")
    recordings.add(plan_request(), PLAN)
    files = [recordings.path, *KEPT.iterdir()]
    folders = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|var)/|[A-Z]:\\\\")
    assert {path.name for path in files if folders.search(path.read_text(encoding="utf-8"))} == set()
    assert json.loads(recordings.path.read_text(encoding="utf-8"))["reply"] == PLAN
