"""Checkpoints of every graph, in a SQLite database of the home or the Postgres that ``SNELLEN_CHECKPOINTS`` names.

The command line, the server and the pages open the same ones, so a thread begun in one is resumed in another.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import uuid
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from snellen.memory.background_loop import blocking
from snellen.memory.home import connect, home, home_to_read, is_read_only, storing, storing_rows
from snellen.memory.postgres.server import chosen_server
from snellen.memory.postgres.server import thread_heads as postgres_threads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    from snellen.memory.savers import HomeSaver

DATABASE: Final = "checkpoints.sqlite"

UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, EOFError, NotImplementedError)
"""What reading a damaged checkpoint may end in."""

_SORTED_BY_TIME: Final = 6
"""The version of the UUIDs that LangGraph names checkpoints by."""
_GREGORIAN: Final = datetime(1582, 10, 15, tzinfo=UTC)
"""What their time is counted from."""


@asynccontextmanager
async def checkpoints(
    folder: Path | None = None, *, state_types: Iterable[type] = ()
) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the checkpoints of a home.

    Args:
        folder: The memory's home; None takes ``home()``.
        state_types: The classes that may be read back from a checkpoint, beside plain values.

    Yields:
        A saver to compile a graph with, or to pass as ``checkpointer``.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` names no database that can be used.
        MemoryTrouble: the database is damaged, read-only or locked, or the disk is full; or Postgres cannot be reached.
    """
    place, server = folder or home(), chosen_server()
    if server is None:
        opened: AbstractAsyncContextManager[BaseCheckpointSaver[str]] = in_sqlite(
            place / DATABASE, serializer(state_types)
        )
    else:
        from snellen.memory.postgres.saver import opened_saver

        opened = opened_saver(server, place, serializer(state_types))
    async with opened as saver:
        yield saver


@contextmanager
def blocking_checkpoints(
    folder: Path | None = None, *, state_types: Iterable[type] = ()
) -> Iterator[BaseCheckpointSaver[str]]:
    """Open the checkpoints of a home for ``invoke`` and ``stream``, on any thread, also one with a running loop.

    Args:
        folder: As ``checkpoints``.
        state_types: As ``checkpoints``.

    Yields:
        A saver whose synchronous and asynchronous methods can be called from anywhere.

    Raises:
        BadInput: as ``checkpoints``.
        MemoryTrouble: as ``checkpoints``.
    """
    from snellen.memory.savers import BlockingSaver

    opened = checkpoints(folder, state_types=state_types)
    saver = blocking(opened.__aenter__())
    try:
        yield BlockingSaver(saver)
    except BaseException as error:
        # What went wrong belongs to the caller, and is told in our own words if it is the database's.
        blocking(opened.__aexit__(type(error), error, error.__traceback__))
        raise
    blocking(opened.__aexit__(None, None, None))


@asynccontextmanager
async def in_sqlite(database: Path, serde: JsonPlusSerializer) -> AsyncIterator[HomeSaver]:
    """Open one SQLite file: write-ahead log, 30 seconds of patience with other processes.

    Args:
        database: The file, made where it is missing.
        serde: Reads and writes values.

    Raises:
        MemoryTrouble: as ``checkpoints``.
    """
    import aiosqlite

    from snellen.memory.savers import HomeSaver

    # Only the database's own errors: what else goes wrong while a graph runs is not this file's fault.
    with storing_rows(database):
        if await asyncio.to_thread(is_read_only, database.parent):
            reading = await asyncio.to_thread(_connected_to_read, database)
            async with aiosqlite.Connection(lambda: reading, iter_chunk_size=64) as connection:
                saver = HomeSaver(connection, serde=serde)
                saver.is_setup = True
                yield saver
            return
        async with aiosqlite.Connection(lambda: connect(database), iter_chunk_size=64) as connection:
            saver = HomeSaver(connection, serde=serde)
            await saver.setup()
            try:
                yield saver
            finally:
                # A cursor of a cancelled run keeps a closed connection alive, and a transaction would keep its lock.
                async with saver.lock:
                    await connection.rollback()


