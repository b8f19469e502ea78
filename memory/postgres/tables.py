"""The tables of a store in Postgres, for statements that are written for SQLite too; imported only where it is used.

They lie in a schema of their own beside that of the home's threads, which may be one that others use as well.
"""

from __future__ import annotations

import atexit
import re
import threading
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from psycopg import Connection, Cursor, IsolationLevel
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool

from snellen.memory.home import MemoryTrouble, owners_home
from snellen.memory.postgres.server import (
    PATIENCE_SECONDS,
    Server,
    entering,
    lock_key,
    named_schema,
    opened,
    reaching,
    schema_of,
    setting_up,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psycopg.rows import RowMaker

    from snellen.memory.statements import Statements

_AT_ONCE: Final = 8
"""Connections of one process to one schema."""
_IDLE_SECONDS: Final = 60.0

_MANNERS: Final = (
    # Of a machine that vanished in the middle of a change, the server lets go.
    "SET idle_in_transaction_session_timeout = '60s'",
    "SET lock_timeout = '60s'",
)

_STEPS: Final = "CREATE TABLE IF NOT EXISTS steps (kind TEXT PRIMARY KEY, done BIGINT NOT NULL)"

_NUL: Final = "\ufffe0"
_MARK: Final = "\ufffe"
"""A character that no text is meant to have: here it begins what stands for NUL, which text in Postgres cannot have."""

_POOLS: Final[dict[tuple[str, str], ConnectionPool[Connection[tuple[Any, ...]]]]] = {}
_READY: Final[dict[tuple[str, Path, Path, str], str]] = {}
"""The schemas in which tables are up to date: by address, home, the home of whoever runs this process, and kind."""
_OPENING: Final = threading.Lock()


class PostgresDatabase:
    """The tables of one kind, of one home or of the machines that share it; safe for threads.

    Connections are kept for the next change, and looked at before it: a server may have been restarted.

    Args:
        server: Where they lie.
        folder: The memory's home.
        database: The name of the SQLite file that would have them in a home: ``trials.sqlite``.
        steps: The statements that bring them up to date, each step once.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses; or a newer version of Snellen has changed the tables.
    """

    def __init__(self, server: Server, folder: Path, database: str, steps: Sequence[str]) -> None:
        self._server, self._kind = server, database.partition(".")[0]
        self._schema = _up_to_date(server, folder, self._kind, steps)

    @property
    def is_read_only(self) -> bool:
        """Tell whether nothing can be written to it: a server that is read-only says so when something is."""
        return False

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        """Take a connection to read by.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses.
        """
        with reaching(self._server), self._pool().connection() as connection:
            yield _Marked(connection)

    @contextmanager
    def transaction(self, *, exclusive: bool = False) -> Iterator[Statements]:
        """Take a connection for one change, all of it or nothing.

        Args:
            exclusive: Let nobody else in who asks for the same: what is read inside the block stays so until it ends.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses, or its disk is full; nothing was stored.
        """
        with reaching(self._server), self._pool().connection() as connection, connection.transaction():
            if exclusive:
                key = lock_key(f"{self._schema} {self._kind}")
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [key])
            yield _Marked(connection)

    def kept_open(self) -> AbstractContextManager[None]:
        """Do nothing: connections stay open in any case."""
        return nullcontext()

    def _pool(self) -> ConnectionPool[Connection[tuple[Any, ...]]]:
        with _OPENING:
            found = _POOLS.get((self._server.address, self._schema))
            if found is None:
                found = _POOLS[self._server.address, self._schema] = _opened_pool(self._server, self._schema)
            return found


def _opened_pool(server: Server, schema: str) -> ConnectionPool[Connection[tuple[Any, ...]]]:
    def configure(connection: Connection[tuple[Any, ...]]) -> None:
        # What is read after a lock was taken must be what is there by then.
        connection.isolation_level = IsolationLevel.READ_COMMITTED
        for statement in (entering(schema), *_MANNERS):
            connection.execute(statement)

    return ConnectionPool(
        server.address,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": _rows},
        min_size=0,
        max_size=_AT_ONCE,
        max_idle=_IDLE_SECONDS,
        configure=configure,
        check=ConnectionPool.check_connection,
        timeout=PATIENCE_SECONDS,
        reconnect_timeout=PATIENCE_SECONDS,
        open=True,
    )


@atexit.register
def _close_pools() -> None:
    for pool in _POOLS.values():
        pool.close()


def _up_to_date(server: Server, folder: Path, kind: str, steps: Sequence[str]) -> str:
    """Make the tables, or change them as later steps say, and return the name of their schema."""
    known = (server.address, folder.absolute(), owners_home(), kind)
    if known in _READY:
        return _READY[known]
    with opened(server) as connection:
        schema = named_schema(schema_of(connection, folder), "memory")
        connection.execute(entering(schema))
        done = _done(connection, kind)
        if done < len(steps):
            with setting_up(connection, schema), connection.transaction():
                connection.execute(_STEPS)
                # Another process may have done so while this one waited.
                done = _done(connection, kind)
                for step in steps[done:]:
                    connection.execute(step, prepare=False)
                connection.execute(
                    "INSERT INTO steps VALUES (%s, %s) ON CONFLICT (kind) DO UPDATE SET done = excluded.done",
                    [kind, max(done, len(steps))],
                )
    if done > len(steps):
        msg = f"The {kind} in {server.place} are those of a newer version of Snellen; install that one here, too."
        raise MemoryTrouble(msg)
    _READY[known] = schema
    return schema


def _done(connection: Connection[dict[str, Any]], kind: str) -> int:
    there = connection.execute("SELECT to_regclass('steps') IS NOT NULL AS found").fetchone()
    if there is None or not there["found"]:
        return 0
    row = connection.execute("SELECT done FROM steps WHERE kind = %s", [kind]).fetchone()
    return 0 if row is None else int(row["done"])


class _Marked:
    """A connection that takes statements with ``?`` for each value, and any text."""

    def __init__(self, connection: Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Cursor[tuple[Any, ...]]:
        """Execute a statement."""
        return self._connection.execute(_marked(query), [_stored(one) for one in values])

    def executemany(self, query: str, values: Sequence[Sequence[Any]], /) -> Cursor[tuple[Any, ...]]:
        """Execute a statement once for each of several rows of values; they are sent together."""
        cursor = self._connection.cursor()
        cursor.executemany(_marked(query), [[_stored(one) for one in row] for row in values])
        return cursor


@lru_cache(maxsize=256)
def _marked(query: str) -> str:
    return query.replace("?", "%s")


def _rows(cursor: Cursor[Any]) -> RowMaker[tuple[Any, ...]]:
    make = tuple_row(cursor)
    return lambda values: tuple(map(_read, make(values)))


def _stored(value: Any) -> Any:  # noqa: ANN401 - a value of a column
    if isinstance(value, str) and ("\0" in value or _MARK in value):
        return value.replace(_MARK, _MARK * 2).replace("\0", _NUL)
    return value


def _read(value: Any) -> Any:  # noqa: ANN401 - a value of a column
    if isinstance(value, str) and _MARK in value:
        return re.sub(f"{_MARK}(.)", lambda found: "\0" if found[1] == "0" else found[1], value)
    return value
