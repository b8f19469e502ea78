"""Sessions: what the command line and the pages rely on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from snellen.errors import BadInput
from snellen.graphs.states import AskState
from snellen.memory.checkpoints import DATABASE
from snellen.memory.home import MemoryTrouble
from snellen.memory.thread_locks import running
from snellen.profiles import lasting
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.runtime.context import Context
from snellen.threads import ask
from snellen.threads.ask import SessionEvent
from snellen.threads.events import Finished, NodeFinished, Started, StepFinished
from snellen.threads.listing import list_threads
from tests.graphs.scripted import ScriptedReasoner, make_context

NODES = ["read", "recall", "plan", "write", "run", "judge", "remember"]


class Trouble:
    """Lets the reasoner fail at one call until it is lifted."""

    def __init__(self) -> None:
        self.at = ""

    def __call__(self, call: str) -> None:
        if call == self.at:
            msg = "The chat model did not answer; try again later."
            raise ReasoningFailed(msg)


@pytest.fixture
def trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trouble:
    trouble = Trouble()

    def scripted(profile: str, folder: Path) -> Context:
        return make_context(folder, reasoner=ScriptedReasoner(before=trouble))

    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(ask, "make_context", scripted)
    return trouble


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    PIL.Image.new("RGB", (40, 30), "teal").save(path)
    return path


async def gathered(events: AsyncIterator[SessionEvent]) -> list[SessionEvent]:
    return [event async for event in events]


async def ended(events: AsyncIterator[SessionEvent]) -> AskState:
    last = (await gathered(events))[-1]
    assert isinstance(last, Finished)
    return last.state


@pytest.mark.usefixtures("trouble")
async def test_events_come_in_the_order_of_the_run(picture: Path) -> None:
    events = await gathered(ask.stream_ask([picture], " What is one and two? ", expected="3"))

    assert isinstance(events[0], Started)
    assert not events[0].resumed
    assert events[0].state.instruction == "What is one and two?"
    assert [event.node for event in events if isinstance(event, NodeFinished)] == NODES
    assert [event.record["tool"] for event in events if isinstance(event, StepFinished)] == ["CROP", "EVAL", "RESULT"]
    assert isinstance(events[-1], Finished)
    assert events[-1].thread == events[0].thread
    assert (events[-1].state.answer, events[-1].state.verdict) == (3, "right")


async def test_a_failed_thread_is_listed_and_resumed(picture: Path, trouble: Trouble) -> None:
    trouble.at = "write"
    with pytest.raises(ReasoningFailed, match="did not answer"):
        await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))
    (stopped,) = await list_threads()
    assert (stopped.thread, stopped.status, stopped.answer) == ("mine", "failed before write", None)
    assert stopped.reason == "The chat model did not answer; try again later."
    assert stopped.updated.startswith("20")

    trouble.at = ""
    events = await gathered(ask.ASK.resume("mine"))

    assert isinstance(events[0], Started)
    assert events[0].resumed
    assert events[0].state.plan == ["Add one and two", "Give the sum"]
    assert [event.node for event in events if isinstance(event, NodeFinished)] == NODES[3:]
    (finished,) = await list_threads()
    assert (finished.status, finished.answer, finished.reason) == ("finished", 3, "")
    assert (await ask.ASK.read("mine")).answer == 3


@pytest.mark.usefixtures("trouble")
async def test_a_finished_thread_only_yields_its_end(picture: Path) -> None:
    await ended(ask.stream_ask([picture], "What is one and two?", thread="mine"))

    events = await gathered(ask.ASK.resume("mine"))

    assert [type(event) for event in events] == [Started, Finished]


@pytest.mark.usefixtures("trouble")
async def test_a_finished_thread_is_not_replaced_by_another_of_its_name(picture: Path) -> None:
    await ended(ask.stream_ask([picture], "What is one and two?", expected="4", thread="mine"))
    before = await ask.ASK.read("mine")

    with pytest.raises(BadInput, match="There is a thread 'mine' already, which is a finished run"):
        await gathered(ask.stream_ask([picture, picture], "And now?", thread="mine"))
    assert await ask.ASK.read("mine") == before


async def test_an_unfinished_thread_is_not_begun_over(picture: Path, trouble: Trouble) -> None:
    trouble.at = "plan"
    with pytest.raises(ReasoningFailed):
        await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))

    with pytest.raises(BadInput, match="`snellen resume mine`"):
        await gathered(ask.stream_ask([picture], "Another?", thread="mine"))
    assert (await ask.ASK.read("mine")).instruction == "What is one and two?"


@pytest.mark.usefixtures("trouble")
async def test_a_thread_is_not_run_twice_at_once(picture: Path, tmp_path: Path) -> None:
    await ended(ask.stream_ask([picture], "What is one and two?", thread="mine"))

    async with running("mine", tmp_path / "home"):
        with pytest.raises(BadInput, match=r"being run by `snellen` \(process \d+ on .* UTC"):
            await gathered(ask.ASK.resume("mine"))


async def test_a_thread_that_runs_elsewhere_is_listed_as_running(
    picture: Path, tmp_path: Path, trouble: Trouble
) -> None:
    trouble.at = "write"
    with pytest.raises(ReasoningFailed):
        await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))

    async with running("mine", tmp_path / "home"):
        (held,) = await list_threads()
    (let_go,) = await list_threads()

    assert (held.status, let_go.status) == ("running write", "failed before write")


@pytest.mark.usefixtures("trouble")
async def test_many_threads_run_at_once_in_one_home(picture: Path) -> None:
    states = await asyncio.gather(
        *(ended(ask.stream_ask([picture], "What is one and two?", expected="3")) for _ in range(5))
    )

    assert [state.answer for state in states] == [3] * 5
    assert len(await list_threads()) == 5


@pytest.mark.usefixtures("trouble")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"instruction": ""}, "instruction is empty"),
        ({"instruction": " \n "}, "instruction is empty"),
        ({"instruction": "x" * 20_000}, "has 20,000 characters; say it in at most 2,000"),
        ({"expected": " "}, "expected answer must have"),
        ({"expected": "x" * 501}, "expected answer must have"),
        ({"family": "poetry"}, "no task family 'poetry'; the families are vqa"),
        ({"pictures": []}, "needs one to 8 pictures, but 0"),
        ({"pictures": ["p.png"] * 9}, "needs one to 8 pictures, but 9"),
        ({"pictures": ["/nowhere/p.png"]}, "There is no picture at /nowhere/p.png"),
        ({"thread": ""}, "cannot name a thread"),
        ({"thread": "../up"}, "cannot name a thread"),
        ({"thread": "x" * 65}, "cannot name a thread"),
    ],
)
async def test_bad_input_is_refused_in_one_sentence_and_nothing_is_begun(
    picture: Path, options: dict[str, Any], said: str
) -> None:
    words: dict[str, Any] = {"pictures": [picture], "instruction": "What is one and two?"} | options

    with pytest.raises(BadInput, match=said) as caught:
        await gathered(ask.stream_ask(**words))

    assert "\n" not in str(caught.value)
    assert await list_threads() == []


@pytest.mark.usefixtures("trouble")
@pytest.mark.parametrize("thread", ["unknown", "../up", "", "x" * 500])
async def test_an_unknown_thread_is_bad_input(thread: str) -> None:
    with pytest.raises(BadInput, match="There is no thread"):
        await gathered(ask.ASK.resume(thread))
    with pytest.raises(BadInput, match="There is no thread"):
        await ask.ASK.read(thread)


async def test_an_unknown_profile_is_bad_input(picture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))

    with pytest.raises(BadInput, match="no profile 'imaginary'"):
        await gathered(ask.stream_ask([picture], "What is one and two?", profile="imaginary"))


@pytest.mark.usefixtures("trouble")
async def test_a_notice_about_a_picture_travels_with_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "moving.gif"
    frames = [PIL.Image.new("RGB", (40, 30), colour) for colour in ("red", "blue")]
    frames[0].save(path, save_all=True, append_images=frames[1:])

    state = await ended(ask.stream_ask([path], "What is one and two?"))

    assert state.warnings[:1] == [f"{path} is animated; only its first frame is looked at."]


@pytest.mark.usefixtures("trouble")
async def test_a_damaged_database_is_told(tmp_path: Path, picture: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / DATABASE).write_bytes(b"no database " * 500)

    with pytest.raises(MemoryTrouble, match="damaged"):
        await list_threads()
    with pytest.raises(MemoryTrouble, match="damaged"):
        await gathered(ask.stream_ask([picture], "What is one and two?"))


@pytest.mark.usefixtures("trouble")
async def test_a_disk_that_fills_up_under_the_checkpoints_loses_no_thread(
    picture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    await ended(ask.stream_ask([picture], "What is one and two?", thread="before"))

    async def full(*_: object, **__: object) -> None:
        msg = "database or disk is full"
        raise sqlite3.OperationalError(msg)

    with monkeypatch.context() as patch:
        patch.setattr(AsyncSqliteSaver, "aput_writes", full)
        with pytest.raises(MemoryTrouble, match="the disk is full; free some space"):
            await gathered(ask.stream_ask([picture], "What is one and two?", thread="during"))

    assert (await ended(ask.ASK.resume("during"))).answer == 3
    assert (await ask.ASK.read("before")).answer == 3


def test_a_profile_file_is_remembered_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert lasting("mine.toml") == str(tmp_path / "mine.toml")
    assert lasting("hub") == "hub"


@pytest.mark.usefixtures("trouble")
async def test_a_thread_that_cannot_be_read_hides_no_other(picture: Path, tmp_path: Path) -> None:
    for thread in ("whole", "damaged"):
        await ended(ask.stream_ask([picture], "What is one and two?", thread=thread))
    with sqlite3.connect(tmp_path / "home" / DATABASE) as rows:
        rows.execute("UPDATE checkpoints SET checkpoint = x'c1' WHERE thread_id = 'damaged'")

    damaged, whole = await list_threads()

    assert (damaged.status, whole.status) == ("damaged", "finished")
    assert "`snellen memory verify`" in damaged.outcome
