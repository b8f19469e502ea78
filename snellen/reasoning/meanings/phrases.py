"""Noun phrases and predicates of the echo: sets of things and their properties in plain English.

The English is regular, so that a grammar reads it back: several properties after a noun are joined by "and", a phrase
that could take up what follows it stands in brackets, and what stands within another phrase begins with "that is".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from snellen.reasoning.language.inflection import listing, plural, with_article
from snellen.reasoning.meanings.things import (
    ByExtreme,
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
    Nearness,
    One,
    Ordinal,
    Property,
    Things,
    Union,
)

Form: TypeAlias = Literal["the", "any", "a", "bare"]
"""The article: "the dogs", "any dog", "a dog", "dogs"."""
NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS: Final = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
    *("nineteenth", "twentieth"),
)
RELATIONS: Final = {"left of": "to the left of", "right of": "to the right of"}
SIDES_OF_EXTREMES: Final = {"leftmost": "left", "rightmost": "right", "topmost": "top", "bottommost": "bottom"}
PICTURES: Final = {"left": " in the left picture", "right": " in the right picture", "both": " in the two pictures"}
PLACED: Final = (IsAt, InLine, InRelation, IsBetween, IsLike)
"""Properties that follow a noun without "that is"."""


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        text: Its words.
        is_open: Whether it would take up an "and" or a "that" that followed it.
        is_plural: Whether its verb is in the plural.
    """

    text: str
    is_open: bool = False
    is_plural: bool = True

    @property
    def closed(self) -> str:
        """Its words, in brackets where something must not be taken up."""
        return f"({self.text})" if self.is_open else self.text


