"""Descriptions and what is asked about them: the actions of captions.grammar.

A sentence about a picture is a conjunction of truths. A short answer ("red", "two of them", "on the left") is a part of
a truth that its question completes; `snellen.reasoning.reading.completion` does that.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any, Final, Literal, cast

from snellen.reasoning.meanings.meanings import Are, Exist, Negation, SettingAspect, SettingIs, Truth
from snellen.reasoning.meanings.things import (
    Everything,
    Filter,
    HasFact,
    InRelation,
    IsA,
    IsNot,
    One,
    Part,
    Property,
    SpatialRelation,
    Things,
    Union,
    sets_within,
)
from snellen.reasoning.reading import noun_phrases, properties
from snellen.reasoning.reading.answer_parts import (
    Amount,
    Bound,
    DepthRelation,
    DescribedOnly,
    Group,
    Mention,
    OpenRelation,
    Properties,
    ReadQuestion,
    RefusedAnswer,
    Ruling,
    StatedSentence,
    Statement,
    Verdict,
)
from snellen.reasoning.reading.noun_phrases import Modifier, Nominal, QuantifiedThings
from snellen.reasoning.reading.truths import negation, says


def union(group: Group) -> Things:
    """Return all that a group means as one set."""
    return reduce(lambda one, other: Union(one=one, other=other), (each.things for each in group))


# Noun phrases


def known(nominal: Nominal) -> QuantifiedThings:
    """Make a definite noun phrase; "the big book" is a book that is big."""
    things = nominal.things()
    return QuantifiedThings(
        things if nominal.number == "many" else One(things=things), "the", grammatical=nominal.number
    )


def unmarked(nominal: Nominal) -> QuantifiedThings | None:
    """Make a noun phrase without an article; a word that nobody knows is no noun by itself."""
    return None if nominal.noun.is_open else noun_phrases.bare(nominal)


def narrowed_before(property: Property, nominal: Nominal) -> Nominal:  # noqa: A002 - the word of the language
    """Put an adjective before a noun."""
    return replace(nominal, modifiers=(Modifier(property), *nominal.modifiers))


def narrowed(nominal: Nominal, narrowing: Properties) -> Nominal:
    """Put what narrows it after a noun."""
    return replace(nominal, modifiers=(*nominal.modifiers, *(Modifier(each) for each in narrowing)))


def grouped(of: QuantifiedThings) -> Group:
    """Return a group of one noun phrase."""
    return (of,)


def joined(of: QuantifiedThings, group: Group) -> Group | None:
    """Put a noun phrase before a group; "it and the dog" is not said."""
    return None if len(group) >= MOST_IN_GROUP else (of, *group)


MOST_IN_GROUP: Final = 12
"""Noun phrases of a list that are read."""


# Properties


def unnamed(word: str) -> Property:
    """Say a property that the language of meanings has no name for."""
    return HasFact(fact=f"are {word}")


def listed(property: Property) -> Properties:  # noqa: A002
    """Return a list of one property."""
    return (property,)


def both_lists(one: Properties, other: Properties) -> Properties:
    """Join two lists of properties."""
    return (*one, *other)


def related_each(relation: str, group: Group) -> Properties:
    """Say a relation to each of a group."""
    return tuple(InRelation(relation=cast("SpatialRelation", relation), of=each.things) for each in group)


def of_kind(nominal: Nominal) -> Properties | None:
    """Say what something is: "a red book" is a book and red; "a small one" is small."""
    kind = nominal.noun
    is_same = kind.names == (noun_phrases.SAME_KIND.name,)
    narrowing = tuple(each.property for each in nominal.modifiers if each.property is not None)
    if not kind.names or is_same:
        return narrowing or None
    return (IsA(name=kind.names[0], or_names=kind.names[1:]), *narrowing)


def of_known_kind(nominal: Nominal) -> Properties | None:
    """Say what something is without an article: "are dogs"."""
    return None if nominal.noun.is_open else of_kind(nominal)


def denied(said: Properties) -> Properties:
    """Say that properties are missing."""
    return tuple(each.property if isinstance(each, IsNot) else IsNot(property=each) for each in said)


# Sentences


def there_is(of: QuantifiedThings) -> Truth:
    """Say that there is what a noun phrase means."""
    things = of.things.things if isinstance(of.things, One) else of.things
    if of.quantity == "exactly":
        return Exist(things=things, quantity="exactly", number=of.number)
    return Exist(things=things)


def there_is_not(of: QuantifiedThings) -> Truth:
    """Say that there is not what a noun phrase means."""
    things = of.things.things if isinstance(of.things, One) else of.things
    if of.quantity == "exactly" and of.number:
        return negation(Exist(things=things, quantity="exactly", number=of.number))
    return Exist(things=things, quantity="exactly", number=0)


def existing(group: Group) -> StatedSentence:
    """Say that there is each of a group."""
    return StatedSentence(tuple(there_is(each) for each in group), group)


def lacking(group: Group) -> StatedSentence:
    """Say that there is none of a group."""
    return StatedSentence(tuple(there_is_not(each) for each in group), group)


def says_each(group: Group, said: Properties) -> StatedSentence:
    """Say properties of each of a group, of one and the same thing where "a dog is red and small"."""
    statements: list[Statement] = []
    for each in group:
        if each.quantity in {"a", "exactly"}:
            narrow = reduce(lambda things, one: Filter(things=things, property=one), said[:-1], each.things)
            statements.append(says(replace(each, things=narrow), said[-1]))
        else:
            statements += [says(each, one) for one in said]
    return StatedSentence(tuple(statements), group)


def says_as_asked(group: Group) -> Ruling:
    """Deny of a group what was asked: "the cat is not"."""
    return Ruling("no", group)


def at_depth(group: Group, relation: str, others: Group, holds: str = "") -> StatedSentence:
    """Say that each of a group is in front of others, or behind them."""
    where = cast("Literal['in front of', 'behind']", relation)
    return StatedSentence(
        tuple(DepthRelation(one.things, where, other.things, not holds) for one in group for other in others), group
    )


def setting(aspect: str, value: str) -> StatedSentence:
    """Say what the weather or the style is."""
    return StatedSentence((SettingIs(aspect=cast("SettingAspect", aspect), value=value),))


def background(colour: str | None, ground: str | None = None) -> StatedSentence:
    """Say what the background is, and its colour."""
    colours = (SettingIs(aspect="background colour", value=colour),) if colour else ()
    return StatedSentence((*((SettingIs(aspect="background", value=ground),) if ground else ()), *colours))


def contradicted(stated: StatedSentence | Mention | Ruling) -> StatedSentence | None:
    """Deny what a sentence says, where it says one thing: which of two is denied would be open."""
    if not isinstance(stated, StatedSentence) or len(stated.statements) != 1:
        return None
    return StatedSentence((denied_statement(stated.statements[0]),), stated.subject)


def denied_statement(statement: Statement) -> Statement:
    """Return the statement that holds where another does not."""
    match statement:
        case DepthRelation():
            return replace(statement, holds=not statement.holds)
        case Negation():
            return statement.truth
        case Exist(quantity="exactly", number=0):
            return Exist(things=statement.things)
    return Negation(truth=statement)


# Short answers


def mention(group: Group) -> Mention:
    """Name things."""
    return Mention(group)


def described(said: Properties) -> DescribedOnly | None:
    """Name properties; a word that nobody knows says nothing by itself."""
    return None if any(isinstance(each, HasFact) for each in said) else DescribedOnly(said)


def unnamed_answer(word: str) -> DescribedOnly:
    """Name a property that the language of meanings has no name for, where such a one was asked."""
    return DescribedOnly((unnamed(word),))


def amount(number: str, quantity: str | None) -> Amount:
    """Name a number: "two of them", "at least two"."""
    return Amount(int(number), cast("Bound", quantity or "exactly"))


def beside(relation: str) -> OpenRelation:
    """Name a side."""
    return OpenRelation(cast("SpatialRelation", relation))


def verdict(verdict: str) -> Ruling:
    """Affirm or deny."""
    return Ruling(cast("Verdict", verdict))


def refusal() -> RefusedAnswer:
    """Answer nothing."""
    return RefusedAnswer()


# Questions


def about(group: Group) -> ReadQuestion:
    """Ask for properties of things."""
    return ReadQuestion("property", group)


def about_open(group: Group) -> ReadQuestion:
    """Ask for a property that the language of meanings has no name for: "What is the texture of the shirt?"."""
    return ReadQuestion("property", group, is_open=True)


def relating(group: Group, reference: Group) -> ReadQuestion:
    """Ask how things stand to others."""
    return ReadQuestion("property", group, reference=reference)


def seeking(sought: Properties) -> ReadQuestion:
    """Ask what has properties."""
    reference = tuple(QuantifiedThings(each.of) for each in sought if isinstance(each, InRelation))
    return ReadQuestion("things", sought=sought, reference=reference)


def anything_asked() -> ReadQuestion:
    """Ask what there is."""
    return ReadQuestion()


def counting(one: Nominal, other: Nominal | None = None) -> ReadQuestion:
    """Ask for a number."""
    return ReadQuestion("number", tuple(QuantifiedThings(each.things(), "bare") for each in (one, other) if each))


def choosing(group: Group, *options: Properties) -> ReadQuestion:
    """Ask which of several properties things have."""
    offered = tuple(each for option in options for each in option)
    reference = tuple(QuantifiedThings(each.of) for each in offered if isinstance(each, InRelation))
    return ReadQuestion("property", group, offered=offered, reference=reference[:1])


def choosing_thing() -> ReadQuestion:
    """Ask which of two things there is."""
    return ReadQuestion("things")


def testing(stated: StatedSentence) -> ReadQuestion:
    """Ask whether something is so; whether there is anything somewhere also asks what."""
    parts = [part for each in stated.statements if isinstance(each, Part) for part in sets_within(each)]
    reference = tuple(QuantifiedThings(each.of) for each in parts if isinstance(each, InRelation))[:1]
    sought = tuple(each.property for each in stated.statements if isinstance(each, Are))
    match stated.statements:
        case (Exist(things=Filter(things=Everything(), property=said)),) if not isinstance(said, IsA):
            return ReadQuestion("things", sought=(said,), reference=reference, tested=stated.statements)
    return ReadQuestion("ruling", stated.subject, sought, reference=reference, tested=stated.statements)


def of_setting(aspect: str) -> ReadQuestion:
    """Ask for an aspect of the picture."""
    return ReadQuestion(setting=cast("SettingAspect", aspect))


ACTIONS: Final[dict[str, Any]] = {
    **noun_phrases.ACTIONS,
    **properties.ACTIONS,
    **{
        each.__name__: each
        for each in (
            known, unmarked, of_known_kind, narrowed_before, narrowed, grouped, joined, unnamed, listed, both_lists,
            related_each, of_kind, denied, existing, lacking, says_each, says_as_asked, at_depth,
            setting, background, contradicted, mention, described, unnamed_answer, amount, beside, verdict, refusal,
            about, about_open,
            relating, seeking, anything_asked, counting, choosing, choosing_thing,
            testing, of_setting,
        )
    },
}  # fmt: skip
