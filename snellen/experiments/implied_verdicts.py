"""Implied verdicts: what decided claims say of the property that a question is about.

That a model loses by noise says that it is not robust to it. Some claims say neither yes nor no: that it recognizes
birds in pictures as they were says nothing of blurred ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import Claim, Design
from snellen.experiments.examination_plan import margin_of
from snellen.experiments.report import Finding
from snellen.experiments.verdicts import TURNED, Verdict
from snellen.reasoning.queries.abilities import Favour, IdentifyType

if TYPE_CHECKING:
    from snellen.reasoning.queries.conditions import Condition
    from snellen.reasoning.queries.model_query import Comparison, ModelQuestion
    from snellen.tools.calls import ToolCall

_FURTHEST: Final = 2.0
"""No two models differ by more: each loses all at most, or wins as much."""


def implied_verdicts(question: ModelQuestion, about: str, findings: Sequence[Finding], design: Design) -> set[Verdict]:
    """Return what findings of an experiment say of the property that a question is about.

    Args:
        question: The question.
        about: Whose property it is: a name, or "A and B".
        findings: Decided ones, of the kinds that answer the question.
        design: The experiment.
    """
    if question.comparison is not None:
        return _of_differences(question, question.comparison, about.split(" and "), findings)
    turned = [(one.verdict, _denies(one.claim, question, design)) for one in findings]
    return {TURNED[verdict] if denies else verdict for verdict, denies in turned if denies is not None}


def _denies(claim: Claim, question: ModelQuestion, design: Design) -> bool | None:
    """Tell whether a claim says that a property does not hold, rather than that it does; None where it says neither."""
    bound, ability = question.threshold, question.ability
    match claim.kind:
        case "ability" | "plain":
            is_changed = question.condition is not None or isinstance(ability, IdentifyType)
            of_others = (design.paired or claim.kind == "plain") and (claim.kind == "plain") == is_changed
            apart = question.than is not None or question.asks == "which classes"
            return None if of_others or apart else bound is not None and not bound.above
        case "drop" if question.than is not None:
            return _of_first(design, question.condition, question.than.condition)
        case "drop":
            return None if design.against else bound is None or not bound.above
        case "favor" if isinstance(ability, Favour) and not ability.answer:
            return None
        case _:
            return question.classes is not None and question.classes.is_upper


def _of_first(design: Design, first: Condition | None, second: Condition | None) -> bool | None:
    """Tell whether a drop is what is lost more under the first of two conditions; None where their tools do not say."""
    changed, against = ([getattr(arm, name) for arm in design.arms] for name in ("transform", "against"))
    is_first, is_second = (
        _makes(changed, one) and _makes(against, other) for one, other in ((first, second), (second, first))
    )
    return None if is_first == is_second else is_first


def _makes(calls: Sequence[ToolCall], condition: Condition | None) -> bool:
    changes = () if condition is None else condition.changes
    tools = {call.name for change in changes for call in change.calls}
    return any(call.name in tools for call in calls)


def _of_differences(
    question: ModelQuestion, comparison: Comparison, names: Sequence[str], findings: Sequence[Finding]
) -> set[Verdict]:
    """Return what claims about a model and others say of whether it is better than each, as good, or alike."""
    in_order = [name for name in question.models if name in names] or names
    first = question.models[0] if comparison.how in {"better", "as good"} else in_order[0]
    bounds: dict[str, tuple[float, float]] = {}
    for claim, verdict in ((one.claim, one.verdict) for one in findings if first in one.claim.models):
        is_first = claim.model == first
        rival, bar = (claim.other, claim.threshold) if is_first else (claim.model, -claim.threshold)
        low, high = bounds.get(rival, (-_FURTHEST, _FURTHEST))
        bounds[rival] = (max(low, bar), high) if (verdict == "yes") == is_first else (low, min(high, bar))
    least, most = _wanted(question, comparison, alone=len(names) == 1)
    held: set[Verdict] = {"yes" for low, high in bounds.values() if least <= low and high <= most}
    denied: set[Verdict] = {"no" for low, high in bounds.values() if high <= least or low >= most}
    return held | denied


def _wanted(question: ModelQuestion, comparison: Comparison, *, alone: bool) -> tuple[float, float]:
    """Return between which differences of the first model from another one a property holds."""
    margin = margin_of(comparison)
    if comparison.of_equals:
        return -margin, margin if comparison.how == "alike" else _FURTHEST
    is_worse = question.deficit or (alone and comparison.how == "best" and question.sense == "fails")
    return (-_FURTHEST, -margin) if is_worse else (margin, _FURTHEST)
