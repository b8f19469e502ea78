"""Sentences about patterns of failure, and which of them need not be told beside which others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.experiments.constant_answers import LEAST_SHARE, ConstantAnswer
from snellen.experiments.design import PLACES
from snellen.reasoning.language.inflection import with_article

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Pattern

_LONGEST: Final = 600
_MOST_TOLD: Final = 6
"""Patterns that a conclusion tells; the report has all of them."""


@dataclass(frozen=True)
class PatternCounts:
    """The counts that a sentence about a pattern tells.

    Attributes:
        times: Pictures in which it showed.
        n: Pictures in which it could have shown.
        back: Pictures in which the opposite showed.
        kept: Pictures for which the preferred answer is right and was given.
        right: Pictures for which it is right.
    """

    times: int
    n: int
    back: int = 0
    kept: int = 0
    right: int = 0


def sentence_of(pattern: Pattern, design: Design, counts: PatternCounts) -> str:
    """Tell a pattern of failure.

    Args:
        pattern: Its sentence is not made yet.
        design: Of its experiment.
        counts: How often it showed.
    """
    condition = design.plain_condition if pattern.plain else design.condition
    under = f"under {pattern.change}" if pattern.kind == "flip" else condition
    said = {"preference": _preferred, "confusion": _confused, "lost class": _lost, "flip": _flipped}[pattern.kind]
    asked = f"Asked “{design.question}”{f' {under}' if under else ''}"
    return f"{asked}, {pattern.model} {said(pattern, design, counts)}."[:_LONGEST]


def _preferred(pattern: Pattern, design: Design, counts: PatternCounts) -> str:
    constant = ConstantAnswer(pattern.said, counts.times + counts.kept, counts.n + counts.right)
    if constant.times >= LEAST_SHARE * constant.n:
        given = "for" if pattern.said in PLACES else "to"
        return f"{constant}: also {given} {counts.times} of {counts.n} for which {_others(pattern, design)} is right"
    given = f"chooses {pattern.said} name for" if pattern.said in PLACES else f"answers “{pattern.said}” to"
    return f"{given} {counts.times} of {counts.n} pictures for which {_others(pattern, design)} is right"


def _others(pattern: Pattern, design: Design) -> str:
    """Name the answers that are right where a preferred one is wrong."""
    others = [one for one in design.told_apart if one != pattern.said]
    if pattern.said in PLACES:
        return f"{others[0]} one" if len(others) == 1 else "another one"
    return f"“{others[0]}”" if len(others) == 1 else "another answer"


def _confused(pattern: Pattern, _: Design, counts: PatternCounts) -> str:
    return f"answers “{pattern.said}” to {counts.times} of {counts.n} pictures for which “{pattern.right}” is right"


def _lost(pattern: Pattern, design: Design, counts: PatternCounts) -> str:
    shown = f"for which “{pattern.right}” is right"
    if design.of_places:
        members = design.pools.get(pattern.right, [pattern.right])
        shown = f"of {with_article(members[0]) if len(members) == 1 else pattern.right}"
    guessed = counts.n / len(design.told_apart)
    return f"is right about {counts.n - counts.times} of {counts.n} pictures {shown}; guessing is about {guessed:.0f}"


def _flipped(pattern: Pattern, _: Design, counts: PatternCounts) -> str:
    back = f", and the other way in {counts.back}" if counts.back else ""
    return f"switches from “{pattern.right}” to “{pattern.said}” in {counts.times} of {counts.n} pictures{back}"


def with_patterns_told(conclusion: str, patterns: Sequence[Pattern]) -> str:
    """Return a conclusion followed by the first patterns of failure, and the number of the others."""
    left = len(patterns) - _MOST_TOLD
    more = [f"The report has {left} more {'patterns' if left > 1 else 'pattern'} of failure."] if left > 0 else []
    return " ".join([conclusion, *(one.sentence for one in patterns[:_MOST_TOLD]), *more])


def is_needless(one: Pattern, other: Pattern) -> bool:
    """Tell whether a pattern need not be told beside another one, which says it or where it comes from."""
    if one == other or (one.model, one.experiment) != (other.model, other.experiment):
        return False
    if one.plain != other.plain:  # what a model does anyway, it does not do for the change
        return other.plain and (one.kind, one.said, one.right) == (other.kind, other.said, other.right)
    match other.kind:
        case "preference":
            return {
                "confusion": one.said == other.said,
                "lost class": one.right != other.said,
                "flip": one.said == other.said and other.is_constant,
                "preference": False,
            }[one.kind]
        case "confusion":
            return one.kind == "lost class" and one.right == other.right
        case "flip":
            return {
                "confusion": (one.said, one.right) == (other.said, other.right),
                "lost class": one.right == other.right,
                "flip": False,
                "preference": one.said == other.said and not one.is_constant,
            }[one.kind]
        case "lost class":
            return False
