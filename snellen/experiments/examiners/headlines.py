"""Headlines: a question answered in a sentence, over all the models that it is about.

The answers for each model, or for each two that are compared, say what a headline rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from snellen.experiments.examiners.answer_sentences import claimed, extreme_found, property_of, superlative
from snellen.experiments.examiners.quantified_headlines import quantified_headline
from snellen.experiments.report import verdict_of
from snellen.experiments.standings import ModelStanding
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.echo import question_in_words
from snellen.sentences import capitalized

if TYPE_CHECKING:
    from snellen.experiments.report import Answer
    from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion

_LONGEST: Final = 600


def headline_of(
    question: ModelQuestion,
    standings: Sequence[ModelStanding],
    answers: Sequence[Answer],
    *,
    names_models: bool = False,
    of: int = 0,
) -> str:
    """Answer a question in a sentence.

    Args:
        question: The question, with its models.
        standings: Where each model, or each two, stand, with the figures that decide.
        answers: What is said of each of them, in the same order.
        names_models: Whether it was asked about these models, and not about all there are.
        of: How many models it was asked about; more than it has where only the first of them are examined.

    Returns:
        The sentence; nothing where nobody was asked, or of several pairs a yes or no would say nothing.
    """
    told = _headline(question, standings, answers, names_models=names_models)[:_LONGEST]
    if not told or of <= len(question.models):
        return told
    first = f"the first {len(question.models)} of {of} models"
    if "the models" in told:
        return told.replace("the models", first, 1)
    return f"{told.removesuffix('.')} (among {first})."


def _headline(
    question: ModelQuestion, standings: Sequence[ModelStanding], answers: Sequence[Answer], *, names_models: bool
) -> str:
    if question.comparison is not None and question.comparison.how == "best" and not question.comparison.margin:
        return _ranking(question, standings)
    if len(answers) == 1 and question.quantifier is None:
        return _alone(question, standings[0], answers[0])
    asked = question if names_models or question.comparison is not None else question.model_copy(update={"models": ()})
    if question.asks in _FOUND:
        return _answered_apart(asked, standings, _FOUND[question.asks])
    said = {
        one.about.replace(" and ", " against "): "cannot be said"
        if standing.moot
        else {"undecided": "not decided"}.get(one.answer, one.answer)
        for one, standing in zip(answers, standings, strict=True)
        if one.answer is not None
    }
    if len(said) < len(answers):
        return "" if question.comparison is not None else _properties(question, standings)
    if question.quantifier is not None:
        return quantified_headline(asked, question.quantifier, said)
    listed, together = _listed(said), ""
    if (
        question.comparison is not None and len(set(said.values())) > 1
    ):  # what is asked is whether it holds of all pairs
        together = "No: " if "no" in said.values() else "Not decided: "
    answer = together + listed if together else capitalized(listed)
    return f"{question_in_words(asked)} {answer}."


def headline_of_answers(query: ModelQuery, answers: Sequence[Answer], models: Sequence[str]) -> str:
    """Answer a query in a sentence from what a chat model said of each model, which decided claims bear out.

    Args:
        query: Its meaning.
        answers: What is said of each model.
        models: Those that are examined.

    Returns:
        The sentence; nothing where there are several questions, models are compared, or no yes or no was given.
    """
    (question, *more), names = query.questions, [one.about for one in answers]
    unfit = more or question.comparison is not None or any(one.answer is None for one in answers)
    if not answers or unfit or len(set(names)) < len(names) or not set(names) <= set(models):
        return ""
    standings = [ModelStanding(one.about, verdict_of(one), pending=False, decisive=verdict_of(one)) for one in answers]
    named = bool(question.models) or len(names) < len(models)
    return headline_of(question.model_copy(update={"models": tuple(names)}), standings, answers, names_models=named)


def _alone(question: ModelQuestion, standing: ModelStanding, answer: Answer) -> str:
    """Answer a question about one model, or about two that are compared."""
    told = {"yes": "Yes", "no": "No", "undecided": "Not decided", None: ""}[answer.answer]
    if not told and question.asks == "limit":
        told = _limit(standing)
    elif not told and question.asks == "how much":
        told = "; ".join(filter(None, (standing.figures, standing.beside))) or "Not decided"
    if standing.moot:
        told = "Cannot be said"
    if not told:  # the question says itself whether: "Whether clip is robust to noise."
        return f"{claimed(standing, question)}."
    return f"{question_in_words(question)} {capitalized(told)}."


def _limit(standing: ModelStanding) -> str:
    """Say up to which severity something holds, as far as that is decided."""
    if standing.moot:
        return "cannot be said"
    if standing.found:
        return standing.found
    return f"not decided, but {standing.bound}" if standing.bound else "not decided"


def _favored(standing: ModelStanding) -> str:
    """Say which answers a model favors, without the model."""
    if standing.moot:
        return "cannot be said"
    return standing.found or ("none" if standing.says == "no" else "not decided")


_FOUND: Final[Mapping[str, Callable[[ModelStanding], str]]] = {
    "limit": _limit, "which classes": extreme_found, "which answer": _favored,
}  # fmt: skip
"""How it is said what was found of a model, of questions that ask for it."""


def _answered_apart(
    question: ModelQuestion, standings: Sequence[ModelStanding], said_of: Callable[[ModelStanding], str]
) -> str:
    """Say what the answer is for each model, where it is no yes or no: models with the same answer together."""
    names: dict[str, list[str]] = {}
    for one in standings:
        names.setdefault(said_of(one), []).append(one.about)
    everyone = "both of them" if len(standings) == 2 else "all of them"  # noqa: PLR2004 - a pair
    told = "; ".join(f"{said}, for {listing(whom) if len(names) > 1 else everyone}" for said, whom in names.items())
    return f"{question_in_words(question)} {capitalized(told)}."


def _properties(question: ModelQuestion, standings: Sequence[ModelStanding]) -> str:
    """Say whom a property is found in, where the question is not whether."""
    words = {"yes": "yes", "no": "no", "open": "not decided"}
    said = {one.about: "cannot be said" if one.moot else words[one.says] for one in standings}
    held = property_of("", question)
    return f"{capitalized(held)}: {_listed(said)}."


def _listed(said: Mapping[str, str]) -> str:
    """List for whom it is yes, no, or something else."""
    kinds = [kind for kind in ("yes", "no", "not decided", "cannot be said") if kind in said.values()]
    if len(kinds) == 1:
        whom = "all" if len(said) > 2 else "both"  # noqa: PLR2004 - a pair
        return f"{kinds[0]}, for {whom} of them"
    whom_by_kind = {kind: [name for name, one in said.items() if one == kind] for kind in kinds}
    return "; ".join(f"{kind} for {listing(names)}" for kind, names in whom_by_kind.items())


def _ranking(question: ModelQuestion, standings: Sequence[ModelStanding]) -> str:
    """Say which model is the best, or the worst, and in which order the others follow."""
    worst = question.sense == "fails"
    ahead: dict[str, set[str]] = {name: set() for name in question.models}
    asked: set[str] = set()
    for one in standings:
        first, _, second = one.about.partition(" and ")
        asked |= set() if one.moot else {first, second}
        if one.says != "open" and not one.moot:
            better, other = (first, second) if one.says == "yes" else (second, first)
            ahead[better if worst else other].add(other if worst else better)
    groups = _groups(ahead, [name for name in question.models if name in asked])
    first_of_all = superlative(question)
    left = [name for name in question.models if name not in asked]
    unasked = f"; {listing(left)} cannot be compared" if left else ""
    if not groups:
        return f"Which model is {first_of_all} cannot be said."
    if len(groups) == 1 and len(groups[0]) > 1:
        return f"Which of {listing(groups[0])} is {first_of_all} is not decided{unasked}."
    order = ["", *(f"; then {_tied(group)}" for group in groups[1:])]
    if len(groups[0]) == 1:
        return f"{groups[0][0]} is {first_of_all}{''.join(order)}{unasked}."
    return f"Which of {listing(groups[0])} is {first_of_all} is not decided{''.join(order)}{unasked}."


def _groups(ahead: Mapping[str, set[str]], names: Sequence[str]) -> list[list[str]]:
    """Put models in order: of each group nobody is ahead but those of the groups before.

    Args:
        ahead: Those that are ahead of each model for sure.
        names: The models.
    """
    groups: list[list[str]] = []
    left = list(names)
    while left:
        first = [
            name for name in left if not ahead[name] & set(left)
        ] or left  # verdicts that contradict each other tie
        groups.append(first)
        left = [name for name in left if name not in first]
    return groups


def _tied(group: Sequence[str]) -> str:
    return group[0] if len(group) == 1 else f"{listing(group)}, not told apart"
