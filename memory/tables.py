"""A table of its own database in the home, safe for threads and for several processes at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from filelock import FileLock
from sqlite_utils import Database

from snellen.memory.home import connect, is_read_only, storing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlite_utils import Migrations


class DatabaseTable:
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
        self._migrations = migrations
        self._read_only = folder.is_dir() and is_read_only(folder)
        if self._read_only:
            return
        # One process at a time: two would both find a migration pending, and the second would fail at it.
        with storing(folder), FileLock(folder / f"{database}.lock", timeout=30), self._rows() as rows:
            migrations.apply(rows)

    @contextmanager
    def _rows(self) -> Iterator[Database]:
        """A connection of this thread's own."""
        place = self.folder / self._database
        open_ = partial(opened_to_read, migrations=self._migrations) if self._read_only else connect
        with storing(self.folder), closing(open_(place)) as connection:
            yield Database(connection)


def opened_to_read(place: Path, migrations: Migrations) -> sqlite3.Connection:
    """Open a database where nothing can be written; if it is missing or not up to date, a copy in memory that is.

    Args:
        place: The file.
        migrations: What brings it up to date.

    Raises:
        sqlite3.DatabaseError: the file is damaged or out of reach (call inside ``storing``).
    """
    there = connect(place) if place.exists() else None
    if there is not None and not migrations.pending(Database(there)):
        return there
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    if there is not None:
        with closing(there):
            there.backup(copy)
    migrations.apply(Database(copy))
    return copy
