"""Statements as tuples of a scene graph (PROVE, section 3.1): what a truth says of entities, attributes and relations.

A truth that tuples cannot say (a comparison of numbers, an "or") has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from snellen.reasoning.meanings.meanings import Are, Exist, Junction, Negation, SettingIs
from snellen.reasoning.meanings.things import (
    Filter,
    HasColour,
    HasFact,
    HasSize,
    InRelation,
    IsA,
    IsAt,
    IsNot,
    One,
    Ordinal,
    Property,
    Things,
    Union,
)
from snellen.reasoning.reading.answer_parts import DepthRelation, Statement
from snellen.reasoning.reading.noun_phrases import BEFORE, SAME_KIND
from snellen.scoring.scene_graph import Fact

RELATIONS: Final = {
    "left of": "to the left of", "right of": "to the right of", "above": "above", "below": "below",
    "next to": "next to", "inside": "inside", "on": "on",
}  # fmt: skip
"""How relations are called in tuples."""
SETTING_KINDS: Final = {"weather": "state", "background": "pattern", "style": "state"}
"""What a picture has as a whole, and the kind of attribute that its value is."""
_REFERENCES: Final = (SAME_KIND, BEFORE.property)
"""Kinds that stand for another one."""


class TupleWriter:
    """Writes statements as tuples.

    Args:
        groups: The names of kinds of many things: that a dog is an animal is a category, and names no second thing.
    """

    def __init__(self, groups: Collection[str]) -> None:
        self._groups = groups

    def facts(self, statements: Iterable[Statement]) -> list[Fact]:
        """Return the tuples of statements, each once, in their order."""
        written: dict[tuple[str, bool], Fact] = {}
        for statement in statements:
            for fact in self._of(statement):
                written.setdefault((fact.text, fact.negated), fact)
        return list(written.values())

    def own(self, things: Things) -> Iterator[Fact]:
        """Yield what a noun phrase says by itself: that there is such a thing, and how it is."""
        match things:
            case Union():
                yield from self.own(things.one)
                yield from self.own(things.other)
                return
            case One() | Ordinal():
                yield from self.own(things.things)
                return
        for name in self.names(things):
            yield Fact(name)
            for each in properties_of(things):
                yield from self._said(name, each)
        if not self.names(things):
            for each in properties_of(things):
                if isinstance(each, InRelation):
                    yield from self.own(each.of)

    def names(self, things: Things) -> list[str]:
        """Return what things are called; none where they have no name."""
        match things:
            case Union():
                return [*self.names(things.one), *self.names(things.other)]
            case One() | Ordinal():
                return self.names(things.things)
            case Filter(property=IsA(name=name)):
                return self.names(things.things) or ([] if things.property in _REFERENCES else [name])
            case Filter():
                return self.names(things.things)
        return []

    def _of(self, statement: Statement) -> Iterator[Fact]:
        match statement:
            case Exist(number=0):
                yield from self._lacking(statement.things)
            case Exist():
                yield from self.own(statement.things)
                if statement.quantity == "exactly":
                    yield from self._counted(statement)
            case Are():
                yield from self._are(statement.things, statement.property)
            case SettingIs():
                yield setting_fact(statement)
            case Junction(how="and"):
                for part in statement.parts:
                    yield from self._of(part)
            case Negation():
                yield from self._denied(statement)
            case DepthRelation():
                yield from self._at_depth(statement)

    def _counted(self, statement: Exist) -> Iterator[Fact]:
        for name in self.names(statement.things):
            yield Fact(name, attribute=str(statement.number), kind="count")

    def _lacking(self, things: Things) -> Iterator[Fact]:
        """Yield that there is no such thing: none of a name, or none of that name that is so."""
        narrowing = properties_of(things)
        for name in self.names(things):
            if not narrowing:
                yield Fact(name, negated=True)
            for each in narrowing:
                yield from self._said(name, each, negated=True)
        if not self.names(things):
            for each in narrowing:
                if isinstance(each, InRelation):
                    yield from self.own(each.of)

    def _denied(self, statement: Negation) -> Iterator[Fact]:
        match statement.truth:
            case Exist(things=things, quantity="exactly", number=number) if number:
                yield from self.own(things)
                yield from (replace(fact, negated=True) for fact in self._counted(statement.truth))
            case Exist(things=things) if properties_of(things):
                yield from (Fact(name) for name in self.names(things))
                yield from self._lacking(things)
            case Exist(things=things):
                yield from self._lacking(things)
            case Are(things=things, property=said):
                yield from self._are(things, said.property if isinstance(said, IsNot) else IsNot(property=said))
            case SettingIs() as setting:
                yield replace(setting_fact(setting), negated=True)

    def _are(self, things: Things, said: Property) -> Iterator[Fact]:
        names = self.names(things)
        if not names and isinstance(said, IsA):
            # "The thing above the dog is a cat."
            yield from self.own(_named(things, said))
            return
        yield from self.own(things)
        for name in names:
            yield from self._said(name, said)

    def _said(self, name: str, said: Property, *, negated: bool = False) -> Iterator[Fact]:
        """Yield that things of a name have a property."""
        match said:
            case IsNot():
                yield from self._said(name, said.property, negated=not negated)
            case HasColour() | HasSize() | IsAt() | HasFact():
                value, kind = _attribute(said)
                yield Fact(name, attribute=value, kind=kind, negated=negated)
            case IsA(name=kind) if kind in self._groups and kind != name:
                yield Fact(name, attribute=kind, kind="category", negated=negated)
            case IsA(name=kind) if kind != name:
                yield Fact(kind, negated=negated)
            case InRelation():
                yield from self.own(said.of)
                relation = RELATIONS.get(said.relation, said.relation)
                for target in self.names(said.of):
                    yield Fact(name, relation=relation, target=target, kind="spatial", negated=negated)

    def _at_depth(self, statement: DepthRelation) -> Iterator[Fact]:
        yield from self.own(statement.subject)
        yield from self.own(statement.other)
        for one in self.names(statement.subject):
            for other in self.names(statement.other):
                yield Fact(one, relation=statement.relation, target=other, kind="spatial", negated=not statement.holds)


def setting_fact(setting: SettingIs) -> Fact:
    """Write what the background, the weather or the style is."""
    if setting.aspect == "background colour":
        return Fact("background", attribute=setting.value, kind="color")
    return Fact(setting.aspect, attribute=setting.value, kind=SETTING_KINDS[setting.aspect])


def _attribute(said: HasColour | HasSize | IsAt | HasFact) -> tuple[str, str]:
    """Return the value of an attribute, and its kind."""
    match said:
        case HasColour():
            return said.colour, "color"
        case HasSize():
            return said.size, "size"
        case IsAt():
            return _place(said), "place"
    return said.fact.removeprefix("are "), ""


def properties_of(things: Things) -> list[Property]:
    """Return what narrows things besides their kind, in the order in which it was said."""
    match things:
        case One() | Ordinal():
            return properties_of(things.things)
        case Filter(property=IsA()) if not _is_of_kind(things.things):
            return properties_of(things.things)
        case Filter():
            return [*properties_of(things.things), things.property]
    return []


def _is_of_kind(things: Things) -> bool:
    return isinstance(things, Filter) and (isinstance(things.property, IsA) or _is_of_kind(things.things))


def _named(things: Things, kind: IsA) -> Things:
    """Return things without a name as things of a kind."""
    match things:
        case One() | Ordinal():
            return _named(things.things, kind)
        case Filter():
            return things.model_copy(update={"things": _named(things.things, kind)})
    return Filter(things=things, property=kind)


def _place(place: IsAt) -> str:
    sides = [place.down, place.across]
    return "middle" if sides == ["middle", "middle"] else " ".join(side for side in sides if side)
