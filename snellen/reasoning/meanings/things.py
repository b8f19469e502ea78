"""Sets of things in pictures: the nouns of the language of meanings, with the properties and orders that choose them.

A set is made of all things of a picture by filters, as in CLEVR's and GQA's functional programs: ``the animals to the
left of the red house`` is everything, filtered by *is an animal*, filtered by *is to the left of* (the one of
everything, filtered by *is a house*, filtered by *is red*). docs/meanings.md has an example of each constructor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Name: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, max_length=60, pattern=r"^[^\W_][\w '’.-]*$"),
]
"""A name of a thing, a kind or an emoji, lower case, without quotation marks, braces or line breaks."""
PictureName: TypeAlias = Literal["picture", "left", "right", "both"]
"""The picture of a task with one, the left or the right of two, or both of two taken together."""
Colour: TypeAlias = Literal[
    "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "gray"
]
Size: TypeAlias = Literal["small", "medium", "large"]
SpatialRelation: TypeAlias = Literal["left of", "right of", "above", "below", "next to", "inside", "on"]
SizeRelation: TypeAlias = Literal["larger than", "smaller than"]
Side: TypeAlias = Literal["left of", "right of", "above", "below"]
Likeness: TypeAlias = Literal["kind", "colour", "size"]
Extreme: TypeAlias = Literal["largest", "smallest", "leftmost", "rightmost", "topmost", "bottommost"]


class Part(BaseModel):
    """A part of a meaning: immutable, equal by value, with no field that its type does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Everything(Part):
    """All things of a picture, not its background: "the things in the left picture"."""

    kind: Literal["everything"] = "everything"
    picture: PictureName = "picture"


class Filter(Part):
    """The things that have a property: "the red things". A property of places holds within one picture."""

    kind: Literal["filter"] = "filter"
    things: Things
    property: Property

    @model_validator(mode="after")
    def _within_one_picture(self) -> Filter:
        check_places(self.things, self.property)
        return self


class Ordinal(Part):
    """The ``rank``-th of an order, and with a ``count`` those after it: "the second largest animal".

    It presupposes that there are so many.
    """

    kind: Literal["ordinal"] = "ordinal"
    things: Things
    order: Order
    rank: int = Field(1, ge=1, le=10)
    count: int = Field(1, ge=1, le=10)

    @model_validator(mode="after")
    def _within_one_picture(self) -> Ordinal:
        if isinstance(self.order, Nearness):
            check_same_picture(self.things, self.order.of)
        elif self.order.extreme not in {"largest", "smallest"}:
            check_same_picture(self.things)
        return self


class Union(Part):
    """The things of two sets: "the cats and the dogs"."""

    kind: Literal["union"] = "union"
    one: Things
    other: Things


class One(Part):
    """The only thing of a set: "the dog"; it presupposes that there is exactly one."""

    kind: Literal["one"] = "one"
    things: Things


class IsA(Part):
    """It is of a kind, a concept or a group in the singular, or of one of several: "is an animal", "is a ship or boat".

    Several kinds stand for a word that has no group of its own; they are no union, which joins sets.
    """

    kind: Literal["is a"] = "is a"
    name: Name
    or_names: tuple[Name, ...] = Field((), max_length=20)

    @property
    def names(self) -> tuple[str, ...]:
        """All kinds."""
        return (self.name, *self.or_names)


class HasFact(Part):
    """A fact holds of its kind; a verb in the plural begins it: "can fly", "have wheels", "are edible"."""

    kind: Literal["has fact"] = "has fact"
    fact: Name


class HasColour(Part):
    """It has a colour: "is red"."""

    kind: Literal["has colour"] = "has colour"
    colour: Colour


class HasSize(Part):
    """It is small or large by itself; beside others of its kind it is an `Ordinal`: "is large"."""

    kind: Literal["has size"] = "has size"
    size: Size


class IsAt(Part):
    """It is at a place of the picture: "is in the top left corner", "is on the left side", "is in the middle"."""

    kind: Literal["is at"] = "is at"
    across: Literal["left", "middle", "right"] | None = None
    down: Literal["top", "middle", "bottom"] | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> IsAt:
        if self.across is None and self.down is None:
            msg = "a place needs across or down"
            raise ValueError(msg)
        return self


