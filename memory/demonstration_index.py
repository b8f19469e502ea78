"""The search index of the demonstrations: a cache of their vectors that can be lost and is built again."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.errors import SnellenError
from snellen.memory.home import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import faiss
    from numpy.typing import NDArray

    Embedding = Callable[[list[str]], NDArray[np.float32]]
    """Texts to vectors: n texts give float32 (n, d); lengths need not be 1."""

_MAGIC: Final = b"snellen-index-1\n"
_DIGEST_BYTES: Final = 32
_LOGGER = logging.getLogger(__name__)


class DemonstrationIndex:
    """An index file; it is checked before it is used, extended by what is missing, and built afresh when damaged."""

    def __init__(self, path: Path, embed: Embedding | None, embedding: str) -> None:
        """Remember the file; nothing is read or embedded yet.

        Args:
            path: The file, which need not exist.
            embed: Texts to vectors; None where nothing is to be searched.
            embedding: The embedding's name; an index made under another name is built afresh.
        """
        self._path = path
        self._embed = embed
        self._embedding = embedding
        self._index: faiss.IndexIDMap2 | None = None

    def search(
        self, text: str, numbers: Sequence[int], most: int, *, rows: Sequence[int], texts_of: TextsOf
    ) -> list[tuple[int, float]]:
        """Return the numbers of the nearest texts with their cosines, nearest first.

        Args:
            text: What to search for.
            numbers: The rows to search among.
            most: At most so many.
            rows: The numbers of all rows; the index is made to hold exactly these.
            texts_of: Gives the texts of rows by their numbers, for those that are missing in the index.

        Raises:
            SnellenError: There is no embedding.
        """
        import faiss

        vector = self._vectors([text])
        index = self._current(vector.shape[1], rows, texts_of)
        if not len(numbers) or most < 1:
            return []
        choice = faiss.SearchParameters(sel=faiss.IDSelectorBatch(np.asarray(numbers, dtype=np.int64)))
        cosines, matches = index.search(vector, min(most, len(numbers)), params=choice)
        pairs = zip(matches[0].tolist(), cosines[0].tolist(), strict=True)
        return [(number, cosine) for number, cosine in pairs if number >= 0]

    def refresh(self, rows: Sequence[int], texts_of: TextsOf) -> None:
        """Bring the file up to date, building it where it is missing or cannot be used.

        Raises:
            SnellenError: There is no embedding.
        """
        self._index = None
        if rows:
            self._current(self._vectors(texts_of(rows[:1])).shape[1], rows, texts_of)

    def is_damaged(self) -> bool:
        """Tell whether there is a file that cannot be used: damaged, or of another embedding."""
        return self._path.exists() and self._read() is None

    def _current(self, dimension: int, rows: Sequence[int], texts_of: TextsOf) -> faiss.IndexIDMap2:
        """Return an index that holds exactly these rows."""
        import faiss

        index = self._index or self._read()
        held = np.array([], dtype=np.int64) if index is None else faiss.vector_to_array(index.id_map)
        if index is None or index.d != dimension:
            index, held = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension)), held[:0]
        gone, missing = np.setdiff1d(held, rows), np.setdiff1d(np.asarray(rows, dtype=np.int64), held)
        if len(gone):
            index.remove_ids(gone)
        if len(missing):
            index.add_with_ids(self._vectors(texts_of(missing.tolist())), missing)
        if len(gone) or len(missing):
            self._write(index)
        self._index = index
        return index

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as unit vectors, so that the inner product is the cosine; float32 (n, d)."""
        if self._embed is None:
            msg = "These demonstrations were opened without an embedding; open them through a profile to search them."
            raise SnellenError(msg)
        # The plan and the program of one instruction are two rows with one text.
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        vectors = np.ascontiguousarray(self._embed(list(places)), dtype=np.float32)[[places[text] for text in texts]]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit

    def _read(self) -> faiss.IndexIDMap2 | None:
        """Read the index file; None when it is missing, damaged or of another embedding: it is only a cache."""
        import faiss

        try:
            content = self._path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST_BYTES
        # The digest is compared first: faiss trusts the sizes it reads, and a damaged file could crash the process.
        if content[:start] != self._header(content[start:]):
            return None
        return faiss.deserialize_index(np.frombuffer(content[start:], dtype=np.uint8))

    def _write(self, index: faiss.IndexIDMap2) -> None:
        import faiss

        body = faiss.serialize_index(index).tobytes()
        try:
            write_atomically(self._path, self._header(body) + body)
        except OSError as error:
            _LOGGER.warning("The search index was not saved and will be built again next time: %s", error)

    def _header(self, body: bytes) -> bytes:
        return _MAGIC + hashlib.sha256(self._embedding.encode() + b"\n" + body).digest()


if TYPE_CHECKING:
    TextsOf = Callable[[Sequence[int]], list[str]]
    """The texts of rows by their numbers, in their order."""
