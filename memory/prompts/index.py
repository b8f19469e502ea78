"""The search index over the features of one pool and one fingerprint: FAISS, and only ever a cache.

Up to ``FLAT_ROWS`` features the index is flat, hence exact. Beyond, it holds one bit a dimension (RaBitQ; centred on
the mean of the first ``TRAINED_ROWS``), 1/29 of the memory, and whoever searches compares the real features of
``OVERSAMPLED`` times as many candidates as were asked for. Which of the two it is, and what it was centred on, depends
on nothing but the rows that are there, in the order they were added: an index that forgot rows is the index of a pool
that never had them.
"""

from __future__ import annotations

import hashlib
import json
import logging
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.memory.home import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from snellen.memory.prompts.rows import State

    Vector = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Reading = Callable[[Numbers], Vector]
    """Features of n rows, float32 (n, d)."""

FLAT_ROWS: Final = 32_768
"""Up to here a search compares all features: at most 3 ms for each 1,000 rows of 768 numbers on one slow core."""

TRAINED_ROWS: Final = 16_384
OVERSAMPLED: Final = 10
"""Candidates for each row asked for, from codes of one bit a dimension; measured recall 0.998 (docs/memory.md)."""

_SPARE: Final = 16
_TIE: Final = 1e-4
"""Above the rounding error of a float32 inner product of unit vectors: closer scores may stand in the wrong order."""

_SAVED_SHARE: Final = 16
_READ_ROWS: Final = 512
"""Features read at once: 1.5 MB of 768 numbers, which are read into the same memory again and again."""

_MAGIC: Final = b"snellen-prompt-index-1\n"
_DIGEST_BYTES: Final = 32
_LOGGER = logging.getLogger(__name__)


