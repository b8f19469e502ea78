"""Asides: clauses that begin or end an instruction, are about the speaker and name nothing to be seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from snellen.reasoning.reading.words import ASKING, SPEAKER, SPEAKER_ALONE, PhraseTable, WordToken

_BOUNDARIES: Final = frozenset({",", ".", "!", "?", ":", ";", "-", "and", "but", "so"})


@dataclass(frozen=True)
class Aside:
    """The place of an aside among the words, its end excluded."""

    start: int
    end: int


@dataclass(frozen=True)
class AsideFinder:
    """A finder of asides.

    Attributes:
        markers: Phrases with which instructions begin.
        nouns: Words that name things.
    """

    markers: PhraseTable
    nouns: frozenset[str]

    def find(self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...]) -> Iterator[Aside]:
        """Yield the asides of an instruction."""
        for place in range(1, len(text)):
            is_told = self.markers.at(options, place) and SPEAKER_ALONE & {token.text for token in text[:place]}
            if is_told and not self._names_something(text[:place]):
                yield Aside(0, place)
        for place in (place for place, token in enumerate(text) if token.text in _BOUNDARIES):
            if self._is_aside(text[:place]):
                yield Aside(0, place + 1)
            if self._is_aside(text[place:]):
                yield Aside(place, len(text))

    def _names_something(self, before: Sequence[WordToken]) -> bool:
        """Tell whether the clause just before "tell me" is about the picture: "look at the top left and tell me"."""
        words = [token.text for token in before]
        while words and words[-1] in _BOUNDARIES:
            words.pop()
        starts = [place for place, word in enumerate(words) if word in _BOUNDARIES]
        return not self.nouns.isdisjoint(words[starts[-1] + 1 if starts else 0 :])

    def _is_aside(self, clause: Sequence[WordToken]) -> bool:
        words = {token.text for token in clause}
        return bool(words & SPEAKER) and not words & self.nouns and not words & ASKING
