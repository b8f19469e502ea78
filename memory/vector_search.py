"""An exact search among unit vectors that reads a quarter of their bytes.

Once many vectors are searched often, each has a code of eight bits a number, too. An inner product with a code differs
from that with the vector by at most the length of what the code leaves out (Cauchy-Schwarz), so that whatever the codes
put further below the nearest than that cannot be among them; the others are compared in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Places = NDArray[np.int64]

CODED: Final = 8192
"""Up to so many vectors all are compared: 25 MB of 768 numbers."""
SEARCHES: Final = 8
"""Searches before codes are made, which takes as long as some ten comparisons of all."""

_SPARE: Final = 4
_PIECES: Final = 8
_GROWTH: Final = 4
_ROUNDING: Final = 1e-5
"""Above the rounding error of a float32 inner product of unit vectors."""


class VectorSearch:
    """Unit vectors by their places, to which others are added."""

    def __init__(self, dimension: int) -> None:
        """Begin without vectors."""
        self._vectors = _Pieces(dimension)
        self._searches = 0
        self._codes: _Codes | None = None

    def __len__(self) -> int:
        return self._vectors.count

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return self._vectors.width

    def add(self, vectors: Vector) -> None:
        """Add unit vectors, float32 (n, d); their places follow those that are there."""
        self._vectors.add(vectors)
        if self._codes is not None:
            self._codes.add(vectors)

    def take(self, places: Places) -> Vector:
        """Return vectors, float32 (n, d)."""
        return self._vectors.take(places)

    def nearest(self, asked: Vector, allowed: NDArray[np.bool_], count: int) -> tuple[Places, NDArray[np.float64]]:
        """Return the places of the nearest, and their cosines.

        Args:
            asked: A unit vector, float32 (d,).
            allowed: Whether each may be chosen, (n,).
            count: At least so many, where there are; more, where the last ones are equally near.
        """
        self._searches += 1
        candidates = self._candidates(asked, allowed, count)
        # In double precision, and the same for a vector whatever stands beside it; a matrix product is neither.
        cosines = (self.take(candidates).astype(np.float64) * asked.astype(np.float64)).sum(axis=1)
        kept = cosines >= _highest(cosines, count)
        return candidates[kept], cosines[kept]

    def _candidates(self, asked: Vector, allowed: NDArray[np.bool_], count: int) -> Places:
        """Return places that are sure to hold the nearest."""
        if self._codes is None and len(self) > CODED and self._searches > SEARCHES:
            self._codes = _Codes(self._vectors.pieces)
        places = np.flatnonzero(allowed) if self._codes is None else self._codes.candidates(asked, allowed, count)
        cosines = self._vectors.products(asked)[places] if len(places) * 2 > len(self) else self.take(places) @ asked
        near: Places = places[cosines >= _highest(cosines, count) - _ROUNDING]
        return near


class _Codes:
    """Codes of eight bits a number, and how much they leave out at most."""

    def __init__(self, pieces: Sequence[Vector]) -> None:
        import faiss

        kind = faiss.ScalarQuantizer.QT_8bit_uniform
        self._index = faiss.IndexScalarQuantizer(pieces[0].shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        self._index.train(pieces[0])
        self._left_out = 0.0
        for piece in pieces:
            for start in range(0, len(piece), CODED):
                self.add(piece[start : start + CODED])

    def add(self, vectors: Vector) -> None:
        left_out = vectors - self._index.sa_decode(self._index.sa_encode(vectors))
        self._left_out = max(self._left_out, float(np.linalg.norm(left_out, axis=1).max(initial=0)))
        self._index.add(vectors)

    def candidates(self, asked: Vector, allowed: NDArray[np.bool_], count: int) -> Places:
        """Return places that are sure to hold the nearest."""
        import faiss

        total = int(allowed.sum())
        chosen = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little")))
        wanted = _SPARE * count
        while wanted * 2 < total:
            scores, places = self._index.search(asked[None], wanted, params=chosen)
            enough = scores[0][count - 1] - 2 * (self._left_out + _ROUNDING)
            if scores[0][-1] < enough:
                near: Places = places[0][scores[0] >= enough]
                return near
            wanted *= 2
        return np.flatnonzero(allowed)


class _Pieces:
    """Rows of one matrix in few pieces, so that adding some does not copy all."""

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self.pieces: list[Vector] = []

    def add(self, rows: Vector) -> None:
        self.pieces.append(np.ascontiguousarray(rows, dtype=np.float32))
        self.count += len(rows)
        if len(self.pieces) > _PIECES:
            last = np.concatenate(self.pieces[1:])
            much = len(last) * _GROWTH > len(self.pieces[0])
            self.pieces = [np.concatenate([self.pieces[0], last])] if much else [self.pieces[0], last]

    def products(self, asked: Vector) -> Vector:
        if not self.pieces:
            return np.empty(0, dtype=np.float32)
        return np.concatenate([piece @ asked for piece in self.pieces])

    def take(self, places: Places) -> Vector:
        found: Vector = np.empty((len(places), self.width), dtype=np.float32)
        start = 0
        for piece in self.pieces:
            here = (places >= start) & (places < start + len(piece))
            found[here] = piece[places[here] - start]
            start += len(piece)
        return found


def _highest(values: NDArray[np.floating], count: int) -> float:
    """Return the ``count``-th highest; minus infinity where there are fewer."""
    return -np.inf if len(values) <= count else float(np.partition(values, len(values) - count)[-count])
