"""Meanings of instructions about pictures: statements, questions, lists and edits over sets of things.

`Truth` is what is true or false of pictures: a question whether it is so, and a statement, mean the same. `Meaning` is
all that an instruction can mean. Nothing in it is free but names (`Name`) and what is to be said (`Say`). JSON is its
form on disk and in replies of models: ``{"kind": "count", "things": {...}}``.
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError, model_validator

from snellen.errors import BadInput
from snellen.reasoning.meanings.things import (
    Everything,
    Extreme,
    Likeness,
    Name,
    Part,
    PictureName,
    Property,
    Things,
    check_places,
    check_same_picture,
    sets_within,
)

Aspect: TypeAlias = Literal["name", "colour", "size", "place", "ground"]
"""A thing's kind, its colour, its size, its part of the picture ("top left"), the background that it stands on."""
SettingAspect: TypeAlias = Literal["background", "background colour", "weather", "style"]
Operation: TypeAlias = Literal["colour pop", "blur the rest", "replace", "remove", "emoji", "tag", "crop"]
_OF_PLACES: Final = frozenset({"place", "ground"})
MAX_PARTS: Final = 64
"""Parts of one meaning; a longer one is nobody's sentence."""
_MAX_BYTES: Final = 16_000


def check_aspect(things: Things, what: Aspect) -> None:
    """Raise a ``ValueError`` where an aspect of places is asked of things of several pictures."""
    if what in _OF_PLACES:
        check_same_picture(things)


def check_order(things: Things, order: Extreme | None) -> None:
    """Raise a ``ValueError`` where things of several pictures are put into an order by place."""
    if order not in {None, "largest", "smallest"}:
        check_same_picture(things)


class Exist(Part):
    """There are at least, exactly or at most so many of a set: "Is there a cat?", "There are exactly two dogs".

    None are exactly 0, more than two are at least 3.
    """

    kind: Literal["exist"] = "exist"
    things: Things
    quantity: Literal["at least", "exactly", "at most"] = "at least"
    number: int = Field(1, ge=0, le=100)

    @model_validator(mode="after")
    def _says_something(self) -> Exist:
        if self.number == 0 and self.quantity != "exactly":
            msg = "none are exactly 0"
            raise ValueError(msg)
        return self


class CompareCounts(Part):
    """There are more, fewer or as many of one set as of another, or as ``times`` the other: "more cats than dogs"."""

    kind: Literal["compare counts"] = "compare counts"
    one: Things
    how: Literal["more", "fewer", "as many"]
    other: Things
    times: int = Field(1, ge=1, le=20)


class Are(Part):
    """All or most of a set have a property: "The dog is red.", "Are most of the things animals?".

    It presupposes that the set is not empty.
    """

    kind: Literal["are"] = "are"
    things: Things
    property: Property
    share: Literal["all", "most"] = "all"

    @model_validator(mode="after")
    def _within_one_picture(self) -> Are:
        check_places(self.things, self.property)
        return self


class AreAlike(Part):
    """All of a set are of one kind, colour or size: "The cat and the dog have the same colour".

    It presupposes that there are at least two.
    """

    kind: Literal["are alike"] = "are alike"
    things: Things
    by: Likeness


class SettingIs(Part):
    """The picture has a background, weather or style: "Is it snowing?", "Is the background blue?"."""

    kind: Literal["setting is"] = "setting is"
    aspect: SettingAspect
    value: Name
    picture: Literal["picture", "left", "right"] = "picture"


class SettingsAlike(Part):
    """The left and the right picture have the same background, weather or style: "The weather is the same in both"."""

    kind: Literal["settings alike"] = "settings alike"
    aspect: SettingAspect


class Junction(Part):
    """All, some or exactly one of several truths hold: "Is there a dog and no cat?"."""

    kind: Literal["junction"] = "junction"
    how: Literal["and", "or", "exactly one"]
    parts: tuple[Truth, ...] = Field(min_length=2, max_length=6)


class Negation(Part):
    """A truth does not hold: "It is not the case that …"; neither … nor is the negation of an "or"."""

    kind: Literal["negation"] = "negation"
    truth: Truth


class Count(Part):
    """The number of a set: "How many cats are to the left of the house?".

    With ``kinds`` things of one name count once: "How many kinds of animals are there?". With ``more_than`` it is the
    difference: "How many more cats than dogs are there?".
    """

    kind: Literal["count"] = "count"
    things: Things
    kinds: bool = False
    more_than: Things | None = None


class Query(Part):
    """An aspect of one thing: "What colour is the dog?", "What is the largest animal?".

    Several things may share the ground that they are on: "What are the animals standing on?".
    """

    kind: Literal["query"] = "query"
    things: Things
    what: Aspect

    @model_validator(mode="after")
    def _within_one_picture(self) -> Query:
        check_aspect(self.things, self.what)
        return self


class QuerySetting(Part):
    """An aspect of a picture: "What is the weather like?"."""

    kind: Literal["query setting"] = "query setting"
    aspect: SettingAspect
    picture: Literal["picture", "left", "right"] = "picture"


class ListEach(Part):
    """An aspect of each of a set, in an order where one is named: "List the top row from left to right"."""

    kind: Literal["list each"] = "list each"
    things: Things
    what: Aspect = "name"
    order: Extreme | None = None

    @model_validator(mode="after")
    def _within_one_picture(self) -> ListEach:
        check_aspect(self.things, self.what)
        check_order(self.things, self.order)
        return self


class CheckEach(Part):
    """Yes or no for each of a set, as it has a property: "Say of each cat whether it is green"."""

    kind: Literal["check each"] = "check each"
    things: Things
    property: Property
    order: Extreme | None = None

    @model_validator(mode="after")
    def _within_one_picture(self) -> CheckEach:
        check_places(self.things, self.property)
        check_order(self.things, self.order)
        return self


