"""The pools of learned prompts of one home: learn, look up, forget."""

from __future__ import annotations

import logging
import sqlite3
import time
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.errors import BadInput
from snellen.memory.database_library import Database
from snellen.memory.home import MemoryTrouble, trouble_with
from snellen.memory.prompts import rows as table
from snellen.memory.prompts.blocks import kind_of
from snellen.memory.prompts.database import PromptDatabase, shrink
from snellen.memory.prompts.index import FeatureIndex
from snellen.memory.prompts.journal import JournalEntry, journal_of
from snellen.memory.prompts.lookup import recalled, unit, whole
from snellen.memory.prompts.records import LearnedPrompt, PromptRow, RecalledPrompts
from snellen.memory.prompts.rows import PromptDamaged, PromptSelection, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from snellen.memory.demonstrations import Demonstration

    Vector = NDArray[np.float32]

INDEXES: Final = "prompt-indexes"

_CATCHING_UP_SECONDS: Final = 2.0
"""For so long what other machines learn may go unnoticed."""
_SHARED_AT_ONCE: Final = 64
_LOGGER = logging.getLogger(__name__)
_COMPARED_ROWS: Final = 1024
"""Up to so many rows of a concept are compared one by one; that is exact, and faster than any index."""


@dataclass(frozen=True)
class PoolStats:
    """The size of one pool for one checkpoint."""

    pool: str
    fingerprint: str
    concepts: int
    prompts: int
    zeros: int
    """Prompts of zeros: cases that the tool got right by itself."""
    shape: tuple[int, ...]
    bytes: int
    """Of tensors and features."""


