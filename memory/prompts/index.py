"""The search index over the features of one pool and one fingerprint: FAISS, and only ever a cache.

Up to ``FLAT_ROWS`` features the index is flat, hence exact. Beyond, it holds codes in lists (``ListedFeatures``), and
whoever searches compares the real features of the candidates. Lists are made anew whenever the pool has grown fourfold,
of a sample of the rows that it had then: those whose ids, which are hashes, come first. So which rows they are made of
depends on nothing but the rows that are there and the order they were added in, and forgetting hardly ever changes it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from snellen.memory.prompts.features import NEIGHBORS, FlatFeatures, ListedFeatures
from snellen.memory.prompts.index_file import SavedIndex, read_index, write_index

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from snellen.memory.prompts.rows import State

    Vector = NDArray[np.float32]
    Numbers = NDArray[np.int64]

FLAT_ROWS: Final = 32_768
"""Up to here a search compares all features: at most 3 ms for each 1,000 rows of 768 numbers on one slow core."""
FIRST_LISTS: Final = 256
"""Lists beyond ``FLAT_ROWS``; twice as many whenever there are four times as many rows."""
SAMPLED: Final = 32
"""Rows of the sample for each list."""

_GROWTH: Final = 4
_SAVED_SHARE: Final = 16
_READ_ROWS: Final = 512
"""Features read at once: 1.5 MB of 768 numbers, which are read into the same memory again and again."""
_LOGGER = logging.getLogger(__name__)


class IndexedRows(Protocol):
    """The rows that an index is of."""

    def state(self) -> State:
        """Return what changes whenever rows are added or forgotten."""

    def numbers_after(self, number: int) -> Numbers:
        """Return the rows beyond a number, rising."""

    def features(self, numbers: Numbers) -> Vector:
        """Return the features of rows, float32 (n, d); the numbers rise."""

    def sample(self, last: int, share: float) -> Numbers:
        """Return about a share of the rows up to a number: those whose ids come first, by their ids."""


class FeatureIndex:
    """An index kept equal to the rows of the database; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Keep the index at ``path``; it is read, or built, when something is first searched for."""
        self.path = path
        self._index: FlatFeatures | ListedFeatures | None = None
        self._state: State | None = None
        self._saved = 0

    @property
    def count(self) -> int:
        """The number of features in the index."""
        return 0 if self._index is None else int(self._index.index.ntotal)

    def refresh(self, rows: IndexedRows) -> None:
        """Make the index hold exactly the rows of the database."""
        state = rows.state()
        if self._state == state:
            return
        seen = None if self._state is None or self._state.identity != state.identity else self._state.forgettings
        if seen is None:
            saved = read_index(self.path, state.identity)
            self._index, seen = (None, 0) if saved is None else (saved.index, saved.forgettings)
            self._saved = self.count
        gone = self._index is not None and seen != state.forgettings and self._forget_missing(rows)
        missing = rows.numbers_after(0 if self._index is None else self._index.last())
        lists = lists_for(self.count + len(missing))
        if self._index is None or self._index.lists != lists:
            self._saved, missing = 0, rows.numbers_after(0)
            self._index = _empty(rows, state.dimension, missing, lists) if len(missing) else None
        self._extend(rows, missing)
        self._state = state
        self._save(state, gone=gone)

    def search(self, asked: Vector, count: int, among: Numbers | None = None) -> Numbers:
        """Return the numbers of rows that are sure (flat) or likely (lists) to contain the nearest.

        Args:
            asked: Float32 (d,), of length 1.
            count: How many of the nearest are wanted.
            among: The rows to choose from; None takes all.

        Returns:
            At least ``count`` numbers where there are so many; the caller compares the features themselves.
        """
        if self._index is None:
            nothing: Numbers = np.empty(0, dtype=np.int64)
            return nothing
        return self._index.search(asked, count, among)

    def _forget_missing(self, rows: IndexedRows) -> bool:
        """Remove rows that the database has no more; an index whose lists would now be others is dropped."""
        index = self._index
        if index is None:
            return False
        held = index.numbers
        gone = held[~np.isin(held, rows.numbers_after(0))]
        if not len(gone):
            return False
        if len(gone) == len(held):
            self._index = None
            return True
        index.remove(gone)
        left = index.numbers
        if isinstance(index, ListedFeatures) and (
            len(left) < _rows_before(index.lists) or not np.array_equal(index.sample, _sample(rows, left, index.lists))
        ):
            self._index = None
        return True

    def _extend(self, rows: IndexedRows, missing: Numbers) -> None:
        for start in range(0, len(missing), _READ_ROWS):
            chunk = missing[start : start + _READ_ROWS]
            if self._index is not None:
                self._index.add(chunk, rows.features(chunk))

    def _save(self, state: State, *, gone: bool) -> None:
        """Write the index when it has grown by a sixteenth (what is missing then is soon added) or forgot something."""
        grown = self.count - self._saved >= max(1, self._saved // _SAVED_SHARE)
        if self._index is not None and not (gone or grown):
            return
        try:
            if self._index is None:
                self.path.unlink(missing_ok=True)
            else:
                write_index(self.path, SavedIndex(self._index, state.identity, state.forgettings))
        except OSError as error:
            _LOGGER.warning("The search index was not saved and will be built again next time: %s", error)
        self._saved = self.count


def lists_for(rows: int) -> int:
    """Return how many lists an index of so many rows has; 0 where it is flat."""
    lists, most = 0, FLAT_ROWS
    while rows > most:
        lists, most = lists * 2 or FIRST_LISTS, most * _GROWTH
    return lists


def _rows_before(lists: int) -> int:
    """Return from how many rows on there are so many lists: as many as the sample is drawn from."""
    return FLAT_ROWS * (lists // FIRST_LISTS) ** 2


def _sample(rows: IndexedRows, numbers: Numbers, lists: int) -> Numbers:
    before = _rows_before(lists)
    return rows.sample(int(numbers[before - 1]), SAMPLED * lists / before)


def _empty(rows: IndexedRows, dimension: int, numbers: Numbers, lists: int) -> FlatFeatures | ListedFeatures:
    if not lists:
        return FlatFeatures.empty(dimension)
    sample = _sample(rows, numbers, lists)
    order = np.argsort(sample)
    features = np.empty((len(sample), dimension), dtype=np.float32)
    for start in range(0, len(sample), _READ_ROWS):
        chunk = order[start : start + _READ_ROWS]
        features[chunk] = rows.features(sample[chunk])
    neighbors = -(-NEIGHBORS * len(sample) // _rows_before(lists))
    return ListedFeatures.trained(lists, sample, features, neighbors)