class Choose(Part):
    """The property of several that a thing has: "Is the book red or green?", "Is the dog left or right of the house?".

    Of a set that is not one thing, it is the property that any of them has: "Is it a cat or a dog?"
    """

    kind: Literal["choose"] = "choose"
    things: Things
    properties: tuple[Property, ...] = Field(min_length=2, max_length=6)

    @model_validator(mode="after")
    def _within_one_picture(self) -> Choose:
        for each in self.properties:
            check_places(self.things, each)
        return self


class ChooseCount(Part):
    """The set of several that has most, or fewest, things: "Which are there more of, books or computers?"."""

    kind: Literal["choose count"] = "choose count"
    options: tuple[Things, ...] = Field(min_length=2, max_length=6)
    how: Literal["most", "fewest"] = "most"


class Describe(Part):
    """A sentence about a picture (of everything in it) or about one thing: "Describe the dog"."""

    kind: Literal["describe"] = "describe"
    things: Things


class Say(Part):
    """Words that the instruction itself gives for the answer: "answer 'cars'"; empty where nothing is to be said."""

    kind: Literal["say"] = "say"
    words: Annotated[str, StringConstraints(max_length=60, pattern=r"^[\w ,.!?-]*$")] = ""


class IfThen(Part):
    """One meaning or another, as a truth holds: "If there is a dog, what colour is it? Otherwise count the cats"."""

    kind: Literal["if then"] = "if then"
    condition: Truth
    then: Meaning
    otherwise: Meaning = Say()


class Several(Part):
    """Several meanings one after the other: "How many cats are there, and what colour is the house?"."""

    kind: Literal["several"] = "several"
    parts: tuple[Meaning, ...] = Field(min_length=2, max_length=6)


class EditAction(Part):
    """An edit at a set of one picture; ``by`` is what replaces the things, or the emoji that covers them."""

    kind: Literal["edit action"] = "edit action"
    operation: Operation
    things: Things
    by: Name | None = None

    @model_validator(mode="after")
    def _painted_with_something(self) -> EditAction:
        check_same_picture(self.things)
        if (self.by is None) == (self.operation in {"replace", "emoji"}):
            msg = "replace and emoji need by, no other operation has it"
            raise ValueError(msg)
        return self


class EditPicture(Part):
    """Edits of one picture, one after the other: "Blur the background of the dog and tag it"."""

    kind: Literal["edit picture"] = "edit picture"
    actions: tuple[EditAction, ...] = Field(min_length=1, max_length=6)

    @model_validator(mode="after")
    def _of_one_picture(self) -> EditPicture:
        check_same_picture(*(each.things for each in self.actions))
        if any(each.operation == "crop" for each in self.actions[:-1]):
            msg = "a crop comes last: the places of things are those of the whole picture"
            raise ValueError(msg)
        return self


Truth: TypeAlias = Annotated[
    Exist | CompareCounts | Are | AreAlike | SettingIs | SettingsAlike | Junction | Negation,
    Field(discriminator="kind"),
]
Meaning: TypeAlias = Annotated[
    Exist
    | CompareCounts
    | Are
    | AreAlike
    | SettingIs
    | SettingsAlike
    | Junction
    | Negation
    | Count
    | Query
    | QuerySetting
    | ListEach
    | CheckEach
    | Choose
    | ChooseCount
    | Describe
    | Say
    | IfThen
    | Several
    | EditPicture,
    Field(discriminator="kind"),
]

for _part in (Junction, Negation, IfThen, Several):
    _part.model_rebuild()
_MEANINGS: Final[TypeAdapter[Meaning]] = TypeAdapter(Meaning)


def read_meaning(text: str) -> Meaning:
    """Read a meaning from JSON, of a model or of a file.

    Raises:
        BadInput: It is none, or has more than `MAX_PARTS` parts.
    """
    if len(text) > _MAX_BYTES:
        msg = f"a meaning of {len(text)} characters is too long; at most {_MAX_BYTES} are read"
        raise BadInput(msg)
    try:
        meaning = _MEANINGS.validate_json(text)
    except (ValidationError, RecursionError) as error:
        reason = (
            error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "it is nested too deeply"}
        )
        msg = f"this is no meaning: {'.'.join(map(str, reason['loc']))} {reason['msg']}"
        raise BadInput(msg) from error
    if sum(1 for _ in sets_within(meaning)) > MAX_PARTS:
        msg = f"a meaning has at most {MAX_PARTS} parts; ask for less at once"
        raise BadInput(msg)
    return meaning


def write_meaning(meaning: Meaning) -> str:
    """Write a meaning as the JSON that `read_meaning` reads, without the fields that have their defaults."""
    return write_part(meaning)


def write_part(part: Part) -> str:
    """Write a part of a meaning as JSON, without the fields that have their defaults."""
    return json.dumps(_compact(part), ensure_ascii=False)


def _compact(value: object) -> object:
    if isinstance(value, tuple):
        return [_compact(each) for each in value]
    if not isinstance(value, Part):
        return value
    fields = type(value).model_fields
    return {name: _compact(each) for name, each in value if name == "kind" or each != fields[name].default}


def _first_fault(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc']))} {fault['msg']}"


def pictures_in(meaning: Meaning) -> frozenset[PictureName]:
    """Return the names of all pictures that a meaning is about."""
    parts = list(sets_within(meaning))
    both: tuple[PictureName, ...] = ("left", "right")
    names = both if any(isinstance(each, SettingsAlike) for each in parts) else ()
    return frozenset(names).union(
        each.picture for each in parts if isinstance(each, Everything | SettingIs | QuerySetting)
    )
