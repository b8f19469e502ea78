"""The denotation of meanings: what is true, or the right answer, by a scene graph alone.

Neither tools nor programs are used. A meaning whose presupposition fails has no denotation but `Undefined`: "the dog"
where there is none or where there are two, "the third" of two.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from snellen.reasoning.meanings.answer_phrases import (
    NO_OPTION,
    SEVERAL_OPTIONS,
    option_name,
    option_names,
    scarcity,
)
from snellen.reasoning.meanings.geometry import (
    corner,
    is_at,
    lies_between,
    line,
    nearness,
    relates,
    same_colour,
    same_size,
)
from snellen.reasoning.meanings.meanings import (
    Are,
    AreAlike,
    Aspect,
    CheckEach,
    Choose,
    ChooseCount,
    CompareCounts,
    Count,
    Describe,
    EditPicture,
    Exist,
    IfThen,
    Junction,
    ListEach,
    Meaning,
    Negation,
    Operation,
    Query,
    QuerySetting,
    Say,
    SettingAspect,
    SettingIs,
    SettingsAlike,
    Several,
    Truth,
)
from snellen.reasoning.meanings.phrases import noun_phrase
from snellen.reasoning.meanings.scene import Entity, Graphs
from snellen.reasoning.meanings.things import (
    ByExtreme,
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
    Likeness,
    Nearness,
    One,
    Ordinal,
    PictureName,
    Property,
    Things,
    Union,
    candidates,
)

Reason: TypeAlias = Literal["missing", "ambiguous", "unknown"]


@dataclass(frozen=True)
class Undefined:
    """The lack of a denotation.

    Attributes:
        sentence: What is presupposed and does not hold: "There is no dog."
        reason: There is nothing that is meant, there is more than one thing that may be meant, or nobody knows.
    """

    sentence: str
    reason: Reason


@dataclass(frozen=True)
class Depicted:
    """A description of these things is the answer."""

    entities: tuple[Entity, ...]


@dataclass(frozen=True)
class Edited:
    """The picture after an edit at these things is the answer."""

    operation: Operation
    entities: tuple[Entity, ...]
    by: str = ""


Denotation: TypeAlias = (
    bool | int | str | tuple[str, ...] | Depicted | tuple[Edited, ...] | Undefined | tuple["Denotation", ...]
)


def denotation(meaning: Meaning, graphs: Graphs) -> Denotation:
    """Return what a meaning denotes: a truth value, a number, a text, texts, what is described, or edits.

    Args:
        meaning: The meaning.
        graphs: The scene graph of each picture that it names.

    Raises:
        KeyError: The meaning names a picture that has no scene graph.
    """
    world = _World(graphs)
    if isinstance(meaning, Several):
        return tuple(denotation(each, graphs) for each in meaning.parts)
    try:
        if isinstance(meaning, IfThen):
            return denotation(meaning.then if world.truth(meaning.condition) else meaning.otherwise, graphs)
        return world.answer(meaning)
    except _FailedPresupposition as failure:
        return failure.undefined


class _FailedPresupposition(Exception):  # noqa: N818 - it never leaves this file
    def __init__(self, sentence: str, reason: Reason) -> None:
        super().__init__(sentence)
        self.undefined = Undefined(sentence, reason)


def _missing(things: Things, needed: int) -> _FailedPresupposition:
    return _FailedPresupposition(scarcity(things, needed), "missing")


def _ambiguous(things: Things) -> _FailedPresupposition:
    return _FailedPresupposition(f"It is not clear which is meant: {noun_phrase(things).text}.", "ambiguous")


@dataclass(frozen=True)
class _World:
    graphs: Graphs

    def members(self, things: Things) -> tuple[Entity, ...]:
        """Return the things of a set, each once."""
        match things:
            case Everything():
                names: tuple[PictureName, ...] = ("left", "right") if things.picture == "both" else (things.picture,)
                return tuple(entity for name in names for entity in self.graphs[name].entities)
            case Filter():
                members, holds = self.members(things.things), self.test(things.property)
                return tuple(entity for entity in members if holds(entity))
            case Union():
                return tuple(dict.fromkeys((*self.members(things.one), *self.members(things.other))))
            case One():
                return (self.only(things.things),)
            case Ordinal():
                return self._ranked(things)

    def only(self, things: Things) -> Entity:
        """Return the one thing of a set."""
        members = self.some(things)
        if len(members) > 1:
            raise _ambiguous(things)
        return members[0]

    def some(self, things: Things, needed: int = 1) -> tuple[Entity, ...]:
        """Return the things of a set that has so many at least."""
        members = self.members(things)
        if len(members) < needed:
            raise _missing(things, needed)
        return members

    def _ranked(self, things: Ordinal) -> tuple[Entity, ...]:
        members, key = self.members(things.things), self._key(things.order)
        keyed = sorted(((value, entity) for entity in members if (value := key(entity)) is not None), key=_first)
        end = things.rank + things.count - 1
        if len(keyed) < end:
            raise _missing(candidates(things), end)
        ties = [place for place in (things.rank - 1, end) if 0 < place < len(keyed)]
        if any(keyed[place - 1][0] == keyed[place][0] for place in ties):
            raise _ambiguous(things)
        return tuple(entity for _, entity in keyed[things.rank - 1 : end])

    def _key(self, order: ByExtreme | Nearness) -> Callable[[Entity], tuple[float, ...] | None]:
        if isinstance(order, Nearness):
            references, side = self.members(order.of), order.side
            return lambda entity: None if entity in references else nearness(entity, references, side)
        return lambda entity: (_EXTREMES[order.extreme](entity),)

    def test(self, property: Property) -> Callable[[Entity], bool]:  # noqa: A002 - the word of the language
        """Return the condition that a property is; the sets in it are evaluated once, and before anything is tested."""
        match property:
            case IsA():
                return lambda entity: not {entity.name, *entity.kinds}.isdisjoint(property.names)
            case HasFact():
                return lambda entity: property.fact in entity.facts
            case HasColour():
                return lambda entity: entity.colour == property.colour
            case HasSize():
                return lambda entity: entity.size == property.size
            case IsAt():
                return lambda entity: is_at(entity, property, self.graphs[entity.picture].size)
            case InLine():
                return lambda entity: entity in line(self.graphs[entity.picture].entities, property)
        return self._compared(property)

    def _compared(self, property: Property) -> Callable[[Entity], bool]:  # noqa: A002
        match property:
            case InRelation():
                relation, references = property.relation, self.members(property.of)
                is_size = relation in {"larger than", "smaller than"}
                return lambda entity: (
                    (is_size or entity not in references)
                    and any(relates(entity, relation, other) for other in references)
                )
            case IsBetween():
                ends, others = self.members(property.one), self.members(property.other)
                return lambda entity: (
                    entity not in {*ends, *others}
                    and any(lies_between(entity, one, other) for one in ends for other in others)
                )
            case IsLike():
                alike, patterns = _ALIKE[property.by], self.members(property.of)
                return lambda entity: any(alike(entity, other) for other in patterns)
            case IsAmong():
                members = self.members(property.things)
                return lambda entity: entity in members
            case IsNot():
                holds = self.test(property.property)
                return lambda entity: not holds(entity)
        raise TypeError(property)

    def truth(self, truth: Truth) -> bool:
        """Tell whether a truth holds; every part of it is evaluated, so that each may fail in what it presupposes."""
        match truth:
            case Exist():
                number = len(self.members(truth.things))
                return _QUANTITIES[truth.quantity](number, truth.number)
            case CompareCounts():
                one, other = len(self.members(truth.one)), truth.times * len(self.members(truth.other))
                return {"more": one > other, "fewer": one < other, "as many": one == other}[truth.how]
            case Are():
                members, holds = self.some(truth.things), self.test(truth.property)
                number = sum(map(holds, members))
                return number == len(members) if truth.share == "all" else number > len(members) / 2
            case AreAlike():
                members, alike = self.some(truth.things, 2), _ALIKE[truth.by]
                return all(alike(one, other) for one in members for other in members)
            case SettingIs():
                return self._setting(truth.aspect, truth.picture) == truth.value
            case SettingsAlike():
                return self._setting(truth.aspect, "left") == self._setting(truth.aspect, "right")
            case Junction():
                number = sum([self.truth(each) for each in truth.parts])
                return {"and": number == len(truth.parts), "or": number > 0, "exactly one": number == 1}[truth.how]
            case Negation():
                return not self.truth(truth.truth)

    def answer(self, meaning: Meaning) -> Denotation:
        """Return the denotation of what is neither a condition nor several meanings."""
        match meaning:
            case Count():
                number = self._number(meaning.things, kinds=meaning.kinds)
                return number - (self._number(meaning.more_than, kinds=meaning.kinds) if meaning.more_than else 0)
            case Choose():
                return self._chosen(meaning)
            case ChooseCount():
                return self._most(meaning)
            case Say():
                return meaning.words
            case Query() | QuerySetting() | ListEach() | CheckEach() | Describe() | EditPicture():
                return self._shown(meaning)
            case IfThen() | Several():
                raise TypeError(meaning)
        return self.truth(meaning)

    def _number(self, things: Things, *, kinds: bool) -> int:
        members = self.members(things)
        return len({entity.name for entity in members} if kinds else members)

    def _shown(self, meaning: Query | QuerySetting | ListEach | CheckEach | Describe | EditPicture) -> Denotation:
        match meaning:
            case Query(what="ground"):
                return self._aspect(self.some(meaning.things)[0], "ground")
            case Query():
                return self._aspect(self.only(meaning.things), meaning.what)
            case QuerySetting():
                return self._setting(meaning.aspect, meaning.picture)
            case ListEach():
                members = self._in_order(meaning.things, meaning.order)
                return tuple(self._aspect(entity, meaning.what, "unknown") for entity in members)
            case CheckEach():
                members, holds = self._in_order(meaning.things, meaning.order), self.test(meaning.property)
                return tuple("yes" if holds(entity) else "no" for entity in members)
            case Describe(things=Everything()):
                return Depicted(self.members(meaning.things))
            case Describe():
                return Depicted((self.only(meaning.things),))
            case EditPicture():
                return tuple(Edited(each.operation, self.some(each.things), each.by or "") for each in meaning.actions)

    def _in_order(self, things: Things, order: Extreme | None) -> tuple[Entity, ...]:
        """Return the things of a set that is not empty, in an order in which no two have the same place."""
        members = self.some(things)
        if order is None:
            return members
        key = _EXTREMES[order]
        if len(set(map(key, members))) < len(members):
            raise _ambiguous(things)
        return tuple(sorted(members, key=key))

    def _chosen(self, meaning: Choose) -> str:
        members = self.some(meaning.things)
        tests = [(each, self.test(each)) for each in meaning.properties]
        return _only_option([option_name(each) for each, holds in tests if any(map(holds, members))])

    def _most(self, meaning: ChooseCount) -> str:
        numbers = [len(self.members(each)) for each in meaning.options]
        best = max(numbers) if meaning.how == "most" else min(numbers)
        names = option_names(meaning)
        return _only_option([name for name, number in zip(names, numbers, strict=True) if number == best])

    def _aspect(self, entity: Entity, aspect: Aspect, unknown: str = "") -> str:
        """Return an aspect of a thing; ``unknown`` where a text is given for what nobody knows."""
        match aspect:
            case "name":
                return entity.name
            case "colour":
                return _known(entity.colour or unknown, f"The colour of the {entity.name} has no name.")
            case "size":
                return _known(entity.size or unknown, f"The size of the {entity.name} is not known.")
            case "place":
                return corner(entity, self.graphs[entity.picture].size)
            case "ground":
                return self._setting("background", entity.picture)

    def _setting(self, aspect: SettingAspect, picture: PictureName) -> str:
        return _known(self.graphs[picture].setting.get(aspect, ""), f"The {aspect} is not known.")


def _only_option(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if names:
        raise _FailedPresupposition(SEVERAL_OPTIONS, "ambiguous")
    raise _FailedPresupposition(NO_OPTION, "missing")


def _known(value: str, sentence: str) -> str:
    if not value:
        raise _FailedPresupposition(sentence, "unknown")
    return value


def _first(keyed: tuple[tuple[float, ...], Entity]) -> tuple[float, ...]:
    return keyed[0]


_EXTREMES: Final[dict[str, Callable[[Entity], float]]] = {
    "largest": lambda entity: -entity.area,
    "smallest": lambda entity: entity.area,
    "leftmost": lambda entity: entity.middle[0],
    "rightmost": lambda entity: -entity.middle[0],
    "topmost": lambda entity: entity.middle[1],
    "bottommost": lambda entity: -entity.middle[1],
}
_QUANTITIES: Final[dict[str, Callable[[int, int], bool]]] = {
    "at least": operator.ge, "exactly": operator.eq, "at most": operator.le,
}  # fmt: skip
_ALIKE: Final[dict[Likeness, Callable[[Entity, Entity], bool]]] = {
    "kind": lambda one, other: one.name == other.name,
    "colour": same_colour,
    "size": same_size,
}
