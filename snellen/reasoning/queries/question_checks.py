"""Checks of questions about models: which parts go together, and why others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.reasoning.queries.conditions import SCALES, Change

if TYPE_CHECKING:
    from snellen.reasoning.queries.model_query import Contrast, ModelQuestion

_NO_VIRTUES: Final = frozenset({"mistake", "favour"})
"""Kinds of abilities of which less is better."""
_OF_PLAIN_PICTURES: Final = frozenset({"identify type", "answer freely", "judge pairs"})
_WITH_LIMITS: Final = frozenset({"recognise", "tell apart", "tell members"})


def problem_of(question: ModelQuestion) -> str:
    """Say why a question is none; empty where it is one."""
    problems = (
        _problem_of_condition,
        _problem_of_comparison,
        _problem_of_limit,
        _problem_of_classes,
        _problem_of_quantifier,
    )
    return next(filter(None, (each(question) for each in problems)), "")


def _problem_of_condition(question: ModelQuestion) -> str:
    ability, condition = question.ability, question.condition
    if condition is None and (question.robust or question.asks == "which changes"):
        return "what is lost is lost under a condition"
    if ability.kind in _OF_PLAIN_PICTURES and condition is not None:
        return "this is not examined under a further condition"
    family = condition is not None and bool(condition.family) and question.robust
    if question.asks == "which changes" and (not family or question.sense == "open"):
        return "which changes do most is asked of a family of changes"
    return ""


def _problem_of_comparison(question: ModelQuestion) -> str:
    stated = question.threshold is not None and question.asks != "limit"
    if question.asks != "whether" and (question.comparison or stated or question.than):
        return "a question for a degree compares nothing"
    alone = question.comparison or question.threshold or question.robust
    if question.ability.kind in _NO_VIRTUES and alone:
        return "what is mistaken for what, or said too often, is asked of each model"
    if question.asks == "which answer" and not _is_open_favour(question):
        return "which of all answers is favored is asked"
    if question.ability.kind == "favour" and (question.than or (question.ability.always and question.sense == "fails")):
        return "who does not always say something may say it often"
    positive = question.threshold or (question.comparison and question.comparison.of_equals)
    if question.sense == "fails" and positive:
        return "the opposite of a bound is another bound, of being as good to be worse"
    if sum(each is not None for each in (question.comparison, question.threshold, question.than)) > 1:
        return "a question has a comparison, a threshold or a contrast"
    comparison = question.comparison
    fewest = {"better": 2, "as good": 2}.get(comparison.how, 0) if comparison is not None else 0
    if comparison is not None and (len(question.models) < fewest or len(question.models) == 1):
        return "one model is compared with another"
    return _problem_of_contrast(question, question.than) if question.than is not None else ""


def _is_open_favour(question: ModelQuestion) -> bool:
    ability = question.ability
    return ability.kind == "favour" and not ability.answer and not ability.always and question.sense == "holds"


def _problem_of_contrast(question: ModelQuestion, than: Contrast) -> str:
    if (than.ability is None) == (than.condition is None):
        return "a contrast is with an ability or with a condition"
    same = than.ability == question.ability if than.ability is not None else than.condition == question.condition
    return "nothing is contrasted with itself" if same else ""


def _problem_of_limit(question: ModelQuestion) -> str:
    if question.asks != "limit":
        return ""
    change, bound = question.condition.change if question.condition is not None else None, question.threshold
    if change is None or change != Change(type=change.type) or change.type not in SCALES:
        return "a limit is that of a change with a severity"
    if question.robust or question.sense != "holds" or (bound is not None and bound.how != "at least"):
        return "up to a limit something holds"
    return "" if question.ability.kind in _WITH_LIMITS else "this has no limit"


def _problem_of_classes(question: ModelQuestion) -> str:
    by_class = question.classes is not None or question.asks == "which classes"
    if by_class and question.ability.kind == "recognise" and question.ability.size:
        return "classes are compared in pictures of any size"
    if question.classes is not None:
        alone = question.comparison is None and question.than is None and not question.robust
        plain = question.asks == "whether" and question.sense != "fails" and question.ability.kind == "recognise"
        bounded = question.classes.how not in {"exactly", "how many"}
        return "" if alone and plain and bounded else "for how many classes it holds is asked of recognizing them"
    if question.asks != "which classes":
        return ""
    if question.robust or question.sense == "open" or question.ability.kind != "recognise":
        return "which classes are recognized best or worst is asked"
    return ""


def _problem_of_quantifier(question: ModelQuestion) -> str:
    guessed = question.threshold is not None and question.threshold.guessing
    if guessed and (question.robust or question.asks == "limit" or question.classes is not None):
        return "what is guessed is compared with what is recognized"
    if question.threshold is not None and question.threshold.relative and not question.robust:
        return "what is lost is lost under a condition"
    if question.quantifier is None:
        return ""
    if question.asks != "whether" or question.comparison is not None or question.sense == "open":
        return "for how many models something holds is asked where it is clear whether it does for each"
    named = len(question.models)
    return "one model is not several" if named == 1 or 0 < named < question.quantifier.count else ""
