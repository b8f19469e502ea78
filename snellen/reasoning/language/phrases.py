"""Descriptive English in small pieces: words that are known, and noun phrases made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import Final, Literal

from snellen.reasoning.language.inflection import plural, singular
from snellen.reasoning.language.lexicon import (
    CANONICAL,
    COLOURS,
    FILLERS,
    NUMBERS,
    PLACES,
    RELATIONS,
    SETTINGS,
    SIZES,
    THING,
    Lexicon,
    Noun,
    plain_words,
)

SPOKEN: Final = {
    "left": "to the left of", "right": "to the right of", "above": "above", "below": "below",
    "front": "in front of", "behind": "behind",
}  # fmt: skip
"""How relations are called in tuples."""
SETTING_KINDS: Final = {"weather": "state", "background": "pattern", "style": "state"}
"""What a picture has as a whole, and the kind of attribute that its value is."""
Kind = Literal["color", "size", "place", "weather", "background", "style"]
Sign = Literal["number", "relation", "not", "be", "and", "or", "it", "there", "of", "word"]

_WORD: Final = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*|[,;]")
_ARTICLES: Final = frozenset({"a", "an", "the", "this", "that", "these", "those", "any", "some", "its", "their"})
_DEFINITE: Final = frozenset({"the", "this", "that", "these", "those"})
_SIGNS: Final[dict[str, Sign]] = {
    **dict.fromkeys("not no never without neither nor none cannot can't isn't aren't don't".split(), "not"),  # noqa: SIM905
    **dict.fromkeys("is are was were be been look looks appear appears seem seems stand stands has have".split(), "be"),  # noqa: SIM905
    **dict.fromkeys((",", ";", "and", "plus"), "and"),
    **dict.fromkeys(("it", "it's", "its", "they", "them", "they're"), "it"),
    "or": "or", "there": "there", "here": "there", "of": "of",
}  # fmt: skip
_BACKGROUNDS: Final = {"backdrop": "background"}
_ALSO: Final = {
    "stripes": "striped", "stripy": "striped", "dots": "dotted", "spotted": "dotted", "checks": "checked",
    "checkered": "checked", "chequered": "checked", "sandy": "sand", "grassy": "grass",
}  # fmt: skip
"""Other words for backgrounds."""
_VERBAL: Final = ("ed", "ing", "es", "ly")
"""Endings of words that hardly are the second half of a noun."""
_POSSESSIVE: Final = re.compile(r"(?<=\w)'s\b")
_LONGEST: Final = 40
"""Letters of a word that may be a noun."""
_MOST_UNKNOWN: Final = 3
"""Words of a noun that nobody knows."""


@dataclass(frozen=True)
class Value:
    """A property that stands by itself: "red", "top left", "rainy"."""

    kind: Kind
    value: str


@dataclass(frozen=True)
class Mark:
    """A word that says how others belong together; a number and a relation have a value."""

    sign: Sign
    value: str = ""


@dataclass(frozen=True)
class Phrase:
    """A noun phrase.

    Attributes:
        name: The thing, in the singular; or weather, background or style.
        values: What is said of it within the phrase.
        number: How many, where that is said.
        definite: Whether it is taken for known.
        negated: Whether it says that there is none.
        general: Whether the name is one for many kinds of things.
    """

    name: str
    values: tuple[Value, ...] = ()
    number: int | None = None
    definite: bool = False
    negated: bool = False
    general: bool = False

    @property
    def nothing(self) -> bool:
        """True where the name says nothing: "thing"."""
        return self.name == THING.name


Item = Phrase | Value | Mark


@dataclass
class _Words:
    """What stands before a noun."""

    values: list[Value] = field(default_factory=list)
    number: int | None = None
    definite: bool = False
    negated: bool = False
    article: bool = False

    def take(self, text: str, item: Item, *, first: bool) -> bool:
        """Take one more word in; return whether it may stand there."""
        if isinstance(item, Value):
            self.values.append(item)
            return item.kind != "place" or self.article
        if isinstance(item, Mark) and item.sign == "number" and self.number is None:
            self.number, self.article = int(item.value), True
        elif first and text in {"no", "many"}:
            self.negated, self.article = text == "no", True
        elif text in _ARTICLES and not self.values:
            self.article, self.definite = True, self.definite or text in _DEFINITE
        else:
            return text == "of" and self.number is not None
        return True

    def of(self, name: str, *, general: bool = False) -> Phrase:
        """Return the noun phrase."""
        return Phrase(name, tuple(self.values), self.number, self.definite, self.negated, general)


def _closed() -> Iterator[tuple[str, Item]]:
    """Yield the words of closed classes with their meaning; what comes first has precedence."""
    yield from ((text, Value("color", text)) for text in COLOURS)
    kinds: tuple[Kind, ...] = ("weather", "background", "style")
    yield from ((text, Value(kind, CANONICAL.get(text, text))) for kind in kinds for text in SETTINGS[kind])
    yield from ((text, Phrase(text, definite=True)) for text in SETTING_KINDS)
    yield from ((text, Phrase(name, definite=True)) for text, name in _BACKGROUNDS.items())
    yield from ((text, Value("place", place)) for place, texts in PLACES.items() for text in (place, *texts))
    yield from ((text, Mark("relation", name)) for name, texts in RELATIONS.items() for text in texts)
    yield from ((text, Value("size", CANONICAL.get(text, text))) for text in SIZES)
    yield from ((text, Value("background", value)) for text, value in _ALSO.items())
    yield from ((text, Mark("number", str(number))) for text, number in NUMBERS.items())
    yield from ((text, Mark(sign, text)) for text, sign in _SIGNS.items())


_CLOSED: Final = dict(reversed(list(_closed())))


class Phrasing:
    """Takes sentences apart.

    Args:
        lexicon: The nouns it knows; others are found by their article.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._nouns: Mapping[str, Noun] = lexicon.nouns
        self._longest = max(lexicon.longest, 5)

    def knowing(self, names: Iterable[str]) -> Phrasing:
        """Return one that knows some more things, by their names in the singular."""
        more = {
            written: Noun(name, plural(name), group=False)
            for name in names
            if name and name not in self._nouns
            for written in (plural(name), name)
        }
        if not more:
            return self
        return Phrasing(Lexicon({**self._nouns, **more}))

    def items(self, sentence: str) -> list[Item]:
        """Return the pieces of a sentence, in their order."""
        words = _WORD.findall(_POSSESSIVE.sub(" is", plain_words(sentence).lower()))
        return list(self._phrases(list(self._pieces(words))))

    def _pieces(self, words: Sequence[str]) -> Iterator[tuple[str, Item]]:
        """Yield each known word or run of words with its meaning."""
        place = 0
        while place < len(words):
            for length in range(min(self._longest, len(words) - place), 0, -1):
                text = " ".join(words[place : place + length])
                found = self._known(text, words[place - 1] if place else "", words[place + length :])
                if found is not None:
                    yield text, found
                    place += length
                    break
            else:
                yield words[place], Mark("word", words[place])
                place += 1

    def _known(self, text: str, before: str, after: Sequence[str]) -> Item | None:
        noun = self._nouns.get(text)
        closed = (
            Mark("number", text[:6]) if text.isascii() and text.isdigit() else _CLOSED.get(text.removesuffix("-sized"))
        )
        if noun is None or isinstance(closed, Phrase):
            return closed
        # "An orange" is a fruit, "a large orange" too, and "an orange house" is neither.
        told_apart = before in _ARTICLES or before in SIZES or before in COLOURS
        if isinstance(closed, Value) and (self._begins_noun(after) or not told_apart):
            return closed
        return Phrase(noun.name, general=noun.group)

    def _begins_noun(self, words: Sequence[str]) -> bool:
        """Whether a noun or another property of one comes next."""
        adjectives = COLOURS | SIZES.union(*SETTINGS.values())
        rest = list(dropwhile(lambda word: word in adjectives and word not in self._nouns, words))
        ahead = [" ".join(rest[:length]) for length in range(1, self._longest + 1)]
        return any(text in self._nouns or text in SETTING_KINDS for text in ahead)

    def _phrases(self, pieces: Sequence[tuple[str, Item]]) -> Iterator[Item]:
        """Join properties, numbers and nouns into noun phrases."""
        place = 0
        while place < len(pieces):
            found = self._phrase(pieces, place)
            if found is None:
                item = pieces[place][1]
                if not (isinstance(item, Mark) and item.sign == "word" and item.value in _ARTICLES):
                    yield item
                place += 1
            else:
                phrase, place = found
                yield phrase

    def _phrase(self, pieces: Sequence[tuple[str, Item]], begun: int) -> tuple[Phrase, int] | None:
        """Read a noun phrase from a place on: (no) (the) (two) (small red) dog."""
        words = _Words()
        for place in range(begun, len(pieces)):
            text, item = pieces[place]
            if isinstance(item, Phrase):
                name, place_after = self._compound(pieces, place + 1, item)
                found = words.of(name, general=item.general and name == item.name)
                return replace(found, definite=found.definite or item.definite), place_after
            if text in {"one", "ones"} and (words.article or words.values) and not self._goes_on(pieces, place + 1):
                return replace(words.of(THING.name, general=True), number=None), place + 1
            if words.take(text, item, first=place == begun):
                continue
            unknown = isinstance(item, Mark) and item.sign == "word" and text not in FILLERS
            if words.article and unknown and len(text) <= _LONGEST:
                return self._unknown(pieces, place, words)
            break
        return None

    @staticmethod
    def _goes_on(pieces: Sequence[tuple[str, Item]], place: int) -> bool:
        """Whether a noun phrase has more words."""
        return place < len(pieces) and isinstance(pieces[place][1], Phrase | Value)

    @staticmethod
    def _compound(pieces: Sequence[tuple[str, Item]], place: int, noun: Phrase) -> tuple[str, int]:
        """Add a word that nobody knows to the noun before it, where nothing says that it is a verb: "wine glass"."""
        if noun.name in SETTING_KINDS or noun.name == THING.name or place >= len(pieces):
            return noun.name, place
        text, item = pieces[place]
        unknown = isinstance(item, Mark) and item.sign == "word" and text not in FILLERS and text not in _ARTICLES
        if not unknown or text.endswith(_VERBAL) or len(text) > _LONGEST:
            return noun.name, place
        return f"{noun.name} {singular(text)}", place + 1

    @staticmethod
    def _unknown(pieces: Sequence[tuple[str, Item]], place: int, before: _Words) -> tuple[Phrase, int]:
        """Take words that nobody knows, behind an article, for a noun."""
        words: list[str] = []
        while place < len(pieces) and len(words) < _MOST_UNKNOWN:
            text, item = pieces[place]
            if not isinstance(item, Mark) or item.sign != "word" or text in FILLERS or len(text) > _LONGEST:
                break
            words.append(text)
            place += 1
        return before.of(singular(" ".join(words))), place
