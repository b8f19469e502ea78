"""Whether the memory is still what was stored: everything is checked, and what can be mended is.

Ids follow from content, so a prompt or a demonstration that changed by itself is recognised. Prompts that are whole are
saved from damaged files; search indexes are built again; a database that was lost is built again from the files of
prompts, which also hold their rows. What is really lost is named.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import SnellenError
from snellen.memory import postgres, prompt_rows
from snellen.memory.adapters import AdapterStore
from snellen.memory.artifacts import FOLDER as ARTIFACTS
from snellen.memory.checkpoints import DATABASE as CHECKPOINTS
from snellen.memory.demonstrations import DATABASE as DEMONSTRATIONS
from snellen.memory.demonstrations import INDEX as DEMONSTRATION_INDEX
from snellen.memory.drafts import FOLDER as DRAFTS
from snellen.memory.home import connect, storing
from snellen.memory.ledger import DATABASE as LEDGER
from snellen.memory.measurement_verification import verify_samples, verify_trials
from snellen.memory.picture_verification import Draw, verify_pictures
from snellen.memory.prompt_blocks import (
    MAX_BLOCK_BYTES,
    BlockDamaged,
    TensorBlock,
    batches,
    decode,
    encode,
    name_of,
    placed,
    write_block,
)
from snellen.memory.prompt_blocks import block_path as path_of
from snellen.memory.prompt_index import damage
from snellen.memory.prompts import BLOCKS, INDEXES, PromptPool
from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.thread_verification import verify_threads
from snellen.memory.trials import DATABASE as TRIALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from snellen.memory.demonstrations import DemonstrationPool
    from snellen.memory.prompt_records import LearnedPrompt
    from snellen.memory.prompt_rows import StoredRow

    Opening = Callable[[], DemonstrationPool]

Kind = Literal["lost", "saved", "rebuilt", "orphan"]

_HALF_WRITTEN: Final = (f"{INDEXES}/.*", f"{ARTIFACTS}/*/.*", f"{DRAFTS}/.*", f".{DEMONSTRATION_INDEX}.*")
"""Where files are written that other processes may be writing at this moment."""
_ABANDONED_SECONDS: Final = 3600.0
_DATABASE_FILES: Final = ("", "-wal", "-shm")


@dataclass(frozen=True)
class VerificationFinding:
    """Something that was not as it should be."""

    kind: Kind
    """``lost`` for good, ``saved`` from a damaged file, ``rebuilt`` from what is whole, or an ``orphan`` that a
    crash left and nobody misses."""
    place: str
    said: str


@dataclass
class Verification:
    """What was checked and what was found."""

    repaired: bool
    """Whether findings were mended, or only noted."""
    prompts: int = 0
    blocks: int = 0
    indexes: int = 0
    demonstrations: int = 0
    threads: int = 0
    pictures: int = 0
    trials: int = 0
    samples: int = 0
    adapters: int = 0
    findings: list[VerificationFinding] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)
    """For each picture that something cannot do without, what; prompts can, and archives do not carry pictures."""

    @property
    def clean(self) -> bool:
        """Whether there was nothing to mend."""
        return not self.findings

    @property
    def lost(self) -> int:
        """How many findings are losses."""
        return sum(one.kind == "lost" for one in self.findings)

    def use(self, user: str, pictures: Iterable[str]) -> None:
        """Note which pictures something refers to; it is told of the first that does."""
        for one in pictures:
            self.users.setdefault(one, user)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and the findings as plain JSON."""
        told = {name: value for name, value in asdict(self).items() if name != "users"}
        return told | {"clean": self.clean, "lost": self.lost}

    def note(self, kind: Kind, place: object, said: str) -> None:
        """Add a finding."""
        self.findings.append(VerificationFinding(kind, str(place), said))


def verify_memory(
    folder: Path,
    demonstrations: Opening,
    *,
    repair: bool = True,
    state_types: Iterable[type] = (),
    draw: Draw | None = None,
    complete: Callable[[Verification], None] | None = None,
) -> Verification:
    """Check the prompts, demonstrations, threads, pictures, trials, samples and adapters of a home.

    Args:
        folder: The memory's home.
        demonstrations: Opens the demonstrations, with the embedding that their index is built by.
        repair: False only reports.
        state_types: The classes that threads may bring back from their checkpoints.
        draw: Draws pictures again that follow from a seed; None where nothing can.
        complete: Adds the samples that investigations should have and the table has not; None where nobody knows.

    Raises:
        MemoryTrouble: the disk is full or not writable, the demonstrations' database is damaged and ``repair`` is
            False, or threads lie in a Postgres that cannot be reached.
    """
    found = verify_prompts(folder, repair=repair)
    if _refuse_or_move(folder / DEMONSTRATIONS, found, "the demonstrations in it are lost", "lost"):
        verify_demonstrations(demonstrations(), found)
    if _refuse_or_move(folder / CHECKPOINTS, found, "the threads in it can be neither shown nor resumed", "lost"):
        verify_threads(folder, found, state_types=state_types)
    if (server := postgres.server()) is not None:
        from snellen.memory.postgres_verification import verify_in_postgres

        verify_in_postgres(server, folder, found, state_types=state_types)
    if _refuse_or_move(folder / TRIALS, found, "what models answered is asked again where it is needed", "lost"):
        verify_trials(folder, found)
    if _refuse_or_move(folder / SAMPLES, found, "reports no longer know their pictures and trials", "lost"):
        verify_samples(folder, found)
        if complete is not None:
            complete(found)
    _refuse_or_move(folder / LEDGER, found, "pictures of a chosen seed count as seen by every investigation", "lost")
    _check_adapters(folder, found)
    verify_pictures(folder, found, found.users, draw=draw)
    return found


