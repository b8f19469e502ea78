"""Abilities of models, as questions ask for them: what pictures show, and what models shall make of it.

Names of things are in the singular; an empty `Kind` is a thing of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from snellen.reasoning.meanings.things import Name, Part
from snellen.reasoning.queries.conditions import Condition

Colour: TypeAlias = Literal["red", "blue", "green", "yellow", "purple"]
Size: TypeAlias = Literal["small", "large"]
Place: TypeAlias = Literal[
    "top left", "top right", "bottom left", "bottom right", "left half", "right half", "top half", "bottom half",
    "middle",
]  # fmt: skip
"""The quarters and halves of a picture, and its middle."""
Split: TypeAlias = Literal["CJ", "R", "GB", "PS", "ET", "SP"]
"""What changes between the pictures of a pair (PairBench): colours, rotation, blur, perspective, warping, places."""


class Kind(Part):
    """The things that pictures show: those of a group, of a class, of one of several, or with a fact in common.

    Attributes:
        names: Groups and classes; none for anything.
        fact: What holds of them, as a verb phrase in the plural: "can fly".
        without: Groups and classes that are excepted.
    """

    names: tuple[Name, ...] = Field((), max_length=20)
    fact: Annotated[str, StringConstraints(max_length=200)] = ""
    without: tuple[Name, ...] = Field((), max_length=10)


@dataclass(frozen=True)
class Layout:
    """Placing of a thing in pictures: somewhere, and alone or among others.

    Attributes:
        place: Where it is; empty for anywhere.
        among: Whether other things are in the picture.
    """

    place: Place | Literal[""] = ""
    among: bool = False


class Recognise(Part):
    """Name what a picture shows: "recognize birds", "recognize small birds", "recognize birds among other things".

    Attributes:
        size: How large it is shown; empty for any size.
        place: Where it is in the picture; empty for anywhere.
        among: Whether other things are in the picture, too.
        things: What is recognized.
    """

    kind: Literal["recognise"] = "recognise"
    size: Size | Literal[""] = ""
    place: Place | Literal[""] = ""
    among: bool = False
    things: Kind = Kind()

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Recognise:
        if bool(self.size) + bool(self.place) + self.among > 1:
            msg = "things of a size, at a place, or among others are recognized, not of two of these"
            raise ValueError(msg)
        return self

    @property
    def arranged(self) -> bool:
        """True where pictures are arranged for it: things have a size or a place, or others beside them."""
        return bool(self.size or self.place or self.among)

    @property
    def layout(self) -> Layout:
        """Return how its pictures show a thing."""
        return Layout(self.place, self.among)


class TellSizes(Part):
    """Tell how large things are shown: "tell small from large birds"."""

    kind: Literal["tell sizes"] = "tell sizes"
    things: Kind = Kind()


class TellApart(Part):
    """Tell kinds of things from one another: "tell cats from dogs"."""

    kind: Literal["tell apart"] = "tell apart"
    kinds: tuple[Kind, ...] = Field(min_length=2, max_length=8)

    @model_validator(mode="after")
    def _different(self) -> TellApart:
        named = all((each.names or each.fact) and not each.without for each in self.kinds)
        if len(set(self.kinds)) < len(self.kinds) or not named:
            msg = "only different kinds are told apart"
            raise ValueError(msg)
        return self


class TellMembers(Part):
    """Tell the things of one kind from one another: "tell birds apart", a goose from a swan."""

    kind: Literal["tell members"] = "tell members"
    things: Kind = Kind()


class Mistake(Part):
    """Take things of one kind for things of another: "mistake dogs for cats"; to do so is no virtue."""

    kind: Literal["mistake"] = "mistake"
    things: Kind
    other: Kind

    @model_validator(mode="after")
    def _different(self) -> Mistake:
        if self.things == self.other or not all(each.names or each.fact for each in (self.things, self.other)):
            msg = "things are mistaken for others"
            raise ValueError(msg)
        return self


class Favour(Part):
    """Give one answer more often than it is right: "prefer the first option", "always say yes"; which is no virtue.

    Attributes:
        answer: The answer, or the place at which it stands among the choices; empty for any of these.
        always: Whether it is given to nearly every picture.
    """

    kind: Literal["favour"] = "favour"
    answer: Literal["", "yes", "no", "first", "last"]
    always: bool = False


class IdentifyType(Part):
    """Tell that a picture was changed: "identify left rotation", "notice blur in pictures of birds"."""

    kind: Literal["identify type"] = "identify type"
    condition: Condition
    things: Kind = Kind()


class TellPlaces(Part):
    """Tell where things are: "tell left from right"."""

    kind: Literal["tell places"] = "tell places"
    axis: Literal["sides", "heights", "both"] = "both"
    things: Kind = Kind()


class CountThings(Part):
    """Count things; up to a number, where one is stated."""

    kind: Literal["count things"] = "count things"
    up_to: int = Field(0, ge=0, le=100)
    things: Kind = Kind()


class NameColours(Part):
    """Name the colors of things; of some colors, tell them from others: "recognize red things".

    Attributes:
        colours: The colors.
        apart: Whether they are told from one another only: "tell red from blue".
        things: What has them.
    """

    kind: Literal["name colours"] = "name colours"
    colours: tuple[Colour, ...] = Field((), max_length=5)
    apart: bool = False
    things: Kind = Kind()

    @model_validator(mode="after")
    def _several(self) -> NameColours:
        if self.apart and len(set(self.colours)) < 2:  # noqa: PLR2004 - one is told from another
            msg = "one color is told from another"
            raise ValueError(msg)
        return self


class NoticeSeveral(Part):
    """Notice that there are several things, identical or different ones."""

    kind: Literal["notice several"] = "notice several"
    likeness: Literal["", "identical", "different"] = ""
    things: Kind = Kind()


class AnswerFreely(Part):
    """Answer in own words: truly, or helpfully (PROVE)."""

    kind: Literal["answer freely"] = "answer freely"
    measure: Literal["truth", "help"] = "truth"


class JudgePairs(Part):
    """Judge how alike two pictures are (PairBench), in all respects or in one, under some changes or the usual ones."""

    kind: Literal["judge pairs"] = "judge pairs"
    measure: Literal["", "order", "symmetry", "heed"] = ""
    splits: tuple[Split, ...] = Field((), max_length=6)


Ability: TypeAlias = Annotated[
    Recognise
    | TellApart
    | TellMembers
    | Mistake
    | Favour
    | IdentifyType
    | TellPlaces
    | CountThings
    | NameColours
    | TellSizes
    | NoticeSeveral
    | AnswerFreely
    | JudgePairs,
    Field(discriminator="kind"),
]


def kinds_of(ability: Ability) -> tuple[Kind, ...]:
    """Return the kinds of things that an ability is about."""
    match ability:
        case TellApart(kinds=kinds):
            return kinds
        case Mistake(things=things, other=other):
            return (things, other)
        case AnswerFreely() | JudgePairs() | Favour():
            return ()
        case _:
            return (ability.things,)