class InLine(Part):
    """It is in a row from the top or a column from the left of the picture's things; -1 is the last: "the top row"."""

    kind: Literal["in line"] = "in line"
    line: Literal["row", "column"]
    number: int = Field(1, ge=-9, le=9)

    @model_validator(mode="after")
    def _counted_from_one(self) -> InLine:
        if self.number == 0:
            msg = "rows and columns are counted from 1, or from -1 backwards"
            raise ValueError(msg)
        return self


class InRelation(Part):
    """It stands in a relation to one of a set: "is to the left of the house", "is larger than the dog"."""

    kind: Literal["in relation"] = "in relation"
    relation: SpatialRelation | SizeRelation
    of: Things


class IsBetween(Part):
    """It is between two things: "is between the cat and the dog"."""

    kind: Literal["is between"] = "is between"
    one: Things
    other: Things

    @model_validator(mode="after")
    def _within_one_picture(self) -> IsBetween:
        check_same_picture(self.one, self.other)
        return self


class IsLike(Part):
    """It is of the same kind, colour or size as one of a set: "is of the same colour as the house"."""

    kind: Literal["is like"] = "is like"
    by: Likeness
    of: Things


class IsAmong(Part):
    """It is one of a set: "is one of the animals on the left side", "is the largest thing"."""

    kind: Literal["is among"] = "is among"
    things: Things


class IsNot(Part):
    """It does not have a property: "is not a cat"; the other animals are the animals that are not among some."""

    kind: Literal["is not"] = "is not"
    property: Property


class ByExtreme(Part):
    """The order by size or by place: "the largest", "the leftmost"."""

    kind: Literal["by extreme"] = "by extreme"
    extreme: Extreme


class Nearness(Part):
    """The order by the distance from one of a set: "the nearest to the bus".

    With a side only things on that side count, and what is straight there comes before the rest: "the first to the left
    of the cake".
    """

    kind: Literal["nearness"] = "nearness"
    of: Things
    side: Side | None = None


Things: TypeAlias = Annotated[Everything | Filter | Ordinal | Union | One, Field(discriminator="kind")]
Property: TypeAlias = Annotated[
    IsA | HasFact | HasColour | HasSize | IsAt | InLine | InRelation | IsBetween | IsLike | IsAmong | IsNot,
    Field(discriminator="kind"),
]
Order: TypeAlias = Annotated[ByExtreme | Nearness, Field(discriminator="kind")]

for _part in (Filter, Ordinal, Union, One, InRelation, IsBetween, IsLike, IsAmong, IsNot, Nearness):
    _part.model_rebuild()


def pictures(things: Things) -> frozenset[PictureName]:
    """Return the names of the pictures that a set's things are from."""
    match things:
        case Everything():
            return frozenset({things.picture})
        case Union():
            return pictures(things.one) | pictures(things.other)
    return pictures(things.things)


def candidates(things: Ordinal) -> Things:
    """Return the things among which an order chooses: those on a side, and never those that they are to be near to."""
    match things.order:
        case Nearness(side=None, of=of):
            return Filter(things=things.things, property=IsNot(property=IsAmong(things=of)))
        case Nearness(side=side, of=of) if side is not None:
            return Filter(things=things.things, property=InRelation(relation=side, of=of))
    return things.things


def check_same_picture(*sets: Things) -> None:
    """Raise a ``ValueError`` where sets are not of one and the same picture."""
    names = frozenset[PictureName]().union(*map(pictures, sets))
    if len(names) > 1 or "both" in names:
        msg = f"places compare within one picture, not across {' and '.join(sorted(names))}"
        raise ValueError(msg)


def check_places(things: Things, property: Property) -> None:  # noqa: A002 - the field's name
    """Raise a ``ValueError`` where a property of places is said of things of several pictures, or of another one."""
    match property:
        case IsAt() | InLine():
            check_same_picture(things)
        case InRelation(relation="larger than" | "smaller than"):
            return
        case InRelation(of=of):
            check_same_picture(things, of)
        case IsAmong(things=of):
            check_same_picture(things, of)
        case IsBetween():
            check_same_picture(things, property.one, property.other)
        case IsNot():
            check_places(things, property.property)


def sets_within(part: Part) -> Iterator[Part]:
    """Go through a part of a meaning and all parts in it, the outer ones first."""
    yield part
    for name in type(part).model_fields:
        value = getattr(part, name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Part):
                yield from sets_within(each)
