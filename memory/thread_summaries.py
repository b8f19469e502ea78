"""Summaries of threads, kept with a stamp of the checkpoints that they were read from.

A list of threads reads only those states that changed since it was last shown. What is kept follows from the
checkpoints and can be lost at any time.
"""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from snellen.memory.checkpoints import DATABASE as CHECKPOINTS
from snellen.memory.database_library import Database, Migrations
from snellen.memory.home import connect, storing
from snellen.memory.tables import DatabaseTable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

DATABASE: Final = "thread_summaries.sqlite"

migrations = Migrations("thread_summaries")


@migrations(name="1_summaries")
def _summaries(db: Database) -> None:
    db.execute("CREATE TABLE summaries (thread TEXT PRIMARY KEY, stamp TEXT NOT NULL, summary TEXT NOT NULL)")


class ThreadSummaryTable(DatabaseTable):
    """The summaries of one home's threads; safe for threads and for several processes."""

    def __init__(self, folder: Path) -> None:
        """Open the table and bring it up to date.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
        """
        super().__init__(folder, DATABASE, migrations)

    def kept(self, stamps: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """Return the summaries, as plain JSON, of those threads whose stamp is still the same."""
        query = "SELECT thread, stamp, summary FROM summaries WHERE thread IN (SELECT value FROM json_each(?))"
        with self._rows() as rows:
            found = rows.conn.execute(query, [json.dumps(list(stamps))]).fetchall()
        return {thread: json.loads(summary) for thread, stamp, summary in found if stamps.get(thread) == stamp}

    def threads(self) -> set[str]:
        """Return the threads that a summary is kept of."""
        with self._rows() as rows:
            return {str(thread) for (thread,) in rows.conn.execute("SELECT thread FROM summaries")}

    def keep(self, summaries: Mapping[str, dict[str, Any]], stamps: Mapping[str, str]) -> None:
        """Keep summaries, as plain JSON, in place of older ones.

        Args:
            summaries: By thread.
            stamps: What the checkpoints of each of these threads looked like before its summary was read.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written.
        """
        values = [(thread, stamps[thread], json.dumps(one)) for thread, one in summaries.items() if thread in stamps]
        with self._changing() as rows:
            rows.executemany("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?)", values)

    def forget(self, threads: Collection[str]) -> None:
        """Forget the summaries of threads, also on the disk.

        Raises:
            MemoryTrouble: the database cannot be written.
        """
        with self._changing() as rows:
            query = "DELETE FROM summaries WHERE thread IN (SELECT value FROM json_each(?))"
            rows.execute(query, [json.dumps(list(threads))])
        with self._rows() as database:
            database.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Open the database for one change; the bytes of what it replaces or deletes are overwritten."""
        with self._rows() as rows:
            rows.conn.execute("PRAGMA secure_delete = ON")
            with rows.atomic():
                yield rows.conn


def stamps(folder: Path, threads: Collection[str] | None = None) -> dict[str, str]:
    """Return a stamp of the checkpoints of each thread of a home, which changes with whatever is saved to it.

    Args:
        folder: The memory's home.
        threads: Only of these.

    Returns:
        By thread; nothing where there are no checkpoints in the home.

    Raises:
        MemoryTrouble: the database is damaged or out of reach.
    """
    database = folder / CHECKPOINTS
    if not database.exists():
        return {}
    chosen, values = "", list[str]()
    if threads is not None:
        chosen, values = "WHERE thread_id IN (SELECT value FROM json_each(?))", [json.dumps(list(threads))]
    with storing(database), closing(connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables >= {"checkpoints", "writes"}:
            return {}
        # Beside MAX, SQLite gives the other columns of the very row that has it: the latest checkpoint, or write.
        saved = connection.execute(
            "SELECT thread_id, MAX(checkpoint_id), rowid, LENGTH(checkpoint), COUNT(*) "  # noqa: S608 - our own words
            f"FROM checkpoints {chosen} GROUP BY thread_id",
            values,
        ).fetchall()
        written = connection.execute(
            f"SELECT thread_id, MAX(rowid), COUNT(*) FROM writes {chosen} GROUP BY thread_id",  # noqa: S608
            values,
        ).fetchall()
    writes = {name: " ".join(map(str, rest)) for name, *rest in written}
    return {name: f"{' '.join(map(str, rest))} {writes.get(name, '')}" for name, *rest in saved}
