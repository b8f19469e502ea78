"""The list of threads: unchanged ones are not read again, and what is kept is not shown where it is out of date."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

import snellen.threads.listing
from snellen.memory.checkpoints import DATABASE as CHECKPOINTS
from snellen.memory.thread_deletion import delete_threads
from snellen.memory.thread_locks import running
from snellen.memory.thread_summaries import DATABASE, ThreadSummaryTable, stamps
from snellen.threads import ask
from snellen.threads import thread as threads
from snellen.threads.listing import _read, list_threads, read_listed, thread_page
from snellen.threads.saved_threads import SavedThread
from snellen.threads.thread import GraphName
from tests.threads.event_streams import gathered

pytestmark = pytest.mark.usefixtures("scripted")


async def asked(picture: Path, thread: str, expected: str | None = None) -> None:
    await gathered(ask.stream_ask([picture], "What is one and two?", thread=thread, expected=expected))


def refuse_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        msg = "the states were read"
        raise AssertionError(msg)

    monkeypatch.setattr(threads, "reading_all", refuse)


@pytest.mark.usefixtures("home")
async def test_what_was_listed_is_not_read_again(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await asked(picture, "first", expected="3")
    await asked(picture, "second", expected="4")
    listed = await list_threads()

    refuse_to_read(monkeypatch)
    assert await list_threads() == listed
    assert {one.thread: (one.status, one.answer, one.verdict) for one in listed} == {
        "first": ("finished", 3, "right"),
        "second": ("finished", 4, "right"),
    }


@pytest.mark.usefixtures("home")
async def test_a_command_leaves_its_thread_read(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await asked(picture, "mine")
    state = await read_listed(ask.ASK, "mine")
    assert state == await ask.ASK.read("mine")

    refuse_to_read(monkeypatch)
    assert [(one.thread, one.answer) for one in await list_threads()] == [("mine", 3)]


@pytest.mark.usefixtures("home")
async def test_a_thread_that_went_on_is_read_again(picture: Path) -> None:
    await asked(picture, "mine")
    (before,) = await list_threads()
    await gathered(ask.correct("mine", expected="4"))
    (after,) = await list_threads()

    assert (before.answer, before.verdict, after.answer, after.verdict) == (3, "unjudged", 4, "right")
    assert after.updated > before.updated


async def test_whatever_is_saved_changes_the_stamp(home: Path, picture: Path) -> None:
    await asked(picture, "mine")
    await asked(picture, "other")
    others = "thread_id, checkpoint_ns, checkpoint_id, idx, channel, type, value"
    changes = (
        "UPDATE checkpoints SET checkpoint = x'c1' WHERE thread_id = 'mine'",
        "DELETE FROM writes WHERE rowid = (SELECT MAX(rowid) FROM writes WHERE thread_id = 'mine')",
        "DELETE FROM checkpoints WHERE rowid = (SELECT MIN(rowid) FROM checkpoints WHERE thread_id = 'mine')",
        f"INSERT INTO writes (task_id, {others}) SELECT 'new', {others} FROM writes WHERE thread_id = 'mine' LIMIT 1",
        f"REPLACE INTO writes (task_id, {others}) SELECT 'new', {others} FROM writes WHERE task_id = 'new'",
    )
    seen = [stamps(home)]
    for change in changes:
        with sqlite3.connect(home / CHECKPOINTS) as rows:
            rows.execute(change)
        seen.append(stamps(home))

    assert len({one["mine"] for one in seen}) == len(seen)
    assert len({one["other"] for one in seen}) == 1
    assert stamps(home, ["mine"]) == {"mine": seen[-1]["mine"]}


async def test_a_thread_that_ran_elsewhere_shows_it_though_it_is_kept(home: Path, picture: Path) -> None:
    await asked(picture, "mine")
    moments = [one for one in await _history("mine") if one.next == ("run",)]
    await _branched("mine", moments[0].checkpoint)
    await list_threads()
    async with running("branch", home):
        held = {one.thread: one.status for one in await list_threads()}
    let_go = {one.thread: one.status for one in await list_threads()}

    assert held == {"mine": "finished", "branch": "running run"}
    assert let_go == {"mine": "finished", "branch": "stopped before run"}


@pytest.mark.parametrize(
    "content", [b"no database " * 500, json.dumps({"updated": 3}), json.dumps({"strange": 3}), "[]", "{"]
)
async def test_what_cannot_be_used_is_read_anew(home: Path, picture: Path, content: bytes | str) -> None:
    await asked(picture, "mine")
    listed = await list_threads()
    if isinstance(content, bytes):
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (home / name).write_bytes(content)
    else:
        with sqlite3.connect(home / DATABASE) as rows:
            rows.execute("UPDATE summaries SET summary = ?", (content,))

    assert await list_threads() == listed


async def test_deleting_a_thread_forgets_its_summary(home: Path, picture: Path) -> None:
    await asked(picture, "mine")
    await asked(picture, "other")
    await list_threads()
    await delete_threads(["mine"], home)

    assert [one.thread for one in await list_threads()] == ["other"]
    with sqlite3.connect(home / DATABASE) as rows:
        assert rows.execute("SELECT thread FROM summaries").fetchall() == [("other",)]


async def test_a_thread_that_others_deleted_is_forgotten(home: Path, picture: Path) -> None:
    await asked(picture, "mine")
    await asked(picture, "other")
    await list_threads()
    with sqlite3.connect(home / CHECKPOINTS) as rows:
        rows.execute("DELETE FROM checkpoints WHERE thread_id = 'mine'")

    assert [one.thread for one in await list_threads()] == ["other"]
    assert ThreadSummaryTable(home).threads() == {"other"}


async def _history(thread: str) -> list[Any]:
    from snellen.threads import directory

    return await directory.history(thread)


async def _branched(thread: str, checkpoint: str) -> None:
    from snellen.threads import directory

    await directory.branch(thread, checkpoint, name="branch")


async def test_pages_hold_all_threads_once_and_read_no_others(
    home: Path, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        await asked(picture, name)
    monkeypatch.setattr(snellen.threads.listing, "_keep", lambda *_: None)  # each page reads what it shows
    (home / DATABASE).unlink(missing_ok=True)
    read: list[str] = []

    async def reading(folder: Path, unread: Mapping[str, GraphName]) -> dict[str, SavedThread]:
        read.extend(unread)
        return await _read(folder, unread)

    monkeypatch.setattr(snellen.threads.listing, "_read", reading)
    pages = [await thread_page(limit=2, page=page) for page in (1, 2, 3)]

    assert [[one.thread for one in page.threads] for page in pages] == [["c", "b"], ["a"], []]
    assert [page.of for page in pages] == [3, 3, 3]
    assert read == ["c", "b", "a"]
    assert (await thread_page(limit=1, graph="investigate")).of == 0
