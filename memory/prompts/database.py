"""The database of learned prompts: its opening, its connections, and the move from files of earlier versions."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from snellen.memory.database_library import Database
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import MemoryTrouble, storing, write_ahead
from snellen.memory.prompts import rows as table
from snellen.memory.prompts.blocks import OldBlocks
from snellen.memory.prompts.rows import DATABASE
from snellen.memory.tables import DatabaseTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOCK: Final = "prompts.lock"

_PAGE_BYTES: Final = 16_384
"""Of a new database: few features of 768 numbers fit a page of SQLite's own 4,096 bytes without waste."""
_LOGGER = logging.getLogger(__name__)


class PromptsGone(MemoryTrouble):
    """There are files of prompts, and no database that knows them."""


class PromptDatabase(DatabaseTable):
    """A database that several threads and processes look things up in while others learn and forget."""

    def __init__(self, folder: Path, *, rebuilding: bool = False, tolerant: bool = False) -> None:
        """Open the database of a home and bring it up to date.

        Args:
            folder: The memory's home.
            rebuilding: Begin a new database although there are files of prompts that the old one knew.
            tolerant: Be empty where the database is damaged or gone, and say so (``trouble``); only changes raise then.

        Raises:
            MemoryTrouble: the database is damaged, gone, locked or read-only, or the disk is full.
        """
        self.trouble: MemoryTrouble | None = None
        self.old_blocks = OldBlocks(folder)
        self._rebuilding = rebuilding
        self._connection: sqlite3.Connection | None = None
        self._opened_file = (0, 0, 0)
        self._searching = threading.RLock()
        try:
            super().__init__(folder, DATABASE, table.migrations, lock=_LOCK)
            if not self.is_read_only:
                self.deliver_demonstrations()
        except MemoryTrouble as error:
            if not (tolerant and _is_damage(error)):
                raise
            self.trouble = error

    def deliver_demonstrations(self) -> None:
        """Carry demonstrations that arrived with an import over to their pool; nothing happens where none wait.

        Raises:
            MemoryTrouble: their database cannot be written; they wait for the next opening.
        """
        with self.database() as rows:
            waiting = table.arrived(rows)
            if waiting:
                DemonstrationPool(self.folder).add(*waiting)
                table.delivered(rows, [one.id for one in waiting])

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the database for one operation."""
        with self._rows() as rows:
            yield rows

    @contextmanager
    def changing(self) -> Iterator[Database]:
        """Open the database for a change, and keep all others from writing, in this process and elsewhere.

        Raises:
            MemoryTrouble: another process has been writing for a minute, or the folder is not writable.
        """
        if self.trouble is not None:
            raise self.trouble
        with self.writing(), self._rows() as rows:
            rows.execute("PRAGMA secure_delete = ON")
            yield rows

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """Look at one state of the database, one thread at a time, through a connection that stays open.

        SQLite tidies up whenever the last connection closes: too slow for each of many lookups.
        """
        if self.trouble is not None:
            with self.database() as rows:
                yield rows
            return
        with self._searching, storing(self.path):
            file = self.path.stat()
            opened = (os.getpid(), file.st_dev, file.st_ino)  # neither a child's nor that of a file that is gone
            if self._connection is None or self._opened_file != opened:
                self._connection, self._opened_file = self._connected(any_thread=True), opened
                weakref.finalize(self, self._connection.close)
            if self._connection.in_transaction:  # whoever is told of trouble looks, too
                yield Database(self._connection)
                return
            self._connection.execute("BEGIN")
            try:
                yield Database(self._connection)
            finally:
                self._connection.rollback()

    def _connected(self, *, any_thread: bool = False) -> sqlite3.Connection:
        if self.trouble is not None:
            empty = sqlite3.connect(":memory:")
            self._prepare(empty)
            table.migrations.apply(Database(empty))
            return empty
        if not (self.is_read_only or self.path.exists()):
            self._begin()
        connection = super()._connected(any_thread=any_thread)
        self._prepare(connection)
        return connection

    def _begin(self) -> None:
        if self.old_blocks.paths() and not self._rebuilding:
            msg = (
                f"The memory at {self.folder} has files of prompts, but {DATABASE} is gone: "
                "run `snellen memory verify`, which reads it from these files again (nothing was changed)."
            )
            raise PromptsGone(msg)
        with closing(sqlite3.connect(self.path)) as new:
            new.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            write_ahead(new)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Let SQL read the files of earlier versions."""
        connection.create_function("block_feature", 2, self.old_blocks.feature)
        connection.create_function("block_prompt", 2, self.old_blocks.prompt)

    def _upgrade(self, rows: Database) -> None:
        """Bring the database up to date, and delete the files of earlier versions that it took the tensors from."""
        self._prepare(rows.conn)
        if self.is_read_only:  # a copy in memory: tensors are read from where they are
            table.migrations.apply(rows, stop_before=table.TENSORS)
            rows.execute(f"CREATE TEMP VIEW prompt_tensors AS {table.FROM_BLOCKS}")
            return
        table.migrations.apply(rows)
        moved = {row[0] for row in rows.execute("SELECT block FROM moved_blocks")} | self.old_blocks.unfinished()
        if not moved:
            return
        try:
            self.old_blocks.delete(moved)
        except OSError as error:
            _LOGGER.warning("A file of an earlier version was not deleted: %s", error)
        else:
            with rows.atomic():
                rows.execute("DELETE FROM moved_blocks")


def shrink(rows: Database) -> None:
    """Let what was forgotten leave the disk; where there is no room to do so, its pages stay, overwritten by zeros."""
    free, pages = (rows.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    with suppress(sqlite3.OperationalError):
        if 2 * free > pages:
            rows.execute("VACUUM")
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _is_damage(error: MemoryTrouble) -> bool:
    cause = error.__cause__
    # A database that is locked, read-only or out of room is trouble of another kind.
    damaged = isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.OperationalError)
    return damaged or isinstance(error, PromptsGone)
