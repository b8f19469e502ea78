"""Parts of answers, and questions as far as their answers need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from snellen.reasoning.meanings.meanings import SettingAspect, Truth
from snellen.reasoning.meanings.things import Property, SpatialRelation, Things
from snellen.reasoning.reading.noun_phrases import QuantifiedThings

Group: TypeAlias = tuple[QuantifiedThings, ...]
"""Noun phrases that are said in one breath: "a dog and two cats"."""
Properties: TypeAlias = tuple[Property, ...]
Bound: TypeAlias = Literal["exactly", "at least", "at most"]
Verdict: TypeAlias = Literal["yes", "no", "neither", "none"]


@dataclass(frozen=True)
class DepthRelation:
    """A statement of what stands in front of what; boxes cannot tell whether it is so."""

    subject: Things
    relation: Literal["in front of", "behind"]
    other: Things
    holds: bool = True


Statement: TypeAlias = Truth | DepthRelation


@dataclass(frozen=True)
class StatedSentence:
    """A sentence: what it says, and what it is about."""

    statements: tuple[Statement, ...]
    subject: Group = ()


@dataclass(frozen=True)
class Mention:
    """Noun phrases alone: "a dog and two cats"."""

    group: Group


@dataclass(frozen=True)
class DescribedOnly:
    """Properties alone: "small and red"."""

    properties: Properties


@dataclass(frozen=True)
class Amount:
    """A number alone: "two of them", "at least two"."""

    number: int
    quantity: Bound = "exactly"


@dataclass(frozen=True)
class OpenRelation:
    """A relation whose other side is left open: "to the left"."""

    relation: SpatialRelation


@dataclass(frozen=True)
class Ruling:
    """A "yes", a "no", or a "neither"; with a group it is about that alone: "the cat is not"."""

    verdict: Verdict
    group: Group = ()


@dataclass(frozen=True)
class RefusedAnswer:
    """No answer: "I cannot tell"; whatever else the sentence has says nothing either."""


AnswerPart: TypeAlias = RefusedAnswer | StatedSentence | Mention | DescribedOnly | Amount | OpenRelation | Ruling


@dataclass(frozen=True)
class ReadQuestion:
    """A question, as far as its answers need it.

    Attributes:
        wants: What answers it: a property of the subject, a number, names of things, yes or no, or anything.
        subject: What answers without a subject are about.
        sought: What is true of the things that are asked for.
        offered: The properties that an answer may choose from.
        reference: What a relation without another side is to.
        tested: What a yes affirms.
        setting: The aspect of the picture.
        is_open: Whether it asks for an aspect that the language of meanings has no name for, such as the texture.
    """

    wants: Literal["property", "number", "things", "ruling", "anything"] = "anything"
    subject: Group = ()
    sought: Properties = ()
    offered: Properties = ()
    reference: Group = ()
    tested: tuple[Statement, ...] = ()
    setting: SettingAspect | None = None
    is_open: bool = False
