"""The search index of the demonstrations: which rows there are, and the vectors of their texts.

Rows are read once and then as they are added; the database says when some were deleted. Vectors are a cache that can be
lost: they are read from a file, and what is missing there is embedded. Searching is exact.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.errors import SnellenError
from snellen.memory.demonstration_faiss import EARLIER_INDEX, read_earlier
from snellen.memory.demonstration_vectors import VectorFile, key_of
from snellen.memory.home import MemoryTrouble
from snellen.memory.vector_search import VectorSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from snellen.memory.statements import Statements

    Numbers = NDArray[np.int64]
    Embedding = Callable[[list[str]], NDArray[np.float32]]
    """Texts to vectors: n texts give float32 (n, d); lengths need not be 1."""
    Writing = Callable[[], AbstractContextManager[None]]
    """Keeps all others from writing."""

_SHORTEST: Final = np.float32(1e-12)
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of one part of the pool: of one kind, right or wrong."""

    numbers: Numbers
    """Rising."""
    texts: Numbers
    """The places of their texts' vectors."""
    sources: Numbers

    def chosen(self, rows: Numbers | NDArray[np.bool_]) -> _Part:
        """Return some of the rows."""
        return _Part(self.numbers[rows], self.texts[rows], self.sources[rows])

    def with_rows(self, added: Sequence[tuple[int, int, int]]) -> _Part:
        """Return these rows and others, each with its number, text and source."""
        new = np.array(added, dtype=np.int64).T
        return _Part(
            *(np.concatenate(pair) for pair in zip((self.numbers, self.texts, self.sources), new, strict=True))
        )


