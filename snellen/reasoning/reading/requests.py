"""Requests: conditions, several things at once, and edits."""

from __future__ import annotations

from typing import Any, Final, cast

from snellen.reasoning.meanings.meanings import (
    Are,
    Count,
    EditAction,
    EditPicture,
    IfThen,
    ListEach,
    Meaning,
    Query,
    Say,
    Several,
    Truth,
)
from snellen.reasoning.meanings.things import (
    Everything,
    Filter,
    HasColour,
    InRelation,
    IsAmong,
    IsNot,
    One,
    Ordinal,
    Things,
)
from snellen.reasoning.reading.noun_phrases import BEFORE, Modifier, Nominal, QuantifiedThings


def if_then(condition: Truth, then: Meaning, otherwise: Meaning | None = None) -> Meaning:
    """Answer one thing or another."""
    return IfThen(condition=condition, then=then, otherwise=otherwise or Say())


def unless(then: Meaning, condition: Truth, otherwise: Meaning | None = None) -> Meaning:
    """Answer one thing unless something holds."""
    return IfThen(condition=condition, then=otherwise or Say(), otherwise=then)


def several(one: Meaning, other: Meaning) -> Meaning | None:
    """Answer two things."""
    parts = tuple(part for each in (one, other) for part in (each.parts if isinstance(each, Several) else (each,)))
    if any(isinstance(each, Say) for each in parts):
        return None
    edits = [each for each in parts if isinstance(each, EditPicture)]
    if len(edits) == len(parts):
        return EditPicture(actions=tuple(action for each in edits for action in each.actions))
    return Several(parts=parts)


def say(words: str) -> Meaning:
    """Answer with words that are given."""
    return Say(words=words)


def edit(operation: str, of: QuantifiedThings) -> Meaning | None:
    """Edit what a noun phrase means."""
    return EditPicture(actions=(EditAction(operation=operation, things=_edited(of)),))


def edit_with(operation: str, of: QuantifiedThings, by: Any) -> Meaning | None:  # noqa: ANN401 - a noun or words
    """Replace or cover what a noun phrase means with something."""
    name = by if isinstance(by, str) else _name(by)
    if name is None:
        return None
    action = EditAction(operation=operation, things=_edited(of), by=name)
    return EditPicture(actions=(action,))


def blur_others(of: QuantifiedThings) -> Meaning:
    """Blur what a noun phrase means: everything else stays sharp."""
    rest = Filter(things=Everything(), property=IsNot(property=IsAmong(things=of.things)))
    return EditPicture(actions=(EditAction(operation="blur the rest", things=rest),))


def words(one: str, other: str) -> str:
    """Join two words."""
    return f"{one} {other}"


def _name(nominal: Nominal) -> str | None:
    colours = [each.property.colour for each in nominal.modifiers if isinstance(each.property, HasColour)]
    if len(nominal.noun.names) != 1 or len(colours) != len(nominal.modifiers):
        return None
    return " ".join([*colours, nominal.noun.names[0]])


def _edited(of: QuantifiedThings) -> Things:
    """Return what is to be edited; "the fish" may be several."""
    if of.grammatical == "any" and isinstance(of.things, One):
        return of.things.things
    return of.things


def excluding(exclusion: Modifier, meaning: Meaning) -> Meaning | None:
    """Leave something out of a question that was asked without it."""
    if exclusion.property is None:
        return None
    match meaning:
        case Count(things=things):
            return Count(things=Filter(things=things, property=exclusion.property))
        case ListEach(things=things):
            return meaning.model_copy(update={"things": Filter(things=things, property=exclusion.property)})
        case Query(things=Ordinal() as things):
            narrowed = Filter(things=things.things, property=exclusion.property)
            return meaning.model_copy(update={"things": things.model_copy(update={"things": narrowed})})
        case Query(things=One(things=things)):
            narrowed = Filter(things=things, property=exclusion.property)
            return meaning.model_copy(update={"things": One(things=narrowed)})
    return None


def with_topic(of: QuantifiedThings, meaning: Meaning) -> Meaning | None:
    """Ask about a noun phrase that stands before the question, which refers to it as "it"."""
    text = meaning.model_dump_json()
    if BEFORE.property.model_dump_json() not in text:
        return None
    whole = substituted(meaning, of.things)
    if isinstance(whole, Are) and isinstance(whole.property, InRelation) and whole.property.of == whole.things:
        return None  # nothing is beside itself: "it" is another thing
    return cast("Meaning", whole)


def substituted(value: Any, things: Things) -> Any:  # noqa: ANN401 - of any part of a meaning, the same part
    """Put a set for what "it" refers to."""
    if value == BEFORE or value == One(things=BEFORE):
        return things
    if isinstance(value, tuple):
        return tuple(substituted(part, things) for part in value)
    if not hasattr(type(value), "model_fields"):
        return value
    return value.model_copy(update={name: substituted(part, things) for name, part in value})


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        if_then, unless, several, say, words, edit, edit_with, blur_others, excluding, with_topic,
    )
}  # fmt: skip
