"""The inverse of `phrases`: from the words of a noun phrase or a predicate to the sets and properties said so.

It reads by synthesis. Parts are proposed for a span of a text wherever it can be cut, and only those are kept that are
said in exactly these words; so whatever is read is said as it was written, and proposals may be generous.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Final, TypeVar, get_args

from snellen.reasoning.language.inflection import plural
from snellen.reasoning.meanings.phrases import (
    NUMBERS,
    ORDINALS,
    PICTURES,
    PLACED,
    RELATIONS,
    SIDES_OF_EXTREMES,
    Form,
    noun_phrase,
    predicate,
)
from snellen.reasoning.meanings.things import (
    ByExtreme,
    Colour,
    Everything,
    Filter,
    HasColour,
    HasFact,
    HasSize,
    InLine,
    InRelation,
    IsA,
    IsAmong,
    IsAt,
    IsBetween,
    IsLike,
    IsNot,
    Likeness,
    Nearness,
    One,
    Order,
    Ordinal,
    Part,
    Property,
    Side,
    Size,
    SizeRelation,
    SpatialRelation,
    Things,
    Union,
)

MAX_STEPS: Final = 3_000
"""Spans that are read, and parts that are tried, of one text."""
P = TypeVar("P")
AnyPart = TypeVar("AnyPart", bound=Part)

_ADJECTIVES: Final[dict[str, Property]] = {
    **{size: HasSize(size=size) for size in get_args(Size)},
    **{colour: HasColour(colour=colour) for colour in get_args(Colour)},
}
_NAMELESS: Final[tuple[Property, ...]] = (
    *_ADJECTIVES.values(),
    *(IsAt(across=across) for across in ("left", "middle", "right")),
    *(IsAt(across=a, down=d) for a in (None, "left", "middle", "right") for d in ("top", "middle", "bottom")),
    *(InLine(line=line, number=number) for line in ("row", "column") for number in range(-9, 10) if number),
)
"""Properties that name nothing."""
_OF_OTHERS: Final[dict[str, tuple[type[Property], dict[str, str]]]] = {
    **{
        f"{RELATIONS.get(relation, relation)} ": (InRelation, {"relation": relation})
        for relation in (*get_args(SpatialRelation), *get_args(SizeRelation))
    },
    **{f"of the same {by} as ": (IsLike, {"by": by}) for by in get_args(Likeness)},
}
"""What is said before the things to which others stand in a relation."""
_ORDINAL: Final = f"(?:{'|'.join(ORDINALS)})"
_RANK: Final = rf"(?:(?P<rank>{_ORDINAL} to {_ORDINAL}|(?:first )?(?:{'|'.join(NUMBERS[2:])})|{_ORDINAL}) )?"
_NOUN: Final = r"(?P<noun>[^()]+?)"
_ORDERED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_RANK}(?P<extreme>largest|smallest|{'|'.join(SIDES_OF_EXTREMES)})(?: {_NOUN})?",
        rf"{_RANK}(?:{_NOUN} )?from the (?P<start>left|right|top|bottom)",
        rf"{_RANK}(?:{_NOUN} )?nearest to (?P<near>.+)",
        rf"(?:{_NOUN} )?{_RANK}nearest to (?P<near>.+)",
        rf"{_RANK}(?:{_NOUN} )?(?P<side>to the left of|to the right of|above|below) (?P<near>.+)",
    )
)
_EXTREMES: Final = {side: extreme for extreme, side in SIDES_OF_EXTREMES.items()}
_SIDES: Final = {RELATIONS.get(side, side): side for side in get_args(Side)}


class TooManySteps(Exception):  # noqa: N818 - it says what happened
    """A text takes more steps to read than an echo does."""


@dataclass(frozen=True)
class KnownNames:
    """The names that are read.

    Attributes:
        kinds: Concepts and groups, in the singular.
        facts: Verb phrases in the plural: "can fly".
    """

    kinds: frozenset[str]
    facts: frozenset[str]

    @cached_property
    def nouns(self) -> dict[tuple[str, bool], list[str]]:
        """The kinds, by how they are said of one thing or of several."""
        said = defaultdict(list)
        for kind in self.kinds:
            said[kind, False].append(kind)
            said[plural(kind), True].append(kind)
        return said

    @cached_property
    def predicates(self) -> dict[tuple[str, bool], list[Property]]:
        """Facts and properties that name nothing, and their negations, by how they are said of one or of several."""
        said = defaultdict(list)
        known = [*_NAMELESS, *(each for fact in self.facts for each in made(HasFact, fact=fact))]
        for each, is_plural in product((*known, *map(_denied, known)), (True, False)):
            said[predicate(each, is_plural=is_plural), is_plural].append(each)
        return said


def made(kind: type[AnyPart], **fields: object) -> Iterator[AnyPart]:
    """Make a part; none where its types or its pictures do not allow it."""
    with suppress(ValueError):
        yield kind.model_validate(fields)


def cuts(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """Cut a text in two at each separator outside of brackets."""
    place = text.find(separator)
    while place >= 0:
        left = text[:place]
        if left.count("(") == left.count(")") and left.count("[") == left.count("]"):
            yield left, text[place + len(separator) :]
        place = text.find(separator, place + 1)


def pieces(text: str, separator: str) -> list[str]:
    """Cut a text at all separators outside of brackets."""
    parts = []
    while (cut := next(cuts(text, separator), None)) is not None:
        part, text = cut
        parts.append(part)
    return [*parts, text]


@dataclass
class PhraseReader:
    """Reads the spans of one text, each of them once.

    Attributes:
        names: The names that it may have.
        steps: The steps that were taken.
        kept: What was read, by the way of reading, the span and its form.
    """

    names: KnownNames
    steps: int = 0
    kept: dict[tuple[object, ...], tuple[Any, ...]] = field(default_factory=dict)

    def things(self, span: str, form: Form = "the", *, is_nested: bool = False) -> tuple[Things, ...]:
        """Return the sets that `noun_phrase` says so."""

        def say(each: Things) -> str:
            return noun_phrase(each, form, is_nested=is_nested).text

        return self.read(self._things, say, span, form=form, is_nested=is_nested)

    def closed(self, span: str, form: Form = "the", *, is_nested: bool = False) -> tuple[Things, ...]:
        """Return the sets that are said so, perhaps in brackets."""
        inner = self.things(span[1:-1], form, is_nested=is_nested) if span[:1] + span[-1:] == "()" else ()
        return (*inner, *self.things(span, form, is_nested=is_nested))

    def any_of(self, span: str) -> tuple[Things, ...]:
        """Return the sets that are said so after "next to": one of them is meant."""
        return self.closed(span, "any", is_nested=True)

    def properties(self, span: str, *, is_plural: bool, is_last: bool = True) -> tuple[Property, ...]:
        """Return the properties that `predicate` says so."""

        def say(each: Property) -> str:
            return predicate(each, is_plural=is_plural, is_last=is_last)

        return self.read(self._predicates, say, span, is_plural=is_plural, is_last=is_last)

    def read(
        self, propose: Callable[..., Iterable[P]], say: Callable[[P], str] | None, span: str, **form: object
    ) -> tuple[P, ...]:
        """Return what is proposed for a span, and said in its words where that is asked."""
        key = (propose.__name__, span, *form.values())
        if key not in self.kept:
            self._step()
            self.kept[key] = ()  # no part of a span is the whole span
            found: dict[P, None] = {}
            for each in propose(span, **form):
                self._step()
                if say is None or say(each) == span:
                    found[each] = None
            self.kept[key] = tuple(found)
        return self.kept[key]

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooManySteps

    def _things(self, span: str, *, form: Form, is_nested: bool) -> Iterator[Things]:
        articles = {"the": ("all the ", "the "), "any": ("any ",), "a": ("a ", "an ", ""), "bare": ("",)}
        article = next((each for each in articles[form] if span.startswith(each)), None)
        if article is not None:
            yield from self._filtered(
                span.removeprefix(article), is_plural=form in {"the", "bare"}, is_nested=is_nested
            )
        if span.startswith("the "):
            rest = span.removeprefix("the ")
            yield from map(_one, self._filtered(rest, is_plural=False, is_nested=is_nested))
            yield from self._ordinals(rest)
        if span.startswith("the only one of "):
            yield from map(_one, self.closed(span.removeprefix("the only one of ")))
        for which in ("the ones", "the one", "any one"):
            if span.startswith(f"{which} of "):
                others = self._of_another(span.removeprefix(f"{which} of "), is_plural=which == "the ones")
                yield from map(_one, others) if which == "the one" else others
        for left, right in cuts(span, " and "):
            if not any(cuts(right, " and the ")):  # a union within the right side is in brackets
                sides = [self.closed(each, is_nested=is_nested) for each in (left, right)]
                yield from (Union(one=one, other=other) for one, other in product(*sides))

    def _of_another(self, span: str, *, is_plural: bool) -> Iterator[Things]:
        for left, right in cuts(span, " that "):
            bases = self.closed(left)
            clauses = self._clauses(f"that {right}", is_plural=is_plural, is_nested=True) if bases else ()
            for base, after in product(bases, clauses):
                yield from _filters(base, after)

    def _filtered(self, span: str, *, is_plural: bool, is_nested: bool) -> Iterator[Things]:
        for noun, rest in (*cuts(span, " "), (span, "")):
            if nouns := tuple(self._nouns(noun, is_plural=is_plural)):
                picture = next((name for name, phrase in PICTURES.items() if f" {rest}".startswith(phrase)), "picture")
                after = f" {rest}".removeprefix(PICTURES.get(picture, "")).removeprefix(" ")
                clauses = self._clauses(after, is_plural=is_plural, is_nested=is_nested) if after else ((),)
                for properties in product(nouns, clauses):
                    yield from _filters(Everything.model_validate({"picture": picture}), sum(properties, ()))

    def _nouns(self, span: str, *, is_plural: bool) -> Iterator[tuple[Property, ...]]:
        """Propose the properties that a noun and the adjectives before it say."""
        adjectives: list[Property] = []
        while span:
            yield from ((each, *adjectives) for each in self._kinds(span, is_plural=is_plural))
            if span == f"thing{'s' * is_plural}":
                yield tuple(adjectives)
            word, _, span = span.partition(" ")
            if word not in _ADJECTIVES:
                return
            adjectives.append(_ADJECTIVES[word])

    def _kinds(self, span: str, *, is_plural: bool) -> Iterator[IsA]:
        """Propose the kind that a noun says, or the kinds of "sailboat, ship or speedboat"."""
        *before, last = span.split(" or ")
        nouns = [*(before[0].split(", ") if before else ()), last]
        for name, *others in product(*(self.names.nouns.get((each, is_plural), ()) for each in nouns)):
            yield from made(IsA, name=name, or_names=tuple(others))

    def _clauses(self, span: str, *, is_plural: bool, is_nested: bool) -> tuple[tuple[Property, ...], ...]:
        return self.read(self._after, None, span, is_plural=is_plural, is_nested=is_nested)

    def _after(self, span: str, *, is_plural: bool, is_nested: bool) -> Iterator[tuple[Property, ...]]:
        """Propose the properties that the clauses after a noun say."""
        for left, right in (*cuts(span, " and "), (span, "")):
            first = self._clause(left, is_plural=is_plural, is_nested=is_nested, is_last=not right)
            rest = self._clauses(right, is_plural=is_plural, is_nested=is_nested) if first and right else ((),)
            yield from ((one, *others) for one, others in product(first, rest))

    def _clause(self, span: str, *, is_plural: bool, is_nested: bool, is_last: bool) -> tuple[Property, ...]:
        if span.startswith("that "):
            return self.properties(span.removeprefix("that "), is_plural=is_plural, is_last=is_last)
        if is_nested:
            return ()
        said = self.properties(f"{'are' if is_plural else 'is'} {span}", is_plural=is_plural, is_last=is_last)
        return tuple(each for each in said if isinstance(each, PLACED))

    def _predicates(self, span: str, *, is_plural: bool, is_last: bool) -> Iterator[Property]:  # noqa: ARG002 - `say` needs it
        yield from self.names.predicates.get((span, is_plural), ())
        be = "are " if is_plural else "is "
        if span.startswith(be):
            complement = span.removeprefix(be)
            yield from self._complements(complement, is_plural=is_plural)
            if complement.startswith("not "):
                yield from map(_denied, self._complements(complement.removeprefix("not "), is_plural=is_plural))

    def _complements(self, span: str, *, is_plural: bool) -> Iterator[Property]:
        yield from self._kinds(re.sub("" if is_plural else "^an? ", "", span), is_plural=is_plural)
        for prefix, (kind, fields) in _OF_OTHERS.items():
            for of in self.any_of(span.removeprefix(prefix)) if span.startswith(prefix) else ():
                yield from made(kind, of=of, **fields)
        for sides in cuts(span.removeprefix("between "), " and ") if span.startswith("between ") else ():
            for one, other in product(*map(self.any_of, sides)):
                yield from made(IsBetween, one=one, other=other)
        yield from (IsAmong(things=each) for each in self.closed(span.removeprefix("among "), is_nested=True))

    def _ordinals(self, span: str) -> Iterator[Things]:
        """Propose the sets that are the first of an order: "two largest dogs", "nearest to any bus of the dogs …"."""
        for ordered, of in ((span, ""), *cuts(span, " of ")):
            for match in filter(None, (pattern.fullmatch(ordered) for pattern in _ORDERED)):
                if bool(match["noun"]) == bool(of):
                    continue
                rank, count = _rank(match["rank"] or "first")
                noun = self._filtered(match["noun"] or "", is_plural=count > 1, is_nested=True)
                among = self.things(of, is_nested=True) if of else tuple(noun)
                for things, order in product(among, self._orders(match.groupdict()) if among else ()):
                    yield from made(Ordinal, things=things, order=order, rank=rank, count=count)

    def _orders(self, words: dict[str, str | None]) -> Iterator[Order]:
        extreme = words.get("extreme") or _EXTREMES.get(words.get("start") or "")
        if extreme:
            yield from made(ByExtreme, extreme=extreme)
        for near in self.any_of(words.get("near") or ""):
            yield from made(Nearness, of=near, side=_SIDES.get(words.get("side") or ""))


def _one(things: Things) -> One:
    return One(things=things)


def _denied(property: Property) -> IsNot:  # noqa: A002 - the word of the language
    return IsNot(property=property)


def _filters(things: Things, properties: Iterable[Property]) -> Iterator[Things]:
    """Filter a set by properties; none where one is of another picture."""
    with suppress(ValueError):
        for each in properties:
            things = Filter(things=things, property=each)
        yield things


def _rank(words: str) -> tuple[int, int]:
    """Return the rank and the count of "second", "two", "first two" and "second to third"."""
    first, _, last = words.partition(" to ")
    if last:
        return ORDINALS.index(first) + 1, ORDINALS.index(last) - ORDINALS.index(first) + 1
    number = words.removeprefix("first ")
    return (1, NUMBERS.index(number)) if number in NUMBERS else (ORDINALS.index(words) + 1, 1)