_NOTHING: Final = _Part(*(np.empty(0, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True)
class _State:
    """The state of the rows that an index must have seen to be right."""

    identity: str
    deletions: int
    last: int


class DemonstrationIndex:
    """An index kept equal to the rows of the database; used by one thread at a time."""

    def __init__(self, path: Path, embed: Embedding | None, embedding: str, writing: Writing) -> None:
        """Remember the file; nothing is read or embedded yet.

        Args:
            path: The file of vectors, which need not exist.
            embed: Texts to vectors; None where nothing is to be searched.
            embedding: The embedding's name; vectors made under another name are made again.
            writing: Keeps others from writing the file.
        """
        self._path, self._embed, self._embedding, self._writing = path, embed, embedding, writing
        self._state: _State | None = None
        self._parts: dict[tuple[str, bool], _Part] = {}
        self._sources: dict[str, int] = {}
        self._begin_vectors(0)

    def search(
        self, db: Statements, text: str, kind: str, *, correct: bool, sources: Collection[str] | None, most: int
    ) -> list[tuple[int, float]]:
        """Return the numbers of the rows whose texts are nearest, with their cosines.

        Args:
            db: The database.
            text: What to search for.
            kind: ``plan`` or ``program``.
            correct: Which part of the pool.
            sources: Only those from here; None takes all.
            most: At most so many.

        Returns:
            By falling cosine, equal ones by number.

        Raises:
            SnellenError: There is no embedding.
        """
        asked = self._vectors_of([text])
        self._refresh(db, asked.shape[1])
        part = self._parts.get((kind, correct), _NOTHING)
        if sources is not None:
            known = [self._sources[one] for one in sources if one in self._sources]
            part = part.chosen(np.isin(part.sources, known))
        if not len(part.numbers) or most < 1:
            return []
        allowed = np.zeros(len(self._search), dtype=bool)
        allowed[part.texts] = True
        places, cosines = self._search.nearest(asked[0], allowed, most)
        cosine_of = np.full(len(self._search), -np.inf)
        cosine_of[places] = cosines
        found = cosine_of[part.texts]
        near = np.flatnonzero(found > -np.inf)
        order = near[np.lexsort((part.numbers[near], -found[near]))][:most]
        return list(zip(part.numbers[order].tolist(), found[order].tolist(), strict=True))

    def refresh(self, db: Statements) -> None:
        """Bring the file up to date, building it where it is missing or cannot be used.

        Raises:
            SnellenError: There is no embedding.
        """
        self._begin_vectors(0)
        self._state = None
        first = db.execute("SELECT instruction FROM demonstrations LIMIT 1").fetchone()
        if first is not None:
            self._refresh(db, self._vectors_of([first[0]]).shape[1])

    def forget(self, texts: Collection[str]) -> None:
        """Let the file hold the vectors of these texts alone."""
        kept = {key_of(text) for text in texts}
        self._write(lambda: _keep_alone(VectorFile(self._path, self._embedding), kept))

    def is_damaged(self) -> bool:
        """Tell whether there is a file that cannot be used: damaged, or of another embedding."""
        file = VectorFile(self._path, self._embedding)
        file.unread()
        return file.is_damaged

    def _begin_vectors(self, dimension: int) -> None:
        self._file = VectorFile(self._path, self._embedding)
        self._search = VectorSearch(dimension)
        self._places: dict[bytes, int] = {}
        """The vectors there are, by the keys of their texts."""

    def _refresh(self, db: Statements, dimension: int) -> None:
        """Hold exactly the rows of the database, and the vectors of their texts."""
        state = _state_of(db)
        if state == self._state and self._search.dimension == dimension:
            return
        if self._search.dimension != dimension:
            self._begin_vectors(dimension)
            self._state = None
        was = self._state
        if was is None or (was.identity, was.deletions) != (state.identity, state.deletions):
            self._parts, was = {}, None
        added = db.execute(
            "SELECT number, instruction, source, kind, correct FROM demonstrations WHERE number > ? ORDER BY number",
            [0 if was is None else was.last],
        ).fetchall()
        keys = {text: key_of(text) for _, text, *_ in added}
        self._take_over({number: keys[text] for number, text, *_ in added})
        self._fetch(keys)
        rows: dict[tuple[str, bool], list[tuple[int, int, int]]] = {}
        for number, text, source, kind, correct in added:
            source_number = self._sources.setdefault(source, len(self._sources))
            rows.setdefault((kind, bool(correct)), []).append((number, self._places[keys[text]], source_number))
        self._parts |= {name: self._parts.get(name, _NOTHING).with_rows(several) for name, several in rows.items()}
        # Rows may have been added since the state was looked at.
        self._state = replace(state, last=max((int(one.numbers[-1]) for one in self._parts.values()), default=0))
        if was is None:
            self._drop_others()

    def _take_over(self, keys: dict[int, bytes]) -> None:
        """Take the vectors of rows from the file of an earlier version, which is deleted afterwards."""
        earlier = self._path.with_name(EARLIER_INDEX)
        if self._path.exists() or not earlier.exists():
            return
        found = {keys[number]: one for number, one in read_earlier(earlier, self._embedding).items() if number in keys}
        if found:
            self._keep(list(found), np.stack(list(found.values())))
            self._write(self._write_all)
        if self._path.exists() or not found:
            self._write(lambda: earlier.unlink(missing_ok=True))

    def _fetch(self, keys: dict[str, bytes]) -> None:
        """Have the vectors of texts: those of the file first, then embedded ones, which are added to the file."""
        missing = {text: key for text, key in keys.items() if key not in self._places}
        if not missing:
            return
        self._keep(*self._file.unread())
        missing = {text: key for text, key in missing.items() if key not in self._places}
        if not missing:
            return
        vectors, new = self._vectors_of(list(missing)), list(missing.values())
        self._keep(new, vectors)
        if self._file.is_damaged or not self._path.exists():
            self._write(self._write_all)
        else:
            self._write(lambda: self._file.add(new, vectors))

    def _keep(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        if vectors.shape[1] != self._search.dimension:
            self._file.is_damaged = bool(len(keys)) or self._file.is_damaged
            return
        new = {key: place for place, key in enumerate(keys) if key not in self._places}
        if new:
            self._places |= {key: len(self._search) + count for count, key in enumerate(new)}
            self._search.add(vectors[list(new.values())])

    def _drop_others(self) -> None:
        """Drop the vectors whose texts no row has any more, here and in the file, and what is damaged there."""
        used = np.unique(np.concatenate([one.texts for one in (_NOTHING, *self._parts.values())]))
        if len(used) == len(self._search) and not self._file.is_damaged:
            return
        vectors, kept = self._search.take(used), set(used.tolist())
        keys = [key for key, place in self._places.items() if place in kept]
        self._search = VectorSearch(self._search.dimension)
        self._places = {key: place for place, key in enumerate(keys)}
        self._search.add(vectors)
        for name, part in self._parts.items():
            self._parts[name] = replace(part, texts=np.searchsorted(used, part.texts))
        self._write(self._write_all)

    def _write_all(self) -> None:
        self._file.write(list(self._places), self._search.take(np.arange(len(self._search))))

    def _write(self, work: Callable[[], None]) -> None:
        try:
            with self._writing():
                work()
        except (OSError, MemoryTrouble) as error:
            _LOGGER.warning("Vectors were not saved in %s and will be made again next time: %s", self._path, error)

    def _vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as unit vectors, so that the inner product is the cosine; float32 (n, d)."""
        if self._embed is None:
            msg = "These demonstrations were opened without an embedding; open them through a profile to search them."
            raise SnellenError(msg)
        vectors = np.ascontiguousarray(self._embed(list(texts)), dtype=np.float32)
        unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SHORTEST)
        return unit


def _keep_alone(file: VectorFile, kept: set[bytes]) -> None:
    keys, vectors = file.unread()
    remaining = [place for place, key in enumerate(keys) if key in kept]
    if not remaining:
        file.path.unlink(missing_ok=True)
    elif len(remaining) < len(keys):
        file.write([keys[place] for place in remaining], vectors[remaining])


def _state_of(db: Statements) -> _State:
    identity, deletions = db.execute("SELECT identity, deletions FROM demonstration_state").fetchone()
    (last,) = db.execute("SELECT MAX(number) FROM demonstrations").fetchone()
    return _State(identity, deletions, last or 0)
