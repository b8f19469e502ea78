"""The pools of learned prompts, by tool and concept (CLOVA, section 3.4: what training-validation prompt tuning keeps).

Three things together: rows in SQLite (``prompt_rows``), tensors in safetensors files named by content
(``prompt_blocks``), and a search index that can always be built again (``prompt_index``). Files are written first and
a single transaction makes them visible, so that a crash leaves the memory as it was or as it was to be. Which files are
under way is noted beside them: whoever opens the memory after a crash deletes those that nobody will miss.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections import defaultdict
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from filelock import FileLock, Timeout
from sqlite_utils import Database

from snellen.errors import BadInput
from snellen.memory import prompt_rows
from snellen.memory.home import MemoryTrouble, connect, is_read_only, storing, write_atomically
from snellen.memory.prompt_blocks import (
    BlockDamaged,
    BlockMissing,
    TensorBlock,
    batches,
    block_path,
    delete_block,
    encode,
    name_of,
    names_in,
    placed,
    write_block,
)
from snellen.memory.prompt_index import FeatureIndex
from snellen.memory.prompt_records import LearnedPrompt, PromptOrigin, PromptRow, RecalledPrompts, learned_prompt
from snellen.memory.prompt_rows import DATABASE, FeatureRows, PromptSelection, State, StoredRow
from snellen.memory.tables import opened_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from snellen.memory.demonstrations import Demonstration
    from snellen.memory.exchange import Exchanged
    from snellen.memory.verification import Verification

    Vector = NDArray[np.float32]

__all__ = [
    "LearnedPrompt",
    "PoolStats",
    "PromptOrigin",
    "PromptPool",
    "PromptRow",
    "PromptSelection",
    "RecalledPrompts",
    "learned_prompt",
]

BLOCKS: Final = "prompts"
INDEXES: Final = "prompt-indexes"
LOCK: Final = "prompts.lock"
UNFINISHED: Final = "prompts.unfinished"
"""Names the blocks that are being written or deleted; it is there only meanwhile, and after a crash."""

_LOCK_SECONDS: Final = 60.0
_OPEN_BLOCKS: Final = 256
_COMPARED_ROWS: Final = 1024
"""Up to so many rows of a concept are compared one by one; that is exact, and faster than any index."""

_ATTEMPTS: Final = 3
_LOGGER = logging.getLogger(__name__)


class PromptsGone(MemoryTrouble):
    """There are files of prompts, and no database that knows them."""


@dataclass(frozen=True)
class PoolStats:
    """What one pool holds for one checkpoint."""

    pool: str
    fingerprint: str
    concepts: int
    prompts: int
    zeros: int
    """Prompts of zeros: cases that the tool got right by itself."""
    shape: tuple[int, ...]
    bytes: int
    """On the disk, without the search index."""


class PromptPool:
    """The learned prompts of one home; safe for threads and for several processes at once."""

    def __init__(self, folder: Path, *, rebuilding: bool = False, tolerant: bool = False) -> None:
        """Open the pools of a home and bring their database up to date.

        Args:
            folder: The memory's home.
            rebuilding: Begin a new database although there are files of prompts that the old one knew.
            tolerant: Be empty where the database is damaged or gone, and say so (``trouble``); only changes raise then.

        Raises:
            MemoryTrouble: the database is damaged, gone, locked or read-only, or the disk is full.
        """
        self.trouble: MemoryTrouble | None = None
        self.folder = folder
        self.blocks = folder / BLOCKS
        self._opened = lru_cache(maxsize=_OPEN_BLOCKS)(lambda name: TensorBlock(self.blocks, name))
        self._indexes: dict[tuple[str, str], FeatureIndex] = {}
        self._connection: sqlite3.Connection | None = None
        self._opened_file = (0, 0, 0)
        self._searching = threading.RLock()
        self._thread_lock = threading.RLock()
        self._file_lock = FileLock(folder / LOCK, timeout=_LOCK_SECONDS, thread_local=False)
        self._read_only = folder.is_dir() and is_read_only(folder)
        if self._read_only:
            return
        try:
            with self.writing():
                self._open_database(rebuilding=rebuilding)
            self.deliver_demonstrations()
        except MemoryTrouble as error:
            if not (tolerant and _is_damage(error)):
                raise
            self.trouble = error

    def add(self, *prompts: LearnedPrompt) -> int:
        """Store prompts, all or none; those already there stay as they are.

        Returns:
            How many were new.

        Raises:
            BadInput: a prompt has another shape, or its feature another length, than those of its pool.
            MemoryTrouble: the disk is full or not writable; nothing was stored.
        """
        return self.add_batches([prompts])

    def add_batches(
        self, prompts: Iterable[Sequence[LearnedPrompt]], demonstrations: Sequence[Demonstration] = ()
    ) -> int:
        """Store batch after batch as they come, all or none; demonstrations arrive with them.

        Returns:
            How many prompts were new.

        Raises:
            BadInput: as ``add``.
            MemoryTrouble: as ``add``.
        """
        written: list[str] = []
        with self._changing() as rows:
            try:
                with rows.atomic():
                    count = sum(self._add_batch(rows, batch, written) for batch in prompts)
                    prompt_rows.arrive(rows, demonstrations)
            except BaseException:
                self._discard(written)
                raise
        self.deliver_demonstrations()
        return count

    def candidates(
        self,
        pool: str,
        concept: str,
        fingerprint: str,
        feature: Vector | None = None,
        limit: int | None = None,
        *,
        trouble: Callable[[str], None] | None = None,
    ) -> RecalledPrompts:
        """Return the prompts learned for a concept, those of the most similar features first.

        Args:
            pool: VQA, LOC, SEG, CLIP or REPLACE.
            concept: Its name in any case; empty takes all concepts of the pool (for VQA, which has none).
            fingerprint: Of the checkpoint in use; prompts of another are not seen.
            feature: What is looked at, (d,); None returns the prompts in the order they were learned.
            limit: At most so many; None takes all.
            trouble: Told why some prompts cannot be read; the others are then found as if those had never been
                learned, more slowly than otherwise. None raises.

        Returns:
            By falling cosine of the features, equal ones by id; without rows where nothing was learned.

        Raises:
            MemoryTrouble: the database or a file of tensors cannot be read.
            BlockDamaged: the tensors of a candidate are not what was stored, and there is no ``trouble``.
            BadInput: the feature has another length than those of the pool, or is not finite.
        """
        selection = PromptSelection(pool=pool, concept=concept, fingerprint=fingerprint)
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._candidates(selection, feature, limit)
            except BlockMissing:  # another process has just forgotten some: look again at what is there now
                continue
            except BlockDamaged:
                break
        try:
            return self._candidates(selection, feature, limit)
        except BlockDamaged as error:
            if trouble is None:
                raise
            trouble(str(error))
            return self._whole_candidates(selection, feature, limit)

    def concepts(self, pool: str, fingerprint: str) -> frozenset[str]:
        """Return the concepts that a pool has learned for a checkpoint, in lower case."""
        query = "SELECT DISTINCT concept FROM prompts WHERE pool = ? AND fingerprint = ?"
        with self._reading() as rows:
            return frozenset(row[0] for row in rows.execute(query, [pool, fingerprint]))

    def fingerprints(self, pool: str) -> frozenset[str]:
        """Return the checkpoints that a pool has learned for."""
        with self._reading() as rows:
            found = rows.execute("SELECT DISTINCT fingerprint FROM prompts WHERE pool = ?", [pool])
            return frozenset(row[0] for row in found)

    def state(self, pool: str, fingerprint: str) -> State:
        """Return what changes whenever a pool learns or forgets prompts of a checkpoint."""
        with self._reading() as rows:
            return prompt_rows.state_of(rows, pool, fingerprint)

    def rows(self, selection: PromptSelection = PromptSelection()) -> list[PromptRow]:  # noqa: B008 - frozen
        """Return the selected rows, the oldest first."""
        with self.database() as rows:
            return [one.row for one in prompt_rows.stored_rows(rows, selection)]

    def get(self, prompt_id: str) -> LearnedPrompt | None:
        """Return one prompt with its tensors; None where there is none of that id.

        Raises:
            BlockDamaged: the tensors are not what was stored.
        """
        with self.database() as rows:
            found = list(prompt_rows.stored_rows(rows, PromptSelection(ids=(prompt_id,))))
        return self._read(found[0]) if found else None

    def forget(
        self, ids: Sequence[str] = (), *, pool: str = "", concept: str = "", fingerprint: str = "", all_: bool = False
    ) -> int:
        """Forget prompts: from then on everything is as if they had never been learned.

        Args:
            ids: These prompts; unknown ones change nothing.
            pool: Those of this pool.
            concept: Those of this concept.
            fingerprint: Those of this checkpoint; conditions that are given together must all hold.
            all_: All of them; must be said, so that an empty condition forgets nothing by mistake.

        Returns:
            How many were forgotten.

        Raises:
            BadInput: nothing says what to forget.
            MemoryTrouble: the disk is full or not writable; nothing was forgotten.
        """
        selection = PromptSelection(ids=tuple(ids), pool=pool, concept=concept, fingerprint=fingerprint)
        if not all_ and selection == PromptSelection():
            msg = "Nothing was named to forget: give ids, a pool, a concept or a fingerprint, or say that all is meant."
            raise BadInput(msg)
        with self._changing() as rows:
            gone = list(prompt_rows.stored_rows(rows, selection))
            self._delete(rows, gone)
            for owner in {(one.row.pool, one.row.fingerprint) for one in gone}:
                if not prompt_rows.state_of(rows, *owner).last:
                    self.index_path(*owner).unlink(missing_ok=True)
        return len(gone)

    def stats(self) -> list[PoolStats]:
        """Return what each pool holds, by pool and fingerprint."""
        query = (
            "SELECT pool, fingerprint, COUNT(DISTINCT concept), COUNT(*), SUM(prompt_place < 0), MIN(shape)"
            " FROM prompts GROUP BY pool, fingerprint ORDER BY pool, fingerprint"
        )
        with self.database() as rows:
            found = rows.execute(query).fetchall()
            blocks = rows.execute("SELECT DISTINCT pool, fingerprint, block FROM prompts").fetchall()
        sizes: dict[tuple[str, str], int] = defaultdict(int)
        for pool, fingerprint, block in blocks:
            path = block_path(self.blocks, block)
            sizes[pool, fingerprint] += path.stat().st_size if path.exists() else 0
        return [
            PoolStats(pool, print_, concepts, count, zeros, prompt_rows.shape_of(shape), sizes[pool, print_])
            for pool, print_, concepts, count, zeros, shape in found
        ]

    def verify(self, *, repair: bool = True) -> Verification:
        """Check every file and row, and mend what can be mended (``snellen.memory.verification.verify_prompts``)."""
        from snellen.memory.verification import verify_prompts

        return verify_prompts(self.folder, repair=repair)

    def export(self, path: Path) -> Exchanged:
        """Write what was learned into one archive (``snellen.memory.exchange.export_memory``)."""
        from snellen.memory.exchange import export_memory

        return export_memory(self, path)

    def import_(self, path: Path) -> Exchanged:
        """Add what an archive holds, all or nothing (``snellen.memory.exchange.import_memory``)."""
        from snellen.memory.exchange import import_memory

        return import_memory(self, path)

    def index_path(self, pool: str, fingerprint: str) -> Path:
        """Return where the search index of a pool is, or would be."""
        return self.folder / INDEXES / f"{pool}.{fingerprint}.faiss"

    def refresh_index(self, pool: str, fingerprint: str) -> None:
        """Bring the search index of a pool up to date, building it where it is missing.

        Raises:
            BlockDamaged: a feature cannot be read.
        """
        with self._reading() as rows:
            self._index(rows, pool, fingerprint)

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the database for one operation: connections do not cross threads, and opening one is cheap."""
        path = self.folder / DATABASE
        open_ = partial(opened_to_read, migrations=prompt_rows.migrations) if self._read_only else connect
        if self.trouble is not None:
            open_, path = partial(opened_to_read, migrations=prompt_rows.migrations), self.folder / ":memory:"
        with storing(path), closing(open_(path)) as connection:
            yield Database(connection)

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """Look at one state of the database, one thread at a time, through a connection that stays open.

        SQLite tidies up whenever the last connection closes: too slow for each of many lookups.
        """
        path = self.folder / DATABASE
        if self.trouble is not None:
            with self.database() as rows:
                yield rows
            return
        with self._searching, storing(path):
            file = path.stat()
            opened = (os.getpid(), file.st_dev, file.st_ino)  # neither a child's nor that of a file that is gone
            if self._connection is None or self._opened_file != opened:
                self._connection, self._opened_file = connect(path, any_thread=True), opened
                weakref.finalize(self, self._connection.close)
            rows = Database(self._connection)
            with rows.atomic():
                yield rows

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all others from writing, in this process and elsewhere.

        Raises:
            MemoryTrouble: another process has been writing for a minute, or the folder is not writable.
        """
        if self._read_only:  # nobody here can write, so that nobody need be kept from it
            yield
            return
        with storing(self.folder), self._thread_lock:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._file_lock.acquire()
            except Timeout as error:
                msg = f"The memory at {self.folder} is being written by another process; try again when it has done."
                raise MemoryTrouble(msg) from error
            try:
                yield
            finally:
                self._file_lock.release()

    def _open_database(self, *, rebuilding: bool) -> None:
        """Bring the database up to date; one that is new knows of no block, and decides about none."""
        known = (self.folder / DATABASE).exists()
        if not known and not rebuilding and any(self.blocks.glob("*/[!.]*.safetensors")):
            msg = (
                f"The memory at {self.folder} has files of prompts, but {DATABASE} is gone: "
                "run `snellen memory verify`, which reads it from these files again (nothing was changed)."
            )
            raise PromptsGone(msg)
        with self.database() as rows:
            prompt_rows.migrations.apply(rows)
        if known:
            self._clear_up()

    @contextmanager
    def _changing(self) -> Iterator[Database]:
        """Open the database for a change of rows and blocks, after what a change that was broken off has left."""
        if self.trouble is not None:
            raise self.trouble
        with self.writing(), self.database() as rows:
            self._clear_up()
            yield rows
            self._clear_up()

    def _note(self, blocks: Iterable[str]) -> None:
        """Note blocks that would be left without rows if this process died now."""
        with (self.folder / UNFINISHED).open("a") as file:
            file.writelines(f"{name}\n" for name in blocks)

    def _clear_up(self) -> None:
        """Delete the blocks that a change was broken off in the midst of, or left over, as far as they have no rows.

        What cannot be deleted stays noted: a block that is not noted was never forgotten.
        """
        noted = self.folder / UNFINISHED
        if not noted.exists():
            return
        left = self._discard(names_in(noted.read_text(errors="replace")))
        if left:
            write_atomically(noted, "".join(f"{name}\n" for name in left).encode())
        else:
            noted.unlink(missing_ok=True)

    def deliver_demonstrations(self) -> None:
        """Carry demonstrations that arrived with an import over to their pool; nothing happens where none wait.

        Raises:
            MemoryTrouble: their database cannot be written; they wait for the next opening.
        """
        with self.database() as rows:
            waiting = prompt_rows.arrived(rows)
        if not waiting:
            return
        from snellen.memory.demonstrations import DemonstrationPool

        DemonstrationPool(self.folder).add(*waiting)
        with self.database() as rows:
            prompt_rows.delivered(rows, [one.id for one in waiting])

    def _add_batch(self, rows: Database, prompts: Sequence[LearnedPrompt], written: list[str]) -> int:
        unique = {one.row.id: one for one in prompts}
        there = prompt_rows.known(rows, list(unique))
        new = [one for one in unique.values() if one.row.id not in there]
        for batch in batches(new):
            _refuse_other_kind(rows, batch[0])
            prompt_rows.insert(rows, placed(batch), self._write(batch, written))
        return len(new)

    def _write(self, batch: Sequence[LearnedPrompt], written: list[str]) -> str:
        """Write a block, whose name is noted first: what a failure leaves of it can then be discarded."""
        content = encode(batch)
        written.append(name_of(content))
        self._note(written[-1:])
        self.blocks.mkdir(parents=True, exist_ok=True)
        return write_block(self.blocks, content)

    def _delete(self, rows: Database, gone: Sequence[StoredRow]) -> None:
        """Delete rows, and write the blocks that they shared with others anew."""
        ids, old = {one.row.id for one in gone}, {one.block for one in gone}
        self._note(old)
        written: list[str] = []
        try:
            with rows.atomic():
                for block in old:
                    rest = [one for one in prompt_rows.rows_of_block(rows, block) if one.row.id not in ids]
                    for batch in batches(self._read(one) for one in rest):
                        prompt_rows.move(rows, placed(batch), self._write(batch, written))
                prompt_rows.delete(rows, list(ids))
        except BaseException:
            self._discard(written)
            raise
        self._discard(old)

    def _discard(self, blocks: Iterable[str]) -> list[str]:
        """Delete blocks that no row refers to, and return those that cannot be deleted now."""
        names, left = set(blocks), []
        with self.database() as rows:
            unused = names - prompt_rows.blocks_in_use(rows, list(names))
        for name in unused:
            try:
                delete_block(self.blocks, name)
            except OSError as error:
                _LOGGER.warning("A file of forgotten prompts was not deleted: %s", error)
                left.append(name)
        return left

    def _candidates(self, selection: PromptSelection, feature: Vector | None, limit: int | None) -> RecalledPrompts:
        with self._reading() as rows:
            state = prompt_rows.state_of(rows, selection.pool, selection.fingerprint)
            if not state.last or (limit is not None and limit < 1):
                return _found([])
            if feature is None:
                return self._found(rows, prompt_rows.numbers_of(rows, selection, limit).tolist())
            asked = _unit(feature, state.dimension, selection.pool)
            return self._found(rows, self._nearest(rows, selection, asked, limit)[:limit])

    def _whole_candidates(
        self, selection: PromptSelection, feature: Vector | None, limit: int | None
    ) -> RecalledPrompts:
        """Return what ``_candidates`` does, of the prompts that can be read: each one is."""
        with self._reading() as rows:
            whole = [one for each in prompt_rows.stored_rows(rows, selection) if (one := self._readable(each))]
            if feature is not None and whole:
                state = prompt_rows.state_of(rows, selection.pool, selection.fingerprint)
                asked = _unit(feature, state.dimension, selection.pool)
                whole.sort(key=lambda one: (-_score(one.feature, asked), one.row.id))
        return _found(whole[:limit])

    def _readable(self, stored: StoredRow) -> LearnedPrompt | None:
        try:
            return self._read(stored)
        except BlockDamaged:
            return None

    def _nearest(self, rows: Database, selection: PromptSelection, asked: Vector, limit: int | None) -> list[int]:
        """Return the numbers of at least the nearest ``limit`` rows, nearest first."""
        among = prompt_rows.numbers_of(rows, selection) if selection.concept or limit is None else None
        if among is None or (limit is not None and len(among) > max(limit, _COMPARED_ROWS)):
            index = self._index(rows, selection.pool, selection.fingerprint)
            among = index.search(asked, limit or 0, among)
        places, ids = prompt_rows.places_by_number(rows, among)
        if not len(places.numbers):
            return []
        # Exact, and the same for a row whatever stands beside it; a matrix product is neither.
        scores = (self._features(places).astype(np.float64) * asked.astype(np.float64)).sum(axis=1)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], ids[at]))
        return [int(places.numbers[at]) for at in order]

    def _index(self, rows: Database, pool: str, fingerprint: str) -> FeatureIndex:
        index = self._indexes.setdefault((pool, fingerprint), FeatureIndex(self.index_path(pool, fingerprint)))
        index.refresh(
            prompt_rows.state_of(rows, pool, fingerprint),
            lambda number: prompt_rows.places_after(rows, pool, fingerprint, number),
            self._features,
        )
        return index

    def _features(self, places: FeatureRows) -> Vector:
        """Read features from their blocks, float32 (n, d) in the order of ``places``."""
        wanted: dict[str, list[int]] = defaultdict(list)
        for at, block in enumerate(places.blocks):
            wanted[block].append(at)
        numbers = places.places.tolist()
        features: Vector = np.empty((0, 0), dtype=np.float32)
        for block, rows in wanted.items():
            self._opened(block).expect_features([numbers[row] for row in rows])
        for block, rows in wanted.items():
            opened = self._opened(block)
            if not len(features):
                features = np.empty((len(numbers), opened.dimension), dtype=np.float32)
            opened.read_features([numbers[row] for row in rows], features, rows)
        return features

    def _found(self, rows: Database, numbers: list[int]) -> RecalledPrompts:
        return _found([self._read(one) for one in prompt_rows.rows_by_number(rows, numbers)])

    def _read(self, stored: StoredRow) -> LearnedPrompt:
        return self._opened(stored.block).learned(stored.row, stored.place, stored.prompt_place)


def _found(prompts: Sequence[LearnedPrompt]) -> RecalledPrompts:
    if not prompts:
        nothing: Vector = np.empty((0, 0), dtype=np.float32)
        return RecalledPrompts((), nothing, nothing)
    return RecalledPrompts(
        rows=tuple(one.row for one in prompts),
        prompts=np.stack([one.prompt for one in prompts]),
        features=np.stack([one.feature for one in prompts]),
    )


def _is_damage(error: MemoryTrouble) -> bool:
    cause = error.__cause__
    # A database that is locked, read-only or out of room is trouble of another kind.
    damaged = isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.OperationalError)
    return damaged or isinstance(error, PromptsGone)


def _score(feature: Vector, asked: Vector) -> float:
    return float((feature.astype(np.float64) * asked.astype(np.float64)).sum())


def _unit(feature: Vector, dimension: int, pool: str) -> Vector:
    asked = np.asarray(feature, dtype=np.float64)
    if asked.shape != (dimension,) or not np.isfinite(asked).all():
        msg = f"The pool {pool} is searched by {dimension} finite numbers, not by an array of shape {asked.shape}."
        raise BadInput(msg)
    length = float(np.linalg.norm(asked))
    return (asked / (length or 1.0)).astype(np.float32)


def _refuse_other_kind(rows: Database, one: LearnedPrompt) -> None:
    there = prompt_rows.kind_of(rows, one.row.pool, one.row.fingerprint)
    if there is None or there == (one.row.shape, len(one.feature)):
        return
    msg = (
        f"The pool {one.row.pool} holds prompts of shape {there[0]} for this checkpoint, and "
        f"{one.row.shape} cannot be mixed with them: forget them first (`snellen memory forget --pool {one.row.pool}`)."
    )
    raise BadInput(msg)