class PromptPool(PromptDatabase):
    """The learned prompts of one home; safe for threads and for several processes at once.

    Homes that share a store learn and forget together: each has all prompts, and is told of those of others.
    """

    def __init__(self, folder: Path, *, rebuilding: bool = False, tolerant: bool = False) -> None:
        """Open the pools of a home; the arguments are those of ``PromptDatabase``."""
        super().__init__(folder, rebuilding=rebuilding, tolerant=tolerant)
        self._indexes: dict[tuple[str, str], FeatureIndex] = {}
        # A home that cannot be written to has what it had.
        self._journal = None if self.is_read_only or self.trouble is not None else journal_of(folder)
        self._caught_up = float("-inf")
        self.catch_up()

    def catch_up(self, *, within: float = 0.0) -> None:
        """Learn and forget what other machines have, if the home shares a store.

        Args:
            within: Do nothing if this was done so many seconds ago.

        Raises:
            MemoryTrouble: the store cannot be reached, or the home cannot be written.
        """
        if self._journal is None or time.monotonic() < self._caught_up + within:
            return
        journal, last = self._journal.end()
        with self.database() as rows:
            is_behind = table.seen_of(rows, journal) < last
        if is_behind:
            with self.changing() as rows:
                gone: list[PromptRow] = []
                while entries := self._journal.after(table.seen_of(rows, journal)):
                    with rows.atomic():
                        gone += _apply(rows, entries)
                        table.see(rows, journal, entries[-1].number)
                if gone:
                    shrink(rows)
            self.forget_in_indexes({(one.pool, one.fingerprint) for one in gone})
        self._caught_up = time.monotonic()

    def catch_up_anew(self) -> None:
        """Read all that machines have learned and forgotten once more: what was lost here comes back.

        Raises:
            MemoryTrouble: as ``catch_up``.
        """
        with self.changing() as rows:
            table.see_nothing(rows)
        self.catch_up()

    def share(self) -> int:
        """Tell other machines all that this home has learned, and return how much of it they had not."""
        if self._journal is None:
            return 0
        with self.database() as rows:
            return self._journal.learn(_batches(rows, [one.id for one in table.rows(rows, PromptSelection()).values()]))

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
        self,
        prompts: Iterable[Sequence[LearnedPrompt]],
        demonstrations: Sequence[Demonstration] = (),
        *,
        shared: bool = True,
    ) -> int:
        """Store batch after batch as they come, all or none; demonstrations arrive with them.

        Args:
            prompts: The batches.
            demonstrations: What arrives with them.
            shared: Whether other machines learn them, too, if the home shares a store.

        Returns:
            How many prompts were new.

        Raises:
            BadInput: as ``add``.
            MemoryTrouble: as ``add``.
        """
        self.catch_up()
        with self.changing() as rows, rows.atomic():
            new = [one.row.id for batch in prompts for one in _insert_new(rows, batch)]
            table.arrive(rows, demonstrations)
            if shared and self._journal is not None:  # if that fails nothing was learned; after it, all machines have
                self._journal.learn(_batches(rows, new))
        self.deliver_demonstrations()
        return len(new)

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
            MemoryTrouble: the database cannot be read.
            PromptDamaged: the tensors of a candidate are not what was stored, and there is no ``trouble``.
            BadInput: the feature has another length than those of the pool, or is not finite.
        """
        selection = PromptSelection(pool=pool, concept=concept, fingerprint=fingerprint)
        self.catch_up(within=_CATCHING_UP_SECONDS)
        with self._reading() as rows:
            state = table.state_of(rows, pool, fingerprint)
            if not state.last or (limit is not None and limit < 1):
                return recalled([])
            asked = None if feature is None else unit(feature, state.dimension, pool)
            try:
                if asked is None:
                    numbers = table.numbers_of(rows, selection, limit).tolist()
                else:
                    numbers = self._nearest(rows, selection, asked, limit)[:limit]
                return recalled([one.learned() for one in table.stored_by_number(rows, numbers)])
            except (PromptDamaged, sqlite3.DatabaseError) as error:
                if trouble is None or isinstance(error, sqlite3.OperationalError):
                    raise
                trouble(str(error) if isinstance(error, PromptDamaged) else str(trouble_with(error, self.path)))
                return recalled(whole(rows, selection, asked)[:limit])

    def concepts(self, pool: str, fingerprint: str) -> frozenset[str]:
        """Return the concepts that a pool has learned for a checkpoint, in lower case."""
        query = "SELECT DISTINCT concept FROM prompts WHERE pool = ? AND fingerprint = ?"
        self.catch_up(within=_CATCHING_UP_SECONDS)
        with self._reading() as rows:
            return frozenset(row[0] for row in rows.execute(query, [pool, fingerprint]))

    def fingerprints(self, pool: str) -> frozenset[str]:
        """Return the checkpoints that a pool has learned for."""
        self.catch_up(within=_CATCHING_UP_SECONDS)
        with self._reading() as rows:
            names = rows.execute("SELECT DISTINCT fingerprint FROM prompts WHERE pool = ?", [pool])
            return frozenset(row[0] for row in names)

    def state(self, pool: str, fingerprint: str) -> State:
        """Return what changes whenever a pool learns or forgets prompts of a checkpoint."""
        self.catch_up(within=_CATCHING_UP_SECONDS)
        with self._reading() as rows:
            return table.state_of(rows, pool, fingerprint)

    def rows(self, selection: PromptSelection = PromptSelection()) -> list[PromptRow]:  # noqa: B008 - frozen
        """Return the selected rows, the oldest first."""
        with self.database() as rows:
            return list(table.rows(rows, selection).values())

    def get(self, prompt_id: str) -> LearnedPrompt | None:
        """Return one prompt with its tensors; None where there is none of that id.

        Raises:
            PromptDamaged: the tensors are not what was stored.
        """
        with self.database() as rows:
            return next((one.learned() for one in table.stored(rows, PromptSelection(ids=(prompt_id,)))), None)

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
        self.catch_up()
        with self.changing() as rows:
            with rows.atomic():
                gone = table.rows(rows, selection)
                table.delete(rows, list(gone))
                if self._journal is not None:
                    self._journal.forget([one.id for one in gone.values()])
            shrink(rows)
        self.forget_in_indexes({(one.pool, one.fingerprint) for one in gone.values()})
        return len(gone)

    def stats(self) -> list[PoolStats]:
        """Return what each pool holds, by pool and fingerprint."""
        query = (
            "SELECT pool, fingerprint, COUNT(DISTINCT concept), COUNT(*), TOTAL(LENGTH(prompt) = 0), MIN(shape), "
            "TOTAL(LENGTH(feature) + LENGTH(prompt)) FROM prompts LEFT JOIN prompt_tensors USING (number) "
            "GROUP BY pool, fingerprint ORDER BY pool, fingerprint"
        )
        with self.database() as rows:
            return [
                PoolStats(pool, print_, concepts, count, int(zeros), table.shape_of(shape), int(size))
                for pool, print_, concepts, count, zeros, shape, size in rows.execute(query)
            ]

    def index_path(self, pool: str, fingerprint: str) -> Path:
        """Return where the search index of a pool is, or would be."""
        return self.folder / INDEXES / f"{pool}.{fingerprint}.faiss"

    def refresh_index(self, pool: str, fingerprint: str) -> None:
        """Bring the search index of a pool up to date, building it where it is missing.

        Raises:
            PromptDamaged: a feature cannot be read.
        """
        with self._reading() as rows:
            self._index(rows, pool, fingerprint)

    def forget_in_indexes(self, owners: Iterable[tuple[str, str]]) -> None:
        """Let what was forgotten leave the files of search indexes, too; one that cannot be mended is deleted."""
        for owner in owners:
            path = self.index_path(*owner)
            if not path.exists():
                continue
            try:
                self.refresh_index(*owner)
            except (PromptDamaged, MemoryTrouble):
                path.unlink(missing_ok=True)

    def _nearest(self, rows: Database, selection: PromptSelection, asked: Vector, limit: int | None) -> list[int]:
        """Return the numbers of at least the nearest ``limit`` rows, nearest first."""
        among = table.numbers_of(rows, selection) if selection.concept or limit is None else None
        if among is None or (limit is not None and len(among) > max(limit, _COMPARED_ROWS)):
            index = self._index(rows, selection.pool, selection.fingerprint)
            among = np.sort(index.search(asked, limit or 0, among))
        if not len(among):
            return []
        ids, features = table.features(rows, among)
        # Exact, and the same for a row whatever stands beside it; a matrix product is neither.
        scores = (features.astype(np.float64) * asked.astype(np.float64)).sum(axis=1)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], ids[at]))
        return [int(among[at]) for at in order]

    def _index(self, rows: Database, pool: str, fingerprint: str) -> FeatureIndex:
        index = self._indexes.get((pool, fingerprint))
        if index is None:
            index = self._indexes[pool, fingerprint] = FeatureIndex(self.index_path(pool, fingerprint))
        index.refresh(table.OwnedRows(rows, pool, fingerprint))
        return index


def _insert_new(rows: Database, prompts: Sequence[LearnedPrompt]) -> list[LearnedPrompt]:
    """Insert those that are not there, and return them."""
    unique = {one.row.id: one for one in prompts}
    there = table.known(rows, list(unique))
    new = [one for one in unique.values() if one.row.id not in there]
    for _, group in groupby(new, key=kind_of):
        alike = list(group)
        _refuse_other_kind(rows, alike[0])
        table.insert(rows, alike)
    return new


def _batches(rows: Database, ids: Sequence[str]) -> Iterator[list[LearnedPrompt]]:
    """Yield prompts that are stored, some at a time; one that is damaged is left out."""
    for begun in range(0, len(ids), _SHARED_AT_ONCE):
        selection = PromptSelection(ids=tuple(ids[begun : begun + _SHARED_AT_ONCE]))
        yield [one.learned() for one in table.stored(rows, selection) if one.is_whole()]


def _apply(rows: Database, entries: Sequence[JournalEntry]) -> list[PromptRow]:
    """Do what entries of a journal say, and return what was forgotten; what cannot be used here is left out."""
    forgotten = [one.id for one in entries if one.learned is None]
    gone = table.rows(rows, PromptSelection(ids=tuple(forgotten))) if forgotten else {}
    if gone:
        table.delete(rows, list(gone))
    for entry in entries:
        if entry.learned is None:
            continue
        try:
            _insert_new(rows, [entry.learned.learned()])
        except (PromptDamaged, BadInput) as error:
            _LOGGER.warning("A prompt that another machine learned cannot be used here: %s", error)
    return list(gone.values())


def _refuse_other_kind(rows: Database, one: LearnedPrompt) -> None:
    there = table.kind_of(rows, one.row.pool, one.row.fingerprint)
    if there is None or there == (one.row.shape, len(one.feature)):
        return
    msg = (
        f"The pool {one.row.pool} holds prompts of shape {there[0]} for this checkpoint, and "
        f"{one.row.shape} cannot be mixed with them: forget them first (`snellen memory forget --pool {one.row.pool}`)."
    )
    raise BadInput(msg)
