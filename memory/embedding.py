"""Sentence embeddings, by which demonstrations are searched: the profile's model, all-MiniLM-L6-v2 by default."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import numpy as np

from snellen.memory.mean_pooling import MeanPooling, is_mean_pooled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.profiles import CheckpointSource, Profile


@dataclass(eq=False)
class _Shared:
    """A model that is read, the vectors of texts that it embedded, and whose turn it is to use it."""

    model: Any
    turn: threading.Lock = field(default_factory=threading.Lock)
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def vectors_of(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed texts; every home of a process begins with the same ones, which are embedded once."""
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if missing:
            embedded = self.model.encode(missing)
            new = dict(zip(missing, np.asarray(embedded, dtype=np.float32), strict=True))
            if len(self.vectors) + len(new) > _KEPT:
                new = {text: self.vectors[text] for text in texts if text in self.vectors} | new
                self.vectors.clear()
            self.vectors.update(new)
        return np.stack([self.vectors[text] for text in texts])


_KEPT: Final = 4096
"""Vectors that are kept, 384 floats each: 6 MB."""
_LOADING: Final = threading.Lock()
_IN_USE: Final[WeakValueDictionary[tuple[str, str | None], _Shared]] = WeakValueDictionary()
"""Models that somebody holds, by where they come from: homes and graphs of one process share them."""


@dataclass(frozen=True)
class _Quiet:
    """A model of sentence-transformers that shows no progress."""

    model: Any

    def encode(self, texts: list[str]) -> Any:  # noqa: ANN401 - a library without types
        return self.model.encode(texts, show_progress_bar=False, convert_to_numpy=True)


class SentenceEmbedding:
    """Texts to vectors; the model is read when the first text is embedded, and shared between threads."""

    def __init__(self, profile: Profile) -> None:
        """Prepare the model named by ``models.embedding`` of a profile.

        Raises:
            SnellenError: the profile names no embedding, or its files are not installed.
        """
        self._source: CheckpointSource = profile.source("embedding")
        self._shared: _Shared | None = None

    @property
    def name(self) -> str:
        """Tell two embeddings apart: where the model comes from, and its revision."""
        place = self._source.location.replace("\\", "/").rsplit("/", 2)[-2:] if self._source.local else None
        return f"{'/'.join(place) if place else self._source.location}@{self._source.revision or ''}"

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: n texts, at least one.

        Returns:
            Float32 (n, d), one row a text; d = 384 for MiniLM.
        """
        if self._shared is None:
            with _LOADING:
                key = (self._source.location, self._source.revision)
                shared = _IN_USE.get(key)
                if shared is None:
                    shared = _IN_USE[key] = _Shared(self._load())
                self._shared = shared
        with self._shared.turn:
            return self._shared.vectors_of(texts)

    def _load(self) -> Any:  # noqa: ANN401 - what encodes texts
        from snellen.profiles.exclusive_loading import loading_alone
        from snellen.profiles.hub_access import only_cached

        source = self._source
        with loading_alone():
            if source.local and is_mean_pooled(Path(source.location)):
                return MeanPooling(Path(source.location))
            from sentence_transformers import SentenceTransformer

            model = SentenceTransformer(
                source.location, revision=source.revision, device="cpu", local_files_only=only_cached(source)
            )
            return _Quiet(model)
