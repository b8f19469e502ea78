"""Sentences of answers: what was examined of a model, and whether it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.reasoning.queries.echo import ability_in_words, condition_in_words, percent
from snellen.reasoning.queries.model_query import ModelQuestion, Recognise

if TYPE_CHECKING:
    from snellen.experiments.report import Verdict
    from snellen.experiments.standings import ModelStanding

_LONGEST: Final = 390
"""Characters of a sentence, which may begin with "Yes, "."""


def property_of(about: str, question: ModelQuestion) -> str:
    """Name what is examined, so that it is clear without the query.

    Args:
        about: The model, or the two that are compared.
        question: The question.
    """
    one, _, other = about.partition(" and ")
    comparison, bound = question.comparison, question.threshold
    if comparison is not None:
        by = f" by more than {100 * comparison.margin:.10g} points" if comparison.margin else ""
        if comparison.how == "alike":
            within = f" within {100 * comparison.margin:.10g} points" if comparison.margin else ""
            return f"{one} and {other} are alike{within} at {what_is_examined(question)}"
        if comparison.how == "as good":
            return f"{one} is as good as {other} at {what_is_examined(question)}"
        return f"{one} is better than {other} at {what_is_examined(question)}{by}"
    if bound is not None and question.robust:
        return f"loses {bound.how} {100 * bound.share:.10g} points under {_condition(question)}{_while(question)}"
    if bound is not None:
        return f"right in {bound.how} {percent(bound.share)} at {what_is_examined(question)}"
    return (
        f"robust to {_condition(question)}{_while(question)}"
        if question.robust
        else f"good at {what_is_examined(question)}"
    )


def sentence_of(standing: ModelStanding, question: ModelQuestion, reason: str) -> str:
    """Say whether it holds, and what decided.

    Args:
        standing: Of the model, or of the two that are compared.
        question: The question.
        reason: What decided, with its figures; nothing where there is nothing.
    """
    if standing.moot:
        return _fitting(f"{standing.about}: cannot be said, because {standing.moot}.")
    because = f": {reason}" if reason else ""
    form = f"; {standing.form}" if standing.form else ""
    return _fitting(f"{_claimed(standing.about, standing.says, question)}{because}{form}.")


def _fitting(sentence: str) -> str:
    """Return a sentence as long as an answer may be, without the last of its clauses where it is longer."""
    if len(sentence) <= _LONGEST:
        return sentence
    clauses, _, _ = sentence[:_LONGEST].rpartition("; ")
    return f"{clauses}." if clauses else f"{sentence[: _LONGEST - 1]}…"


def _claimed(about: str, says: Verdict, question: ModelQuestion) -> str:
    held, comparison = property_of(about, question), question.comparison
    one, _, other = about.partition(" and ")
    if comparison is not None and comparison.how in {"better", "best"} and not comparison.margin:
        what = what_is_examined(question)
        return {
            "yes": f"{one} is better than {other} at {what}",
            "no": f"{other} is better than {one} at {what}",
            "open": f"Which of {one} and {other} is better at {what} is not decided",
        }[says]
    if comparison is not None:
        return {"yes": held, "no": f"It does not hold that {held}", "open": f"Whether {held} is not decided"}[says]
    verb = "" if question.robust and question.threshold is not None else "is "
    denied = f"{about} is not {held}" if verb else f"It does not hold that {about} {held}"
    return {
        "yes": f"{about} {verb}{held}",
        "no": denied,
        "open": f"Whether {about} {verb}{held} is not decided",
    }[says]


def _condition(question: ModelQuestion) -> str:
    return "" if question.condition is None else condition_in_words(question.condition)


def _while(question: ModelQuestion) -> str:
    if question.ability == Recognise():
        return ""
    return f" in {ability_in_words(question.ability, gerund=True)}"


def what_is_examined(question: ModelQuestion) -> str:
    """Name what models shall be able to do, and under which condition: "counting things under blur"."""
    under = f" under {_condition(question)}" if question.condition is not None else ""
    return ability_in_words(question.ability, gerund=True) + under
