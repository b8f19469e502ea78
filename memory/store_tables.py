"""Tables that several machines may share: in the Postgres of the store, or else in a SQLite file of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.memory.postgres.server import store_server
from snellen.memory.tables import DatabaseTable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from snellen.memory.database_library import Migrations
    from snellen.memory.statements import Statements, TableDatabase


class StoreTable:
    """Tables of one home, or of the store that it shares.

    Args:
        folder: The memory's home.
        database: The name of the SQLite file.
        migrations: The steps that bring the SQLite file up to date.
        steps: The statements that do so in Postgres, each step once.
        lock: The name of the lock's file in the home; that of the SQLite file with `.lock`, if empty.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
        MemoryTrouble: the database is damaged, locked or read-only, the disk is full, or Postgres cannot be reached.
    """

    def __init__(
        self, folder: Path, database: str, migrations: Migrations, steps: Sequence[str], *, lock: str = ""
    ) -> None:
        self.folder = folder
        server = store_server()
        if server is None:
            self._database: TableDatabase = DatabaseTable(folder, database, migrations, lock=lock)
        else:
            from snellen.memory.postgres.tables import PostgresDatabase

            self._database = PostgresDatabase(server, folder, database, steps)

    @property
    def is_read_only(self) -> bool:
        """Tell whether nothing can be written to it."""
        return self._database.is_read_only

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
