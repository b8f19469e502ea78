"""Indexes over features, which the search index of a pool is one of: all features, or codes in lists.

Both say which rows are likely to contain the nearest; whoever searches compares the real features of these. What they
hold depends on nothing but the rows that are there and the order they were added in, so that an index that forgot rows
is the index of a pool that never had them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Codes = NDArray[np.uint8]
    """Codes of n rows, (n, ``code_bytes``): of each its step as a float32, and then eight bits a dimension."""

OVERSAMPLED: Final = 80
"""Candidates for each row asked for, from codes of one bit a dimension (docs/results/speed)."""
NEIGHBORS: Final = 20
"""The rows that are asked for where the number of lists to look into is chosen."""
FOUND: Final = 0.995
"""The share of these that must lie in the lists that are looked into."""

_SPARE: Final = 16
_TIE: Final = 1e-4
"""Above the rounding error of a float32 inner product of unit vectors: closer scores may stand in the wrong order."""
_ROUNDED: Final = 2.4
"""Steps of a code: twice four deviations of an inner product with a unit vector, which rounding spreads by 1/√12."""
_CODE_MAX: Final = 127
_STEP_BYTES: Final = 4
_ROUNDS: Final = 6
_SEED: Final = 1
_PIECES: Final = 8
"""Rows that were added to codes in lists are joined when they lie in more pieces."""
_TRIED: Final = 1024
"""Rows of the sample whose neighbours are looked for where the number of lists to look into is chosen."""


class FlatFeatures:
    """An index that compares all features: exact."""

    lists: Final = 0

    def __init__(self, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        self.index = index

    @classmethod
    def empty(cls, dimension: int) -> FlatFeatures:
        """Make an index without rows."""
        import faiss

        return cls(faiss.IndexIDMap(faiss.IndexFlatIP(dimension)))

    @property
    def numbers(self) -> Numbers:
        """The numbers of the rows it holds, rising."""
        import faiss

        numbers: Numbers = faiss.vector_to_array(self.index.id_map)
        return numbers

    def last(self) -> int:
        """Return the highest number; 0 where it holds nothing."""
        return int(self.index.id_map.at(self.index.ntotal - 1)) if self.index.ntotal else 0

    def add(self, numbers: Numbers, features: Vector) -> None:
        """Add rows whose numbers are above all others."""
        self.index.add_with_ids(features, numbers)

    def remove(self, numbers: Numbers) -> None:
        """Remove rows."""
        self.index.remove_ids(numbers)

    def search(self, asked: Vector, count: int, among: Numbers | None) -> Numbers:
        """Return numbers that are sure to contain the nearest, and what may be as near."""
        import faiss

        total = self.index.ntotal if among is None else len(among)
        chosen = {} if among is None else {"params": faiss.SearchParameters(sel=faiss.IDSelectorBatch(among))}
        wanted = count + _SPARE
        while True:
            scores, found = self.index.search(asked[None], min(wanted, total), **chosen)
            # Rows as near as the last one wanted must all be compared, or ties would be broken by chance.
            if wanted >= total or scores[0][count - 1] - scores[0][-1] > _TIE:
                numbers: Numbers = found[0][found[0] >= 0]
                return numbers
            wanted *= 2


class ListedFeatures:
    """An index of codes in lists: those near to what is asked are found by one bit a dimension, and chosen by eight.

    Lists are the cells of k-means. In each, features are turned at random, less its center, and kept by the signs of
    their numbers (RaBitQ; Gao and Long, 2024). How many lists are looked into follows from the sample that they were
    made of.
    """

    def __init__(self, index: Any, sample: Numbers, probes: int, rows: CodedRows) -> None:  # noqa: ANN401 - no types
        """Take the parts of an index.

        Args:
            index: A random rotation and inverted lists of RaBitQ codes whose ids are numbers of rows.
            sample: The rows that its lists were made of.
            probes: The lists that a search looks into.
            rows: The rows it holds, with their codes of eight bits a dimension.
        """
        self.index, self.sample, self.probes = index, sample, probes
        self._rows = [rows]
        """Those that were there when the index was made, and those that were added, the older first."""

    @classmethod
    def trained(cls, lists: int, sample: Numbers, features: Vector, neighbors: int) -> ListedFeatures:
        """Make lists without rows.

        Args:
            lists: How many.
            sample: The rows that they are made of.
            features: Of these rows, float32 (n, d).
            neighbors: How many of the sample are as near as the ``NEIGHBORS`` nearest of all rows.
        """
        import faiss

        dimension = features.shape[1]
        rotation = faiss.RandomRotationMatrix(dimension, dimension)
        rotation.init(_SEED)
        turned = rotation.apply(features)
        centers = faiss.IndexFlatIP(dimension)
        cells = faiss.Clustering(dimension, lists)
        cells.niter, cells.seed, cells.spherical = _ROUNDS, _SEED, True
        cells.min_points_per_centroid, cells.max_points_per_centroid = 1, len(turned)
        cells.train(turned, centers)
        inner = faiss.IndexIVFRaBitQ(centers, dimension, lists, faiss.METRIC_INNER_PRODUCT)
        inner.train(turned)
        rows = CodedRows(np.empty(0, dtype=np.int64), np.empty((0, code_bytes(dimension)), dtype=np.uint8))
        return cls(faiss.IndexPreTransform(rotation, inner), sample, _probes(turned, centers, neighbors), rows)

    @property
    def lists(self) -> int:
        """The number of lists."""
        import faiss

        return int(faiss.downcast_index(self.index.index).nlist)

    @property
    def rows(self) -> CodedRows:
        """The rows it holds, rising."""
        self._rows = [_joined(self._rows)]
        return self._rows[0]

    @property
    def numbers(self) -> Numbers:
        """The numbers of the rows it holds, rising."""
        return self.rows.numbers

    def last(self) -> int:
        """Return the highest number; 0 where it holds nothing."""
        return max((int(one.numbers[-1]) for one in self._rows if len(one.numbers)), default=0)

    def add(self, numbers: Numbers, features: Vector) -> None:
        """Add rows whose numbers are above all others."""
        self.index.add_with_ids(features, numbers)
        self._rows.append(CodedRows(numbers, coded(features)))
        if len(self._rows) > _PIECES:
            self._rows = [self._rows[0], _joined(self._rows[1:])]

    def remove(self, numbers: Numbers) -> None:
        """Remove rows."""
        self.index.remove_ids(numbers)
        kept = [~np.isin(one.numbers, numbers) for one in self._rows]
        self._rows = [CodedRows(one.numbers[keep], one.codes[keep]) for one, keep in zip(self._rows, kept, strict=True)]

    def search(self, asked: Vector, count: int, among: Numbers | None) -> Numbers:
        """Return numbers that are likely to contain the nearest."""
        candidates = self._candidates(asked, OVERSAMPLED * count, among)
        if len(candidates) <= count:
            return candidates
        candidates.sort()  # codes lie in this order
        codes = self._codes_of(candidates)
        steps = codes[:, :_STEP_BYTES].view("<f4")[:, 0]
        scores = _products(codes[:, _STEP_BYTES:].view(np.int8).astype(np.float32), asked) * steps
        last = np.partition(scores, len(scores) - count)[-count]
        chosen: Numbers = candidates[scores >= last - _ROUNDED * steps.max()]
        return chosen

    def _candidates(self, asked: Vector, wanted: int, among: Numbers | None) -> Numbers:
        """Return at least the nearest ``wanted`` by one bit a dimension, where there are so many."""
        import faiss

        total = self.index.ntotal if among is None else len(among)
        # The lists next to what is asked may hold nothing of what it is chosen among.
        probes = self.probes if among is None else self.lists
        only = {} if among is None else {"sel": faiss.IDSelectorBatch(among)}
        while True:
            most = min(wanted + 1, total)
            inside = faiss.SearchParametersIVF(nprobe=probes, **only)
            params = faiss.SearchParametersPreTransform(index_params=inside)
            scores, found = self.index.search(asked[None], most, params=params)
            numbers: Numbers = found[0][found[0] >= 0]
            if len(numbers) < most and probes < self.lists:
                probes = min(2 * probes, self.lists)
            elif len(numbers) <= wanted or most == total:
                return numbers
            elif scores[0][wanted - 1] > scores[0][wanted]:
                return numbers[:wanted]
            else:  # equal codes are all taken: forgetting changes their order in a list
                wanted *= 2

    def _codes_of(self, numbers: Numbers) -> Codes:
        codes: Codes = np.empty((len(numbers), code_bytes(self.index.d)), dtype=np.uint8)
        for rows in self._rows:
            if len(rows.numbers):
                here = (numbers >= rows.numbers[0]) & (numbers <= rows.numbers[-1])
                codes[here] = rows.codes.take(np.searchsorted(rows.numbers, numbers[here]), axis=0)
        return codes


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows with their codes of eight bits a dimension, maybe mapped from a file."""

    numbers: Numbers
    """Rising."""
    codes: Codes


