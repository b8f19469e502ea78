"""The mailbox: requests lie in a folder until somebody answers, and what cannot be used is refused with a sentence."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.mailbox import Mailbox, MailboxClosedError, read_reply
from benchmarks.recordings import RecordedRequest, Reply
from tests.benchmarks.chat_requests import PLAN, PROGRAM, corrected, plan_request, program_request


class Answering:
    """A mailbox that is asked in the background."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []
        self.mailbox = Mailbox(folder, tell=self.told.append, poll=0.01)
        self.pool = ThreadPoolExecutor(4)

    def ask(self, request: RecordedRequest) -> Future[Reply]:
        return self.pool.submit(self.mailbox.ask, request)

    def await_file(self, name: str) -> str:
        for _ in range(500):
            if (self.folder / name).exists():
                return (self.folder / name).read_text(encoding="utf-8")
            time.sleep(0.01)
        raise AssertionError((name, sorted(path.name for path in self.folder.iterdir())))

    def answer(self, number: str, text: str, *, age: float = 0.0) -> None:
        half = self.folder / "half"
        half.write_text(text, encoding="utf-8")
        os.utime(half, (time.time() - age, time.time() - age))
        half.replace(self.folder / f"{number}.reply.json")


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Answering]:
    made = Answering(tmp_path / "mailbox")
    yield made
    made.mailbox.close()
    made.pool.shutdown()


def test_a_request_lies_there_to_be_read_until_it_is_answered(answering: Answering) -> None:
    reply = answering.ask(plan_request())
    asked = json.loads(answering.await_file("001.json"))
    assert (asked["kind"], asked["schema"]["required"]) == ("PlanReply", ["steps"])
    assert asked["messages"] == plan_request().messages
    page = answering.await_file("001.md")
    rules = next(answering.folder.glob("rules-PlanReply-*.md"))
    assert rules.name in page
    assert rules.read_text(encoding="utf-8") == plan_request().messages[0]["content"]
    assert "| How many cats are there?" in page
    assert '"steps": "array"' in page
    answering.answer("001", json.dumps(PLAN))
    assert reply.result(10) == PLAN
    assert answering.told[0] == "001 waits for 001.reply.json: PlanReply: How many cats are there?"


def test_a_reply_that_cannot_be_used_is_moved_aside_with_the_reason_and_may_be_written_again(
    answering: Answering,
) -> None:
    reply = answering.ask(plan_request())
    answering.await_file("001.json")
    answering.answer("001", '{"plan": []}', age=60)
    assert answering.await_file("001.refused.txt") == "The reply has no 'steps': its keys are steps.\n"
    assert not (answering.folder / "001.reply.json").exists()
    answering.answer("001", json.dumps(PLAN))
    assert reply.result(10) == PLAN
    assert not (answering.folder / "001.refused.txt").exists()


def test_a_file_that_is_being_written_is_waited_for(answering: Answering) -> None:
    reply = answering.ask(plan_request())
    answering.await_file("001.json")
    answering.answer("001", '{"steps": ["Lo', age=-60)
    time.sleep(0.1)
    assert not (answering.folder / "001.refused.txt").exists()
    answering.answer("001", json.dumps(PLAN))
    assert reply.result(10) == PLAN


def test_a_correction_shows_the_reply_before_it(answering: Answering) -> None:
    answering.ask(corrected(program_request(), "a hopeless reply", "line 1: there is no tool X"))
    page = answering.await_file("001.md")
    assert (
        page.index("## Your reply before") < page.index("a hopeless reply") < page.index("| line 1: there is no tool X")
    )


def test_a_mailbox_that_is_opened_again_knows_its_requests(answering: Answering) -> None:
    waits = answering.ask(plan_request())
    answering.await_file("001.json")
    answering.mailbox.close()
    with pytest.raises(MailboxClosedError, match=r"before 001\.reply\.json came: start again"):
        waits.result(10)
    assert (answering.folder / "DONE").exists()

    answering.answer("001", json.dumps(PLAN))
    again = Answering(answering.folder)
    assert not (answering.folder / "DONE").exists()
    assert again.ask(plan_request()).result(10) == PLAN
    program = again.ask(program_request())
    again.await_file("002.json")
    again.answer("002", json.dumps(PROGRAM))
    assert program.result(10) == PROGRAM


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "The reply is not JSON"),
        ("{" * 100_000, "The reply is not JSON"),
        ("[" * 100_000, "The reply is not JSON"),
        ('["Look."]', "The reply is list, not an object"),
        ("3", "The reply is int, not an object"),
        ("{}", "The reply has no 'steps'"),
        ('{"steps": "Look."}', "The reply's 'steps' is str: it must be of the type array"),
    ],
)
def test_what_is_no_reply_is_refused_with_a_sentence(text: str, fault: str) -> None:
    reply, reason = read_reply(text, plan_request().schema)
    assert reply is None
    assert reason.startswith(fault)
