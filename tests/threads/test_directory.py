"""The threads of a home, of every kind: listed, read, resumed by name, looked back into and branched."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snellen.cli import main
from snellen.errors import BadInput
from snellen.graphs.messages import text_of
from snellen.runtime.context import Context
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.threads import ask, chat, directory
from snellen.threads import investigate as investigations
from snellen.threads.chat import stream_chat, stream_messages
from snellen.threads.events import Finished, Started, Waits
from snellen.threads.listing import list_threads
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import RIGHT, Critic, make_context
from tests.threads.event_streams import gathered


@pytest.fixture
def home(home: Path, scripted: Callable[..., Context], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(chat, "resources", scripted)
    monkeypatch.setattr(
        investigations,
        "examining",
        lambda profile, place, *_: _examining(scripted(profile, place), place),
    )
    return home


def _examining(context: Context, folder: Path) -> Context:
    from dataclasses import replace

    return replace(context, examination=watched(folder, Oracle({"clip": lambda *_: 0.99})))


async def investigated(thread: str) -> list[Any]:
    request = InvestigationRequest(query="Can clip recognize fruit?", models=["clip"], budget={"images": 60})
    return await gathered(investigations.stream_investigate(request, thread=thread))


async def test_threads_of_every_kind_are_listed_and_read(home: Path, picture: Path) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", thread="asked"))
    await gathered(stream_chat("Hello there?", thread="talked"))
    await investigated("examined")

    assert {one.thread: (one.graph, one.status) for one in await list_threads()} == {
        "asked": ("ask", "finished"),
        "talked": ("chat", "finished"),
        "examined": ("investigate", "finished"),
    }
    graph, state = await directory.read_thread("talked")
    assert (graph, text_of(state.messages[0])) == ("chat", "Hello there?")
    with pytest.raises(BadInput, match="no thread 'gone'"):
        await directory.read_thread("gone")


async def test_history_says_what_was_done_and_what_comes(home: Path, picture: Path) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))
    moments = await directory.history("mine")

    assert [one.after for one in moments][:4] == ["remember", "judge", "run", "write"]
    assert moments[0].next == ()
    assert moments[1].next == ("remember",)
    assert [one.step for one in moments] == sorted((one.step for one in moments), reverse=True)


async def test_a_branch_goes_on_from_any_moment_and_leaves_the_thread_as_it_is(home: Path, picture: Path) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))
    (before,) = [one for one in await directory.history("mine") if one.next == ("run",)]
    plain = await directory.branch("mine", before.checkpoint)
    other = await directory.branch("mine", before.checkpoint, name="other", values={"program": RIGHT})
    answers = []
    for name in (plain, other):
        ended = (await gathered(directory.resume(name)))[-1]
        assert isinstance(ended, Finished)
        answers.append(ended.state.answer)

    assert answers == [3, 4]
    assert (await directory.read_thread("mine"))[1].answer == 3
    with pytest.raises(BadInput, match="There is a thread 'other' already"):
        await directory.branch("mine", before.checkpoint, name="other")


async def test_a_branch_after_a_node_that_chooses_for_itself_goes_where_it_went(home: Path, picture: Path) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", expected="4", thread="mine"))
    moments = await directory.history("mine")
    (chosen,) = [one for one in moments if one.next == ("describe",)]
    name = await directory.branch("mine", chosen.checkpoint)
    ended = (await gathered(directory.resume(name)))[-1]

    assert ended.state.answer == 4
    assert ended.state.verdict == "right"


@pytest.mark.parametrize(
    ("values", "why"), [({"answers": 1}, "no field 'answers'"), ({"plan": "one step"}, "'plan' cannot be set so")]
)
async def test_a_branch_with_what_does_not_fit_is_refused(
    home: Path, picture: Path, values: dict[str, Any], why: str
) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))
    moment = (await directory.history("mine"))[3]

    with pytest.raises(BadInput, match=why):
        await directory.branch("mine", moment.checkpoint, name="never", values=values)
    with pytest.raises(BadInput, match="no checkpoint 'none'"):
        await directory.branch("mine", "none", name="never")
    assert [one.thread for one in await list_threads()] == ["mine"]


async def test_branches_of_an_investigation_have_pictures_of_their_own(home: Path) -> None:
    await investigated("first")
    moments = await directory.history("first")
    (early,) = [one for one in moments if one.after == "design" and one.next == ("check_design",)][-1:]
    name = await directory.branch("first", early.checkpoint, name="second")
    ended = (await gathered(directory.resume(name)))[-1]

    assert ended.state.investigation == "second"
    one, two = (investigations.found_in(state) for state in ((await directory.read_thread("first"))[1], ended.state))
    assert one is not None
    assert two is not None
    assert one.report.conclusion == two.report.conclusion


async def test_a_conversation_goes_on_from_wherever_it_was(home: Path, picture: Path) -> None:
    store = make_context(home).pictures
    await gathered(stream_chat("What is one and two?", [store.ingest(picture)], thread="talk"))
    events = await gathered(stream_chat("No, 4", thread="talk"))
    started, ended = events[0], events[-1]

    assert isinstance(started, Started)
    assert started.resumed
    assert text_of(ended.state.messages[-1]).endswith("Now: **4**")
    with pytest.raises(BadInput, match="cannot name a thread"):
        await gathered(stream_chat("Hello?", thread="../talk"))


async def test_a_task_is_no_conversation(home: Path, picture: Path) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", thread="mine"))

    with pytest.raises(BadInput, match="no conversation"):
        await gathered(stream_chat("Hello?", thread="mine"))


async def test_a_client_that_sends_its_whole_history_is_understood(home: Path) -> None:
    from langchain_core.messages import AIMessage, HumanMessage

    said = [HumanMessage("Hello?"), AIMessage("Hi."), HumanMessage("Why?")]
    first = (await gathered(stream_messages(said, thread="talk")))[-1]
    again = (await gathered(stream_messages([*said, HumanMessage("And now?")], thread="talk")))[-1]

    assert len(first.state.messages) == 4
    assert [one.type for one in again.state.messages] == ["human", "ai", "human", "ai", "human", "ai"]


async def test_a_conversation_waits_and_is_decided_about_on_the_command_line(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def investigate(_: object, __: str) -> str:
        return "investigate"

    monkeypatch.setattr(chat, "resources", investigations.examining)
    monkeypatch.setattr(Critic, "route", investigate)
    events = await gathered(stream_chat("Can clip recognize fruit?", thread="talk", approve=True))
    assert isinstance(events[-1], Waits)
    await asyncio.to_thread(main.main, ["threads", "--json"])
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["graph"], listed["status"]) == ("chat", "waiting for approval")

    assert await asyncio.to_thread(main.main, ["resume", "talk", "--reject", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["messages"][-1]["text"].startswith("Nothing was examined.")
    assert await asyncio.to_thread(main.main, ["report", "talk"]) == 0
    assert "Can clip recognize fruit?" in capsys.readouterr().out
