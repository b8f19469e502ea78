"""Embedding of instructions: half by their words, half by their wording, which is what is left without the nouns.

"What is between the cat and the dog?" is near to other questions about cats and dogs, and by its wording to "what is
between the cup and the plate?", whose program is the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.memory.embedding import SentenceEmbedding
from snellen.reasoning.language.lexicon import lexicon_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.profiles import Profile

_KIND: Final = "words and wording"


class InstructionEmbedding:
    """Texts to vectors of twice the length that the profile's sentence embedding has."""

    def __init__(self, profile: Profile) -> None:
        """Read the profile's nouns; the model is read when the first text is embedded.

        Raises:
            SnellenError: The profile names no embedding, or its files are not installed.
        """
        self._sentences = SentenceEmbedding(profile)
        self._nouns = {**lexicon_of(profile).nouns}
        alternatives = "|".join(map(re.escape, sorted(self._nouns, key=len, reverse=True)))
        self._pattern = re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)

    @property
    def name(self) -> str:
        """Tell two embeddings apart, as `SentenceEmbedding.name` does."""
        return f"{self._sentences.name}, {_KIND}"

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed n texts, at least one: float32 (n, 2d), unit vectors of their words and of their wordings."""
        vectors = self._sentences([*texts, *map(self._wording, texts)])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.maximum(lengths, np.float32(1e-12))
        return np.hstack([unit[: len(texts)], unit[len(texts) :]])

    def _wording(self, text: str) -> str:
        return self._pattern.sub(self._thing, text)

    def _thing(self, match: re.Match[str]) -> str:
        noun = self._nouns[match[0].lower()]
        is_plural = match[0].lower() == noun.plural != noun.name
        return "things" if is_plural else "thing"
