"""Checkpoints: one database for every way in, read back by later versions."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from filelock import FileLock
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from snellen.errors import BadInput
from snellen.memory.checkpoints import DATABASE, checkpoints, thread_ids
from snellen.memory.home import MemoryTrouble
from snellen.memory.thread_locks import BeingRun, Holder, holder_of, introduce, is_running, running

FULL = sqlite3.OperationalError("database or disk is full")
ROOT = Path(__file__).parents[2]


async def test_the_database_is_shared_by_processes(tmp_path: Path) -> None:
    async with checkpoints(tmp_path) as saver:
        assert isinstance(saver, AsyncSqliteSaver)
        async with saver.conn.execute("PRAGMA journal_mode") as rows:
            assert await rows.fetchone() == ("wal",)
        async with saver.conn.execute("PRAGMA busy_timeout") as rows:
            assert await rows.fetchone() == (30_000,)


async def test_a_new_home_is_opened_several_times_at_once(tmp_path: Path) -> None:
    async def opened(folder: Path) -> None:
        async with checkpoints(folder):
            pass

    # SQLite refuses all but one that turn to its log at the same moment: in one round of 25, where nobody tries again.
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        await asyncio.gather(*(opened(folder) for _ in range(8)))


async def test_a_run_that_is_cancelled_in_the_middle_leaves_nothing_locked(tmp_path: Path) -> None:
    writing = "INSERT INTO writes (thread_id, checkpoint_id, task_id, idx, channel) VALUES ('one', ?, 'a task', 0, 'a')"
    async with checkpoints(tmp_path) as saver:
        assert isinstance(saver, AsyncSqliteSaver)
        await saver.conn.execute(writing, ("saved",))
        await saver.conn.commit()
        # As what is saved and read when the run is cancelled: neither ends, and an error's traceback holds it.
        held = await saver.conn.execute("SELECT 1 FROM writes UNION ALL SELECT 2 FROM writes")
        assert await held.fetchone() == (1,)
        await saver.conn.execute(writing, ("half done",))

    with closing(sqlite3.connect(tmp_path / DATABASE, timeout=0)) as other:
        other.execute(writing, ("later",))
        assert set(other.execute("SELECT checkpoint_id FROM writes")) == {("saved",), ("later",)}


async def test_the_home_is_the_default_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))

    assert thread_ids() == []
    async with checkpoints():
        assert (tmp_path / "home" / DATABASE).exists()
    assert thread_ids() == []


async def test_a_database_without_tables_has_no_threads(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / DATABASE).close()
    (tmp_path / DATABASE).touch()

    assert thread_ids(tmp_path) == []


async def test_a_damaged_database_is_named_and_kept(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database " * 500)

    with pytest.raises(MemoryTrouble, match=r"checkpoints\.sqlite.*damaged"):
        async with checkpoints(tmp_path):
            pass
    with pytest.raises(MemoryTrouble, match=r"checkpoints\.sqlite.*damaged"):
        thread_ids(tmp_path)
    assert (tmp_path / DATABASE).read_bytes() == b"no database " * 500


async def test_trouble_of_a_graph_is_not_blamed_on_the_database(tmp_path: Path) -> None:
    with pytest.raises(ConnectionRefusedError):
        async with checkpoints(tmp_path):
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


async def test_a_full_disk_under_a_graph_is_told(tmp_path: Path) -> None:
    with pytest.raises(MemoryTrouble, match=r"checkpoints\.sqlite.*the disk is full"):
        async with checkpoints(tmp_path):
            raise FULL


async def test_a_thread_is_run_by_one_process_at_a_time(tmp_path: Path) -> None:
    async with running("one", tmp_path):
        lock = FileLock(tmp_path / "running" / "one.lock", timeout=0)
        with pytest.raises(TimeoutError):
            lock.acquire()
        async with running("other", tmp_path):
            pass
    async with running("one", tmp_path):
        pass


HOLDING = """
import asyncio, sys
from pathlib import Path
from snellen.memory.thread_locks import running
async def main():
    async with running("one", Path(sys.argv[1])):
        print("held", flush=True)
        input()
asyncio.run(main())
"""


async def take(folder: Path) -> None:
    async with running("one", folder):
        pass


def test_the_second_process_is_told_so_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(BadInput, match=r"'one' is being run by `snellen` \(process \d+ on "):
            asyncio.run(take(tmp_path))
        process.kill()
        process.wait()
    asyncio.run(take(tmp_path))


async def test_two_tasks_of_a_process_exclude_each_other(tmp_path: Path) -> None:
    results = await asyncio.gather(*(held_for_a_while(tmp_path) for _ in range(5)), return_exceptions=True)

    assert [isinstance(one, BeingRun) for one in results].count(True) == 4


async def held_for_a_while(folder: Path) -> None:
    async with running("one", folder):
        await asyncio.sleep(1)


async def test_looking_whether_a_thread_runs_keeps_nobody_from_running_it(tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    look = FileLock(tmp_path / "running" / "one.lock")
    look.acquire()
    asyncio.get_running_loop().call_later(0.1, look.release)

    async with running("one", tmp_path):
        assert is_running("one", tmp_path)


async def test_the_note_of_who_runs_a_thread_ends_with_it(tmp_path: Path) -> None:
    introduce("snellen investigate\x1b[2J`")
    async with running("one", tmp_path):
        held = holder_of("one", tmp_path)
        note = next((tmp_path / "running").glob("*.json")).read_text()
    assert held is not None
    assert str(held).startswith(f"`snellen investigate[2J` (process {os.getpid()} on ")
    assert list((tmp_path / "running").glob("*.json")) == []

    (tmp_path / "running" / "one.json").write_text(note)
    assert holder_of("one", tmp_path) is None


@pytest.mark.parametrize(
    "note", ["", "no JSON", "[]", "{}", '{"since": 1}', '{"since": "2026-01-01T00:00:00"}', "[" * 9_999]
)
async def test_a_note_of_another_kind_names_nobody(tmp_path: Path, note: str) -> None:
    async with running("one", tmp_path):
        (tmp_path / "running" / "one.json").write_text(note)
        assert str(holder_of("one", tmp_path)) == "another process"


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(0), "since 14:02:31 UTC (0 s ago)"),
        (timedelta(seconds=-5), "since 14:02:31 UTC (0 s ago)"),
        (timedelta(seconds=200), "since 14:02:31 UTC (3 min ago)"),
        (timedelta(hours=5), "since 14:02:31 UTC (5 h ago)"),
        (timedelta(days=1), "since 2026-03-01 14:02:31 UTC (1 day ago)"),
        (timedelta(days=9), "since 2026-03-01 14:02:31 UTC (9 days ago)"),
    ],
)
def test_since_when_is_said_as_people_do(monkeypatch: pytest.MonkeyPatch, ago: timedelta, said: str) -> None:
    began = datetime(2026, 3, 1, 14, 2, 31, tzinfo=UTC)
    clock = Mock(now=lambda _: began + ago)
    monkeypatch.setattr("snellen.memory.thread_locks.datetime", clock)

    assert str(Holder("snellen learn", 4711, "x", began)) == f"`snellen learn` (process 4711 on x) {said}"
