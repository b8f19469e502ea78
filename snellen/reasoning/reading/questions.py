"""Questions and lists: the actions of the grammar's rules about what is asked for."""

from __future__ import annotations

from typing import Any, Final, cast

from snellen.reasoning.meanings.meanings import (
    Aspect,
    CheckEach,
    Choose,
    ChooseCount,
    Count,
    Describe,
    Junction,
    ListEach,
    Meaning,
    Query,
    QuerySetting,
    SettingAspect,
)
from snellen.reasoning.meanings.things import (
    ByExtreme,
    Everything,
    Filter,
    InLine,
    InRelation,
    IsA,
    IsAmong,
    IsAt,
    IsBetween,
    Nearness,
    One,
    Ordinal,
    PictureName,
    Property,
    Union,
)
from snellen.reasoning.reading.noun_phrases import (
    ANYTHING,
    BEFORE,
    Modifier,
    Nominal,
    QuantifiedThings,
    followed,
    in_picture,
)
from snellen.reasoning.reading.properties import by_extreme, choose_nearest, directly
from snellen.reasoning.reading.truths import exists, says


def count(of: Nominal) -> Meaning:
    """Ask for a number."""
    return Count(things=of.things())


def count_phrase(of: QuantifiedThings) -> Meaning:
    """Ask for the number of what a noun phrase means."""
    return Count(things=of.things.things if isinstance(of.things, One) else of.things)


def count_kinds(of: Nominal) -> Meaning:
    """Ask for a number of kinds: "how many kinds of animals"."""
    return Count(things=of.things(), kinds=True)


def count_such(of: Nominal, said: Property) -> Meaning:
    """Ask for the number of those that have a property: "how many lollipops are red"."""
    return Count(things=Filter(things=of.things(), property=said))


def count_such_of(of: QuantifiedThings, said: Property) -> Meaning:
    """Ask for the number of those of a set that have a property: "how many of the keys are green"."""
    return Count(things=Filter(things=of.things, property=said))


def count_modified(of: Nominal, modifier: Modifier) -> Meaning:
    """Ask for the number of what a modifier narrows to."""
    return Count(things=followed(of, modifier).things())


def count_there(of: Nominal, said: Property | None = None) -> Meaning:
    """Ask for a number, of those at a place if one is named."""
    return count_such(of, said) if said else count(of)


def count_more(one: Nominal, other: Nominal) -> Meaning:
    """Ask how many more there are of one than of another."""
    return Count(things=one.things(), more_than=other.things())


def check_each(of: QuantifiedThings, said: Property) -> Meaning:
    """Ask of each of a set whether it has a property."""
    return CheckEach(things=of.things.things if isinstance(of.things, One) else of.things, property=said)


def count_in(of: Nominal, picture: str) -> Meaning:
    """Ask for a number in one of two pictures."""
    return Count(things=in_picture(of.things(), cast("PictureName", picture)))


def query(aspect: str, of: QuantifiedThings) -> Meaning | None:
    """Ask for an aspect of what a noun phrase means, of each thing where it means several."""
    if of.quantity not in {"the", "all", "both", "bare", "a"}:
        return None
    if aspect == "ground":
        return Query(things=of.things, what="ground")
    is_one = isinstance(of.things, Ordinal) and of.things.count == 1
    if (of.is_many or isinstance(of.things, Ordinal)) and not is_one:
        return ListEach(things=of.things, what=cast("Aspect", aspect))
    if isinstance(of.things, Everything) and of.quantity == "all":
        return ListEach(things=of.things, what=cast("Aspect", aspect))
    return Query(things=of.things, what=cast("Aspect", aspect))


def query_each(aspect: str, of: QuantifiedThings, order: str | None = None) -> Meaning:
    """Ask for an aspect of each of a set, in an order."""
    things = of.things.things if isinstance(of.things, One) else of.things
    return ListEach(things=things, what=cast("Aspect", aspect), order=order)


def list_or_query(aspect: str, of: QuantifiedThings, order: str | None = None) -> Meaning | None:
    """List the names of several things, or name one."""
    if order is not None or of.is_many or (isinstance(of.things, Everything) and of.quantity == "all"):
        return query_each(aspect, of, order)
    return query(aspect, of)


def which(of: Nominal, said: Property) -> Meaning | None:
    """Ask which thing has a property: "which animal is beneath the balloon"."""
    if of.number == "many":
        return which_is(Nominal(of.noun, (*of.modifiers, Modifier(said))))
    return Query(things=choose_nearest(of, said), what="name")


