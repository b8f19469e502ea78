"""A table of its own database in the home, safe for threads and for several processes at once."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock
from sqlite_utils import Database

from memory.home import connect, storing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlite_utils import Migrations


class Table:
    """A database that is brought up to date when it is opened.

    Args:
        folder: The memory's home.
        database: The file's name.
        migrations: What brings it up to date.

    Raises:
        MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
    """

    def __init__(self, folder: Path, database: str, migrations: Migrations) -> None:
        self.folder, self._database = folder, database
        # One process at a time: two would both find a migration pending, and the second would fail at it.
        with storing(folder), FileLock(folder / f"{database}.lock", timeout=30), self._rows() as rows:
            migrations.apply(rows)

    @contextmanager
    def _rows(self) -> Iterator[Database]:
        """A connection of this thread's own."""
        with storing(self.folder), closing(connect(self.folder / self._database)) as connection:
            yield Database(connection)
