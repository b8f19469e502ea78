"""Truths: the actions of the grammar's rules about what is so or not."""

from __future__ import annotations

from typing import Any, Final, cast

from snellen.reasoning.meanings.meanings import (
    Are,
    AreAlike,
    CompareCounts,
    Exist,
    Junction,
    Negation,
    SettingAspect,
    SettingIs,
    SettingsAlike,
    Truth,
)
from snellen.reasoning.meanings.things import (
    Everything,
    Filter,
    InLine,
    InRelation,
    IsA,
    IsAmong,
    IsAt,
    IsBetween,
    IsNot,
    One,
    Ordinal,
    PictureName,
    Property,
    Things,
    Union,
)
from snellen.reasoning.reading.noun_phrases import Modifier, Nominal, QuantifiedThings, definite, in_picture

_PLACES: Final = (IsAt, InLine, InRelation, IsBetween)


def says(subject: QuantifiedThings, said: Property) -> Truth:
    """Say something of what a noun phrase means, as much of it as its quantity says."""
    match subject.quantity:
        case "a":
            return Exist(things=Filter(things=subject.things, property=said))
        case "bare" if isinstance(said, _PLACES):
            return Exist(things=Filter(things=subject.things, property=said))
        case "exactly" | "at least" | "at most":
            return Exist(
                things=Filter(things=subject.things, property=said),
                quantity=subject.quantity,
                number=subject.number,
            )
    return Are(things=subject.things, property=said, share="most" if subject.quantity == "most" else "all")


def says_shortly(subject: QuantifiedThings, said: Property) -> Truth | None:
    """Say something in a telegram: "boat above whale"; "thing above whale" asks for a name and says nothing."""
    return None if isinstance(subject.things, Everything) else says(definite(subject), said)


def says_also(subject: QuantifiedThings, one: Property, other: Property) -> Truth | None:
    """Say two things of one subject: "is big and red"; nothing is of two kinds."""
    if isinstance(one, IsA) and isinstance(other, IsA):
        return None
    if subject.quantity in {"a", "exactly", "at least", "at most"}:
        return says(
            QuantifiedThings(Filter(things=subject.things, property=one), subject.quantity, subject.number), other
        )
    return Junction(how="and", parts=(says(subject, one), says(subject, other)))


def is_modified(of: QuantifiedThings, modifier: Modifier) -> Truth | None:
    """Say that a thing is what a modifier singles out: "the sailboat is the lowest"."""
    if modifier.order is None:
        return None
    things = Ordinal(things=Everything(), order=modifier.order, rank=modifier.rank, count=modifier.count)
    return says(of, IsAmong(things=things))


def exists(subject: QuantifiedThings) -> Truth | None:
    """Say that there is what a noun phrase means."""
    if isinstance(subject.things, Union):
        return None
    match subject.quantity:
        case "a" | "bare":
            return Exist(things=subject.things)
        case "exactly" | "at least" | "at most":
            return Exist(things=subject.things, quantity=subject.quantity, number=subject.number)
        case "the":
            things = subject.things.things if isinstance(subject.things, One) else subject.things
            return None if _is_placed(things) else Exist(things=things)
    return None


def _is_placed(things: Things) -> bool:
    return isinstance(things, Ordinal) or (isinstance(things, Filter) and isinstance(things.property, _PLACES))


def exists_there(subject: QuantifiedThings, said: Property) -> Truth | None:
    """Say that there is something somewhere: "there is a bus in the corner"."""
    if subject.quantity == "the":
        return says(subject, said)
    narrowed = Filter(things=subject.things, property=said)
    return exists(QuantifiedThings(narrowed, subject.quantity, subject.number, subject.grammatical))


def exist_both(how: str, one: QuantifiedThings, other: QuantifiedThings) -> Truth | None:
    """Say that there are two things, or one of two."""
    first, second = exists(one), exists(other)
    return junction(how, first, second) if first and second else None


def neither(one: QuantifiedThings, other: QuantifiedThings) -> Truth | None:
    """Say that there is neither of two."""
    first, second = exists(one), exists(other)
    return Negation(truth=Junction(how="or", parts=(first, second))) if first and second else None


def exist_all(one: QuantifiedThings, other: QuantifiedThings, third: QuantifiedThings) -> Truth | None:
    """Say that there are three things."""
    parts = [truth for each in (one, other, third) if (truth := exists(each))]
    return Junction(how="and", parts=tuple(parts)) if len(parts) == len((one, other, third)) else None


def one_not_other(one: QuantifiedThings, other: QuantifiedThings) -> Truth | None:
    """Say that there is one thing, and no other."""
    first, second = exists(one), exists(QuantifiedThings(other.things, "exactly", 0))
    return junction("and", first, second) if first and second else None


def denied_phrase(subject: QuantifiedThings) -> Truth | None:
    """Say that there is not what a noun phrase means."""
    truth = exists(subject)
    return negation(truth) if truth else None


def identified(subject: QuantifiedThings) -> Truth | None:
    """Say what "that" is: "that is a dog" says that there is one; a definite noun says nothing."""
    return exists(subject) if subject.quantity in {"a", "exactly", "at least", "at most"} else None


def one_and_other(of: Nominal, one: Property, other: Property) -> Truth:
    """Say one thing of one of two, and another thing of the other."""
    return Junction(
        how="and", parts=tuple(Exist(things=Filter(things=of.things(), property=each)) for each in (one, other))
    )


def junction(how: str, one: Truth, other: Truth) -> Truth:
    """Join two truths."""
    return Junction(how=how, parts=(one, other))