def which_is(of: Nominal) -> Meaning:
    """Ask for the name of what a noun means with all its modifiers: "which vehicle is in the corner"."""
    things = of.things()
    if of.number == "many" and not isinstance(things, Ordinal):
        return ListEach(things=things)
    return Query(things=things, what="name")


def what(said: Property) -> Meaning | None:
    """Ask what has a property: "what is between the cat and the dog"."""
    is_identity = isinstance(said, IsAmong) and not isinstance(said.things, Union)
    if is_identity or isinstance(said, IsA | InLine):
        return None
    if isinstance(said, IsAt | IsBetween) or (isinstance(said, InRelation) and said.relation == "next to"):
        return ListEach(things=Filter(things=Everything(), property=said))
    return which(Nominal(ANYTHING), said)


def what_modified(modifier: Modifier) -> Meaning | None:
    """Ask what a modifier singles out: "what is directly above the cake", "what is lowest"."""
    return which_is(Nominal(ANYTHING, (modifier,)))


def which_modified(of: Nominal, modifier: Modifier) -> Meaning | None:
    """Ask which of a kind a modifier singles out: "which car is closest to the bus"."""
    return which_is(Nominal(of.noun, (*of.modifiers, modifier)))


def which_in_middle(line: Property, of: Nominal | None = None) -> Meaning | None:
    """Ask which of a kind, or of all things, is in the middle of a row or a column."""
    if not isinstance(line, InLine):
        return None
    middle = IsAt(across="middle") if line.line == "row" else IsAt(down="middle")
    kind = of or Nominal(ANYTHING)
    return which_is(Nominal(kind.noun, (*kind.modifiers, Modifier(line), Modifier(middle))))


def what_beside(relation: str, of: QuantifiedThings, side: str) -> Meaning | None:
    """Ask what is next to something on a side: "next to the pot, on its left"."""
    return what_modified(directly(side, of) or Modifier()) if relation == "next to" else None


def what_ordinal(rank: str, start: str | None = None, line: Property | None = None) -> Meaning | None:
    """Ask what comes at a rank from a side, in a row or a column if one is named."""
    modifiers = (*((Modifier(line),) if line else ()), by_extreme(start or "leftmost", rank))
    return which_is(Nominal(ANYTHING, modifiers)) if start or line else None


def which_ordinal(of: Nominal, rank: str, start: str, line: Property | None = None) -> Meaning:
    """Ask which of a kind comes at a rank from a side, in a row or a column if one is named."""
    modifiers = (*of.modifiers, *((Modifier(line),) if line else ()), by_extreme(start, rank))
    return which_is(Nominal(of.noun, modifiers))


def which_of(of: QuantifiedThings, modifier: Modifier) -> Meaning | None:
    """Ask which of a set a modifier singles out."""
    if modifier.order is None:
        return (
            Query(things=Filter(things=of.things, property=modifier.property), what="name")
            if modifier.property
            else None
        )
    return Query(things=Ordinal(things=of.things, order=modifier.order, rank=modifier.rank), what="name")


def name_of_phrase(of: QuantifiedThings) -> Meaning | None:
    """Ask for the name of what a noun phrase means; of a kind of things its name says nothing new."""
    if of.quantity not in {"the", "all", "both", "bare"} or (
        of.quantity == "bare" and of.grammatical == "one" and not isinstance(of.things, Ordinal)
    ):
        return None
    if isinstance(of.things, Filter) and of.quantity == "the" and of.grammatical == "one":
        return None
    return query("name", of)


def kind_of(subject: QuantifiedThings) -> Meaning | None:
    """Ask what kind of a thing something is: the name of the thing, which is of that kind."""
    return query("name", subject) if subject.quantity == "the" else None


def query_setting(aspect: str, picture: str | None = None) -> Meaning:
    """Ask for the background, the weather or the style."""
    return QuerySetting(aspect=cast("SettingAspect", aspect), picture=picture or "picture")


def larger_of(extreme: str, one: QuantifiedThings, other: QuantifiedThings) -> Meaning:
    """Ask which of two is larger, higher, more to the left."""
    things = Union(one=one.things, other=other.things)
    return Query(things=Ordinal(things=things, order=ByExtreme(extreme=extreme)), what="name")


def nearer_of(of: QuantifiedThings, one: QuantifiedThings, other: QuantifiedThings) -> Meaning:
    """Ask which of two is nearer to a third."""
    things = Union(one=one.things, other=other.things)
    return Query(things=Ordinal(things=things, order=Nearness(of=of.things)), what="name")


