"""Embedding of instructions: half by their words, half by their wording, which is what is left without the nouns.

"What is between the cat and the dog?" is near to other questions about cats and dogs, and by its wording to "what is
between the cup and the plate?", whose program is the same.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.memory.embedding import SentenceEmbedding
from snellen.reasoning.language.inflection import plural, singular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.profiles import Profile

_KIND: Final = "words and wording"
_THINGS: Final = ("object", "objects", "thing", "things", "item", "items", "stuff")


class InstructionEmbedding:
    """Texts to vectors of twice the length that the profile's sentence embedding has."""

    def __init__(self, profile: Profile) -> None:
        """Read the profile's nouns; the model is read when the first text is embedded.

        Raises:
            SnellenError: The profile names no embedding, or its files are not installed.
        """
        self._sentences = SentenceEmbedding(profile)
        self._facts_file = profile.facts_path()

    @property
    def name(self) -> str:
        """Tell two embeddings apart, as `SentenceEmbedding.name` does."""
        return f"{self._sentences.name}, {_KIND}"

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed n texts, at least one: float32 (n, 2d), unit vectors of their words and of their wordings."""
        vectors = self._sentences([*texts, *(wording_of(each, self._facts_file) for each in texts)])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.maximum(lengths, np.float32(1e-12))
        return np.hstack([unit[: len(texts)], unit[len(texts) :]])


@lru_cache(maxsize=4_096)
def wording_of(text: str, facts_file: Path | None) -> str:
    """Return a text with the word for any thing in place of the nouns of a facts file."""
    nouns = nouns_of(facts_file)
    return _pattern(facts_file).sub(lambda match: nouns[match[0].lower()], text)


@cache
def _pattern(facts_file: Path | None) -> re.Pattern[str]:
    alternatives = "|".join(map(re.escape, sorted(nouns_of(facts_file), key=len, reverse=True)))
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


@cache
def nouns_of(facts_file: Path | None) -> dict[str, str]:
    """Return the nouns of a facts file (``concepts``, ``groups``), each with the word for any thing in its number."""
    nouns = dict.fromkeys(_THINGS, "thing") | {"objects": "things"}
    if facts_file is None:
        return nouns
    table = json.loads(facts_file.read_text(encoding="utf-8"))
    for row in table["concepts"]:
        _enter(nouns, row["name"], plural(row["name"]))
    for name, row in table["groups"].items():
        _enter(nouns, row["singular"], name)
        nouns.setdefault(plural(row["singular"]), "thing")
        nouns.setdefault(plural(name), "thing")
    return nouns


def _enter(nouns: dict[str, str], name: str, several: str) -> None:
    nouns.setdefault(name, "thing")
    nouns.setdefault(several, "things")
    nouns.setdefault(singular(name), "thing")
