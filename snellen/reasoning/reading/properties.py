"""Properties and orders: the actions of the grammar's rules about what is said of things, and what narrows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Final, cast

from snellen.reasoning.meanings.things import (
    ByExtreme,
    Colour,
    Everything,
    Extreme,
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
    PictureName,
    Property,
    Side,
    Things,
    Union,
)
from snellen.reasoning.reading.noun_phrases import BEFORE, SIDES, Modifier, Nominal, QuantifiedThings, followed

_CONVERSES: Final = {
    "left of": "right of", "right of": "left of", "above": "below", "below": "above", "next to": "next to",
}  # fmt: skip


def with_property(property: Property) -> Modifier:  # noqa: A002
    """Narrow by a property."""
    return Modifier(property)


def by_extreme(extreme: str, rank: str | None = None, count: str | None = None) -> Modifier:
    """Take what comes first, or at a rank, in an order: "second largest", "two leftmost"."""
    return Modifier(order=ByExtreme(extreme=cast("Extreme", extreme)), rank=int(rank or 1), count=int(count or 1))


def nearest(of: QuantifiedThings, rank: str | None = None) -> Modifier:
    """Take what is nearest to something."""
    return Modifier(order=Nearness(of=of.things), rank=int(rank or 1))


def directly(relation: str, of: QuantifiedThings) -> Modifier | None:
    """Take what comes first on a side of something: "directly above the cake"."""
    if relation not in SIDES:
        return Modifier(InRelation(relation=relation, of=of.things))
    return Modifier(order=Nearness(of=of.things, side=cast("Side", relation)))


def from_picture(picture: str) -> Modifier:
    """Take what one of two pictures shows."""
    return Modifier(picture=cast("PictureName", picture))


def is_colour(colour: str) -> Property:
    """Say a colour."""
    return HasColour(colour=cast("Colour", colour))


def is_size(size: str) -> Property:
    """Say a size."""
    return HasSize(size=size)


def has_fact(fact: str) -> Property:
    """Say a fact, or that one of several holds."""
    facts = [HasFact(fact=each) for each in fact.split("|")]
    if len(facts) == 1:
        return facts[0]
    sets: list[Things] = [Filter(things=Everything(), property=each) for each in facts]
    return IsAmong(things=reduce(lambda one, other: Union(one=one, other=other), sets))


def place(first: str, second: str | None = None) -> Property | None:
    """Say a place of the picture, by one or two sides: "top", "left"."""
    across = [each for each in (first, second) if each in {"left", "right"}]
    down = [each for each in (first, second) if each in {"top", "bottom"}]
    if len(across) > 1 or len(down) > 1:
        return None
    middle = "middle" in {first, second}
    if middle and second is None:
        return IsAt(across="middle", down="middle")
    sides: dict[str, Sequence[str | None]] = {
        "across": across or ["middle" if middle else None],
        "down": down or ["middle" if middle else None],
    }
    return IsAt.model_validate({name: side[0] for name, side in sides.items()})


def in_line(line: str, side: str, rank: str | None = None) -> Property | None:
    """Say a row or a column, counted from a side of the picture."""
    if side in {"left", "right"} and line == "row":
        return None
    if side in {"top", "bottom"} and line == "column":
        return None
    number = int(rank or 1)
    return InLine(line=line, number=number if side in {"top", "left"} else -number)


def in_line_from(line: str, start: str | None, rank: str) -> Property | None:
    """Say a row or a column by its number, from the top or the left where no side is named."""
    first = "top" if line == "row" else "left"
    sides = {"leftmost": "left", "rightmost": "right", "topmost": "top", "bottommost": "bottom"}
    return in_line(line, sides[start] if start else first, rank)


def converse(relation: str, of: QuantifiedThings) -> Property | None:
    """Say what stands to something as it stands to that: "the key is under which object"."""
    return related(_CONVERSES[relation], of) if relation in _CONVERSES else None


def both_properties(one: Property, other: Property) -> Property:
    """Say two things at once: "is red and to the left of the chair"."""
    return IsAmong(things=Filter(things=Filter(things=Everything(), property=one), property=other))


def related(relation: str, of: QuantifiedThings) -> Property:
    """Say a relation to something."""
    things = of.things
    if relation in {"larger than", "smaller than"} and of.is_many:
        extreme = "largest" if relation == "larger than" else "smallest"
        things = Ordinal(things=things, order=ByExtreme(extreme=extreme))
    return InRelation(relation=relation, of=things)


def between(one: QuantifiedThings, other: QuantifiedThings) -> Property:
    """Say that it is between two things."""
    return IsBetween(one=one.things, other=other.things)


def between_both(both: QuantifiedThings) -> Property:
    """Say that it is between the two things of a set: "between the two custards"."""
    first, second = (Ordinal(things=both.things, order=ByExtreme(extreme="leftmost"), rank=rank) for rank in (1, 2))
    return IsBetween(one=first, other=second)


def like(by: str, of: QuantifiedThings) -> Property:
    """Say that it is of the same kind, colour or size as something."""
    return IsLike(by=by, of=of.things)


def negated(property: Property) -> Property:  # noqa: A002
    """Say that a property is missing."""
    return property.property if isinstance(property, IsNot) else IsNot(property=property)


def either_property(one: Property, other: Property) -> Property:
    """Say that one of two properties holds."""
    first, second = (Filter(things=Everything(), property=each) for each in (one, other))
    return IsAmong(things=Union(one=first, other=second))


def named(name: str) -> Property:
    """Say a kind by an adjective: "is smiling"."""
    return IsA(name=name)


def is_kind(nominal: Nominal) -> Property | None:
    """Say what something is: "a red book", "a cat or a dog" taken together."""
    noun, modifiers = nominal.noun, nominal.modifiers
    if not modifiers and noun.names and not noun.fact:
        return IsA(name=noun.names[0], or_names=noun.names[1:])
    if not noun.names and len(modifiers) == 1 and modifiers[0].property:
        return modifiers[0].property
    if not noun.names and not modifiers and not noun.fact:
        return None
    if not noun.names and not modifiers:
        return HasFact(fact=noun.fact)
    return IsAmong(things=nominal.things())


def is_phrase(of: QuantifiedThings) -> Property | None:
    """Say that it is one of what a definite noun phrase means: "is the largest thing"."""
    is_reference = of.things in {BEFORE, One(things=BEFORE)}
    return IsAmong(things=of.things) if of.quantity == "the" and not is_reference else None


def apart_from(of: QuantifiedThings) -> Modifier | None:
    """Leave out what a noun phrase means."""
    if of.quantity in {"exactly", "at least", "at most", "most", "a"}:
        return None
    base = of.things.things if isinstance(of.things, One) else of.things
    if isinstance(base, Filter) and isinstance(base.things, Everything) and of.quantity != "a":
        return Modifier(IsNot(property=base.property))
    return Modifier(IsNot(property=IsAmong(things=base)))


def ordered_from(extreme: str, rank: str | None = None, count: str | None = None) -> Modifier:
    """Take a rank counted from a side: "third … from the left"."""
    return by_extreme(extreme, rank, count)


def ranked(rank: str, nominal: Nominal, order: Modifier) -> Nominal | None:
    """Take a rank in the order of nearness: "the second thing to the left of the house"."""
    return None if order.order is None else followed(nominal, replace(order, rank=int(rank)))


def extreme_of(side: str) -> Modifier | None:
    """Take what is at an edge: "at the very top"."""
    extremes = {"left": "leftmost", "right": "rightmost", "top": "topmost", "bottom": "bottommost"}
    return by_extreme(extremes[side]) if side in extremes else None


def no_change() -> Modifier:
    """Leave out what is no thing: the background."""
    return Modifier()


def choose_nearest(nominal: Nominal, said: Property) -> Things:
    """Return what "which animal is above the cake" asks for: the first there, or what has the property."""
    match said:
        case InRelation(relation=relation, of=of) if relation in SIDES:
            return Ordinal(things=nominal.things(), order=Nearness(of=of, side=cast("Side", relation)))
        case IsAmong(things=Ordinal(things=Everything(), order=order, rank=rank, count=count)) if count == 1:
            return Ordinal(things=nominal.things(), order=order, rank=rank)
    return Filter(things=nominal.things(), property=said)


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        with_property, by_extreme, nearest, directly, from_picture, is_colour, is_size, has_fact, place, in_line,
        in_line_from, related, converse, both_properties, between, between_both, like, negated, either_property, named,
        is_kind, is_phrase, apart_from,
        ordered_from, ranked, extreme_of, no_change,
    )
}  # fmt: skip
