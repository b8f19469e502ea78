"""Threads are deleted with what belongs to them alone, and with nothing else; those under way are not."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import PIL.Image
import pytest

from snellen.cli import main
from snellen.errors import BadInput
from snellen.graphs.states import STATE_TYPES
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.checkpoints import DATABASE, saved_at, thread_heads
from snellen.memory.conversations import ConversationTable, Turn
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.thread_copying import copy_threads
from snellen.memory.thread_locks import BeingRun, running
from snellen.memory.trials import TrialTable
from snellen.runtime.context import Context
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.serving.settings import ServerSettings
from snellen.threads import ask, chat, deletion, directory, investigate
from snellen.threads.chat import stream_chat
from snellen.threads.listing import list_threads
from snellen.values import Picture
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import RIGHT, Critic, make_context
from tests.threads.event_streams import gathered


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def scripted(_: str, folder: Path, *__: object, **___: object) -> Context:
        return make_context(folder, reasoner=Critic(program=RIGHT))

    def examining(profile: str, folder: Path, *_: object) -> Context:
        return replace(scripted(profile, folder), examination=watched(folder, Oracle({"clip": lambda *_: 0.99})))

    monkeypatch.setattr(ask, "make_context", scripted)
    monkeypatch.setattr(chat, "resources", scripted)
    monkeypatch.setattr(investigate, "examining", examining)
    return home


async def investigated(thread: str, *, images: int = 60) -> None:
    request = InvestigationRequest(query="Can clip recognize fruit?", models=["clip"], budget={"images": images})
    await gathered(investigate.stream_investigate(request, thread=thread))


async def asked(thread: str, *pictures: Path) -> list[Picture]:
    await gathered(ask.stream_ask(pictures, "What is one and two?", thread=thread))
    _, state = await directory.read_thread(thread)
    return [Picture(one["id"], one["width"], one["height"]) for one in state.pictures]


def painted(folder: Path, colour: str) -> Path:
    place = folder / f"{colour}.png"
    PIL.Image.new("RGB", (30, 20), colour).save(place)
    return place


def saved(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob(f"{DATABASE}*"))


def stored(home: Path) -> set[str]:
    return ArtifactStore(home / FOLDER).ids()


@pytest.fixture(params=["sqlite", "in_postgres", "in_store"])
def backend(request: pytest.FixtureRequest) -> str:
    """Keep the threads of a test in SQLite, once more in Postgres, and once more with all the rest in a store."""
    if request.param != "sqlite":
        request.getfixturevalue(request.param)
    return str(request.param)


@pytest.mark.usefixtures("backend")
async def test_pictures_that_another_thread_refers_to_stay(home: Path, tmp_path: Path) -> None:
    red, blue = painted(tmp_path, "red"), painted(tmp_path, "blue")
    first = await asked("first", red, blue)
    second = await asked("second", red)

    deleted = await deletion.delete(["first"])

    assert [one.thread for one in await list_threads()] == ["second"]
    assert first[1].id not in stored(home)
    assert second[0].id in stored(home)
    assert deleted.threads == ("first",)
    await deletion.delete(["second"])
    assert stored(home) == set()


@pytest.mark.usefixtures("backend")
async def test_trials_and_samples_that_another_report_shares_stay(home: Path) -> None:
    await investigated("large")
    await investigated("small", images=30)
    samples = SampleTable(home)
    both = (TrialTable(home).count(), len(stored(home)))
    before = {name: samples.of(name, 0) for name in ("large", "small")}

    deleted = await deletion.delete(["large"])

    assert samples.albums() == {"small"}
    assert samples.of("small", 0) == before["small"]
    assert all(map(ArtifactStore(home / FOLDER).is_whole, samples.pictures()))
    assert (deleted.samples > len(before["small"]), deleted.trials > 0, deleted.pictures > 0) == (True, True, True)
    await investigated("again")
    assert (TrialTable(home).count(), len(stored(home))) == both
    await deletion.delete(["again", "small"])
    assert (samples.count(), TrialTable(home).count(), stored(home)) == (0, 0, set())


async def test_nothing_of_a_deleted_thread_can_be_read_in_its_database(home: Path, tmp_path: Path) -> None:
    await gathered(stream_chat("The unmistakable pangolin?", thread="talked"))
    ConversationTable(home).keep("history", Turn("talked", "c"))
    assert b"pangolin" in saved(home)

    await deletion.delete(["talked"])

    assert b"pangolin" not in saved(home)
    assert ConversationTable(home).find("history") is None


@pytest.mark.usefixtures("in_postgres")
async def test_a_copy_in_postgres_is_deleted_with_its_original(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_postgres: str
) -> None:
    monkeypatch.delenv("SNELLEN_CHECKPOINTS")
    await asked("mine", painted(tmp_path, "red"))
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", in_postgres)
    await copy_threads(home, state_types=STATE_TYPES)

    await deletion.delete(["mine"])

    assert thread_heads(home) == {}
    monkeypatch.delenv("SNELLEN_CHECKPOINTS")
    assert thread_heads(home) == {}
    assert stored(home) == set()


@pytest.mark.usefixtures("backend")
async def test_a_conversation_takes_its_investigations_with_it(home: Path) -> None:
    samples = SampleTable(home)
    picture = ArtifactStore(home / FOLDER).put(PIL.Image.new("RGB", (9, 9), "red")).id
    await gathered(stream_chat("Hello there?", thread="talked"))
    await gathered(stream_chat("Hello there?", thread="talked.2"))
    for album in ("talked.1", "talked.1/after", "talked.1~1", "talked.x", "talked"):
        samples.add([Sample(album, 0, 0, 0, picture, picture, "dog", "microworld")])

    await deletion.delete(["talked"])

    assert samples.albums() == {"talked.x"}
    assert stored(home) == {picture}


@pytest.mark.usefixtures("backend")
async def test_a_thread_under_way_is_not_deleted_and_nothing_else_is(home: Path, tmp_path: Path) -> None:
    await asked("mine", painted(tmp_path, "red"))
    await asked("other", painted(tmp_path, "blue"))

    async with running("mine", home):
        with pytest.raises(BeingRun, match=r"'mine' is being run by `snellen` \(process \d+ on .*stop it first"):
            await deletion.delete(["other", "mine"])
    with pytest.raises(BadInput, match="no thread 'gone'"):
        await deletion.delete(["other", "gone"])
    assert {one.thread for one in await list_threads()} == {"mine", "other"}
    assert len(stored(home)) > 0


async def test_threads_are_chosen_by_age(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await asked("old", painted(tmp_path, "red"))
    heads = thread_heads(home)
    moment = saved_at(heads["old"][1])
    assert moment is not None
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=5)
    assert saved_at("no id") is None
    with closing(sqlite3.connect(home / DATABASE)) as rows, rows:
        # 2^28 of the highest digits are some 300 days.
        rows.execute("UPDATE checkpoints SET checkpoint_id = '1e000000' || substr(checkpoint_id, 9)")
    await asked("new", painted(tmp_path, "blue"))

    assert await deletion.older_than(timedelta(days=30)) == ["old"]
    await deletion.delete_older_than(timedelta(days=30))
    assert list(thread_heads(home)) == ["new"]


@pytest.mark.parametrize(("said", "hours"), [("12h", 12), ("30d", 720), ("2W", 336)])
def test_ages_are_read(said: str, hours: int) -> None:
    assert deletion.read_age(said) == timedelta(hours=hours)


@pytest.mark.parametrize("said", ["", "d", "30", "-1d", "1y", "1.5d", "9999999d"])
def test_what_is_no_age_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="is no age"):
        deletion.read_age(said)


@pytest.mark.parametrize("said", ["999999w", "99999w", "36501d"])
def test_ages_beyond_a_century_are_refused(said: str) -> None:
    with pytest.raises(BadInput, match="from 0 to 36500 days"):
        deletion.read_age(said)


@pytest.mark.parametrize("days", [-1, 10**6, 999_999_999])
async def test_threads_are_not_looked_for_by_an_age_that_none_can_have(home: Path, days: int) -> None:
    with pytest.raises(BadInput, match="from 0 to 36500 days"):
        await deletion.older_than(timedelta(days=days))


@pytest.mark.parametrize("days", [-1.0, float("nan"), float("inf"), 1e9])
def test_a_server_is_not_set_to_such_an_age(days: float) -> None:
    with pytest.raises(BadInput, match="thread_days"):
        ServerSettings(thread_days=days)
    assert ServerSettings(thread_days=deletion.LONGEST.days).thread_days == 36_500


Say = Callable[..., str]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    def said(*words: str, status: int = 0) -> str:
        assert main.main(words) == status
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return said


def test_the_command_line_asks_before_it_deletes(
    home: Path, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say("ask", str(painted(tmp_path, "red")), "What is one and two?", "--thread", "mine")
    assert "add --yes" in say("threads", "delete", "mine", status=2)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("no\n"))
    say("threads", "delete", "mine")
    assert len(json.loads(say("threads", "--json"))) == 1
    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    assert say("threads", "delete", "mine").startswith("deleted: 1 thread, with 1 picture")
    assert json.loads(say("threads", "--json")) == []


def test_the_command_line_refuses_what_it_would_ignore(home: Path, say: Say) -> None:
    assert "Say which threads" in say("threads", "delete", status=2)
    assert "but not both" in say("threads", "delete", "a", "--older-than", "1d", status=2)
    assert "Unrecognized arguments: --yes (see `snellen threads list --help`)" in say("threads", "--yes", status=2)
    assert json.loads(say("threads", "delete", "--older-than", "1d", "--yes", "--json"))["threads"] == []
