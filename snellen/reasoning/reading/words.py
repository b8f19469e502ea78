"""Words of a text: their tokens, their spelling, and the known words that a misspelt one may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

_TOKEN: Final = re.compile(r"\d+(?:st|nd|rd|th)?|[^\W\d_]+(?:-[^\W\d_]+)*|'(?:s|d|ll|re|ve|m)\b|[^\w\s]|\d+")
_CONTRACTIONS: Final = (
    (re.compile(r"[\u2018\u2019\u00b4`]"), "'"),
    (re.compile(r"[\u201c\u201d]"), '"'),
    (re.compile(r"[\u2013\u2014]"), "-"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<!['\w])(\w+s)'(?=\s)"), r"\1 's"),
    (re.compile(r"\.{2,}|\u2026"), " , "),
    (re.compile(r"\be\.g\.?(?!\w)"), "for example"),
    (re.compile(r"\bi\.e\.?(?!\w)"), "that is"),
    (re.compile(r"(?:\u2265|>=)\s*(?=\d)"), " at least "),
    (re.compile(r"(?:\u2264|<=)\s*(?=\d)"), " at most "),
    (re.compile(r">\s*(?=\d)"), " more than "),
    (re.compile(r"<\s*(?=\d)"), " less than "),
)
_SIMPLE: Final = re.compile(r"[a-z ]*")
_LONG: Final = 7
"""Letters from which on a word may have two misspellings."""
_SHORTEST: Final = 4
PUNCTUATION: Final = frozenset(",.?!;:-()\"'/&=*~")
SPEAKER: Final = frozenset(
    {"i", "my", "me", "we", "our", "us", "mine", "your", "you", "he", "she", "hope", "thanks", "sorry", "friend"}
)
"""Words one of which a clause about the speaker has."""
SPEAKER_ALONE: Final = frozenset({"i", "my", "we", "our"})
ASKING: Final = frozenset(
    {"except", "without", "ignore", "ignoring", "above", "below", "if", "unless", "otherwise", "every", "how", "many"}
)
"""Words that no such clause has: they would change what is asked."""


@dataclass(frozen=True)
class WordToken:
    """A word as it is read.

    Attributes:
        text: The word, lower case.
        written: The word as it was written.
    """

    text: str
    written: str


def tokens(text: str, spellings: Mapping[str, str]) -> tuple[WordToken, ...]:
    """Cut a text into words and punctuation, contractions undone and variant spellings made one.

    Args:
        text: The text.
        spellings: Words that other words are spellings of; one may stand for several words ("whats": "what 's").
    """
    plain = text.lower()
    if _SIMPLE.fullmatch(plain):
        return tuple(WordToken(word, each) for each in plain.split() for word in spellings.get(each, each).split())
    for pattern, replacement in _CONTRACTIONS:
        plain = pattern.sub(replacement, plain)
    cut = (match.group() for match in _TOKEN.finditer(plain))
    return tuple(WordToken(word, each) for each in cut for word in spellings.get(each, each).split())


def unhyphenated(words: Iterable[WordToken], is_apart: Callable[[str], bool]) -> tuple[WordToken, ...]:
    """Return words of which some are cut at their hyphens: "vehicle-naming", "red-or-blue"."""
    return tuple(
        each if part == each.text else WordToken(part, part)
        for each in words
        for part in (each.text.split("-") if "-" in each.text.strip("-") and is_apart(each.text) else [each.text])
    )


@dataclass(frozen=True)
class KnownWords:
    """All words that the grammar and the lexicon know, and English words that are near to one without being it.

    Attributes:
        known: The known words.
        english: Words that are no misspellings, though they are near to a known one.
    """

    known: frozenset[str]
    english: frozenset[str] = frozenset()

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        letters: dict[str, list[str]] = {}
        for word in sorted(self.known):
            if len(word) >= _SHORTEST and word.isalpha():
                letters.setdefault(word[0], []).append(word)
        return letters

    def corrections(self, word: str) -> tuple[str, ...]:
        """Return the known words that a word may be meant for: none where it is a word itself, or too short."""
        if not word.isalpha() or self.is_english(word):
            return ()
        if len(word) < _SHORTEST:
            return self._swapped(word) if len(word) == _SHORTEST - 1 else ()
        return self.nearest(word, most=2 if len(word) >= _LONG else 1)

    def _swapped(self, word: str) -> tuple[str, ...]:
        """Return the known words that two neighbouring letters exchanged make of a word."""
        places = range(len(word) - 1)
        swapped = (f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in places)
        return tuple(each for each in swapped if each in self.known)

    def suggestion(self, word: str) -> str:
        """Return the known word to ask about in place of an unknown one; empty where none is near."""
        near = self.nearest(word, most=2 if len(word) >= _LONG else 1) if len(word) >= _SHORTEST else ()
        return next(iter(near), "")

    def is_english(self, word: str) -> bool:
        """Tell whether a word is no misspelling."""
        return word in self.known or word in self.english or (word.endswith("s") and word[:-1] in self.english)

    def nearest(self, word: str, *, most: int = 2) -> tuple[str, ...]:
        """Return the known words at the smallest number of edits, at most `most`; they share the first letter."""
        best, near = most + 1, list[str]()
        for other in self._by_letter.get(word[:1], ()):
            if abs(len(other) - len(word)) > min(best, most):
                continue
            edits = distance(word, other, min(best, most))
            if edits < best:
                best, near = edits, [other]
            elif edits == best <= most:
                near.append(other)
        return tuple(near)


def distance(one: str, other: str, most: int) -> int:
    """Return the number of edits between two words, neighbours exchanged being one; `most` + 1 where there are more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, another in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != another))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == another:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


@dataclass
class _Node:
    """A place in a table of phrases: what may follow, and the values of the phrase that ends here."""

    following: dict[str, _Node] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)


class PhraseTable:
    """Phrases of one or more words, found wherever they stand in a text."""

    def __init__(self, phrases: Iterable[tuple[tuple[str, ...], Any]]) -> None:
        self._root = _Node()
        for words, value in phrases:
            node = self._root
            for word in words:
                node = node.following.setdefault(word, _Node())
            node.values.append(value)

    def at(self, options: tuple[tuple[str, ...], ...], start: int) -> list[tuple[int, Any]]:
        """Return the ends and values of all phrases that begin at a word, each word being one of its options."""
        matches: list[tuple[int, Any]] = []
        level = [self._root]
        for place in range(start, len(options)):
            level = [node.following[word] for node in level for word in options[place] if word in node.following]
            if not level:
                break
            matches += [(place + 1, value) for node in level for value in node.values]
        return matches
