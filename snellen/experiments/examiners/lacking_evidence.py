"""Lacking evidence: why a question is not decided for a model, and what would decide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.experiments.endings import in_words, pictures_to_decide, rounded_up
from snellen.experiments.standings import again_of, outcomes_of

if TYPE_CHECKING:
    from snellen.experiments.endings import Ending
    from snellen.experiments.examination_plan import ExaminedQuestion
    from snellen.experiments.report import Experiment, Finding
    from snellen.experiments.standings import ModelStanding


def lacking(standing: ModelStanding, part: ExaminedQuestion, experiments: Sequence[Experiment], ending: Ending) -> str:
    """Say, in a clause, why a question is not decided for a model, and what would decide it; empty where it is.

    Of an answer that a further experiment might still take back, say that there was none.

    Args:
        standing: Of the model, or of the two that are compared.
        part: The question.
        experiments: Those that were begun for it.
        ending: Of the report.
    """
    if standing.moot or (standing.says != "open" and not standing.pending):
        return ""
    because, instead = f", as {ending.why}" if ending.why else "", f"; {ending.instead}" if ending.instead else ""
    if standing.again is not None:
        otherwise = again_of(part, standing.again).question
        if part.question.comparison is not None:
            asked = f"they have to be asked in other words, “{otherwise}”, before one of them is said to be worse"
            return f"{asked}, and were not{because}{instead}"
        asked = f"it has to be asked in other words, “{otherwise}”, before it is said to fail"
        return f"{asked}, and was not{because}{instead}"
    if standing.says != "open":
        return f"a further experiment might change that, and was not made{because}{instead}" if because else ""
    if standing.pending:
        return f"a further experiment has to decide, and was not made{because}{instead}"
    found = open_findings(standing, part, experiments)
    ended = [(one, [each for each in one.findings if each in found and each.n]) for one in experiments]
    waiting = [(one, findings) for one, findings in ended if findings]
    if not waiting or part.question.asks == "limit":  # which takes several decisions
        return f"{ending.why}{instead}" if ending.why else ""
    needed = [pictures_to_decide(one, findings, ending.error_rate) for one, findings in waiting]
    known = [number for number in needed if number is not None]
    total = rounded_up(sum(known)) if len(known) == len(needed) else None
    return in_words(total, most=ending.most)


def wanted_by(
    standing: ModelStanding, part: ExaminedQuestion, experiments: Sequence[Experiment]
) -> dict[str, Experiment | None]:
    """Return, by its purpose, the experiment that a standing waits for, with the one that it repeats in other words."""
    if not standing.pending:
        return {}
    if standing.again is not None:
        planned = part.designs[standing.again[0]]
        repeated = next((one for one in experiments if one.design.purpose == planned.purpose), None)
        return {again_of(part, standing.again).purpose: repeated}
    return {f"after {len(experiments)}: {part.question!r}": None}


def open_findings(standing: ModelStanding, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> list[Finding]:
    """Return the findings that more pictures would have to decide: any of those that would do alone, else all."""
    counting = [one for one in outcomes_of(standing.about, part, experiments) if one.counts]
    found = [one for each in counting for one in each.findings if one.verdict == "open" and one.n and not one.trouble]
    asked = [one for one in found if one.claim.kind != "plain"] or found
    alone = [one for one in asked if one.leaning == _alone(one) or one.claim.other]
    return [max(alone, key=lambda one: one.logarithm)] if alone else asked


def _alone(found: Finding) -> str:
    """Return the verdict on a claim that answers its question by itself: no to an ability, yes to a loss."""
    return "yes" if found.claim.kind in {"drop", "favor", "contrast", "worst", "best"} else "no"
