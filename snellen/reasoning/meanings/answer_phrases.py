"""Phrases of answers: what was chosen, and what is missing where an answer presupposes it."""

from __future__ import annotations

from typing import Final

from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.meanings import ChooseCount
from snellen.reasoning.meanings.phrases import chain, kind_name, noun_phrase, number_word, predicate
from snellen.reasoning.meanings.things import (
    Everything,
    HasColour,
    HasSize,
    InRelation,
    IsA,
    IsAt,
    Property,
    Things,
    pictures,
)

NO_OPTION: Final = "None of what was to be chosen from is so."
SEVERAL_OPTIONS: Final = "More than one of what was to be chosen from is so."
_SIDES: Final = {"left of": "left", "right of": "right"}


def scarcity(things: Things, needed: int = 1) -> str:
    """Say that a set has too few things: "There is no dog to the left of the house."."""
    of_everything = isinstance(chain(things)[0], Everything)
    if needed > 1:
        several = noun_phrase(things, "bare").text if of_everything else f"of {noun_phrase(things).text}"
        return f"There are fewer than {number_word(needed)} {several}."
    if of_everything:
        return f"There is no {noun_phrase(things, 'any').text.removeprefix('any ')}."
    return f"There is none of {noun_phrase(things).text}."


def option_name(property: Property) -> str:  # noqa: A002 - the word of the language
    """Return the answer where a property was chosen: "red", "left", "top left", "cat"."""
    match property:
        case IsA():
            return kind_name(property)
        case HasColour():
            return property.colour
        case HasSize():
            return property.size
        case IsAt():
            return " ".join(side for side in (property.down, property.across) if side)
        case InRelation():
            return _SIDES.get(property.relation, property.relation)
    return predicate(property, is_plural=False)


def option_names(meaning: ChooseCount) -> tuple[str, ...]:
    """Return the answers of a choice of sets: "books" and "computers", or "left" and "right" of two pictures."""
    places = [pictures(each) for each in meaning.options]
    if all(len(names) == 1 for names in places) and len(set(places)) == len(places):
        return tuple(next(iter(names)) for names in places)
    return tuple(noun_phrase(canonical(each), "bare").text for each in meaning.options)