def verify_prompts(folder: Path, *, repair: bool = True) -> Verification:
    """Check the prompts of a home: database, rows, tensors, stray files, search indexes.

    Args:
        folder: The memory's home.
        repair: False only reports.

    Raises:
        MemoryTrouble: the disk is full or not writable.
    """
    found = Verification(repaired=repair)
    if not folder.exists():
        return found
    database = folder / prompt_rows.DATABASE
    lost = (folder / BLOCKS).exists() and not database.exists()
    if not _refuse_or_move(database, found, "its rows are read from the prompts' own files", "rebuilt"):
        return found
    if lost:
        found.note("rebuilt", database, "it was missing; its rows are read from the prompts' own files")
    if not database.exists() and not repair:
        return found
    pool = PromptPool(folder, rebuilding=True)
    with storing(folder), pool.writing():
        if repair and any(one.kind == "rebuilt" for one in found.findings):
            _adopt(pool, found)
        _check_blocks(pool, found)
        _check_strays(pool, found)
        _check_indexes(pool, found)
    return found


def verify_demonstrations(pool: DemonstrationPool, found: Verification) -> None:
    """Check the demonstrations of a home and their search index, adding to ``found``."""
    found.demonstrations = pool.count()
    damaged = pool.damaged_ids()
    for one in damaged:
        found.note("lost", one, "the demonstration is not what its id says")
    if damaged and found.repaired:
        pool.forget(damaged)
    found.indexes += (pool.folder / DEMONSTRATION_INDEX).exists()
    if pool.index_is_damaged():
        found.note("rebuilt", pool.folder / DEMONSTRATION_INDEX, "the search index is damaged, or of another embedding")
        if found.repaired:
            pool.refresh_index()


def _check_adapters(folder: Path, found: Verification) -> None:
    store = AdapterStore(folder)
    found.adapters = store.count()
    for damaged in store.damaged():
        found.note("lost", damaged, "the adapter's weights are not what its name says; correct the model again")
        if found.repaired:
            with storing(damaged):
                damaged.rename(damaged.with_name(f".damaged-{damaged.name}"))


def _refuse_or_move(database: Path, found: Verification, said: str, kind: Kind) -> bool:
    """Return whether a database can be used now; a damaged one is moved away, where that is allowed."""
    if _is_whole(database):
        return True
    if not found.repaired:
        found.note(kind, database, f"the database is damaged; {said}")
        return False
    aside = next(path for number in range(1, 10_000) if not (path := _damaged_name(database, number)).exists())
    found.note(kind, database, f"the database is damaged; {said}; the file is kept as {aside.name}")
    with storing(database):
        for suffix in _DATABASE_FILES:
            file = database.with_name(database.name + suffix)
            if file.exists():
                file.rename(aside.with_name(aside.name + suffix))
    return True


def _damaged_name(database: Path, number: int) -> Path:
    return database.with_name(f"{database.name}.damaged-{number}")


def _is_whole(database: Path) -> bool:
    if not database.exists():
        return True
    try:
        with closing(connect(database)) as connection:
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except sqlite3.OperationalError as error:
        if "malformed" in str(error).lower():
            return False
        with storing(database):  # locked, read-only, out of space: trouble, but no damage
            raise
    except sqlite3.DatabaseError:
        return False


def _adopt(pool: PromptPool, found: Verification) -> None:
    """Fill an empty database with what the blocks say about themselves."""
    oldest_first = sorted(pool.blocks.glob("*/[!.]*.safetensors"), key=lambda path: (path.stat().st_mtime_ns, path))
    for path in oldest_first:
        prompts = _whole_block(path)
        if prompts is None:
            found.note("lost", path, "the file of prompts is damaged, and so was the database that knew more of it")
            path.unlink()
            continue
        _take_in(pool, path, prompts)
    _drop_indexes(pool)


