"""A chat model made of recordings, asked by the Reasoner over HTTP as any other endpoint, and without a socket."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from benchmarks.mailbox import Mailbox
from benchmarks.recorded_model import RecordedModel, UnansweredError, profile_of, read_request, serving
from benchmarks.recordings import Recordings
from snellen.errors import BadInput
from snellen.profiles import load_profile
from snellen.reasoning.llm.reasoner import ChatReasoner, chat_reasoner
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.task import Examples, Task
from tests.benchmarks.chat_requests import COUNTED, PLAN, PROGRAM, plan_request, program_request


@pytest.fixture
def recordings(tmp_path: Path) -> Recordings:
    made = Recordings(tmp_path / "kept.jsonl")
    made.add(plan_request(), PLAN)
    made.add(program_request(), PROGRAM)
    return made


def reasoner(folder: Path, base_url: str) -> ChatReasoner:
    path = folder / "recorded.toml"
    path.write_text(profile_of(base_url), encoding="utf-8")
    return chat_reasoner(load_profile(path))


async def test_the_reasoner_is_answered_from_recordings(recordings: Recordings, tmp_path: Path) -> None:
    model, task = RecordedModel(recordings), Task(COUNTED, {"IMAGE": "Picture"})
    with serving(model) as base_url:
        chat = reasoner(tmp_path, base_url)
        plan = await chat.plan(task, Examples())
        program = await chat.write_program(task, plan, Examples())
    assert plan.steps == PLAN["steps"]
    assert program == PROGRAM["program"]
    assert model.counts() == {"replayed": 2, "changed": 2, "recorded": 0, "unanswered": 0}


async def test_the_reasoner_is_told_what_was_never_recorded(recordings: Recordings, tmp_path: Path) -> None:
    with serving(RecordedModel(recordings)) as base_url:
        chat = reasoner(tmp_path, base_url)
        with pytest.raises(ReasoningFailed, match=r"No recording in kept\.jsonl answers PlanReply: How many dogs\?"):
            await chat.plan(Task("How many dogs?", {"IMAGE": "Picture"}), Examples())


async def test_a_reply_from_the_mailbox_is_kept_and_given_again(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path / "mailbox", tell=lambda line: answer.set() if "waits" in line else None, poll=0.01)
    answer = threading.Event()
    model = RecordedModel(Recordings(tmp_path / "kept.jsonl"), mailbox)

    def write() -> None:
        answer.wait(10)
        (mailbox.folder / "001.reply.json").write_text(json.dumps(PLAN), encoding="utf-8")

    threading.Thread(target=write).start()
    with serving(model) as base_url:
        plan = await reasoner(tmp_path, base_url).plan(Task(COUNTED, {"IMAGE": "Picture"}), Examples())
    assert plan.steps == PLAN["steps"]
    assert model.counts()["recorded"] == 1
    assert (mailbox.folder / "DONE").exists()

    alone = RecordedModel(Recordings(tmp_path / "kept.jsonl"))
    assert alone.reply(plan_request()) == PLAN
    with pytest.raises(UnansweredError, match="add --mailbox FOLDER"):
        alone.reply(program_request())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"messages": [{"role": "user", "content": "Hello"}]}',
        b'{"messages": [], "response_format": {"type": "json_object"}}',
        b'{"messages": [3], "response_format": {"json_schema": {"name": "PlanReply", "schema": {}}}}',
        b"[" * 100_000,
    ],
)
def test_a_call_that_asks_for_no_object_by_schema_is_refused(body: bytes) -> None:
    with pytest.raises(BadInput, match="Ask for one JSON object by response_format"):
        read_request(body)


def test_a_port_that_is_taken_is_named(recordings: Recordings) -> None:
    with serving(RecordedModel(recordings)) as base_url:
        port = int(base_url.rpartition(":")[2].removesuffix("/v1"))
        with (
            pytest.raises(BadInput, match=f"Port {port} cannot be used"),
            serving(RecordedModel(recordings), port=port),
        ):
            pass
