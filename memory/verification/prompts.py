"""The check of learned prompts: their database, tensors and search indexes, and files that crashes left.

Ids follow from content, so a prompt that changed by itself is recognised. Prompts that are whole are taken over from a
damaged database, and from the files of earlier versions.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from snellen.memory.artifacts import FOLDER as ARTIFACTS
from snellen.memory.database_library import Database
from snellen.memory.demonstration_faiss import EARLIER_INDEX
from snellen.memory.demonstrations import INDEX as DEMONSTRATION_INDEX
from snellen.memory.home import storing
from snellen.memory.prompts import rows as table
from snellen.memory.prompts.blocks import OldBlocks
from snellen.memory.prompts.drafts import FOLDER as DRAFTS
from snellen.memory.prompts.index_file import damage
from snellen.memory.prompts.pool import INDEXES, PromptPool
from snellen.memory.prompts.rows import DATABASE, PromptSelection, StoredPrompt
from snellen.memory.verification.findings import Verification, is_whole, move_aside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from snellen.memory.prompts.records import LearnedPrompt

_HALF_WRITTEN: Final = (
    *(f"{folder}/.*" for folder in (INDEXES, f"{ARTIFACTS}/*", DRAFTS)),
    *(f".{index}.*" for index in (DEMONSTRATION_INDEX, EARLIER_INDEX)),
)
"""Where files are written that other processes may be writing at this moment."""
_ABANDONED_SECONDS: Final = 3600.0
_AT_ONCE: Final = 1000


def verify_prompts(folder: Path, *, repair: bool = True) -> Verification:
    """Check the prompts of a home: database, tensors, stray files, search indexes.

    Args:
        folder: The memory's home.
        repair: False only reports.

    Raises:
        MemoryTrouble: the disk is full or not writable.
    """
    found = Verification(repaired=repair)
    if not folder.exists():
        return found
    database, files = folder / DATABASE, OldBlocks(folder).paths()
    damaged, gone = not is_whole(database), bool(files) and not database.exists()
    if damaged or gone:
        _rebuild(database, found, files=bool(files), damaged=damaged)
    if not repair and (damaged or not database.exists()):
        return found
    pool = PromptPool(folder, rebuilding=True)
    with storing(folder):
        _check_files(pool, found, noted=damaged or gone)
        _check_tensors(pool, found)
        _check_half_written(folder, found)
        _check_indexes(pool, found)
    return found


def _rebuild(database: Path, found: Verification, *, files: bool, damaged: bool) -> None:
    """Begin a new database for one that is damaged or gone, with what can be read of it."""
    how = "is damaged" if damaged else "was missing"
    source = move_aside(database) if damaged and found.repaired else database
    kept = f"; the file is kept as {source.name}" if source != database else ""
    if files:
        found.note("rebuilt", database, f"the database {how}; its prompts are read from their own files{kept}")
        return
    remains = _Remains()
    if found.repaired:
        pool = PromptPool(database.parent, rebuilding=True)
        # Others may have been told to forget some of them since.
        pool.add_batches(remains.batches(source, found), shared=False)
        pool.catch_up_anew()
    else:
        for _ in remains.batches(source, found):
            pass
    if remains.saved:
        found.note("saved", database, f"the database is damaged; {remains.saved} prompts in it are still whole{kept}")
    if remains.unreadable or not remains.saved:
        count = remains.unreadable or "all"
        found.note("lost", database, f"the database is damaged; {count} prompts in it cannot be read{kept}")


class _Remains:
    """The prompts of a damaged database that can still be read, counted."""

    def __init__(self) -> None:
        self.saved = self.unreadable = 0

    def batches(self, database: Path, found: Verification) -> Iterator[list[LearnedPrompt]]:
        """Yield those that are whole, and note those that are not."""
        batch: list[LearnedPrompt] = []
        for one in _remaining(database):
            if one is None:
                self.unreadable += 1
            elif one.is_whole():
                self.saved += 1
                batch.append(one.learned())
            else:
                _note_lost(one, database, found)
            if len(batch) == _AT_ONCE:
                yield batch
                batch = []
        yield batch


def _remaining(database: Path) -> Iterator[StoredPrompt | None]:
    """Yield the rows of a damaged database; None for one that cannot be read."""
    with closing(sqlite3.connect(database)) as connection:
        rows = Database(connection)
        try:
            last = rows.execute("SELECT seq FROM sqlite_sequence WHERE name = 'prompts'").fetchone()
        except sqlite3.DatabaseError:
            return
        for number in range(1, (last[0] if last else 0) + 1):
            try:
                yield from table.stored_by_number(rows, [number])
            except (sqlite3.DatabaseError, ValueError, TypeError):
                yield None


def _check_files(pool: PromptPool, found: Verification, *, noted: bool) -> None:
    """Take in the files of earlier versions that the database does not know, and remove those that are not whole.

    Files that the database took its tensors from were deleted when it did. So a whole file beyond these was known to a
    database that is no more, or is back from a backup.
    """
    blocks = pool.old_blocks
    if pool.is_read_only:  # rows have their tensors in these files
        found.blocks = len(blocks.paths())
        return
    with pool.database() as rows:
        moved = {row[0] for row in rows.execute("SELECT block FROM moved_blocks")}
    orphans = sorted(blocks.folder.glob("*/.*"))
    for path in blocks.paths():
        found.blocks += 1
        if path.stem in moved:
            continue
        prompts = blocks.whole(path)
        if prompts is None and noted:
            found.note("lost", path, "the file of prompts is damaged, and so was the database that knew more of it")
            _delete([path], found)
        elif prompts is None or not _take_in(pool, prompts, found):
            orphans.append(path)
        else:
            if not noted:
                found.note("rebuilt", path, f"the database lacked its {len(prompts)} prompts; they are read from it")
            _delete([path], found)
    for path in sorted(orphans):
        found.note("orphan", path, "the file belongs to no prompt; a run was stopped while writing or forgetting it")
    _delete(orphans, found)


def _take_in(pool: PromptPool, prompts: list[LearnedPrompt], found: Verification) -> bool:
    """Store the prompts of a file if none of them is known, or the tensors that known ones lack."""
    ids = tuple(one.row.id for one in prompts)
    with pool.database() as rows:
        known = {one.row.id: one.is_whole() for one in table.stored(rows, PromptSelection(ids=ids))}
    lacking = [one for one in prompts if not known.get(one.row.id, True)]
    if found.repaired and not known:
        pool.add(*prompts)
    elif found.repaired and lacking:
        with pool.changing() as rows, rows.atomic():
            table.put_tensors(rows, lacking)
    return bool(lacking or not known)


def _check_tensors(pool: PromptPool, found: Verification) -> None:
    lost = []
    with pool.database() as rows:
        for one in table.stored(rows, PromptSelection()):
            found.prompts += 1
            if not one.is_whole():
                _note_lost(one, pool.path, found)
                lost.append(one.number)
    if lost and found.repaired:
        with pool.changing() as rows, rows.atomic():
            table.delete(rows, lost)
        pool.catch_up_anew()


def _note_lost(one: StoredPrompt, database: Path, found: Verification) -> None:
    found.note(
        "lost", one.row.id, f"the prompt for {one.row.concept!r} in {one.row.pool} cannot be read from {database}"
    )


def _check_half_written(folder: Path, found: Verification) -> None:
    half = sorted(path for pattern in _HALF_WRITTEN for path in folder.glob(pattern) if _is_abandoned(path))
    for path in half:
        found.note("orphan", path, "the file was never written to its end; the run that wrote it was stopped")
    _delete(half, found)


def _delete(paths: list[Path], found: Verification) -> None:
    for path in paths if found.repaired else ():
        path.unlink(missing_ok=True)


def _is_abandoned(path: Path) -> bool:
    """Tell whether a half-written file is so old that no process can still be writing it."""
    try:
        return path.stat().st_mtime < time.time() - _ABANDONED_SECONDS
    except FileNotFoundError:  # it has just got its name
        return False


def _check_indexes(pool: PromptPool, found: Verification) -> None:
    owners = {pool.index_path(one.pool, one.fingerprint): (one.pool, one.fingerprint) for one in pool.stats()}
    for path in sorted((pool.folder / INDEXES).glob("*.faiss")):
        found.indexes += 1
        if path not in owners:
            found.note("orphan", path, "the search index belongs to no pool")
        elif (trouble := damage(path)) is not None:
            found.note("rebuilt", path, f"the search index is damaged: {trouble}")
        elif found.repaired:  # a run that was stopped may have forgotten in the database alone
            pool.forget_in_indexes([owners[path]])
            continue
        else:
            continue
        if found.repaired:
            path.unlink()
            if path in owners:
                pool.refresh_index(*owners[path])
