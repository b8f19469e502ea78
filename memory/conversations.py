"""Threads of conversations, found again for clients that send all that was said and no thread's name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.memory.database_library import Database, Migrations
from snellen.memory.tables import DatabaseTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DATABASE: Final = "conversations.sqlite"
MAX_KEPT: Final = 10_000
"""Turns that are known again; of more, the oldest are forgotten."""

migrations = Migrations("conversations")


@migrations(name="1_turns")
def _turns(db: Database) -> None:
    db.execute("CREATE TABLE turns (history TEXT NOT NULL UNIQUE, thread TEXT NOT NULL, checkpoint TEXT NOT NULL)")


@migrations(name="2_transient")
def _transient(db: Database) -> None:
    # Threads that are deleted when nothing was saved to them after a checkpoint (any, where it is empty) until a time.
    db.execute("CREATE TABLE transient (thread TEXT PRIMARY KEY, checkpoint TEXT NOT NULL, expires REAL NOT NULL)")


@dataclass(frozen=True)
class Turn:
    """The end of an answered turn of a conversation.

    Attributes:
        thread: Its thread.
        checkpoint: The id of the thread's latest checkpoint then.
    """

    thread: str
    checkpoint: str


class ConversationTable(DatabaseTable):
    """The turns of one home's conversations, by what had been said; safe for threads and for several processes."""

    def __init__(self, folder: Path) -> None:
        """Open the table and bring it up to date.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
        """
        super().__init__(folder, DATABASE, migrations)

    def find(self, history: str) -> Turn | None:
        """Return where a conversation stood.

        Args:
            history: A sum of what was said, as ``keep`` was given it.
        """
        with self._rows() as rows:
            turn = rows.conn.execute("SELECT thread, checkpoint FROM turns WHERE history = ?", (history,)).fetchone()
        return Turn(*turn) if turn else None

    def forget(self, threads: Iterable[str]) -> None:
        """Forget the turns of some threads.

        Raises:
            MemoryTrouble: the database cannot be written.
        """
        with self._rows() as rows, rows.atomic():
            query = "DELETE FROM turns WHERE thread IN (SELECT value FROM json_each(?))"
            names = json.dumps(list(threads))
            rows.conn.execute(query, [names])
            rows.conn.execute("DELETE FROM transient WHERE thread IN (SELECT value FROM json_each(?))", [names])

    def expire(self, thread: str, checkpoint: str, when: float) -> None:
        """Note that a thread is transient.

        Args:
            thread: Its name.
            checkpoint: Where it stands; once more is saved, it is transient no longer. Empty where it is going on.
            when: The time at which it is to be deleted, in seconds since 1970.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written.
        """
        with self._rows() as rows, rows.atomic():
            rows.conn.execute("INSERT OR REPLACE INTO transient VALUES (?, ?, ?)", (thread, checkpoint, when))

    def keep_for_good(self, thread: str) -> None:
        """Note that a thread is not transient.

        Raises:
            MemoryTrouble: the database cannot be written.
        """
        with self._rows() as rows, rows.atomic():
            rows.conn.execute("DELETE FROM transient WHERE thread = ?", (thread,))

    def is_transient(self, thread: str) -> bool:
        """Tell whether a thread is."""
        with self._rows() as rows:
            row = rows.conn.execute("SELECT 1 FROM transient WHERE thread = ?", (thread,)).fetchone()
            return row is not None

    def expired(self, now: float) -> dict[str, str]:
        """Return the transient threads whose time is over, and where each stood."""
        with self._rows() as rows:
            expired = rows.conn.execute("SELECT thread, checkpoint FROM transient WHERE expires <= ?", (now,))
            return {str(thread): str(checkpoint) for thread, checkpoint in expired}

    def keep(self, history: str, turn: Turn) -> None:
        """Know a turn again; of two with the same history, the later one counts.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        with self._rows() as rows, rows.atomic():
            rows.conn.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?)", (history, turn.thread, turn.checkpoint))
            # Each row gets a higher rowid than those before it.
            rows.conn.execute("DELETE FROM turns WHERE rowid <= (SELECT MAX(rowid) FROM turns) - ?", (MAX_KEPT,))
