"""Checkpoints of every graph, in one SQLite database of the home.

The command line, the server and the pages open the same file, so a thread begun in one is resumed in another.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from memory.home import connect, home, storing, storing_rows
from profiles.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

DATABASE: Final = "checkpoints.sqlite"

UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, EOFError, NotImplementedError)
"""What reading a damaged checkpoint may end in."""

_BUSY_SECONDS: Final = 30.0


@asynccontextmanager
async def checkpoints(
    folder: Path | None = None, *, state_types: Iterable[type] = ()
) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpoints of a home: write-ahead log, 30 seconds of patience with other processes.

    Args:
        folder: The memory's home; None takes ``home()``.
        state_types: The classes that may be read back from a checkpoint, beside plain values.

    Yields:
        A saver to compile a graph with, or to pass as ``checkpointer``.

    Raises:
        MemoryTrouble: the database is damaged, read-only or locked, or the disk is full.
    """
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    database = (folder or home()) / DATABASE
    # Only the database's own errors: what else goes wrong while a graph runs is not this file's fault.
    with storing_rows(database):
        async with aiosqlite.connect(database, timeout=_BUSY_SECONDS) as connection:
            saver = AsyncSqliteSaver(connection, serde=serializer(state_types))
            await saver.setup()
            yield saver


def serializer(state_types: Iterable[type] = ()) -> JsonPlusSerializer:
    """Return the serializer of checkpoints: it revives plain values and ``state_types``, nothing else.

    Naming the classes keeps it strict even where langgraph was imported before this package set its variable.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    allowed = [(kind.__module__, kind.__qualname__) for kind in state_types]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed)


def thread_ids(folder: Path | None = None) -> list[str]:
    """Return the ids of all threads of a home, the one written to last first.

    Raises:
        MemoryTrouble: the database is damaged or out of reach.
    """
    return list(thread_graphs(folder))


def thread_graphs(folder: Path | None = None) -> dict[str, str]:
    """Return all threads of a home and the name of the graph of each, the one written to last first.

    The name is what the thread's configuration had under ``metadata``, ``graph``; empty where it had nothing.

    Raises:
        MemoryTrouble: the database is damaged or out of reach.
    """
    database = (folder or home()) / DATABASE
    if not database.exists():
        return {}
    with storing(database), closing(connect(database)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'").fetchone() is None:
            return {}
        # Beside MAX, SQLite gives the other columns of the very row that has it.
        rows = connection.execute(
            "SELECT thread_id, metadata, MAX(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '' "
            "GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC"
        ).fetchall()
    return {thread: _graph(metadata) for thread, metadata, _ in rows}


def _graph(metadata: bytes | str | None) -> str:
    try:
        said = json.loads(metadata or "{}")
        return str(said.get("graph", ""))
    except UNREADABLE:
        return ""


@asynccontextmanager
async def running(thread: str, folder: Path | None = None) -> AsyncIterator[None]:
    """Hold a thread for this process, so that no second one runs it at the same time.

    The operating system lets go of it when the process dies, however it dies.

    Raises:
        BadInput: another process is running the thread.
        MemoryTrouble: the lock's file cannot be made.
    """
    place = _lock_file(thread, folder)
    lock = FileLock(place, thread_local=False)
    with storing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            msg = f"The thread {thread!r} is being run by another process; wait for it, or begin another thread."
            raise BadInput(msg) from error
    try:
        yield
    finally:
        lock.release()


def is_running(thread: str, folder: Path | None = None) -> bool:
    """Tell whether a process holds the thread at this moment."""
    place = _lock_file(thread, folder)
    if not place.exists():
        return False
    lock = FileLock(place, thread_local=False)
    with storing(place):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
    return False


def _lock_file(thread: str, folder: Path | None) -> Path:
    return (folder or home()) / "running" / f"{thread}.lock"