def choose(of: QuantifiedThings, one: Property, other: Property) -> Meaning:
    """Ask which of two properties a thing has; whether it is beside one thing or another is a yes or a no."""
    if isinstance(one, InRelation) and isinstance(other, InRelation) and other.of in {BEFORE, One(things=BEFORE)}:
        other = other.model_copy(update={"of": one.of})
    if isinstance(one, InRelation) and isinstance(other, InRelation) and one.of != other.of:
        return Junction(how="or", parts=(says(of, one), says(of, other)))
    return Choose(things=of.things, properties=(one, other))


def choose_any(one: QuantifiedThings, other: QuantifiedThings) -> Meaning | None:
    """Ask of which of two kinds anything is: "is that a cat or a dog"."""
    kinds = [
        each.things.property
        for each in (one, other)
        # A "big dog" is more than its size.
        if each.quantity in {"a", "bare"} and isinstance(each.things, Filter) and each.things.things == Everything()
    ]
    return Choose(things=Everything(), properties=tuple(kinds)) if len(kinds) > 1 else None


def side_of(side: str, one: QuantifiedThings, other: QuantifiedThings) -> Meaning | None:
    """Ask which of two is on a side: the one farther there."""
    extremes = {"left": "leftmost", "right": "rightmost", "top": "topmost", "bottom": "bottommost"}
    return larger_of(extremes[side], one, other) if side in extremes else None


def choose_relation(of: QuantifiedThings, one: str, other: str, reference: QuantifiedThings) -> Meaning:
    """Ask in which of two relations a thing stands to another."""
    properties = tuple(InRelation(relation=each, of=reference.things) for each in (one, other))
    return Choose(things=of.things, properties=properties)


def choose_side(of: QuantifiedThings, axis: str) -> Meaning:
    """Ask on which side of the picture a thing is."""
    if axis == "across":
        return Choose(things=of.things, properties=(IsAt(across="left"), IsAt(across="right")))
    return Choose(things=of.things, properties=(IsAt(down="top"), IsAt(down="bottom")))


def more_of(how: str, one: Nominal, other: Nominal) -> Meaning:
    """Ask of which of two there are more."""
    return ChooseCount(options=(one.things(), other.things()), how=how)


def more_in(how: str, of: Nominal) -> Meaning:
    """Ask in which of two pictures there are more of a kind."""
    things = of.things()
    return ChooseCount(options=(in_picture(things, "left"), in_picture(things, "right")), how=how)


def describe(of: QuantifiedThings | None = None) -> Meaning:
    """Ask for a description of the picture or of a thing."""
    return Describe(things=of.things if of else Everything())


def list_all(order: str | None = None) -> Meaning:
    """Ask for the names of everything."""
    return ListEach(things=Everything(), order=order)


def agreed(one: str, other: str) -> str | None:
    """Return an order that is said twice: "by size, biggest first"."""
    return other if {one, other} <= {"largest", "smallest"} else None


def list_line(line: Property, order: str | None = None) -> Meaning:
    """Ask for what is in a row or a column, in order."""
    first = "leftmost" if getattr(line, "line", "") == "row" else "topmost"
    return ListEach(things=Filter(things=Everything(), property=line), order=order or first)


def each(of: QuantifiedThings, order: str | None, aspect: str, later: str | None = None) -> Meaning:
    """Ask for an aspect of each of a set."""
    return query_each(aspect, of, order or later)


def short_phrase(of: QuantifiedThings) -> Meaning | None:
    """Ask by a noun phrase alone: for the name of the one thing, or whether there is such a thing."""
    if of.quantity in {"bare", "a"}:
        return query("name", QuantifiedThings(of.things)) if isinstance(of.things, Ordinal) else exists(of)
    return name_of_phrase(of) or (exists(of) if of.quantity in {"exactly", "at least", "at most"} else None)


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        count, count_phrase, count_kinds, count_such, count_such_of, count_modified, count_there, count_more,
        check_each, count_in, query, query_each,
        list_or_query, which, which_is, what, what_modified, which_modified, which_in_middle, what_beside, what_ordinal,
        which_ordinal, which_of, name_of_phrase, kind_of, query_setting, larger_of, nearer_of, choose,
        choose_any, side_of,
        choose_relation, choose_side, more_of, more_in, describe, list_all, agreed, list_line, each, short_phrase,
    )
}  # fmt: skip
