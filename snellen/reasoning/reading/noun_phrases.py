"""LexicalNoun phrases: nouns with what narrows them, and how much of a set is meant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from snellen.reasoning.meanings.things import (
    ByExtreme,
    Everything,
    Extreme,
    Filter,
    HasFact,
    HasSize,
    InRelation,
    IsA,
    Nearness,
    One,
    Ordinal,
    PictureName,
    Property,
    Side,
    Things,
    Union,
)
from snellen.reasoning.reading.lexical_entries import GrammaticalNumber, LexicalNoun

Quantity = Literal["the", "a", "bare", "all", "most", "both", "exactly", "at least", "at most"]


SAME_KIND: Final = IsA(name="one of that kind")


BEFORE: Final = Filter(things=Everything(), property=IsA(name="what was mentioned"))


SPOKEN_OF: Final = Filter(things=Everything(), property=IsA(name="what was spoken of"))
"""What the instruction before was about."""


ANYTHING: Final = LexicalNoun((), "any")


SIDES: Final = frozenset({"left of", "right of", "above", "below"})


@dataclass(frozen=True)
class Modifier:
    """A narrowing of a set: by a property, or by a place in an order.

    Attributes:
        property: The property; None where it is an order.
        order: The order.
        rank: The place in it.
        count: The number of things from that place on.
    """

    property: Property | None = None
    order: ByExtreme | Nearness | None = None
    rank: int = 1
    count: int = 1
    picture: PictureName | None = None
    nearest: bool = False


@dataclass(frozen=True)
class Nominal:
    """A noun with its modifiers, before an article or a number is put to it."""

    noun: LexicalNoun
    modifiers: tuple[Modifier, ...] = ()

    @property
    def is_ordered(self) -> bool:
        """True if it is chosen by a place in an order."""
        return any(each.order for each in self.modifiers)

    @property
    def number(self) -> GrammaticalNumber:
        """Its grammatical number."""
        return self.noun.number

    def things(self) -> Things:
        """Return the set that it names: the kind, then what narrows it, then places in orders, the nearest last."""
        picture: PictureName = next((each.picture for each in self.modifiers if each.picture), "picture")
        things = _of_kind(self.noun, Everything(picture=picture))
        for each in self.modifiers:
            if each.property is not None:
                things = Filter(things=things, property=_within(each.property, picture))
        for each in self.modifiers:
            if each.order is not None:
                order = each.order
                if isinstance(order, Nearness) and picture != "picture":
                    order = order.model_copy(update={"of": in_picture(order.of, picture)})
                things = Ordinal(things=things, order=order, rank=each.rank, count=each.count)
        return things


@dataclass(frozen=True)
class QuantifiedThings:
    """A noun phrase: a set, and how much of it is meant.

    Attributes:
        things: The set; a single thing where "the" stands before a singular.
        quantity: The article or quantifier.
        number: The number that goes with "exactly", "at least" and "at most".
        grammatical: Its grammatical number.
    """

    things: Things
    quantity: Quantity = "the"
    number: int = 1
    grammatical: GrammaticalNumber = "one"

    @property
    def is_many(self) -> bool:
        """True if several things may be meant, each of them."""
        return self.quantity in {"all", "both"} or (self.quantity in {"the", "bare"} and self.grammatical == "many")


def in_picture(value: Any, picture: PictureName) -> Any:  # noqa: ANN401 - of any part of a meaning, the same part
    """Return a part of a meaning with the only picture replaced by one of two."""
    if isinstance(value, tuple):
        return tuple(in_picture(each, picture) for each in value)
    if not hasattr(type(value), "model_fields"):
        return value
    changed = {name: in_picture(each, picture) for name, each in value}
    if changed.get("picture") == "picture":
        changed["picture"] = picture
    return value.model_copy(update=changed)


def _within(property: Property, picture: PictureName) -> Property:  # noqa: A002 - the word of the language
    """Return a property whose things are looked for in the same picture as what it narrows."""
    return property if picture == "picture" else cast("Property", in_picture(property, picture))


def _of_kind(noun: LexicalNoun, everything: Everything) -> Things:
    kinds: Things = everything
    if noun.names:
        kinds = Filter(things=everything, property=IsA(name=noun.names[0], or_names=noun.names[1:]))
    return Filter(things=kinds, property=HasFact(fact=noun.fact)) if noun.fact else kinds


def anything(number: str) -> LexicalNoun:
    """Return a noun for things of any kind."""
    return LexicalNoun((), cast("GrammaticalNumber", number))


def same_kind(number: str) -> LexicalNoun:
    """Return a noun that repeats an earlier one: "the blue one"."""
    return LexicalNoun((SAME_KIND.name,), cast("GrammaticalNumber", number))


def with_number(noun: LexicalNoun, number: str) -> LexicalNoun:
    """Return a noun that something else says the number of: "spaghetti plates", "pots of honey"."""
    return replace(noun, number=cast("GrammaticalNumber", number))


def kind_named(name: str, number: str) -> LexicalNoun:
    """Return a noun for a kind that an adjective names: "the scared one"."""
    return LexicalNoun((name,), cast("GrammaticalNumber", number))


def nominal(noun: LexicalNoun) -> Nominal:
    """Return a noun without modifiers."""
    return Nominal(noun)


def either_noun(one: LexicalNoun, other: LexicalNoun) -> LexicalNoun | None:
    """Return a noun for what is of one kind or of another."""
    if one.fact or other.fact or not one.names or not other.names:
        return None
    return LexicalNoun(tuple(dict.fromkeys((*one.names, *other.names))), other.number)


def modified(modifier: Modifier, nominal: Nominal) -> Nominal:
    """Put a modifier before what there are."""
    return replace(nominal, modifiers=(modifier, *nominal.modifiers))


def followed(nominal: Nominal, modifier: Modifier) -> Nominal:
    """Put a modifier after what there are; a side with a definite noun of no kind means what is nearest there."""
    return replace(nominal, modifiers=(*nominal.modifiers, modifier))


def anything_nominal() -> Nominal:
    """Return a noun for anything."""
    return Nominal(ANYTHING)


def the(nominal: Nominal) -> QuantifiedThings:
    """Make a definite noun phrase: one thing where it is singular."""
    things = nominal.things()
    ordinal = isinstance(things, Ordinal)
    if nominal.number == "many" or (ordinal and nominal.number == "any"):
        return QuantifiedThings(things, "the", grammatical="many" if nominal.number == "many" else "one")
    if isinstance(things, Ordinal) and things.count == 1:
        return QuantifiedThings(things)
    return QuantifiedThings(_nearest_on_a_side(nominal) or _by_contrast(things), grammatical=nominal.number)


def _by_contrast(things: Things) -> Things:
    """Return the one thing of a set; "the big book" is the largest of the books, there may be none that is large."""
    sizes = {"small": "smallest", "large": "largest"}
    match things:
        case Filter(things=Filter() as inner, property=HasSize(size=size)):
            return Ordinal(things=inner, order=ByExtreme(extreme=cast("Extreme", sizes[size])))
    return One(things=things)


def _nearest_on_a_side(nominal: Nominal) -> Things | None:
    """Return what "the thing above the cake" means: of things of no kind, the nearest one there."""
    if nominal.noun.names or nominal.noun.fact or len(nominal.modifiers) != 1:
        return None
    match nominal.modifiers[0].property:
        case InRelation(relation=relation, of=of) if relation in SIDES:
            return Ordinal(things=Everything(), order=Nearness(of=of, side=cast("Side", relation)))
    return None


def some(nominal: Nominal) -> QuantifiedThings:
    """Make an indefinite noun phrase: "a dog", "any dogs"."""
    return QuantifiedThings(nominal.things(), "a", grammatical=nominal.number)


def bare(nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase without an article: "dogs"."""
    return QuantifiedThings(nominal.things(), "bare", grammatical=nominal.number)