def _joined(rows: Sequence[CodedRows]) -> CodedRows:
    if len(rows) == 1:
        return rows[0]
    return CodedRows(np.concatenate([one.numbers for one in rows]), np.concatenate([one.codes for one in rows]))


def _products(rows: Vector, asked: Vector) -> Vector:
    """Return inner products, on this thread alone: those of BLAS wait for each other longer than this takes."""
    import faiss

    products: Vector = np.empty(len(rows), dtype=np.float32)
    pointers = [faiss.swig_ptr(one) for one in (products, asked, rows)]
    faiss.fvec_inner_products_ny(*pointers, rows.shape[1], len(rows))
    return products


def code_bytes(dimension: int) -> int:
    """Return the size of the code of one row."""
    return _STEP_BYTES + dimension


def coded(features: Vector) -> Codes:
    """Return the codes of features, float32 (n, d)."""
    codes: Codes = np.empty((len(features), code_bytes(features.shape[1])), dtype=np.uint8)
    steps = np.abs(features).max(axis=1, keepdims=True).astype("<f4") / np.float32(_CODE_MAX)
    codes[:, :_STEP_BYTES] = steps.view(np.uint8)
    codes[:, _STEP_BYTES:] = np.rint(features / steps).astype(np.int8).view(np.uint8)
    return codes


def _probes(turned: Vector, centers: Any, neighbors: int) -> int:  # noqa: ANN401 - faiss has no types
    """Return how many of the nearest lists hold ``FOUND`` of the neighbours of rows in the sample."""
    import faiss

    tried = turned[:_TRIED]
    everything = faiss.IndexFlatIP(turned.shape[1])
    everything.add(turned)
    near = everything.search(tried, neighbors + 1)[1][:, 1:]  # the nearest is the row itself
    lists = centers.search(turned, 1)[1][:, 0]
    ranked = centers.search(tried, centers.ntotal)[1]
    places = np.empty_like(ranked)
    np.put_along_axis(places, ranked, np.arange(centers.ntotal)[None].repeat(len(tried), axis=0), axis=1)
    needed = np.take_along_axis(places, lists[near], axis=1)
    return int(np.quantile(needed, FOUND, method="higher")) + 1