def number_word(number: int) -> str:
    """Write a number: "two", and in digits beyond ten."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def chain(things: Things) -> tuple[Things, tuple[Property, ...]]:
    """Return the set that is not filtered in the middle of filters, and their properties, the innermost first."""
    properties: list[Property] = []
    while isinstance(things, Filter):
        properties.insert(0, things.property)
        things = things.things
    return things, tuple(properties)


def noun_phrase(things: Things, form: Form = "the", *, is_nested: bool = False) -> NounPhrase:
    """Say a set of things; the article matters for filtered things alone, other sets are definite.

    Args:
        things: The set.
        form: Its article.
        is_nested: Whether it stands within another noun phrase.
    """
    base, properties = chain(things)
    if isinstance(base, Everything):
        return _of_everything(base, properties, form, is_nested=is_nested)
    if properties:
        return _of_another(base, properties, "the ones" if form in {"the", "bare"} else "any one")
    match base:
        case One():
            return _one(base, is_nested=is_nested)
        case Ordinal():
            return _ordinal(base)
        case Union():
            other = noun_phrase(base.other, is_nested=is_nested)
            text = f"({other.text})" if isinstance(base.other, Union) or other.is_open else other.text
            one = noun_phrase(base.one, is_nested=is_nested)
            return NounPhrase(f"{one.text if isinstance(base.one, Union) else one.closed} and {text}", is_open=True)
    raise TypeError(base)


def _one(things: One, *, is_nested: bool) -> NounPhrase:
    base, properties = chain(things.things)
    if isinstance(base, Everything):
        phrase = _of_everything(base, properties, "bare", is_nested=is_nested, is_plural=False)
        return NounPhrase(f"the {phrase.text}", phrase.is_open, is_plural=False)
    if properties:
        return _of_another(base, properties, "the one")
    return NounPhrase(f"the only one of {noun_phrase(base).closed}", is_plural=False)


def _of_another(
    base: Things, properties: Sequence[Property], which: Literal["the ones", "any one", "the one"]
) -> NounPhrase:
    is_plural = which == "the ones"
    clauses = " and ".join(
        f"that {predicate(each, is_plural=is_plural, is_last=each is properties[-1])}" for each in properties
    )
    return NounPhrase(f"{which} of {noun_phrase(base).closed} {clauses}", is_open=True, is_plural=is_plural)


def _of_everything(
    base: Everything, properties: Sequence[Property], form: Form, *, is_nested: bool, is_plural: bool | None = None
) -> NounPhrase:
    is_plural = form in {"the", "bare"} if is_plural is None else is_plural
    noun = _noun(properties, is_plural=is_plural)
    invariant = is_plural and noun == _noun(properties, is_plural=False)
    article = {"the": "all the " if invariant else "the ", "any": "any "}.get(form, "")
    text = with_article(noun) if form == "a" else article + noun
    after = _after_noun(properties, is_plural=is_plural, is_nested=is_nested)
    return NounPhrase(text + PICTURES.get(base.picture, "") + after, is_open=bool(after), is_plural=is_plural)


def counted_things(base: Everything, properties: Sequence[Property]) -> tuple[str, str]:
    """Return what is said of filtered things before and after "are there": "cats", " to the left of the house"."""
    after = _after_noun(properties, is_plural=True, is_nested=False)
    return _noun(properties, is_plural=True), PICTURES.get(base.picture, "") + after


def _noun(properties: Sequence[Property], *, is_plural: bool) -> str:
    kind = next((each for each in properties if isinstance(each, IsA)), IsA(name="thing"))
    before = [adjective for each in properties if (adjective := _adjective(each))]
    return " ".join([*before, kind_name(kind, is_plural=is_plural)])


def kind_name(kind: IsA, *, is_plural: bool = False) -> str:
    """Return the noun of a kind, or the nouns of several: "sailboat, ship or speedboat"."""
    return listing([plural(name) if is_plural else name for name in kind.names], "or")


def _adjective(property: Property) -> str:  # noqa: A002 - the word of the language
    """Return what stands before a noun for a property, empty where nothing does."""
    match property:
        case HasSize():
            return property.size
        case HasColour():
            return property.colour
    return ""


def _after_noun(properties: Sequence[Property], *, is_plural: bool, is_nested: bool) -> str:
    kind = next((each for each in properties if isinstance(each, IsA)), None)
    after = [each for each in properties if each is not kind and not _adjective(each)]
    said = []
    for each in after:
        clause = predicate(each, is_plural=is_plural, is_last=each is after[-1])
        is_bare = isinstance(each, PLACED) and not is_nested
        said.append(clause.partition(" ")[2] if is_bare else f"that {clause}")
    return "".join(f"{' and' if number else ''} {clause}" for number, clause in enumerate(said))


def _ordinal(things: Ordinal) -> NounPhrase:
    base, properties = chain(things.things)
    plain = isinstance(base, Everything) and base.picture == "picture"
    is_plural = things.count > 1
    if plain and not _after_noun(properties, is_plural=True, is_nested=False):
        text = _ordered(things, _noun(properties, is_plural=is_plural))
        return NounPhrase(f"the {text}", isinstance(things.order, Nearness), is_plural)
    return NounPhrase(
        f"the {_ordered(things, '')} of {noun_phrase(things.things, is_nested=True).text}",
        is_open=True,
        is_plural=is_plural,
    )


def _ordered(things: Ordinal, noun: str) -> str:
    """Put a noun, or none, into an order: "second dog from the left", "two largest"."""
    order, rank, last = things.order, ORDINALS[things.rank - 1], things.rank + things.count - 1
    if last > things.rank:
        rank = number_word(things.count) if things.rank == 1 else f"{rank} to {ORDINALS[last - 1]}"
    match order:
        case Nearness(side=None):
            near = noun_phrase(order.of, "any", is_nested=True)
            rank = "" if rank == "first" else rank
            counted = [rank, noun] if things.count > 1 else [noun, rank]
            words = [*counted, "nearest to", near.text if noun else near.closed]
        case Nearness():
            near = noun_phrase(order.of, "any", is_nested=True)
            rank = f"first {rank}" if rank in NUMBERS else rank
            words = [rank, noun, RELATIONS.get(order.side or "", order.side or ""), near.text if noun else near.closed]
        case ByExtreme(extreme="largest" | "smallest"):
            words = ["" if rank == "first" else rank, order.extreme, noun]
        case _ if rank == "first":
            words = [order.extreme, noun]
        case _:
            rank = f"first {rank}" if rank in NUMBERS else rank
            words = [rank, noun, "from the", SIDES_OF_EXTREMES[order.extreme]]
    return " ".join(word for word in words if word)


def predicate(property: Property, *, is_plural: bool, is_last: bool = True, is_not: bool = False) -> str:  # noqa: A002
    """Say a property as a verb and what follows it: "is red", "can fly", "are not to the left of the house".

    Args:
        property: The property.
        is_plural: Whether several have it.
        is_last: Whether nothing follows that its last noun phrase could take up.
        is_not: Whether they do not have it.
    """
    if isinstance(property, IsNot):
        return predicate(property.property, is_plural=is_plural, is_last=is_last, is_not=not is_not)
    if isinstance(property, HasFact):
        return _fact(property.fact, is_plural=is_plural, is_not=is_not)
    be = f"{'are' if is_plural else 'is'}{' not' * is_not}"
    return f"{be} {_complement(property, is_plural=is_plural, is_last=is_last)}"


def _complement(property: Property, *, is_plural: bool, is_last: bool) -> str:  # noqa: A002
    match property:
        case IsA():
            return kind_name(property, is_plural=True) if is_plural else with_article(kind_name(property))
        case HasColour():
            return property.colour
        case HasSize():
            return property.size
        case IsAt():
            return _place(property)
        case InLine():
            return _line(property)
    return _comparison(property, is_last=is_last)


def _comparison(property: Property, *, is_last: bool) -> str:  # noqa: A002
    match property:
        case InRelation():
            relation = RELATIONS.get(property.relation, property.relation)
            return f"{relation} {_embedded(property.of, is_last=is_last)}"
        case IsBetween():
            one = noun_phrase(property.one, "any", is_nested=True)
            first = f"({one.text})" if isinstance(property.one, Union) else one.closed
            is_pair = isinstance(property.other, Union)
            return f"between {first} and {_embedded(property.other, is_last=is_last and not is_pair)}"
        case IsLike():
            return f"of the same {property.by} as {_embedded(property.of, is_last=is_last)}"
        case IsAmong():
            is_one = not noun_phrase(property.things).is_plural
            return f"{'' if is_one else 'among '}{_embedded(property.things, 'the', is_last=is_last)}"
    raise TypeError(property)


def _embedded(things: Things, form: Form = "any", *, is_last: bool) -> str:
    phrase = noun_phrase(things, form, is_nested=True)
    return phrase.text if is_last else phrase.closed


def _place(place: IsAt) -> str:
    match place.across, place.down:
        case "middle", "middle":
            return "in the middle"
        case "middle", None:
            return "in the middle from left to right"
        case None, "middle":
            return "in the middle from top to bottom"
    return f"at the {' '.join(side for side in (place.down, place.across) if side)}"


def _line(place: InLine) -> str:
    first, last = ("top", "bottom") if place.line == "row" else ("left", "right")
    side = first if place.number > 0 else last
    if abs(place.number) == 1:
        return f"in the {side} {place.line}"
    return f"in the {ORDINALS[abs(place.number) - 1]} {place.line} from the {side}"


def _fact(fact: str, *, is_plural: bool, is_not: bool) -> str:
    """Say a verb phrase in the plural ("have wheels") of one thing or of several, or deny it."""
    verb, _, rest = fact.partition(" ")
    if is_not and verb in {"are", "can"}:
        be = "are not" if is_plural else "is not"
        return f"{'cannot' if verb == 'can' else be} {rest}".strip()
    if is_not:
        return f"{'do' if is_plural else 'does'} not {fact}"
    return fact if is_plural else f"{third_person(verb)} {rest}".strip()


def third_person(verb: str) -> str:
    """Return the form of a verb after "it": "has", "flies", "is", "can"."""
    if verb in {"are", "have", "can", "do", "go"}:
        return {"are": "is", "have": "has", "can": "can", "do": "does", "go": "goes"}[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}{'es' if verb.endswith(('s', 'x', 'ch', 'sh', 'z')) else 's'}"