def every(nominal: Nominal, quantity: str = "all") -> QuantifiedThings:
    """Make a noun phrase about all or most: "every dog"."""
    return QuantifiedThings(nominal.things(), cast("Quantity", quantity), grammatical="many")


def both(nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase about both of two: "both dogs"."""
    return None if nominal.number == "one" else every(nominal)


def numbered(quantity: str, number: str, nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase with a number: "at least two dogs"."""
    count = int(number)
    if count == 0:
        return QuantifiedThings(nominal.things(), "exactly", 0, "many")
    return QuantifiedThings(nominal.things(), cast("Quantity", quantity), count, "one" if count == 1 else "many")


def more_than(number: str, nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase with a number that is exceeded: "more than two dogs"."""
    return numbered("at least", str(int(number) + 1), nominal)


def fewer_than(number: str, nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase with a number that is not reached: "fewer than two dogs"."""
    count = int(number) - 1
    return None if count < 0 else numbered("at most" if count else "exactly", str(count), nominal)


def none_of(nominal: Nominal) -> QuantifiedThings:
    """Make a noun phrase that denies: "no dog"."""
    return QuantifiedThings(nominal.things(), "exactly", 0, "many")


def the_number(number: str, nominal: Nominal) -> QuantifiedThings | None:
    """Make a definite noun phrase that says its number: "the two cats"."""
    if nominal.is_ordered and int(number) > 1:
        return None
    return the(replace(nominal, noun=replace(nominal.noun, number="one" if int(number) == 1 else "many")))


def numbered_of(quantity: str | None, number: str, nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase of some of a set: "two of the dogs", "at least one of the dogs"."""
    return numbered(quantity or ("at least" if int(number) == 1 else "exactly"), number, nominal)


def and_also(one: QuantifiedThings, other: QuantifiedThings) -> QuantifiedThings | None:
    """Join two noun phrases: "the cats and the dogs"."""
    if {one.quantity, other.quantity} & {"exactly", "at least", "at most", "most"}:
        return None
    definite: Quantity = "the" if one.quantity == "the" else one.quantity
    return QuantifiedThings(Union(one=one.things, other=other.things), definite, grammatical="many")


def before(number: str) -> QuantifiedThings:
    """Stand for what was mentioned: "it", "them"."""
    return QuantifiedThings(
        BEFORE if number == "many" else One(things=BEFORE), grammatical=cast("GrammaticalNumber", number)
    )


def everything() -> QuantifiedThings:
    """Make a noun phrase for all things."""
    return QuantifiedThings(Everything(), "all", grammatical="many")


def some_or_all(words: None, modifier: Modifier) -> QuantifiedThings:
    """Make a noun phrase for whatever a modifier narrows to."""
    del words
    return QuantifiedThings(Nominal(ANYTHING, (modifier,)).things(), "bare", grammatical="many")


def extreme_among(extreme: str, of: QuantifiedThings, rank: str | None = None) -> QuantifiedThings:
    """Make a noun phrase for the first of a set: "the largest of the animals"."""
    return QuantifiedThings(
        Ordinal(things=of.things, order=ByExtreme(extreme=cast("Extreme", extreme)), rank=int(rank or 1))
    )


def the_ordinal(extreme: str, rank: str) -> QuantifiedThings:
    """Make a noun phrase of a rank alone: "2nd from the top"."""
    return extreme_among(extreme, everything(), rank)


def the_extreme(extreme: str, rank: str | None = None) -> QuantifiedThings:
    """Make a noun phrase of an extreme alone: "the largest"."""
    return extreme_among(extreme, everything(), rank)


def definite(of: QuantifiedThings) -> QuantifiedThings:
    """Take a noun without an article for a definite one, as in telegrams: "boat above whale"."""
    is_one = of.quantity == "bare" and of.grammatical != "many" and not isinstance(of.things, Ordinal)
    return QuantifiedThings(One(things=of.things)) if is_one else of


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        anything, same_kind, with_number, kind_named, nominal, either_noun, modified, followed, anything_nominal, the,
        some, bare, every, both, numbered, more_than, fewer_than, none_of, the_number, numbered_of, and_also, before,
        everything, some_or_all, extreme_among, the_ordinal, the_extreme, definite,
    )
}  # fmt: skip