def _connected_to_read(database: Path) -> sqlite3.Connection:
    """Open checkpoints where nothing can be written; none, where there is no file."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    if database.exists():
        return connect(database, any_thread=True)
    empty = sqlite3.connect(":memory:", check_same_thread=False)
    SqliteSaver(empty).setup()
    return empty


def serializer(state_types: Iterable[type] = ()) -> JsonPlusSerializer:
    """Return the serializer of checkpoints: it revives plain values and ``state_types``, nothing else.

    Naming the classes keeps it strict even where langgraph was imported before this package set its variable.
    """
    from snellen.memory.savers import StateSerializer

    allowed = [(kind.__module__, kind.__qualname__) for kind in state_types]
    return StateSerializer(allowed_msgpack_modules=allowed)


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
        BadInput: ``SNELLEN_CHECKPOINTS`` names no database that can be used.
        MemoryTrouble: the database is damaged or out of reach.
    """
    return {thread: graph for thread, (graph, _) in thread_heads(folder).items()}


def thread_graph(thread: str, folder: Path | None = None) -> str | None:
    """Return the name of a thread's graph as ``thread_graphs`` does, without reading of others; None: no such thread.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` names no database that can be used.
        MemoryTrouble: the database is damaged or out of reach.
    """
    head = thread_heads(folder, thread).get(thread)
    return None if head is None else head[0]


def thread_heads(folder: Path | None = None, thread: str | None = None) -> dict[str, tuple[str, str]]:
    """Return what ``thread_graphs`` does, with the id of the latest checkpoint of each thread beside its graph.

    Args:
        folder: The memory's home.
        thread: Only of this thread, if there is such a one.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` names no database that can be used.
        MemoryTrouble: the database is damaged or out of reach.
    """
    place, server = folder or home_to_read(), chosen_server()
    if server is not None:
        return postgres_threads(server, place, thread)
    return sqlite_threads(place / DATABASE, thread)


def newest_graphs(folder: Path, *, limit: int, skipped: int = 0) -> tuple[dict[str, str], int]:
    """Return what ``thread_graphs`` does of a few threads, and how many threads there are.

    Args:
        folder: The memory's home.
        limit: At most so many.
        skipped: So many come before these.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` names no database that can be used.
        MemoryTrouble: the database is damaged or out of reach.
    """
    database = folder / DATABASE
    if chosen_server() is not None:
        graphs = thread_graphs(folder)
        return dict(list(graphs.items())[skipped : skipped + limit]), len(graphs)
    if not database.exists():
        return {}, 0
    with storing(database), closing(connect(database)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'").fetchone() is None:
            return {}, 0
        # The names and ids of all are in an index; metadata is read of these few alone.
        heads = (
            "SELECT thread_id, MAX(checkpoint_id) AS checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' "
            "GROUP BY thread_id"
        )
        rows = connection.execute(
            f"SELECT thread_id, metadata FROM ({heads} ORDER BY 2 DESC LIMIT ? OFFSET ?) "  # noqa: S608 - our own words
            "JOIN checkpoints USING (thread_id, checkpoint_id) WHERE checkpoint_ns = '' ORDER BY checkpoint_id DESC",
            [limit, skipped],
        ).fetchall()
        (count,) = connection.execute(f"SELECT COUNT(*) FROM ({heads})").fetchone()  # noqa: S608 - as above
    return {thread: _graph(metadata) for thread, metadata in rows}, count


def saved_at(checkpoint: str) -> datetime | None:
    """Return when a checkpoint was saved, in UTC, as its id tells; None where it does not."""
    try:
        identity = uuid.UUID(checkpoint)
    except ValueError:
        return None
    if identity.version != _SORTED_BY_TIME:
        return None
    # RFC 9562, section 5.6: 60 bits of time, the highest first, around the version.
    ticks = ((identity.int >> 80) << 12) | ((identity.int >> 64) & 0xFFF)
    return _GREGORIAN + timedelta(microseconds=ticks // 10)


def sqlite_threads(database: Path, thread: str | None = None) -> dict[str, tuple[str, str]]:
    """Return what ``thread_heads`` does, of one SQLite file; nothing where it is missing."""
    if not database.exists():
        return {}
    with storing(database), closing(connect(database)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'").fetchone() is None:
            return {}
        # Beside MAX, SQLite gives the other columns of the very row that has it.
        rows = connection.execute(
            "SELECT thread_id, metadata, MAX(checkpoint_id) FROM checkpoints "  # noqa: S608 - our own words
            f"WHERE checkpoint_ns = '' {'' if thread is None else 'AND thread_id = ?'} "
            "GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC",
            [] if thread is None else [thread],
        ).fetchall()
    return {name: (_graph(metadata), checkpoint) for name, metadata, checkpoint in rows}


def _graph(metadata: bytes | str | None) -> str:
    try:
        said = json.loads(metadata or "{}")
        return str(said.get("graph", ""))
    except UNREADABLE:
        return ""
