"""Mentions: the things, colours, facts, models, numbers and quoted words of a text, each replaced by a stand-in.

The network never sees which thing is named, so that it reads a sentence the same whatever the sentence is about: "any
whales near the bus?" is read as "any dogs near the car?", and what the stand-ins stand for is copied into the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from snellen.reasoning.learned.copyables import (
    ColourWord,
    Copyable,
    FactWord,
    ModelWord,
    NounWord,
    Quantity,
    QuotedWord,
)
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.things import HasColour, HasFact, IsA
from snellen.reasoning.queries.abilities import Kind
from snellen.reasoning.queries.vocabulary import numerals
from snellen.reasoning.reading.lexical_entries import LexicalNoun
from snellen.reasoning.reading.words import PhraseTable, WordToken

_NOUNS: Final = (
    ("dog", "dogs"), ("car", "cars"), ("tree", "trees"), ("book", "books"), ("cup", "cups"), ("chair", "chairs"),
    ("bird", "birds"), ("ball", "balls"), ("lamp", "lamps"), ("shoe", "shoes"),
)  # fmt: skip
_COLOURS: Final = ("red", "blue", "green", "yellow", "purple", "brown")
_MODELS: Final = ("clip", "blip", "llava", "idefics", "flamingo", "kosmos")
_FACTS: Final = {
    "FACT_ADJECTIVE": ("edible", "fragile"),
    "FACT_BASE": ("swim", "jump"),
    "FACT_PLURAL": ("swim", "jump"),
    "FACT_THIRD": ("swims", "jumps"),
    "FACT_PARTICIPLE": ("swimming", "jumping"),
    "FACT_COMPLEMENT": ("kept at home", "made of wood"),
    "FACT_GAP": ("eat", "wear"),
    "FACT_PART": ("wheels", "wings"),
}
"""Two stand-ins for each form of words for a fact."""
_STAND_INS: Final = frozenset(word for words in _NOUNS for word in words)
_MOST: Final = 10
_MOST_PARTS: Final = 4
_LEAST_OF_PART: Final = 3
"""Letters of each part of a name that is written in several words."""
_FRACTIONS: Final = {
    "half": 0.5, "halved": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1, "double": 2.0,
    "doubled": 2.0, "twice": 2.0, "triple": 3.0, "tripled": 3.0, "thrice": 3.0, "quadruple": 4.0,
}  # fmt: skip
_PARTS_OF_ONE: Final = {
    "halves": 0.5, "thirds": 1 / 3, "quarters": 0.25, "fourths": 0.25, "fifths": 0.2, "tenths": 0.1,
}  # fmt: skip
_PER_CENT: Final = frozenset({"%", "percent", "pct"})
_NAME_PARTS: Final = re.compile(r"[a-zA-Z]+|\d+|[^\W\d_a-zA-Z]+")
BREAK: Final = "*"
"""Stands between what was said before and what is said now."""
KINDS: Final = ("NOUN", "COLOUR", "FACT", "MODEL", "NUMBER", "SAYING", "COMPLEMENT")
"""The kinds of mentions; a complement is what a share leaves: who is wrong in 10 % is right in 90 %."""


def _share(value: float, *, per_cent: bool = False) -> float:
    return round(value / 100, 4) if value > 1 or per_cent else value


@dataclass(frozen=True)
class Lexeme:
    """A phrase of the lexicon.

    Attributes:
        symbol: The word class: ``NOUN``, ``COLOUR``, ``FACT_…``, ``MODEL``.
        value: What it stands for.
        cost: How far-fetched that is.
        optional: Whether the words have other uses, so that they may be no name at all.
    """

    symbol: str
    value: Any
    cost: float = 0.0
    optional: bool = False


@dataclass(frozen=True)
class TextMention:
    """Something that a text names, once or several times.

    Attributes:
        kind: One of `KINDS`.
        copyable: What it may stand for in a meaning.
        spans: Its places in the text with stand-ins, in words.
        optional: Whether it may be no name at all.
    """

    kind: str
    copyable: Copyable
    spans: tuple[tuple[int, int], ...]
    optional: bool


@dataclass(frozen=True)
class MentionedText:
    """A text with stand-ins.

    Attributes:
        words: Its words.
        mentions: What it names.
    """

    words: tuple[str, ...]
    mentions: tuple[TextMention, ...]

    @property
    def says_something(self) -> bool:
        """True if it has words beside what it names."""
        named = {place for each in self.mentions for start, end in each.spans for place in range(start, end)}
        return any(word.isalpha() for place, word in enumerate(self.words) if place not in named)

    @property
    def begins(self) -> int:
        """The place of the first word that is said now."""
        return self.words.index(BREAK) + 1 if BREAK in self.words else 0

    @property
    def words_now(self) -> tuple[str, ...]:
        """The words that are said now, in lower case."""
        return tuple(word.casefold() for word in self.words[self.begins :])

    @property
    def plain_words(self) -> tuple[str, ...]:
        """The words that are said now and name nothing, in lower case, each once."""
        named = {place for each in self.mentions for start, end in each.spans for place in range(start, end)}
        said = enumerate(self.words[self.begins :], self.begins)
        plain = (word.casefold() for place, word in said if place not in named and word.isalpha())
        return tuple(dict.fromkeys(plain))

    @property
    def copyables(self) -> list[Copyable]:
        """The values that may be copied, in the order of the mentions."""
        return [each.copyable for each in self.mentions]


class MentionFinder:
    """Finds what texts name."""

    def __init__(
        self,
        lexemes: Iterable[tuple[tuple[str, ...], Lexeme]],
        *,
        plain: Iterable[tuple[str, ...]] = (),
        complements: bool = False,
        stand_ins: bool = True,
    ) -> None:
        """Keep the phrases of the lexicon, each as its words; nouns are found in one word or with hyphens, too.

        Args:
            lexemes: The phrases.
            plain: Phrases that name nothing, though a part of them would: "pencil sketch".
            complements: Whether a share is a mention of what it leaves, too.
            stand_ins: Whether names are replaced.
        """
        self._complements, self._stand_ins = complements, stand_ins
        some = list(lexemes)
        self._plain = PhraseTable((words, words) for words in plain)
        self._phrases = PhraseTable(some)
        self._compounds = {
            "".join(words).replace("-", ""): lexeme for words, lexeme in reversed(some) if lexeme.symbol == "NOUN"
        }

    def is_name(self, word: str) -> bool:
        """Tell whether a word with hyphens is the name of a thing."""
        return word.replace("-", "") in self._compounds

    def begins(self, word: str) -> bool:
        """Tell whether a word with hyphens has a name before the first of them."""
        return bool(self._phrases.at(((word.partition("-")[0],),), 0))

    def find(self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...]) -> MentionedText:
        """Replace what a text names.

        Args:
            text: The text.
            options: The known words that each of its words may be.
        """
        said = self._found(text, options, frozenset())
        kept = {said.words[start] for each in said.mentions if each.optional for start, _ in each.spans}
        clash = kept & _STAND_INS
        return self._found(text, options, clash) if clash else said

    def _found(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], avoided: AbstractSet[str]
    ) -> MentionedText:
        found = _Found(complements=self._complements, stand_ins=self._stand_ins, avoided=avoided)
        place = 0
        while place < len(text):
            place = found.quoted(text, place) or found.number(text, place) or self._named(found, text, options, place)
        return found.text()

    def _named(self, found: _Found, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], place: int) -> int:
        matches = self._phrases.at(options, place) or list(self._compound(text, place))
        if not matches:
            found.words.append(options[place][0] if options[place] else text[place].text)
            return place + 1
        longest = max(end for end, _ in matches)
        plain = max((end for end, _ in self._plain.at(options, place)), default=0)
        if plain > longest:
            found.words += [token.text for token in text[place:plain]]
            return plain
        lexemes = sorted((lexeme for end, lexeme in matches if end == longest), key=lambda each: each.cost)
        found.name(" ".join(each.text for each in text[place:longest]), lexemes)
        return longest

    def _compound(self, text: Sequence[WordToken], place: int) -> Iterator[tuple[int, Lexeme]]:
        squeezed = ""
        for end in range(place, min(place + _MOST_PARTS, len(text))):
            squeezed += text[end].text.replace("-", "")
            if min(len(each.text) for each in text[place : end + 1]) < _LEAST_OF_PART:  # "at least" is no part of meat
                return
            if squeezed in self._compounds:
                yield end + 1, self._compounds[squeezed]


class _Found:
    def __init__(self, *, complements: bool, stand_ins: bool, avoided: AbstractSet[str]) -> None:
        self.complements, self.stand_ins, self.avoided = complements, stand_ins, avoided
        self.words: list[str] = []
        self.mentions: dict[Any, tuple[str, Copyable, list[tuple[int, int]], bool]] = {}

    def text(self) -> MentionedText:
        mentions = (
            TextMention(kind, value, tuple(spans), optional) for kind, value, spans, optional in self.mentions.values()
        )
        return MentionedText(tuple(self.words), tuple(mentions))

    def _add(
        self,
        key: Any,  # noqa: ANN401 - whatever tells mentions apart
        kind: str,
        values: tuple[Any, ...],
        written: str,
        *,
        optional: bool = False,
        of: IsA | None = None,
    ) -> None:
        start = len(self.words)
        self.words += written.split()
        spans = self.mentions.setdefault((kind, key), (kind, Copyable(values, of), [], optional))[2]
        spans.append((start, len(self.words)))

    def _number_of(self, kind: str, key: Any) -> int:  # noqa: ANN401
        keys = [each for each in self.mentions if each[0] == kind]
        return keys.index((kind, key)) if (kind, key) in keys else len(keys)

    def quoted(self, text: Sequence[WordToken], place: int) -> int:
        """Take words in quotation marks; return where they end, 0 where there are none."""
        if text[place].text not in {"'", '"'}:
            return 0
        for end in range(place + 2, min(place + 8, len(text))):
            if text[end].text == text[place].text:
                words = " ".join(token.written for token in text[place + 1 : end])
                self._add(words, "SAYING", (QuotedWord(words),), "' word '")
                return end + 1
        return 0

    def number(self, text: Sequence[WordToken], place: int) -> int:
        """Take a number, a fraction or a share ("nine of ten"); return where it ends, 0 where there is none."""
        value = _FRACTIONS.get(text[place].text)
        end, value = (place + 1, value) if value is not None else max(numerals(text, place), default=(0, None))
        if value is None:
            return 0
        following = text[end].text if end < len(text) else ""
        if following in _PARTS_OF_ONE:
            end, value = end + 1, round(value * _PARTS_OF_ONE[following], 4)
        share = _share(value, per_cent=following in _PER_CENT)
        for start in range(end, min(end + 3, len(text) - 1)):
            if text[start].text in {"of", "in"}:
                last, whole = max(numerals(text, start + 1), default=(0, 0.0))
                if whole > value:
                    end, share = last, round(value / whole, 4)
                break
        written = " ".join(token.text for token in text[place:end])
        begun = len(self.words)
        self._add((value, share), "NUMBER", (Quantity(value, share),), written, optional=True)
        if self.complements and 0 < share < 1:
            del self.words[begun:]
            left = round(1 - share, 4)
            self._add((value, share), "COMPLEMENT", (Quantity(left, left),), written, optional=True)
        return end

    def name(self, written: str, lexemes: Sequence[Lexeme]) -> None:
        """Take a phrase of the lexicon; what is a name of two kinds ("orange") is a mention of each."""
        first: dict[str, Lexeme] = {}
        for each in lexemes:
            first.setdefault(_kind_of(each), each)
        best = lexemes[0]
        number = self._number_of(_kind_of(best), _value(best)[0])
        optional = any(each.optional for each in lexemes)
        keeps_words = not self.stand_ins or optional or len(first) > 1 or number >= _MOST
        said = written if keeps_words else _stand_in(best, number, written, self.avoided)
        start = len(self.words)
        for kind, lexeme in first.items():
            del self.words[start:]
            key, values = _value(lexeme)
            self._add(key, kind, values, said, optional=optional, of=_kind_beside_fact(lexeme))


def _kind_of(lexeme: Lexeme) -> str:
    return "FACT" if lexeme.symbol.startswith("FACT") else lexeme.symbol.replace("KIND_ADJECTIVE", "NOUN")


def _kind_beside_fact(lexeme: Lexeme) -> IsA | None:
    """Return the kind of a noun that says a fact of it, too ("pets": animals that are kept so); None for others."""
    value = lexeme.value
    is_both = isinstance(value, LexicalNoun) and bool(value.fact and value.names)
    return IsA(name=value.names[0], or_names=value.names[1:]) if is_both else None


def _value(lexeme: Lexeme) -> tuple[Any, tuple[Any, ...]]:
    """Return what makes a mention the same as another, and what it may stand for."""
    value = lexeme.value
    if isinstance(value, LexicalNoun):
        if value.fact or not value.names:
            return value.fact, (HasFact(fact=value.fact.partition("|")[0]),) if value.fact else ()
        name, *others = value.names
        kind = canonical(IsA(name=name, or_names=tuple(others)))
        return value.names, (kind, Kind(names=value.names), NounWord(name))
    if lexeme.symbol == "KIND_ADJECTIVE":
        return (value,), (IsA(name=value), Kind(names=(value,)), NounWord(value))
    if lexeme.symbol == "COLOUR":
        return value, (HasColour(colour=value), NounWord(value), ColourWord(value))
    if lexeme.symbol == "MODEL":
        return value, tuple(ModelWord(each) for each in value[:1])
    first = value.partition("|")[0]
    return value, (HasFact(fact=first), Kind(fact=value), FactWord(value), Kind(fact=first), FactWord(first))


def _stand_in(lexeme: Lexeme, number: int, written: str, avoided: AbstractSet[str]) -> str:
    """Return the word that stands for a name, none of those that the text says itself."""
    nouns = [each for each in _NOUNS if avoided.isdisjoint(each)]
    if isinstance(lexeme.value, LexicalNoun):
        is_many = lexeme.value.number == "many" or (lexeme.value.number == "any" and written.endswith("s"))
        return nouns[number % len(nouns)][is_many]
    if lexeme.symbol == "COLOUR":
        return _COLOURS[number % len(_COLOURS)]
    if lexeme.symbol == "MODEL":
        return _MODELS[number % len(_MODELS)]
    if lexeme.symbol == "KIND_ADJECTIVE":
        return nouns[number % len(nouns)][0]
    return _FACTS[lexeme.symbol][number % 2]


@dataclass(frozen=True)
class ModelNames:
    """The names of models in texts, whole or shortened as far as they are clear.

    Attributes:
        models: The names.
        judges: Those among them that are only meant by their whole names.
    """

    models: tuple[str, ...]
    judges: frozenset[str] = frozenset()

    def hidden(self, text: str) -> str:
        """Return a text with each name replaced by one word."""
        for pattern, number in self._patterns:
            text = pattern.sub(f" {self.word(number)} ", text)
        return text

    @staticmethod
    def word(number: int) -> str:
        """Return the word that stands for a model."""
        return f"model{chr(97 + number)}name"

    def lexemes(self) -> Iterator[tuple[tuple[str, ...], Lexeme]]:
        """Yield the words that stand for models."""
        for number, model in enumerate(self.models):
            yield (self.word(number),), Lexeme("MODEL", (model,))

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], int]]:
        stems: dict[str, list[int]] = {}
        whole = {}
        for number, model in enumerate(self.models):
            parts = _NAME_PARTS.findall(model)
            whole[r"[\s_.-]*".join(map(re.escape, parts))] = number
            for length in range(1, 1 if model in self.judges else len(parts)):
                stems.setdefault(r"[\s_.-]*".join(map(re.escape, parts[:length])), []).append(number)
        clear = {stem: numbers[0] for stem, numbers in stems.items() if len(numbers) == 1}
        patterns = {**clear, **whole}
        return [
            (re.compile(rf"(?<![\w-]){stem}(?![\w-])", re.IGNORECASE), patterns[stem])
            for stem in sorted(patterns, key=len, reverse=True)
        ]