def negation(truth: Truth) -> Truth:
    """Deny a truth."""
    if isinstance(truth, Exist) and truth.quantity == "at least" and truth.number == 1:
        return Exist(things=truth.things, quantity="exactly", number=0)
    return truth.truth if isinstance(truth, Negation) else Negation(truth=truth)


def undenied(truth: Truth) -> Truth:
    """Ask the question behind a denial: "there are no trains, are there?" asks whether there are."""
    match truth:
        case Exist(quantity="exactly", number=0):
            return Exist(things=truth.things)
        case Negation():
            return truth.truth
        case Are(property=IsNot() as denied):
            return truth.model_copy(update={"property": denied.property})
    return truth


def alike(by: str, of: QuantifiedThings, other: QuantifiedThings | None = None) -> Truth | None:
    """Say that things are of one kind, colour or size: all of them, as "most" has no such meaning."""
    if any(each.quantity in {"most", "exactly", "at least", "at most"} for each in (of, other or of)):
        return None
    if other is not None:
        return AreAlike(things=Union(one=of.things, other=other.things), by=by)
    # No thing is alike alone: "the jeans", "the sheep" are several.
    return AreAlike(things=of.things.things if isinstance(of.things, One) else of.things, by=by)


def compare(how: str, one: Nominal, other: Nominal) -> Truth:
    """Compare two numbers of things."""
    return CompareCounts(one=one.things(), how=how, other=other.things())


def compare_times(times: str, one: Nominal, other: Nominal) -> Truth:
    """Compare a number of things with a multiple of another."""
    return CompareCounts(one=one.things(), how="as many", other=other.things(), times=int(times))


def compare_pictures(how: str, noun: Nominal, one: str, other: str, other_noun: Nominal | None = None) -> Truth | None:
    """Compare the numbers of things in two pictures."""
    if one == other:
        return None
    first = in_picture(noun.things(), cast("PictureName", one))
    second = in_picture((other_noun or noun).things(), cast("PictureName", other))
    return CompareCounts(one=first, how=how, other=second)


def times_pictures(times: str, noun: Nominal, one: str, other: str) -> Truth | None:
    """Compare the number of things in one picture with a multiple of the number in another."""
    truth = compare_pictures("as many", noun, one, other)
    return truth and truth.model_copy(update={"times": int(times)})


def setting_is(aspect: str, value: str, picture: str | None = None) -> Truth:
    """Say what the background, the weather or the style is."""
    return SettingIs(aspect=cast("SettingAspect", aspect), value=value, picture=picture or "picture")


def settings_alike(aspect: str) -> Truth:
    """Say that both pictures have the same background, weather or style."""
    return SettingsAlike(aspect=cast("SettingAspect", aspect))


def other_picture(picture: str) -> str | None:
    """Return the other of two pictures."""
    return {"left": "right", "right": "left"}.get(picture)


def more_here(how: str, noun: Nominal, picture: str) -> Truth | None:
    """Compare the numbers of things in two pictures, of which one is named."""
    return compare_pictures(how, noun, picture, other_picture(picture) or picture)


def such(of: QuantifiedThings) -> QuantifiedThings:
    """Return any of what a noun phrase counts: of "exactly two hammers" the hammers."""
    return QuantifiedThings(of.things, "a")


def one_and_other_picture(one: Truth, other: Truth) -> Truth:
    """Say one thing of one of two pictures, and another thing of the other."""
    ways = (
        Junction(how="and", parts=(in_picture(first, "left"), in_picture(second, "right")))
        for first, second in ((one, other), (other, one))
    )
    return Junction(how="or", parts=tuple(ways))


def within(picture: str, truth: Truth, together: str = "") -> Truth | None:
    """Say something of one of two pictures, of each of both, or of both together."""
    is_counted = isinstance(truth, Exist) and (truth.quantity != "at least" or truth.number > 1)
    if together and picture == "both" and (is_counted or together == "together"):
        return cast("Truth", in_picture(truth, "both"))
    if together == "together":
        return None
    if picture == "both":
        return Junction(how="and", parts=(in_picture(truth, "left"), in_picture(truth, "right")))
    return cast("Truth", in_picture(truth, cast("PictureName", picture)))


def in_how_many(how: str, truth: Truth) -> Truth | None:
    """Say something of both, one or none of two pictures; "four dogs in the two pictures" are four together."""
    if how == "and" and isinstance(truth, Exist) and (truth.quantity != "at least" or truth.number > 1):
        return None
    if how == "either":
        # "No dogs in either picture" are none in both.
        is_denied = isinstance(truth, Negation) or (isinstance(truth, Exist) and not truth.number)
        how = "and" if is_denied else "or"
    parts = (in_picture(truth, "left"), in_picture(truth, "right"))
    if how == "none":
        return Negation(truth=Junction(how="or", parts=parts))
    return Junction(how=how, parts=parts)


def in_whichever(how: str, truth: Truth) -> Truth:
    """Say something of the pictures that there are, however many: that it is so in any of them, or in none."""
    return negation(truth) if how == "none" else truth


def in_each(one: str, first: Truth, other: str, second: Truth) -> Truth | None:
    """Say something of one picture and something else of the other."""
    if {one, other} != {"left", "right"}:
        return None
    parts = (in_picture(first, cast("PictureName", one)), in_picture(second, cast("PictureName", other)))
    return Junction(how="and", parts=parts)


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        says, says_shortly, says_also, is_modified, exists, exists_there, exist_both,
        exist_all, neither, one_not_other, denied_phrase,
        identified, one_and_other, junction, negation, undenied, alike, compare, compare_times, compare_pictures,
        times_pictures, settings_alike,
        other_picture, more_here, such, one_and_other_picture, setting_is, within, in_how_many,
        in_whichever, in_each,
    )
}  # fmt: skip
