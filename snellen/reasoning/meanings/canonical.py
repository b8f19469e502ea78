"""The canonical form of meanings: those that differ in words alone become equal.

"The red dogs that can fly" is filtered in any order, "not not red" is red, a truth that is negated twice holds. Two
readings of a sentence agree where their canonical forms are equal.
"""

from __future__ import annotations

from typing import Final, TypeVar

from snellen.reasoning.meanings.meanings import Negation, write_part
from snellen.reasoning.meanings.phrases import chain
from snellen.reasoning.meanings.things import (
    Filter,
    HasColour,
    HasFact,
    HasSize,
    IsA,
    IsNot,
    Part,
    Property,
    Things,
)

_FIRST: Final[tuple[type[Part], ...]] = (IsA, HasSize, HasColour, HasFact)
"""The order of properties in a filtered set: the kind, what stands before its noun, then the rest by their JSON."""
AnyPart = TypeVar("AnyPart", bound=Part)


def canonical(part: AnyPart) -> AnyPart:
    """Return the canonical form of a meaning or of a part of one; it has the same denotation."""
    update = {name: _within(value) for name, value in part}
    form = part.model_copy(update=update)
    match form:
        case IsNot(property=IsNot(property=inner)):
            return inner  # type: ignore[return-value]  # a property for a property
        case Negation(truth=Negation(truth=truth)):
            return truth  # type: ignore[return-value]  # a truth for a truth
        case IsA(or_names=names) if names:
            name, *rest = sorted(dict.fromkeys(form.names))
            return IsA(name=name, or_names=tuple(rest))  # type: ignore[return-value]  # a kind for a kind
        case Filter():
            return _ordered(form)  # type: ignore[return-value]  # a set for a set
    return form


def _within(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_within, value))
    return canonical(value) if isinstance(value, Part) else value


def _ordered(things: Filter) -> Things:
    base, properties = chain(things)
    for each in sorted(dict.fromkeys(properties), key=_place):
        base = Filter(things=base, property=each)
    return base


def _place(property: Property) -> tuple[int, str]:  # noqa: A002 - the word of the language
    place = next((number for number, kind in enumerate(_FIRST) if isinstance(property, kind)), len(_FIRST))
    return place, write_part(property)
