"""A database of its own in the home, safe for threads and for several processes at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from snellen.memory.database_library import Database
from snellen.memory.folder_lock import FolderLock
from snellen.memory.home import connect, storing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from snellen.memory.database_library import Migrations


class DatabaseTable:
    """A database that is brought up to date when it is opened.

    Args:
        folder: The memory's home.
        database: The file's name.
        migrations: The steps that bring it up to date.
        lock: The name of the lock's file; that of the database with `.lock`, if empty.

    Raises:
        MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
    """

    def __init__(self, folder: Path, database: str, migrations: Migrations, *, lock: str = "") -> None:
        self.folder, self.path = folder, folder / database
        self._migrations = migrations
        self._lock = FolderLock(folder, lock or f"{database}.lock")
        self.is_read_only = self._lock.is_read_only
        if self.is_read_only:
            return
        # One process at a time: two would both find a migration pending, and the second would fail at it.
        with self.writing(), self._rows() as rows:
            self._upgrade(rows)

    def writing(self) -> AbstractContextManager[None]:
        """Keep all others from writing who ask for it as well, in this process and elsewhere.

        Raises:
            MemoryTrouble: another process has held it for a minute, or the folder is not writable.
        """
        return self._lock.held()

    @contextmanager
    def _rows(self) -> Iterator[Database]:
        """Open the database for one operation: connections do not cross threads, and opening one is cheap."""
        with storing(self.path), closing(self._connected()) as connection:
            yield Database(connection)

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the database open inside the block; it may be entered and left on different threads.

        Whoever closes a database last moves what is in its log into it, and forces both to the disk. So where one
        change follows another, each is forced to the disk twice or three times, unless somebody has it open.

        Raises:
            MemoryTrouble: the database is damaged, locked or out of reach.
        """
        with storing(self.path):
            connection = self._connected(any_thread=True)
        try:
            yield
        finally:
            with storing(self.path):
                connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open the database to read from it.

        Raises:
            MemoryTrouble: the database is damaged, locked or out of reach.
        """
        with self._rows() as rows:
            yield rows.conn

    @contextmanager
    def transaction(self, *, exclusive: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the database for one change, all of it or nothing.

        Args:
            exclusive: Let no other writer in meanwhile: what is read inside the block stays so until it ends.

        Raises:
            MemoryTrouble: the disk is full, or the database is damaged, read-only, locked or out of reach.
        """
        with storing(self.path), closing(self._connected()) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE" if exclusive else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                connection.rollback()
                raise

    def _connected(self, *, any_thread: bool = False) -> sqlite3.Connection:
        """Open the database; where nothing can be written and it is not up to date, a copy in memory that is.

        Raises:
            sqlite3.DatabaseError: the file is damaged or out of reach (call inside ``storing``).
        """
        if not self.is_read_only:
            return connect(self.path, any_thread=any_thread)
        there = connect(self.path, any_thread=any_thread) if self.path.exists() else None
        if there is not None and not self._migrations.pending(Database(there)):
            return there
        copy = sqlite3.connect(":memory:", check_same_thread=False)
        if there is not None:
            with closing(there):
                there.backup(copy)
        self._upgrade(Database(copy))
        return copy

    def _upgrade(self, rows: Database) -> None:
        self._migrations.apply(rows)
