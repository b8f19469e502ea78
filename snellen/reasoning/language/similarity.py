"""Similarity of two wordings, by the profile's sentence embedding; each text is embedded once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from snellen.memory.embedding import SentenceEmbedding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.profiles import Profile

_KEPT = 20_000
"""Vectors kept at most (384 floats each: 30 MB)."""


class WordingSimilarity:
    """Cosine similarity of texts; the model is loaded at the first comparison, threads may share it."""

    def __init__(self, profile: Profile) -> None:
        """Remember which model to use: the profile's ``[models.embedding]``."""
        self._profile = profile
        self._embedding: SentenceEmbedding | None = None
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine similarity of one text with each of several.

        Raises:
            SnellenError: The profile has no embedding model, or it is not installed.
        """
        if not others:
            return []
        with self._lock:
            one, *several = self._unit([text, *others])
        return [float(vector @ one) for vector in several]

    def _unit(self, texts: list[str]) -> list[NDArray[np.float32]]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._embedding = self._embedding or SentenceEmbedding(self._profile)
            if len(self._vectors) + len(missing) > _KEPT:
                self._vectors.clear()
                missing = list(dict.fromkeys(texts))
            vectors = self._embedding(missing)
            lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
            self._vectors.update(zip(missing, vectors / lengths, strict=True))
        return [self._vectors[text] for text in texts]
