"""Changes of pictures after which a question has another right answer, so that it is not examined under them."""

from __future__ import annotations

from typing import Final

from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.abilities import (
    Ability,
    CountThings,
    NameColours,
    NoticeSeveral,
    Recognise,
    TellApart,
    TellMembers,
    TellPlaces,
)
from snellen.reasoning.queries.conditions import TYPES
from snellen.reasoning.queries.model_query import ModelQuestion

_COLOURLESS: Final = frozenset(
    {
        "grayscale style", "sketch style", "embossed style", "pastel style", "posterized style", "sculpture style",
        "tattoo style", "tiger stripes", "color jitter",
    }
)  # fmt: skip
"""Types after which a thing has no color any more, or another one."""
_SEVERAL: Final = {
    "multi-same": (NoticeSeveral, NameColours),
    "multi-different": (NoticeSeveral, NameColours, Recognise, TellApart, TellMembers),
}
"""Types that put further things into a picture, with the abilities whose right answer may be another then."""


def without_changed_answers(question: ModelQuestion) -> tuple[ModelQuestion | None, str]:
    """Return a question without those changes, and a note that says which; None where it is left with no other."""
    condition = question.condition
    if condition is None:
        return question, ""
    than = question.than.ability if question.than is not None else None
    abilities = [question.ability, *([than] if than is not None else [])]
    lost = [name for name in condition.types if any(_spoils(name, each) for each in abilities)]
    if not lost:
        return question, ""
    words = {TellPlaces: "where things are", CountThings: "how many there are", NameColours: "which color they have"}
    what = next((words[type(each)] for each in abilities if type(each) in words), "the right answer")
    what = words[TellPlaces] if any(isinstance(each, Recognise) and each.place for each in abilities) else what
    note = f"Not examined under {listing(lost)}: {'it changes' if len(lost) == 1 else 'they change'} {what}."
    kept = [name for name in condition.types if name not in lost]
    if not kept:
        return None, note
    without = tuple(dict.fromkeys([*condition.without, *lost]))
    return question.model_copy(update={"condition": condition.model_copy(update={"without": without})}), note


def _spoils(name: str, ability: Ability) -> bool:
    """Tell whether after a change the right answer to what asks for an ability may be another."""
    kind = TYPES[name]
    if name in _SEVERAL and isinstance(ability, _SEVERAL[name]):
        return True
    if isinstance(ability, TellPlaces) or (isinstance(ability, Recognise) and ability.place):
        return not kind.places or not kind.keeps
    if isinstance(ability, CountThings) or (isinstance(ability, Recognise) and ability.among):
        return not kind.keeps
    if isinstance(ability, NameColours):
        return name in _COLOURLESS or name.endswith("overlay")
    return False