def _take_in(pool: PromptPool, path: Path, prompts: list[LearnedPrompt], *, insert: bool = True) -> bool:
    """Read the rows of a block from itself, unless some of them are known; return whether they were not."""
    with pool.database() as rows, rows.atomic():
        if prompt_rows.known(rows, [one.row.id for one in prompts]):
            return False
        if insert:
            prompt_rows.insert(rows, placed(prompts), path.stem)
    return True


def _drop_indexes(pool: PromptPool) -> None:
    """Have every search index built again: rows that were read anew have other numbers."""
    for one in pool.stats():
        pool.index_path(one.pool, one.fingerprint).unlink(missing_ok=True)


def _check_blocks(pool: PromptPool, found: Verification) -> None:
    with pool.database() as rows:
        names = sorted(prompt_rows.blocks_in_use(rows))
    for name in names:
        with pool.database() as rows:
            stored = prompt_rows.rows_of_block(rows, name)
        found.blocks += 1
        found.prompts += len(stored)
        prompts = _whole_block(path_of(pool.blocks, name))
        if prompts is None or not _agree(stored, prompts):
            _save(pool, name, stored, found)


def _whole_block(path: Path) -> list[LearnedPrompt] | None:
    """Read a block; None where it is missing or not what its name says."""
    if not path.is_file() or path.stat().st_size > MAX_BLOCK_BYTES:
        return None
    content = path.read_bytes()
    if name_of(content) != path.stem:
        return None
    try:
        return [one.prompt for one in decode(content, str(path))]
    except BlockDamaged:
        return None


def _agree(stored: list[StoredRow], prompts: list[LearnedPrompt]) -> bool:
    """Tell whether the rows of the database are those that the block was written with, each at its place."""
    expected = [(one.prompt.row, one.place, one.prompt_place) for one in placed(prompts)]
    return [(one.row, one.place, one.prompt_place) for one in stored] == expected


def _save(pool: PromptPool, name: str, stored: list[StoredRow], found: Verification) -> None:
    """Write the prompts that are still whole to another block, and forget the others."""
    place = path_of(pool.blocks, name)
    kept = [prompt for one in stored if (prompt := _still_whole(pool, one)) is not None]
    whole = {one.row.id for one in kept}
    gone = [one.row for one in stored if one.row.id not in whole]
    for row in gone:
        found.note("lost", row.id, f"the prompt for {row.concept!r} in {row.pool} cannot be read from {place}")
    if kept:
        found.note("saved", place, f"{len(kept)} prompts of a damaged file are still whole")
    if not found.repaired:
        return
    with pool.database() as rows, rows.atomic():
        for batch in batches(kept):
            prompt_rows.move(rows, placed(batch), write_block(pool.blocks, encode(batch)))
        if gone:
            prompt_rows.delete(rows, [row.id for row in gone])
    with pool.database() as rows:
        if name not in prompt_rows.blocks_in_use(rows, [name]):
            place.unlink(missing_ok=True)


def _still_whole(pool: PromptPool, stored: StoredRow) -> LearnedPrompt | None:
    try:
        return TensorBlock(pool.blocks, stored.block, whole=False).learned(
            stored.row, stored.place, stored.prompt_place
        )
    except SnellenError:
        return None


def _check_strays(pool: PromptPool, found: Verification) -> None:
    """Take in the blocks that the database does not know, and remove what was never written to its end.

    What a crash or a forgetting leaves is noted and was deleted when the pool was opened. So a whole block beyond that
    was known to a database that is no more.
    """
    with pool.database() as rows:
        used = prompt_rows.blocks_in_use(rows)
    unknown = sorted(path for path in pool.blocks.glob("*/[!.]*.safetensors") if path.stem not in used)
    orphans = [path for path in unknown if not _was_lost(pool, path, found)]
    if found.repaired and len(orphans) < len(unknown):
        _drop_indexes(pool)
    for path in sorted([*pool.blocks.glob("*/.*"), *orphans]):
        found.note("orphan", path, "the file belongs to no prompt; a run was stopped while writing or forgetting it")
    half = [path for pattern in _HALF_WRITTEN for path in pool.folder.glob(pattern) if _is_abandoned(path)]
    for path in sorted(half):
        found.note("orphan", path, "the file was never written to its end; the run that wrote it was stopped")
    if found.repaired:
        for path in [*pool.blocks.glob("*/.*"), *orphans, *half]:
            path.unlink(missing_ok=True)


def _was_lost(pool: PromptPool, path: Path, found: Verification) -> bool:
    """Whether a block is whole and its prompts are unknown; then its rows are read from it."""
    prompts = _whole_block(path)
    if prompts is None or not _take_in(pool, path, prompts, insert=found.repaired):
        return False
    found.note("rebuilt", path, f"the database did not know its {len(prompts)} prompts; their rows are read from it")
    return True


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
        elif (trouble := damage(path.read_bytes())) is not None:
            found.note("rebuilt", path, f"the search index is damaged: {trouble}")
        else:
            continue
        if found.repaired:
            path.unlink()
            if path in owners:
                pool.refresh_index(*owners[path])
