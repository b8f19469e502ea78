"""The Postgres server of a home: its address, the schema of each home, and one sentence for each trouble with it.

Several machines share one database; the owner's home uses the schema that the address leads to, every
other home a schema of its own beside it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.memory.home import MemoryTrouble, home_name
from snellen.memory.store import DATABASE_SCHEMES, STORE_VARIABLE, store_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psycopg import Connection
    from psycopg.rows import DictRow

CHECKPOINTS_VARIABLE: Final = "SNELLEN_CHECKPOINTS"

PATIENCE_SECONDS: Final = 10.0
"""How long a server may take to answer when a connection is opened."""

_SETUP_SECONDS: Final = 60.0
_SETUP_LOCK: Final = "setup"
_NAME_LETTERS: Final = 24
"""Of a home's name in the name of its schema; Postgres takes 63 bytes in all."""

_MANNERS: Final = {
    "connect_timeout": str(int(PATIENCE_SECONDS)),
    "application_name": "snellen",
    # A server that vanished is noticed within a minute, not after the two hours that systems take by themselves.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""How we connect, unless the address says otherwise."""

_HOLDERS: Final = """
CREATE TABLE IF NOT EXISTS snellen_holders (
    thread TEXT PRIMARY KEY,
    backend INTEGER NOT NULL,
    interface TEXT NOT NULL,
    process INTEGER NOT NULL,
    host TEXT NOT NULL,
    since TIMESTAMPTZ NOT NULL
)
"""

_REMEDIES: Final = {
    "28": "it refuses the user or the password; mend {variable}",
    "3D000": "there is no such database; create it, or mend {variable}",
    "3F000": "the address leads to no schema that exists; create the one that its search_path names",
    "42501": "its user may not do this; grant it CREATE on the database and on its schema",
    "25006": "it is read-only; name the primary server in {variable}",
    "53100": "its disk is full; free some space and try again",
    "53300": "it has no connection left; end other programs, or raise its max_connections",
    "40P01": "another process wrote the same at the same time; nothing was stored here, try again",
    "55P03": "another process kept it locked for a minute; try again when that has finished",
    "57": "the connection was ended by the server; what was saved before is still there, try again when it is back",
}
"""What to do, by the beginning of the error's SQLSTATE."""


@dataclass(frozen=True)
class Server:
    """The address of a database.

    Attributes:
        address: As libpq reads it, with the password: never to be shown.
        place: As sentences name it, without user and password.
        variable: The environment variable that names it.
    """

    address: str = field(repr=False)
    place: str
    variable: str


def chosen_server() -> Server | None:
    """Return the server that has the checkpoints: that of ``SNELLEN_CHECKPOINTS``, else that of the store.

    Returns:
        None where checkpoints lie in SQLite.

    Raises:
        BadInput: a variable names no Postgres, or the extra ``postgres`` is not installed.
    """
    chosen = os.environ.get(CHECKPOINTS_VARIABLE, "").strip()
    if not chosen:
        return store_server()
    if chosen.lower() == "sqlite":
        return None
    # What was given is not repeated: it may have a password anywhere.
    if not chosen.startswith(DATABASE_SCHEMES):
        msg = (
            f"{CHECKPOINTS_VARIABLE} names no database that can be used: leave it out for SQLite in the home, or give "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        )
        raise BadInput(msg)
    return _read(chosen, CHECKPOINTS_VARIABLE)


def store_server() -> Server | None:
    """Return the server that has the tables of the store that ``SNELLEN_STORE`` names; None without a store.

    Raises:
        BadInput: as ``chosen_server``.
    """
    address = store_addresses().database
    return _read(address, STORE_VARIABLE) if address else None


def _read(address: str, variable: str) -> Server:
    try:
        for needed in ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres"):
            importlib.import_module(needed)
    except ImportError as error:
        msg = f"A memory in Postgres ({variable}) needs an extra: pip install 'snellen[postgres]'."
        raise BadInput(msg) from error
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    msg = (
        f"{variable} is no address of a Postgres: give postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and "
        "write what is neither letter nor digit in a password as %XX, such as %40 for @."
    )
    try:
        parts = conninfo_to_dict(address)
    except Error:
        # libpq repeats what it did not understand, which may be the password.
        raise BadInput(msg) from None
    host, port = str(parts.get("host", "")), str(parts.get("port", ""))
    database = str(parts.get("dbname", ""))
    if "@" in host + database or not re.fullmatch(r"[\d,]*", port):
        raise BadInput(msg)
    where = f"Postgres at {host or os.environ.get('PGHOST') or 'its local socket'}"
    place = f"{where}{port and ':'}{port}{database and f', database {database}'}"
    return Server(make_conninfo(**(_MANNERS | {name: str(value) for name, value in parts.items()})), place, variable)


@contextmanager
def reaching(server: Server) -> Iterator[None]:
    """Turn trouble with Postgres inside the block into one sentence.

    Raises:
        MemoryTrouble: the server cannot be reached, refuses us, or the connection was lost.
    """
    from psycopg import Error
    from psycopg_pool import PoolClosed, PoolTimeout

    try:
        yield
    except (PoolTimeout, PoolClosed) as error:
        msg = f"The memory in {server.place} cannot be used: it does not answer; start it and try again."
        raise MemoryTrouble(msg) from error
    except Error as error:
        msg = f"The memory in {server.place} cannot be used: {_remedy(error, server.variable)}."
        raise MemoryTrouble(msg) from error


def _remedy(error: Exception, variable: str) -> str:
    from psycopg import OperationalError

    state = getattr(error, "sqlstate", None) or ""
    # Before a connection stands, psycopg knows no SQLSTATE.
    said = " ".join(str(error).split())[:200].rstrip(".")
    if not state and "authentication failed" in said:
        state = "28"
    if not state and "does not exist" in said and "database" in said:
        state = "3D000"
    if not state and "too many" in said and "clients" in said:
        state = "53300"
    for sign, remedy in _REMEDIES.items():
        if state.startswith(sign):
            return remedy.format(variable=variable)
    if isinstance(error, OperationalError):
        return f"it cannot be reached ({said}); start it, or mend {variable}, and try again"
    return f"the database said {said!r}; look after it and try again"


@contextmanager
def opened(server: Server) -> Iterator[Connection[DictRow]]:
    """Open a connection that commits each statement by itself.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    import psycopg
    from psycopg.rows import dict_row

    with (
        reaching(server),
        psycopg.connect(server.address, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection,
    ):
        yield connection


@contextmanager
def connected(server: Server, folder: Path) -> Iterator[Connection[DictRow]]:
    """Open a connection to the tables of a home, which are made where they are missing.

    Args:
        server: Where they lie.
        folder: The memory's home.

    Yields:
        A connection that commits each statement by itself.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    with opened(server) as connection:
        schema = schema_of(connection, folder)
        connection.execute(entering(schema))
        if not _is_set_up(connection):
            _set_up(connection, schema)
        yield connection


def thread_heads(server: Server, folder: Path, thread: str | None = None) -> dict[str, tuple[str, str]]:
    """Return all threads of a home, the one written to last first: the graph of each, and its latest checkpoint's id.

    Args:
        server: The server.
        folder: The memory's home.
        thread: Only this thread.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    with connected(server, folder) as connection:
        rows = connection.execute(
            "SELECT thread_id, graph, checkpoint_id FROM ("
            "SELECT DISTINCT ON (thread_id) thread_id, checkpoint_id, coalesce(metadata ->> 'graph', '') AS graph "
            "FROM checkpoints WHERE checkpoint_ns = '' AND thread_id = coalesce(%s, thread_id) "
            "ORDER BY thread_id, checkpoint_id DESC"
            ") AS newest ORDER BY checkpoint_id DESC",
            [thread],
        ).fetchall()
    return {row["thread_id"]: (row["graph"], row["checkpoint_id"]) for row in rows}


def contents(server: Server, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what is saved of every thread of a home, in pieces: the thread's name, and bytes as they were written.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    with connected(server, folder) as connection:
        for query in (
            "SELECT thread_id, convert_to(checkpoint::text, 'UTF8') AS content FROM checkpoints",
            "SELECT thread_id, blob AS content FROM checkpoint_blobs WHERE blob IS NOT NULL",
            "SELECT thread_id, blob AS content FROM checkpoint_writes",
        ):
            for row in connection.execute(query):
                yield str(row["thread_id"]), bytes(row["content"])


def prepared(server: Server, folder: Path) -> str:
    """Make sure that a home's tables are there, and return the name of their schema.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    with connected(server, folder) as connection:
        return str(_one(connection, "SELECT current_schema() AS found"))


def entering(schema: str) -> Any:  # noqa: ANN401 - psycopg's Composed; naming it would import psycopg
    """Return the statement by which a connection sees the tables of one home, and no others."""
    from psycopg.sql import SQL, Identifier

    return SQL("SET search_path TO {}").format(Identifier(schema))


def lock_key(name: str) -> int:
    """Return the number of the advisory lock that has a name: the first 64 bits of its SHA-256, signed."""
    return int.from_bytes(hashlib.sha256(f"snellen {name}".encode()).digest()[:8], "big", signed=True)


def schema_of(connection: Connection[DictRow], folder: Path) -> str:
    """Return the schema of a home's threads: that of the address for the owner's, one of its own for every other.

    Raises:
        psycopg.Error: the address leads to no schema (call inside ``reaching``).
    """
    own = _one(connection, "SELECT current_schema() AS found")
    if own is None:
        from psycopg.errors import InvalidSchemaName

        raise InvalidSchemaName
    name, distinct = home_name(folder)
    if not name:
        return str(own)
    return named_schema(own, name, distinct=distinct and str(folder.absolute()))


def named_schema(own: str, name: str, distinct: str = "") -> str:
    """Return the name of a schema beside that of the address, after a home or what is in it.

    The digest keeps apart what looks alike once it is cut and spelt plainly.
    """
    digest = hashlib.sha256(f"{own}\n{distinct or name}".encode()).hexdigest()[:16]
    return f"snellen_{re.sub('[^a-z0-9]', '_', name.lower())[:_NAME_LETTERS]}_{digest}"


def _is_set_up(connection: Connection[DictRow]) -> bool:
    from langgraph.checkpoint.postgres.base import MIGRATIONS

    there = "SELECT to_regclass('checkpoint_migrations') IS NOT NULL AND to_regclass('snellen_holders') IS NOT NULL"
    if not _one(connection, f"{there} AS found"):
        return False
    return bool(_one(connection, "SELECT max(v) AS found FROM checkpoint_migrations") == len(MIGRATIONS) - 1)


def _set_up(connection: Connection[DictRow], schema: str) -> None:
    from langgraph.checkpoint.postgres import PostgresSaver

    with setting_up(connection, schema):
        PostgresSaver(connection).setup()
        connection.execute(_HOLDERS)


@contextmanager
def setting_up(connection: Connection[DictRow], schema: str) -> Iterator[None]:
    """Make the tables of a schema inside the block, while no other process does; the schema is there by then.

    One that waits for the lock asks for it again and again: inside one long statement it would be among those that an
    index which is built concurrently waits for, and both would wait for ever.

    Raises:
        psycopg.Error: another process has kept the lock, or the server refuses (call inside ``reaching``).
    """
    from psycopg.errors import LockNotAvailable
    from psycopg.sql import SQL, Identifier

    until, key = time.monotonic() + _SETUP_SECONDS, lock_key(_SETUP_LOCK)
    while not _one(connection, f"SELECT pg_try_advisory_lock({key}) AS found"):
        if time.monotonic() > until:
            raise LockNotAvailable
        time.sleep(0.05)
    if _one(connection, "SELECT current_schema() AS found") is None:
        connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema)))
    yield
    # Where the block failed, the lock ends with the connection.
    connection.execute(f"SELECT pg_advisory_unlock({key})")


def _one(connection: Connection[DictRow], query: Any) -> Any:  # noqa: ANN401 - of any type
    row = connection.execute(query).fetchone()
    return None if row is None else row["found"]
