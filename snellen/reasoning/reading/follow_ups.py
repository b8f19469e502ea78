"""Follow-ups: what a fragment means after another instruction ("and the cats?", "where?", "the other one").

A rule of `follow_ups.grammar` gives a `Fragment`, which `completed` puts together with the meaning before to a whole
meaning; what was spoken of stands in it as `SPOKEN_OF`, and is filled in with all other references.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from snellen.reasoning.meanings.meanings import (
    Are,
    Choose,
    Count,
    Describe,
    EditAction,
    EditPicture,
    Exist,
    IfThen,
    Junction,
    ListEach,
    Meaning,
    Negation,
    Query,
    Several,
)
from snellen.reasoning.meanings.things import (
    ByExtreme,
    Everything,
    Extreme,
    Filter,
    HasColour,
    InLine,
    InRelation,
    IsA,
    IsAmong,
    IsAt,
    IsBetween,
    IsNot,
    One,
    Ordinal,
    Property,
    Things,
    Union,
)
from snellen.reasoning.reading.lexical_entries import GrammaticalNumber, LexicalNoun
from snellen.reasoning.reading.noun_phrases import (
    SAME_KIND,
    SPOKEN_OF,
    Modifier,
    Nominal,
    QuantifiedThings,
    the,
)
from snellen.reasoning.reading.questions import query, query_each
from snellen.reasoning.reading.requests import substituted
from snellen.reasoning.reading.truths import exists, says

_PLACES: Final = (IsAt, InLine, InRelation, IsBetween)
_KIND: Final = Filter(things=Everything(), property=SAME_KIND)


@dataclass(frozen=True)
class Fragment:
    """A fragment: how it makes a whole of the meaning before.

    Attributes:
        how: The name of the way.
        of: What it says itself.
    """

    how: str
    of: Any = None


def completed(follow_up: Fragment, before: Meaning) -> Meaning | None:
    """Return the whole meaning of a fragment; None where it does not go with the meaning before."""
    try:
        return _WAYS[follow_up.how](follow_up.of, _last(before))
    except ValueError:  # a meaning that the language of meanings does not allow
        return None


def spoken_of(meaning: Meaning) -> Things | None:
    """Return the set that a meaning is about; None where it is about none."""
    match _last(meaning):
        case Exist(things=things) | Are(things=things) | Count(things=things) | Query(things=things):
            return things
        case ListEach(things=things) | Choose(things=things) | Describe(things=things):
            return things
        case EditPicture(actions=actions):
            return actions[-1].things
    return None


def kind_of(things: Things) -> Things:
    """Return all things of the kind that a set is of: of the red dog on the left, the dogs."""
    match things:
        case Everything() | Filter(property=IsA()):
            return things
        case Union():
            return things
    return kind_of(things.things)


def _last(meaning: Meaning) -> Meaning:
    """Return the last of several meanings, and what is denied."""
    match meaning:
        case Several(parts=parts):
            return _last(parts[-1])
        case Negation(truth=truth):
            return _last(truth)
        case Junction(parts=truths):
            return _last(truths[-1])
        case IfThen(then=then):
            return _last(then)
    return meaning


# --- the same question about something else --------------------------------------------------------------------


def _shortly(of: QuantifiedThings, before: Meaning) -> Meaning | None:
    """Take a bare noun for a question whether there is such a thing, unless a number was asked for: "Custards?"."""
    if of.quantity == "bare" and not isinstance(before, Count | Exist | EditPicture | Describe):
        return exists(of)
    return _about(of, before)


def _about(of: QuantifiedThings, before: Meaning) -> Meaning | None:  # noqa: PLR0911 - one for each kind of meaning
    if isinstance(of.things, Everything):
        return None
    match before:
        case Exist():
            is_one = of.quantity == "the" and isinstance(of.things, One)
            return exists(QuantifiedThings(of.things.things, "a")) if is_one else exists(of)  # type: ignore[union-attr]
        case Count(kinds=kinds):
            return Count(things=_all_of(of.things), kinds=kinds)
        case Query(what=what):
            return query(what, _definite(of))
        case ListEach(what=what, order=order):
            return query(what, of) if isinstance(of.things, One) else query_each(what, of, order)
        case Are(property=said):
            itself = isinstance(said, InRelation) and _all_of(said.of) == _all_of(of.things)
            return None if itself else says(_definite(of), said)
        case Choose(properties=properties):
            return Choose(things=_definite(of).things, properties=properties)
        case Describe() if of.quantity == "the":
            return Describe(things=_definite(of).things)
        case EditPicture(actions=actions):
            return EditPicture(actions=(actions[-1].model_copy(update={"things": of.things}),))
    return None


def _against(of: QuantifiedThings, before: Meaning) -> Meaning | None:
    """Compare with another thing: "and than the cat?"."""
    match before:
        case Are(property=InRelation() as said):
            return before.model_copy(update={"property": said.model_copy(update={"of": of.things})})
    return _about(of, before)


def _ranked_of_it(rank: str, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    if not isinstance(things, Ordinal):
        return None
    return before.model_copy(update={"things": things.model_copy(update={"rank": int(rank), "count": 1})})


def _rest_of_it(operation: str, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    if things is None or isinstance(things, Everything):
        return None
    return EditPicture(actions=(EditAction(operation=cast("Any", operation), things=things),))


def _at_place(place: Property, before: Meaning) -> Meaning | None:
    match before:
        case Are(things=things, property=said) if isinstance(said, _PLACES):
            return Are(things=things, property=place, share=before.share)
        case Exist() | Count() | Query() | ListEach():
            return before.model_copy(update={"things": _replaced(before.things, place, _PLACES)})
    return None


def _coloured(colour: str, before: Meaning) -> Meaning | None:
    said = HasColour(colour=cast("Any", colour))
    match before:
        case Are(property=HasColour()):
            return before.model_copy(update={"property": said})
        case Exist() | Count() | Query(what="name" | "place" | "size") | ListEach(what="name" | "place" | "size"):
            return before.model_copy(update={"things": _replaced(before.things, said, (HasColour,))})
    return None


def _in_the_picture(picture: str, before: Meaning) -> Meaning | None:
    if picture not in {"left", "right"}:
        return None
    other = {"left": "right", "right": "left"}[picture]
    return cast("Meaning", _moved(before, other, picture))


def _moved(value: Any, old: str, new: str) -> Any:  # noqa: ANN401 - of any part of a meaning, the same part
    if isinstance(value, tuple):
        return tuple(_moved(each, old, new) for each in value)
    if not hasattr(type(value), "model_fields"):
        return value
    changed = {name: _moved(each, old, new) for name, each in value}
    if changed.get("picture") in {old, "picture", "both"}:
        changed["picture"] = new
    return value.model_copy(update=changed)


def _replaced(things: Things, said: Property, kinds: tuple[type, ...]) -> Things:
    """Put a property in place of those of the same sort that narrow a set; add it where there are none."""
    if isinstance(things, One):
        return One(things=_replaced(things.things, said, kinds))
    return Filter(things=_without(things, kinds), property=said)


def _without(things: Things, kinds: tuple[type, ...]) -> Things:
    match things:
        case Filter(property=property) if isinstance(property, kinds):
            return _without(things.things, kinds)
        case Filter():
            return things.model_copy(update={"things": _without(things.things, kinds)})
    return things


# --- another question about the same thing -----------------------------------------------------------------------


def _aspect_of(aspect: str, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    if things is None or isinstance(things, Everything):
        return None
    many = isinstance(before, Count | ListEach) or isinstance(things, Union)
    if many:
        return query_each(aspect, QuantifiedThings(things, "the", grammatical="many"))
    return query(aspect, QuantifiedThings(_single(things)))


def _number_of_it(_: None, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    return None if things is None or isinstance(things, Everything) else Count(things=_all_of(things))


def _number_of_it_that(said: Property, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    return None if things is None else Count(things=Filter(things=_all_of(things), property=said))


def _any_of_it(said: Property, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    return None if things is None else Exist(things=Filter(things=_all_of(things), property=said))


def _all_of_it(said: Property, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    return None if things is None else Are(things=_all_of(things), property=said)


def _which_one(_: None, before: Meaning) -> Meaning | None:
    """Ask for names where only a group is known, for places where a thing is called by its name already."""
    things = spoken_of(before)
    if things is None or isinstance(things, Everything):
        return None
    many = isinstance(before, Count | ListEach)
    if not many:
        return Query(things=_single(things), what="name")
    named = isinstance(before, ListEach) and before.what == "name"
    return ListEach(things=things, what="place" if named else "name")


def _which_of_it(said: Property, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    return None if things is None else ListEach(things=Filter(things=_all_of(things), property=said))


def _what_else(_: None, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    if things is None or isinstance(things, Everything):
        return None
    return ListEach(things=Filter(things=Everything(), property=IsNot(property=IsAmong(things=_all_of(things)))))


def _shown(_: None, before: Meaning) -> Meaning | None:
    things = spoken_of(before)
    if things is None or isinstance(before, EditPicture):
        return None
    return EditPicture(actions=(EditAction(operation="tag", things=things),))


def _all_of(things: Things) -> Things:
    return things.things if isinstance(things, One) else things


def _single(things: Things) -> Things:
    return One(things=things) if isinstance(things, Filter) else things


def _definite(of: QuantifiedThings) -> QuantifiedThings:
    """Take "blue face" for "the blue face"."""
    if of.quantity in {"bare", "a"} and of.grammatical != "many":
        return QuantifiedThings(_single(of.things), "the", grammatical="one")
    return QuantifiedThings(of.things, "the", grammatical=of.grammatical) if of.quantity == "bare" else of


_WAYS: Final[dict[str, Callable[[Any, Meaning], Meaning | None]]] = {
    "about": _about, "shortly": _shortly,
    "against": _against, "rank": _ranked_of_it, "rest": _rest_of_it,
    "at place": _at_place, "coloured": _coloured, "in the picture": _in_the_picture,
    "aspect": _aspect_of, "number": _number_of_it, "number that": _number_of_it_that, "any": _any_of_it,
    "all": _all_of_it, "which": _which_one, "which that": _which_of_it, "else": _what_else, "shown": _shown,
}  # fmt: skip


# --- actions of the grammar --------------------------------------------------------------------------------------


def not_spoken_of() -> Property:
    """Exclude what was spoken of: "the other dog"."""
    return IsNot(property=IsAmong(things=SPOKEN_OF))


def spoken_kind(number: str) -> LexicalNoun:
    """Stand for the kind that was spoken of: "the ones on the left"."""
    return LexicalNoun((SAME_KIND.name,), cast("GrammaticalNumber", number))


def others(number: str) -> QuantifiedThings:
    """Stand for what is of the kind that was spoken of, and was not meant: "the others"."""
    noun = spoken_kind(number)
    return the(Nominal(noun, (Modifier(not_spoken_of()),)))


def says_of_both(of: QuantifiedThings, said: Property) -> Meaning:
    """Say something of a thing beside what was spoken of: "and the cherries, they are below it?"."""
    return says(of, cast("Property", substituted(said, One(things=SPOKEN_OF))))


def extreme_spoken_of(extreme: str, rank: str | None = None) -> QuantifiedThings:
    """Stand for the extreme of the kind that was spoken of: "the largest"."""
    order = ByExtreme(extreme=cast("Extreme", extreme))
    return QuantifiedThings(Ordinal(things=_KIND, order=order, rank=int(rank or 1)))


def spoken_of_with(modifier: Modifier) -> QuantifiedThings:
    """Stand for the thing of the kind that was spoken of which has a property: "the one on the left"."""
    return the(Nominal(spoken_kind("any"), (modifier,)))


def _way(how: str) -> Callable[..., Fragment]:
    return lambda of=None: Fragment(how, of)


ACTIONS: Final[dict[str, Any]] = {
    "about": _way("about"), "shortly": _way("shortly"),
    "against": _way("against"), "ranked_of_it": _way("rank"), "rest_of_it": _way("rest"),
    "at_place": _way("at place"), "coloured": _way("coloured"),
    "in_the_picture": _way("in the picture"), "aspect_of": _way("aspect"), "number_of_it": _way("number"),
    "number_of_it_that": _way("number that"), "any_of_it": _way("any"), "all_of_it": _way("all"),
    "which_one": _way("which"), "which_of_it": _way("which that"), "what_else": _way("else"), "shown": _way("shown"),
    "not_spoken_of": not_spoken_of, "spoken_kind": spoken_kind, "others": others,
    "extreme_spoken_of": extreme_spoken_of, "says_of_both": says_of_both, "spoken_of_with": spoken_of_with,
}  # fmt: skip
