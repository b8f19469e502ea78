"""Sentences of answers: what was examined of a model, and whether it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.experiments.design import MARGIN
from snellen.experiments.verdicts import POLARITIES, TURNED
from snellen.reasoning.language.inflection import listing, plural
from snellen.reasoning.queries.abilities import Favour, Mistake, Recognise, kinds_of
from snellen.reasoning.queries.conditions import EVERY, Condition
from snellen.reasoning.queries.echo import (
    ability_in_words,
    condition_in_words,
    kind_in_words,
    loss_in_words,
    percent,
    severity_in_words,
    share_in_words,
)
from snellen.reasoning.queries.model_query import Contrast, ModelQuestion
from snellen.sentences import capitalized

_FEW: Final = 4
"""Classes among which the worst or best is that are told."""

if TYPE_CHECKING:
    from snellen.experiments.standings import ModelStanding
    from snellen.experiments.verdicts import Polarity, Verdict

_LONGEST: Final = 690
_SUPERLATIVES: Final = {
    "better": "best", "worse": "worst", "more robust": "most robust", "less robust": "least robust",
}  # fmt: skip
"""Characters of a sentence, which may begin with "Yes, "."""


def property_of(about: str, question: ModelQuestion, found: str = "") -> str:  # noqa: PLR0911 - a sort each
    """Name what is examined, so that it is clear without the query.

    Args:
        about: The model, or the two that are compared.
        question: The question.
        found: Up to which severity it holds, where that is asked and known.
    """
    bound = question.threshold
    if question.comparison is not None:
        return _comparing(about, question)
    if question.asks == "limit" and bound is not None:
        up_to = found or f"up to which {_condition(question)}"
        return f"right in {bound.how} {percent(bound.share)} at {_ability(question)} {up_to}"
    if question.than is not None:
        return _contrasting(question, question.than)
    if question.asks == "which classes":
        return f"{_extreme(question)} {plural(found)}" if found else _extreme(question)
    if isinstance(question.ability, Favour):
        return _favoring(question, question.ability, found)
    if isinstance(question.ability, Mistake):
        under = f" under {_condition(question)}" if question.condition is not None else ""
        things, other = kind_in_words(question.ability.things), kind_in_words(question.ability.other)
        return f"takes {things} for {other} more often than for other things{under}"
    if bound is not None and question.robust:
        return f"loses {loss_in_words(bound)} under {_condition(question)}{_while(question)}"
    if bound is not None:
        return f"{share_in_words(bound)} at {what_is_examined(question)}"
    if question.classes is not None:
        return f"recognizes {what_is_examined(question).removeprefix('recognizing ')}"
    return (
        f"robust to {_condition(question)}{_while(question)}"
        if question.robust
        else f"good at {what_is_examined(question)}"
    )


def polarity_of(question: ModelQuestion) -> Polarity:
    """Return what a "yes" to a question means of what is examined."""
    if question.asks != "whether" or (question.comparison is not None and question.comparison.how == "best"):
        return "unknown"
    return "same" if question.deficit else POLARITIES[question.sense]


def _favoring(question: ModelQuestion, ability: Favour, found: str) -> str:
    under = f" under {_condition(question)}" if question.condition is not None else ""
    if not ability.answer and not ability.always:
        return f"favors {found or 'any answer'}{under}"
    verb, _, said = ability_in_words(ability).partition(" ")
    return f"favors {said}{under}" if verb == "favor" else f"always chooses {said.removeprefix('choose ')}{under}"


def sentence_of(standing: ModelStanding, question: ModelQuestion) -> str:
    """Say whether it holds, and what decided.

    Args:
        standing: Of the model, or of the two that are compared, with the figures that decided.
        question: The question.
    """
    if standing.moot:
        return _fitting(f"{standing.about}: cannot be said, because {standing.moot}.")
    because = f": {standing.figures}" if standing.figures else ""
    severities = [severity_in_words(one) for one in conditions_examined(question)]
    because += "".join(f"; {one}" for one in severities if one) if because else ""
    beside, form, lacks = (f"; {one}" if one else "" for one in (standing.beside, standing.form, standing.lacks))
    said = claimed(standing, question)
    whole = f"{said}{because}{beside}{form}{lacks}."
    return whole if len(whole) <= _LONGEST else _fitting(f"{said}{because}{lacks}{form}{beside}.")


def _fitting(sentence: str) -> str:
    """Return a sentence as long as an answer may be, without the last of its clauses where it is longer."""
    if len(sentence) <= _LONGEST:
        return sentence
    clauses, _, _ = sentence[:_LONGEST].rpartition("; ")
    return f"{clauses}." if clauses else f"{sentence[: _LONGEST - 1]}…"


def claimed(standing: ModelStanding, question: ModelQuestion) -> str:
    """Say whether it holds, without a full stop."""
    about, says = standing.about, standing.says
    held, comparison = property_of(about, question, standing.found), question.comparison
    one, _, other = about.partition(" and ")
    verb = "" if comparison is not None or _has_a_verb(question) else "is "
    subject = "" if comparison is not None else f"{about} "
    if says == "no" and _is_of_every(question) and (comparison is None or comparison.how != "best"):
        return f"It does not hold that {subject}{verb}{held}"  # "not to every one" may be understood as to none
    if comparison is not None and comparison.how in {"better", "best"} and not comparison.margin:
        return _compared(one, other, says, question)
    if comparison is not None:
        return {"yes": held, "no": f"It does not hold that {held}", "open": f"Whether {held} is not decided"}[says]
    if question.than is not None:
        return _contrast_said(about, says, question, question.than)
    if question.classes is not None and question.classes.how == "not all" and question.threshold is None:
        # Not to recognize fewer than all is to recognize all.
        held, says = held.replace("fewer than all", "all"), TURNED[says]
    if says == "no" and _has_a_verb(question) and not question.threshold:
        for verb in ("take", "favor", "choose", "recognize"):
            held = held.replace(f"{verb}s", verb, 1)
        return f"{about} does not {held}"
    if question.asks == "which classes":
        return _extreme_said(standing, question, held)
    if question.asks == "limit" and says == "open":
        return _bounded(standing, question, held.partition(" up to ")[0])
    no_better = held.removeprefix("no ") if held.startswith("no better") else f"not {held}"
    denied = f"{about} is {no_better}" if verb else f"It does not hold that {about} {held}"
    return {
        "yes": f"{about} {verb}{held}",
        "no": denied,
        "open": f"Whether {about} {verb}{held} is not decided",
    }[says]


def _compared(one: str, other: str, says: Verdict, question: ModelQuestion) -> str:
    """Say which of two models is better, or worse where that was asked."""
    adjective, what = _adjective(question)
    if says == "open":
        return f"Which of {one} and {other} is {adjective} {what} is not decided"
    is_worse = question.sense == "fails"
    if is_worse and says == "yes" and question.comparison is not None and question.comparison.how == "better":
        return f"{one} is not {adjective} than {other} {what}, but {'more robust' if question.robust else 'better'}"
    first, second = (one, other) if (says == "yes") != is_worse else (other, one)
    return f"{first} is {adjective} than {second} {what}"


def _contrast_said(about: str, says: Verdict, question: ModelQuestion, than: Contrast) -> str:
    """Say at which of two abilities a model is better, or worse where that was asked; or under which condition."""
    is_worse = question.sense == "fails"
    if says == "open":
        return f"Whether {about} is {_contrasting(question, than, turned=is_worse)} is not decided"
    if is_worse and says == "yes":
        better = "more robust" if question.robust and than.condition is not None else "better"
        return f"{about} is not {_contrasting(question, than, turned=True)}, but {better}"
    return f"{about} is {_contrasting(question, than, turned=says == 'no')}"


def _extreme_said(standing: ModelStanding, question: ModelQuestion, held: str) -> str:
    """Say which class is recognized worst or best, or among which it is."""
    number = standing.among[1]
    if standing.says != "open":
        return f"Of {number} kinds of {_things(question)}, {standing.about} is {held}"
    which = _may_be(standing)
    kinds = f"{number} kinds of {_things(question)}"
    return f"Which of {kinds} {standing.about} is {held} is not decided{f': it {which}' if which else ''}"


def extreme_found(standing: ModelStanding) -> str:
    """Say which class a model recognizes worst, or best, without the model."""
    if standing.moot:
        return "cannot be said"
    if standing.says != "open":
        return plural(standing.found)
    return f"not decided{f', but {which}' if (which := _may_be(standing)) else ''}"


def _may_be(standing: ModelStanding) -> str:
    """Say which few classes are left that may be the worst, or best; empty where many are."""
    names = standing.among[0]
    return f"may be {listing([plural(one) for one in names], 'or')}" if 0 < len(names) <= _FEW else ""


def _extreme(question: ModelQuestion) -> str:
    under = f" under {_condition(question)}" if question.condition is not None else ""
    return f"{'worst' if question.sense == 'fails' else 'best'} at recognizing{under}"


def _things(question: ModelQuestion) -> str:
    return kind_in_words(kinds_of(question.ability)[0])


def _has_a_verb(question: ModelQuestion) -> bool:
    """Tell whether what is examined is named with its verb: "loses more than 5 points"."""
    counted = question.classes is not None and question.threshold is None
    return counted or isinstance(question.ability, Mistake | Favour) or bool(question.robust and question.threshold)


def _is_of_every(question: ModelQuestion) -> bool:
    return question.condition is not None and question.condition.family == EVERY


def _bounded(standing: ModelStanding, question: ModelQuestion, held: str) -> str:
    """Say what is decided of a limit that was not found."""
    unknown = f"up to which {_condition(question)} {standing.about} is {held} is not decided"
    if not standing.bound or standing.bound.startswith("not "):
        but = f", but {standing.bound}" if standing.bound else ""
        return f"{capitalized(unknown)}{but}"
    return f"{standing.about} is {held} {standing.bound}; where it ends is not decided"


def _comparing(about: str, question: ModelQuestion) -> str:
    """Name what is examined of two models."""
    one, _, other = about.partition(" and ")
    comparison, (adjective, what) = question.comparison, _adjective(question, of_property=True)
    points = f"{100 * ((comparison and comparison.margin) or MARGIN):.10g} points"
    good = "robust" if question.robust else "good"
    if comparison is not None and comparison.how == "alike":
        return f"{one} and {other} are equally {good} {what}, within {points}"
    if comparison is not None and comparison.how == "as good":
        return f"{one} is as {good} as {other} {what}, or worse by less than {points}"
    by = f" by more than {points}" if comparison is not None and comparison.margin else ""
    return f"{one} is {adjective} than {other} {what}{by}"


def _adjective(question: ModelQuestion, *, of_property: bool = False) -> tuple[str, str]:
    """Return what one of two models is, and at what.

    Args:
        question: The question.
        of_property: Name what is examined: to be better, unless the question asks by how much a model is worse.
    """
    is_worse = bool(question.deficit) if of_property else question.sense == "fails"
    if question.robust:
        return "less robust" if is_worse else "more robust", f"to {_condition(question)}{_while(question)}"
    return "worse" if is_worse else "better", f"at {what_is_examined(question)}"


def superlative(question: ModelQuestion) -> str:
    """Return what the first of several models is: best at something, or most robust to something."""
    adjective, what = _adjective(question)
    return f"{_SUPERLATIVES[adjective]} {what}"


def _contrasting(question: ModelQuestion, than: Contrast, *, turned: bool = False) -> str:
    """Name what is examined of two abilities, or of two conditions."""
    if than.ability is not None:
        other = ability_in_words(than.ability, gerund=True)
        under = f" under {_condition(question)}" if question.condition is not None else ""
        return f"{'worse' if turned else 'better'} at {_ability(question)} than at {other}{under}"
    other = "" if than.condition is None else condition_in_words(than.condition)
    if question.robust:
        return f"{'less' if turned else 'more'} robust to {_condition(question)} than to {other}{_while(question)}"
    words = f"at {_ability(question)} under {_condition(question)} than under {other}"
    return f"{'worse' if turned else 'better'} {words}"


def _condition(question: ModelQuestion) -> str:
    return "" if question.condition is None else condition_in_words(question.condition)


def _while(question: ModelQuestion) -> str:
    return "" if question.ability == Recognise() else f" in {_ability(question)}"


def _ability(question: ModelQuestion) -> str:
    return ability_in_words(question.ability, gerund=True, classes=question.classes)


def conditions_examined(question: ModelQuestion) -> list[Condition]:
    """Return the condition of a question and that of the other side of its contrast, as far as it has them."""
    both = (question.condition, None if question.than is None else question.than.condition)
    return [] if question.asks == "limit" else [one for one in both if one is not None]


def what_is_examined(question: ModelQuestion) -> str:
    """Name what models shall be able to do, and under which condition: "counting things under blur"."""
    under = f" under {_condition(question)}" if question.condition is not None else ""
    return _ability(question) + under
