"""Locks of threads that lie in Postgres: advisory locks, which end with the connection that took them.

They hold across machines. A table beside them says who took which; the lock is the truth.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection, Error
from psycopg.rows import DictRow, dict_row

from snellen.memory.home import MemoryTrouble
from snellen.memory.postgres.server import Server, connected, entering, lock_key, prepared, reaching

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

_HELD: Final[dict[tuple[str, str], AsyncConnection[DictRow]]] = {}
"""The connections that hold threads for this process, by schema and thread."""

_GONE_SECONDS: Final = 0.5
"""How long a server may take to notice that a process was killed."""

_MANNERS: Final = (
    # It stays open, and idle, for as long as the thread runs.
    "SET idle_session_timeout = 0",
    # Of a machine that vanished, the server lets go within a minute.
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)

_WHO: Final = """
SELECT holder.interface, holder.process, holder.host, holder.since
FROM pg_locks AS lock
LEFT JOIN snellen_holders AS holder ON holder.thread = %(thread)s AND holder.backend = lock.pid
WHERE lock.locktype = 'advisory' AND lock.granted AND lock.objsubid = 1
AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND lock.classid::bigint = %(high)s AND lock.objid::bigint = %(low)s
"""

_NOTE: Final = """
INSERT INTO snellen_holders (thread, backend, interface, process, host, since)
VALUES (%(thread)s, pg_backend_pid(), %(interface)s, %(process)s, %(host)s, %(since)s)
ON CONFLICT (thread) DO UPDATE SET backend = EXCLUDED.backend, interface = EXCLUDED.interface,
process = EXCLUDED.process, host = EXCLUDED.host, since = EXCLUDED.since
"""


@asynccontextmanager
async def holding(server: Server, folder: Path, thread: str, holder: dict[str, Any]) -> AsyncIterator[bool]:
    """Hold a thread by a connection of its own, unless another one does.

    Args:
        server: Where the checkpoints lie.
        folder: The memory's home.
        thread: Which one.
        holder: Who takes it: ``interface``, ``process``, ``host`` and ``since``.

    Yields:
        Whether it is held now.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    schema = await asyncio.to_thread(prepared, server, folder)
    with reaching(server):
        connection = await _opened(server, schema)
    try:
        with reaching(server):
            taken = await _take(connection, schema, thread, holder)
        if taken:
            _HELD[schema, thread] = connection
        yield taken
    finally:
        if _HELD.get((schema, thread)) is connection:
            del _HELD[schema, thread]
            # Where the connection was lost, so was the lock, and the note says nothing without it.
            with suppress(Error):
                await connection.execute("DELETE FROM snellen_holders WHERE thread = %s", [thread])
        await connection.close()


async def _opened(server: Server, schema: str) -> AsyncConnection[DictRow]:
    connection = await AsyncConnection.connect(
        server.address, autocommit=True, prepare_threshold=0, row_factory=dict_row
    )
    for statement in (entering(schema), *_MANNERS):
        await connection.execute(statement)
    return connection


async def _take(connection: AsyncConnection[DictRow], schema: str, thread: str, holder: dict[str, Any]) -> bool:
    until = time.monotonic() + _GONE_SECONDS
    while True:
        rows = await connection.execute("SELECT pg_try_advisory_lock(%s) AS taken", [_key(schema, thread)])
        row = await rows.fetchone()
        if row is not None and row["taken"]:
            break
        if time.monotonic() > until:
            return False
        await asyncio.sleep(_GONE_SECONDS / 10)
    await connection.execute(_NOTE, {"thread": thread, **holder})
    return True


async def check_held(schema: str, thread: str) -> None:
    """Make sure that a thread that this process took is still its own; one that it did not take is not looked at.

    Raises:
        MemoryTrouble: the connection that held it was lost.
    """
    connection = _HELD.get((schema, thread))
    if connection is None:
        return
    try:
        await connection.execute("SELECT 1")
    except Error as error:
        msg = (
            f"The connection to Postgres that held the thread {thread!r} was lost, so another process may have taken "
            "it up; nothing more was saved here, and what was saved before is still there."
        )
        raise MemoryTrouble(msg) from error


def found_holder(server: Server, folder: Path, thread: str) -> dict[str, Any] | None:
    """Return who runs a thread, with None for what is not known of them; None where nobody does.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    with connected(server, folder) as connection:
        row = connection.execute("SELECT current_schema() AS schema").fetchone()
        key = _key(row["schema"] if row else "", thread) % 2**64
        return connection.execute(_WHO, {"thread": thread, "high": key >> 32, "low": key % 2**32}).fetchone()


def _key(schema: str, thread: str) -> int:
    return lock_key(f"{schema} {thread}")
