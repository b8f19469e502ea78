"""The check of threads in SQLite: they can still be read, and those that cannot go on from what can.

A thread is a row of saved states. One whose last states are damaged goes on from the last whole one; LangGraph then
repeats what came after it. Damaged rows are moved to a database beside their own, never deleted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from snellen.memory.checkpoints import DATABASE, UNREADABLE, serializer
from snellen.memory.home import connect, storing
from snellen.memory.thread_locks import holds_file
from snellen.memory.verification.findings import unused_name
from snellen.memory.verification.pictures import pictures_in

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path

    from snellen.memory.verification.findings import Verification

_TABLES: Final = ("checkpoints", "writes")
"""The tables of LangGraph's saver: states, and what the steps under way have given so far."""


@dataclass
class _Damage:
    """What of one thread cannot be read."""

    states: int = 0
    whole: int = 0
    pictures: set[str] = field(default_factory=set)
    rows: dict[str, list[int]] = field(default_factory=lambda: {table: [] for table in _TABLES})


def verify_threads(folder: Path, found: Verification, *, state_types: Iterable[type] = ()) -> None:
    """Check every saved state of every thread that no process runs at this moment, adding to ``found``.

    Args:
        folder: The memory's home, whose database of checkpoints is whole as a database.
        found: Takes the findings; where it mends, damaged rows are moved away.
        state_types: The classes that may be read back from a checkpoint.

    Raises:
        MemoryTrouble: the disk is full or not writable.
    """
    database = folder / DATABASE
    if not database.exists():
        return
    with storing(database), closing(connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not set(_TABLES) <= tables:
            return
        damaged = _damaged(connection, folder, state_types)
        found.threads = len(damaged)
        for thread, one in damaged.items():
            found.use(f"the thread {thread}", one.pictures)
        damaged = {thread: one for thread, one in damaged.items() if any(one.rows.values())}
        for thread, one in damaged.items():
            found.note("saved" if one.whole else "lost", f"thread {thread}", _said(one))
        if damaged and found.repaired:
            aside = _move(connection, database, damaged.values())
            found.note("orphan", aside, "it holds what could not be read of the threads; nothing uses it")


def _damaged(connection: sqlite3.Connection, folder: Path, state_types: Iterable[type]) -> dict[str, _Damage]:
    serde = serializer(state_types)
    threads: dict[str, _Damage] = defaultdict(_Damage)
    busy: dict[str, bool] = {}
    query = "SELECT rowid, thread_id, checkpoint_ns, type, checkpoint, metadata FROM checkpoints ORDER BY checkpoint_id"
    for row, thread, namespace, kind, checkpoint, metadata in connection.execute(query):
        one = threads[str(thread)]
        one.states += not namespace
        state = _state(serde, kind, checkpoint, metadata)
        if state is not None:
            one.pictures.update(pictures_in(state))
        if state is not None or _is_busy(str(thread), folder, busy):
            one.whole += not namespace
        else:
            one.rows["checkpoints"].append(row)
    for row, thread, kind, value in connection.execute("SELECT rowid, thread_id, type, value FROM writes"):
        if not (_loads(serde, kind, value)[1] or _is_busy(str(thread), folder, busy)):
            threads[str(thread)].rows["writes"].append(row)
    return threads


def _is_busy(thread: str, folder: Path, known: dict[str, bool]) -> bool:
    if thread not in known:
        known[thread] = holds_file(thread, folder)
    return known[thread]


def _state(serde: Any, kind: str, checkpoint: bytes, metadata: bytes) -> dict[str, Any] | None:  # noqa: ANN401 - langgraph's
    """Return the values of a saved state; None where it cannot be read."""
    state, whole = _loads(serde, kind, checkpoint)
    try:
        readable = whole and isinstance(json.loads(metadata or b"{}"), dict)
        values = state["channel_values"] if readable else None
    except UNREADABLE:
        return None
    return values if isinstance(values, dict) else None


def _loads(serde: Any, kind: str, value: bytes) -> tuple[Any, bool]:  # noqa: ANN401
    try:
        return serde.loads_typed((kind, value)), True
    except UNREADABLE:
        return None, False


def _said(one: _Damage) -> str:
    states, writes = len(one.rows["checkpoints"]), len(one.rows["writes"])
    if not one.whole:
        return "none of its saved states can be read: it can be neither shown nor resumed"
    what = f"{states} of its {one.states} saved states" if states else f"{writes} results of steps under way"
    return f"{what} cannot be read: it goes on from the last state that can"


def _move(connection: sqlite3.Connection, database: Path, damaged: Iterable[_Damage]) -> Path:
    aside = unused_name(database)
    rows = [one.rows for one in damaged]
    connection.execute("ATTACH DATABASE ? AS aside", [str(aside)])
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            chosen = json.dumps([row for one in rows for row in one[table]])
            which = "rowid IN (SELECT value FROM json_each(?))"
            # Our own names only.
            connection.execute(f"CREATE TABLE aside.{table} AS SELECT * FROM main.{table} WHERE {which}", [chosen])  # noqa: S608
            connection.execute(f"DELETE FROM main.{table} WHERE {which}", [chosen])  # noqa: S608
    connection.execute("DETACH DATABASE aside")
    return aside
