"""Copying what a home has into its store, or from there back; adapters stay where they are.

What is copied stays where it was. What both have stays as the target has it, so that copying may be repeated, also
after it was cut off.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import BadInput
from snellen.memory import demonstration_tables, picture_ledger, samples, trials
from snellen.memory.demonstrations import LOCK
from snellen.memory.postgres.server import chosen_server, store_server
from snellen.memory.prompts.pool import PromptPool
from snellen.memory.store import STORE_VARIABLE
from snellen.memory.stored_files import FOLDER, FolderFiles, StoredFiles, files_of
from snellen.memory.tables import DatabaseTable
from snellen.memory.thread_copying import Outcome, copy_threads

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from snellen.memory.database_library import Migrations
    from snellen.memory.statements import TableDatabase

Target = Literal["store", "home"]
CopyingProgress = Callable[[str, int, int], None]
"""Called with what is copied, how many of it are done, and of how many."""

_ROWS: Final = 1000
_PICTURES: Final = 64
_NUMBER: Final = "number"
"""The column by which a database numbers rows itself."""


@dataclass(frozen=True)
class CopiedHome:
    """Counts of what the target did not have before.

    Attributes:
        rows: Of each table, by its name.
        pictures: How many.
        damaged: Ids of pictures that were not copied because they are not what was stored.
        threads: What became of each thread.
    """

    rows: Mapping[str, int]
    pictures: int
    damaged: tuple[str, ...] = ()
    threads: Mapping[str, Outcome] = field(default_factory=dict)


@dataclass(frozen=True)
class _Kind:
    """The tables of one database, each with the columns that tell its rows apart."""

    database: str
    migrations: Migrations
    steps: Sequence[str]
    tables: Mapping[str, tuple[str, ...]]
    lock: str = ""


# The ledger first: one that is made where there are samples already takes these for older than itself.
_KINDS: Final = (
    _Kind(
        picture_ledger.DATABASE,
        picture_ledger.migrations,
        picture_ledger.STEPS,
        {
            "entries": (_NUMBER,),
            "designs": ("question", "seed", "experiment"),
            "older": ("investigation",),
            "answers": ("property", "investigation"),
        },
    ),
    _Kind(
        samples.DATABASE,
        samples.migrations,
        samples.STEPS,
        {"samples": ("investigation", "experiment", "round", "arm")},
    ),
    _Kind(trials.DATABASE, trials.migrations, trials.STEPS, {"trials": ("id",)}),
    _Kind(
        demonstration_tables.DATABASE,
        demonstration_tables.migrations,
        demonstration_tables.STEPS,
        {"loaded_seeds": ("sha256",), "demonstrations": (_NUMBER,)},
        lock=LOCK,
    ),
)


async def copy_home(
    folder: Path,
    target: Target,
    *,
    state_types: Iterable[type] = (),
    progress: CopyingProgress = lambda _, __, ___: None,
) -> CopiedHome:
    """Copy a home into the store that ``SNELLEN_STORE`` names, or what the store has into the home.

    Args:
        folder: The memory's home.
        target: Where to.
        state_types: The classes that may be read back from a checkpoint.
        progress: Is told how far it is.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store.
        MemoryTrouble: one of both cannot be used; what was copied is copied.
    """
    server = store_server()
    if server is None:
        msg = f"There is no store to copy to or from: set {STORE_VARIABLE}=postgresql://USER:PASSWORD@HOST/DATABASE."
        raise BadInput(msg)
    from snellen.memory.postgres.tables import PostgresDatabase

    # Pictures before the rows that name them.
    pictures, damaged = await asyncio.to_thread(_copy_pictures, folder, target, progress)
    rows: dict[str, int] = {}
    for kind in _KINDS:
        home: TableDatabase = DatabaseTable(folder, kind.database, kind.migrations, lock=kind.lock)
        store = PostgresDatabase(server, folder, kind.database, kind.steps)
        source, other = (home, store) if target == "store" else (store, home)
        for table, keys in kind.tables.items():
            rows[table] = await asyncio.to_thread(_copy_rows, source, other, table, keys, progress)
    # A home has all prompts of its store in any case.
    rows["prompts"] = await asyncio.to_thread(PromptPool(folder).share) if target == "store" else 0
    threads: dict[str, Outcome] = {}
    if chosen_server() == server:  # not where a variable of their own keeps them elsewhere
        threads = await copy_threads(folder, state_types=state_types, target=target, progress=progress)
    return CopiedHome(rows, pictures, damaged, threads)


def _copy_pictures(folder: Path, target: Target, progress: CopyingProgress) -> tuple[int, tuple[str, ...]]:
    home, store = FolderFiles(folder / FOLDER), files_of(folder)
    if isinstance(store, FolderFiles) and store.place("") == home.place(""):
        return 0, ()
    source, other = (home, store) if target == "store" else (store, home)
    missing, damaged, done = sorted(_pictures(source) - _pictures(other)), list[str](), 0
    for begun in range(0, len(missing), _PICTURES):
        names = missing[begun : begun + _PICTURES]
        found = source.read_all(names)
        whole = {name: content for name, content in found.items() if _is_whole(name, content)}
        other.write_all(whole)
        damaged += [name for name in names if name not in whole]
        done += len(names)
        progress("pictures", done, len(missing))
    return len(missing) - len(damaged), tuple(name.rpartition("/")[2].removesuffix(".png") for name in damaged)


def _pictures(files: StoredFiles) -> set[str]:
    return {name for name in files.names() if name.endswith(".png")}


def _is_whole(name: str, content: bytes) -> bool:
    return name.endswith(f"/{hashlib.sha256(content).hexdigest()}.png")


def _copy_rows(
    source: TableDatabase, target: TableDatabase, table: str, keys: Sequence[str], progress: CopyingProgress
) -> int:
    """Copy the rows of a table, a thousand at a time in the order of their keys; return how many were new."""
    with source.reading() as rows:
        (total,) = rows.execute(f"SELECT COUNT(*) FROM {table}").fetchone()  # noqa: S608 - our own names, here and below
    names, marks = ", ".join(keys), ", ".join("?" * len(keys))
    after: tuple[Any, ...] = ()
    done = new = 0
    while True:
        where = f"WHERE ({names}) > ({marks})" if after else ""
        with source.reading() as rows:
            found = rows.execute(f"SELECT * FROM {table} {where} ORDER BY {names} LIMIT {_ROWS}", after)  # noqa: S608
            columns, part = [str(column[0]) for column in found.description], found.fetchall()
        if not part:
            return new
        kept = [place for place, column in enumerate(columns) if column != _NUMBER]
        insert = (
            f"INSERT INTO {table} ({', '.join(columns[place] for place in kept)}) "  # noqa: S608
            f"VALUES ({', '.join('?' * len(kept))}) ON CONFLICT DO NOTHING"
        )
        with target.transaction(exclusive=True) as rows:
            new += rows.executemany(insert, [tuple(row[place] for place in kept) for row in part]).rowcount
        after = tuple(part[-1][columns.index(key)] for key in keys)
        done += len(part)
        progress(table, done, max(done, total))