class FeatureIndex:
    """An index kept equal to the rows of the database; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Keep the index at ``path``; it is read, or built, when something is first searched for."""
        self.path = path
        self._index: Any = None
        self._state: State | None = None
        self._saved = 0

    @property
    def count(self) -> int:
        """The number of features in the index."""
        return 0 if self._index is None else int(self._index.ntotal)

    def refresh(self, state: State, numbers_after: Callable[[int], Numbers], features: Reading) -> None:
        """Make the index hold exactly the rows of the database.

        Args:
            state: That of the database.
            numbers_after: Returns the rows beyond a number.
            features: Reads features.
        """
        if self._state == state:
            return
        if self._index is None or self._state is None or self._state.identity != state.identity:
            self._index = read_index(self.path, state.identity)
            self._saved = self.count
        gone = self._forget_missing(state, numbers_after)
        held = self._held()
        missing = numbers_after(int(held[-1]) if len(held) else 0)
        if self._index is None or _coded(self._index) != _wants_codes(len(held) + len(missing)):
            self._index, self._saved, missing = None, 0, numbers_after(0)
        self._extend(missing, features, state.dimension)
        self._state = state
        self._save(gone=gone)

    def search(self, asked: Vector, count: int, among: Numbers | None = None) -> Numbers:
        """Return the numbers of rows that are sure (flat) or likely (codes) to contain the nearest.

        Args:
            asked: Float32 (d,), of length 1.
            count: How many of the nearest are wanted.
            among: The rows to choose from; None takes all.

        Returns:
            At least ``count`` numbers where there are so many; the caller compares the features themselves.
        """
        import faiss

        total = self.count if among is None else len(among)
        coded = _coded(self._index)
        wanted = OVERSAMPLED * count if coded else count + _SPARE
        chosen = {} if among is None else {"params": faiss.SearchParameters(sel=faiss.IDSelectorBatch(among))}
        while True:
            scores, found = self._index.search(asked[None], min(wanted, total), **chosen)
            numbers: Numbers = found[0][found[0] >= 0]
            # Rows as near as the last one wanted must all be compared, or ties would be broken by chance.
            if coded or wanted >= total or scores[0][count - 1] - scores[0][-1] > _TIE:
                return numbers
            wanted *= 2

    def _forget_missing(self, state: State, numbers_after: Callable[[int], Numbers]) -> bool:
        """Remove rows that the database has no more; an index centred on one of them is dropped."""
        if self._index is None or (self._state is not None and self._state.forgettings == state.forgettings):
            return False
        held = self._held()
        gone = held[~np.isin(held, numbers_after(0))]
        if not len(gone):
            return False
        if len(gone) == len(held) or (_coded(self._index) and np.isin(gone, held[:TRAINED_ROWS]).any()):
            self._index = None
        else:
            self._index.remove_ids(gone)
        return True

    def _extend(self, missing: Numbers, features: Reading, dimension: int) -> None:
        if self._index is None and len(missing):
            coded = _wants_codes(len(missing))
            self._index = _empty(dimension, coded=coded)
            if coded:
                self._index.train(features(missing[:TRAINED_ROWS]))
        for start in range(0, len(missing), _READ_ROWS):
            chunk = missing[start : start + _READ_ROWS]
            self._index.add_with_ids(features(chunk), chunk)

    def _held(self) -> Numbers:
        import faiss

        empty: Numbers = np.array([], dtype=np.int64)
        return empty if self._index is None else faiss.vector_to_array(self._index.id_map)

    def _save(self, *, gone: bool) -> None:
        """Write the index when it has grown by a sixteenth: what is missing then is soon added."""
        if not gone and self.count - self._saved < max(1, self._saved // _SAVED_SHARE):
            return
        try:
            if self._index is None or self._state is None:
                self.path.unlink(missing_ok=True)
            else:
                write_index(self.path, self._index, self._state.identity)
        except OSError as error:
            _LOGGER.warning("The search index was not saved and will be built again next time: %s", error)
        self._saved = self.count


def read_index(path: Path, identity: str) -> Any:  # noqa: ANN401 - faiss has no types
    """Read an index file; None when it is missing, damaged or of another database: it is only a cache."""
    import faiss

    try:
        content = path.read_bytes()
    except OSError:
        return None
    if damage(content) is not None:
        return None
    start = len(_MAGIC) + _DIGEST_BYTES
    header, _, body = content[start:].partition(b"\n")
    if json.loads(header) != {"identity": identity, "faiss": faiss.__version__}:
        return None
    return faiss.deserialize_index(np.frombuffer(body, dtype=np.uint8))


def write_index(path: Path, index: Any, identity: str) -> None:  # noqa: ANN401 - faiss has no types
    """Write an index with the digest that it is read by.

    Raises:
        OSError: the disk is full or not writable.
    """
    import faiss

    header = json.dumps({"identity": identity, "faiss": faiss.__version__}).encode() + b"\n"
    body = header + faiss.serialize_index(index).tobytes()
    write_atomically(path, _MAGIC + hashlib.sha256(body).digest() + body)


def damage(content: bytes) -> str | None:
    """Say what is wrong with an index file; None where it is whole.

    faiss trusts the sizes it reads, and a damaged file could crash the process: the digest is compared first.
    """
    start = len(_MAGIC) + _DIGEST_BYTES
    if not content.startswith(_MAGIC):
        return "it is no search index"
    if hashlib.sha256(content[start:]).digest() != content[len(_MAGIC) : start]:
        return "its content is not what was written"
    return None


def _wants_codes(rows: int) -> bool:
    return rows > FLAT_ROWS


def _coded(index: Any) -> bool:  # noqa: ANN401 - faiss has no types
    import faiss

    return isinstance(faiss.downcast_index(index.index), faiss.IndexRaBitQ)


def _empty(dimension: int, *, coded: bool) -> Any:  # noqa: ANN401 - faiss has no types
    import faiss

    inner = faiss.IndexRaBitQ(dimension, faiss.METRIC_INNER_PRODUCT) if coded else faiss.IndexFlatIP(dimension)
    return faiss.IndexIDMap(inner)
