"""Tables that several machines may share: in the Postgres of the store, or else in a SQLite file of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from snellen.memory.postgres.server import store_server
from snellen.memory.tables import DatabaseTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from snellen.memory.database_library import Migrations


class Result(Protocol):
    """The rows that a statement found, as tuples, or the number of those that it changed."""

    @property
    def rowcount(self) -> int:
        """Return how many rows were changed, by all executions of the statement together."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row
        """Return the next row; None after the last one."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows that are left."""


class Statements(Protocol):
    """What takes statements that SQLite and Postgres both know, with a ``?`` for each value."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Result:
        """Execute a statement."""

    def executemany(self, query: str, values: Sequence[Sequence[Any]], /) -> Result:
        """Execute a statement once for each of several rows of values."""


class Database(Protocol):
    """A database that tables lie in."""

    def reading(self) -> AbstractContextManager[Statements]:
        """Open it to read from it."""

    def transaction(self, *, exclusive: bool = False) -> AbstractContextManager[Statements]:
        """Open it for one change, all of it or nothing; no other writer is let in if ``exclusive``."""

    def kept_open(self) -> AbstractContextManager[None]:
        """Keep it open inside the block, where one change follows another."""


class StoreTable:
    """Tables of one home, or of the store that it shares.

    Args:
        folder: The memory's home.
        database: The name of the SQLite file.
        migrations: The steps that bring the SQLite file up to date.
        steps: The statements that do so in Postgres, each step once.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
        MemoryTrouble: the database is damaged, locked or read-only, the disk is full, or Postgres cannot be reached.
    """

    def __init__(self, folder: Path, database: str, migrations: Migrations, steps: Sequence[str]) -> None:
        self.folder = folder
        server = store_server()
        if server is None:
            self._database: Database = DatabaseTable(folder, database, migrations)
        else:
            from snellen.memory.postgres.tables import PostgresDatabase

            self._database = PostgresDatabase(server, folder, database.partition(".")[0], steps)

    def kept_open(self) -> AbstractContextManager[None]:
        """Keep the database open inside the block; it may be entered and left on different threads.

        Raises:
            MemoryTrouble: the database is damaged, locked or out of reach.
        """
        return self._database.kept_open()

    def _reading(self) -> AbstractContextManager[Statements]:
        return self._database.reading()

    def _transaction(self, *, exclusive: bool = False) -> AbstractContextManager[Statements]:
        return self._database.transaction(exclusive=exclusive)


def is_there(folder: Path, database: str) -> bool:
    """Tell whether a home, or its store, has tables of a kind.

    Args:
        folder: The memory's home.
        database: The name of their SQLite file; a store has them all.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
    """
    return store_server() is not None or (folder / database).exists()
