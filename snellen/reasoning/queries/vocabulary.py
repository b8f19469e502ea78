"""Words that no grammar file can list: names of models and of what pictures show, and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from snellen.reasoning.language.inflection import plural, singular
from snellen.reasoning.reading.lexical_entries import LexicalNoun, entries
from snellen.reasoning.reading.words import WordToken
from snellen.tools.samples import folder_classes, groups_of

if TYPE_CHECKING:
    from snellen.profiles import Profile

_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NAME_PARTS: Final = re.compile(r"[a-z]+|\d+|[^\W\d_a-z]+")
_MODEL_LIKE: Final = re.compile(r"(?<![\w-])[a-z][a-z]*(?:[-.]?[a-z]+)*[-.]?\d[\w.-]*\b", re.IGNORECASE)
_SHORTEST: Final = 3
"""Letters of a word that has forms."""


@dataclass(frozen=True)
class Terminal:
    """A phrase that is one symbol of the grammar.

    Attributes:
        phrase: The words.
        symbol: The symbol.
        value: Its value.
        cost: Zero or more.
    """

    phrase: str
    symbol: str
    value: Any
    cost: float = 0.0


class NounSource:
    """The source of a profile's nouns, compared by what they are read from."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._key = (
            profile.facts_path(),
            str(profile.samples),
            str(profile.source_folder()) if hasattr(profile, "source_folder") else "",
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NounSource) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def nouns(profile: Profile) -> Iterator[Terminal]:
    """Yield the names of what a profile's pictures show, and the facts about it."""
    for entry in entries(profile.facts_path(), covering=False):
        yield Terminal(entry.phrase, entry.symbol, entry.value, entry.cost)
    if profile.facts_path() is None:
        for name, (one, members) in groups_of(profile).items():
            for phrase in dict.fromkeys((name, one, plural(one), singular(name))):
                yield Terminal(phrase.casefold(), "NOUN", LexicalNoun((one,)))
            yield from _classes(members)
    yield from _classes(folder_classes(profile))


def _classes(names: Sequence[str]) -> Iterator[Terminal]:
    for name in names:
        for phrase in dict.fromkeys((name, plural(name), singular(name))):
            yield Terminal(phrase.casefold(), "NOUN", LexicalNoun((name,)), 0.05)


def model_names(models: Sequence[str], judges: Sequence[str]) -> Iterator[Terminal]:
    """Yield the names of models, and what they are called for short: all that begin so.

    Args:
        models: The models that can be examined.
        judges: Those among them that judge pairs and nothing else.
    """
    short: dict[str, list[str]] = {}
    for name in models:
        yield Terminal(name, "MODEL", (name,))
        parts = _NAME_PARTS.findall(name.casefold())
        yield Terminal(" ".join(parts), "MODEL", (name,))
        for length in range(1, len(parts)):
            stem = "".join(parts[:length])
            if stem not in models:
                short.setdefault(" ".join(parts[:length]), []).append(name)
    for stem, names in short.items():
        family = [name for name in names if name not in judges] or names
        yield Terminal(stem, "MODEL", tuple(family), 0.05)
        yield Terminal(stem.replace(" ", "-"), "MODEL", tuple(family), 0.05)
        yield Terminal(stem.replace(" ", " - "), "MODEL", tuple(family), 0.05)
    if judges:
        for phrase in ("judge", "the judges", "judges", "the judge", "judge models", "these judges"):
            yield Terminal(phrase, "MODEL", tuple(judges), 0.1)
        for phrase in ("which judge", "what judge", "which of the judges", "which of the two judges"):
            yield Terminal(phrase, "WHICH_JUDGE", tuple(judges))


def judges_among(models: Sequence[str], profile: Profile) -> tuple[str, ...]:
    """Return those of some models that only judge pairs."""
    return tuple(
        name for name in models if name in profile.tested and getattr(profile.tested[name], "only", "") == "pairs"
    )


def strangers(text: str, models: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return what looks like the name of a model, with a number in it, and is none.

    Args:
        text: The query.
        models: The models that there are.
        known: Words and names with numbers that are no models.
    """
    names = {_squeezed(name) for name in models} | {_squeezed(word) for word in known}
    stems = {squeezed[:length] for squeezed in names for length in range(1, len(squeezed) + 1)}
    return tuple(
        found[0]
        for found in _MODEL_LIKE.finditer(text)
        if _squeezed(found[0]) not in stems and not re.fullmatch(r"(?i)by-?\d+|x\d+", found[0])
    )


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def numerals(text: Sequence[WordToken], start: int) -> Iterator[tuple[int, float]]:
    """Yield the numbers that begin at a word, each with where it ends: "45", "0.5", "forty-five"."""
    word = text[start].text
    if word.isdecimal():
        yield start + 1, float(word)
        decimal = [token.text for token in text[start + 1 : start + 3]]
        if len(decimal) == 2 and decimal[0] == "." and decimal[1].isdecimal():  # noqa: PLR2004 - a point and digits
            yield start + 3, float(f"{word}.{decimal[1]}")
    hundred = [token.text for token in text[start : start + 4]]
    if hundred[:2] in (["a", "hundred"], ["one", "hundred"]):
        further = start + (3 if hundred[2:3] == ["and"] else 2)
        yield start + 2, 100.0
        yield from ((end, 100 + value) for end, value in _below_hundred(text, further))
    yield from _below_hundred(text, start)


def _below_hundred(text: Sequence[WordToken], start: int) -> Iterator[tuple[int, float]]:
    if start >= len(text):
        return
    word = text[start].text
    if word in _ONES:
        yield start + 1, float(_ONES.index(word))
    tens, _, ones = word.partition("-")
    if tens in _TENS and (not ones or ones in _ONES[1:10]):
        value = 10.0 * (2 + _TENS.index(tens))
        yield start + 1, value + (_ONES.index(ones) if ones else 0)
        if not ones and start + 1 < len(text) and text[start + 1].text in _ONES[1:10]:
            yield start + 2, value + _ONES.index(text[start + 1].text)


def is_numeral(word: str) -> bool:
    """Tell whether a word is a number."""
    return word == "hundred" or any(True for _ in numerals([WordToken(word, word)], 0))


def bases(word: str) -> Iterator[str]:
    """Yield what a regular form may be a form of: "pasted" of "paste", "tilts" of "tilt", "dimming" of "dim"."""
    for ending in ("s", "es", "d", "ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST:
            yield stem
            yield f"{stem}e"
            if stem[-1:] == stem[-2:-1]:
                yield stem[:-1]
    if word.endswith(("ies", "ied")):
        yield f"{word[:-3]}y"
