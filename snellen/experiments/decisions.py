"""Decisions: verdicts from what was measured, and how many more trials are worth making.

`benchmarks.nulls` runs the same functions over resampled trials, to measure how often verdicts are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.scoring import confidence_interval, evidence, prospect, share_errors

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.protocols.protocol import Evaluated
    from snellen.experiments.report import Experiment, Finding, Report

_ENDLESS: Final = 600.0
"""Logarithms of evidence are kept below this: JSON knows no infinity."""

FIRST: Final = 12
"""Units that each claim is observed on before anybody looks."""
STEP: Final = 8
"""Further units before anybody looks again, and a sixth of those that there are."""
UNLIKELY: Final = 0.05
"""The probability of a claim's being decided by the units it may get, below which it gets none."""
SHARE_USED: Final = "its share of the pictures is used up"
HOPELESS: Final = "stopped early: more pictures are unlikely to settle it"
_MAY_GO_ON: Final = frozenset([SHARE_USED, HOPELESS, "the rest of its pictures would hardly decide more"])
"""Reasons why an experiment ended whose claims more pictures may decide; the last is that of older reports."""


def finding(design: Design, evaluated: Evaluated, before: Finding) -> Finding:
    """Return what is known of a claim now; its verdict and its interval are left open.

    Args:
        design: Of its experiment.
        evaluated: What models said.
        before: The finding so far.
    """
    claim, seen = before.claim, evaluated.observations(before.claim)
    result = evidence(seen, claim.threshold, low=claim.low, high=claim.high)
    strength = result.strength
    return before.model_copy(
        update={
            "n": len(seen),
            "unit": design.unit.name,
            "mean": seen.mean,
            "spread": float(np.std([*seen.values, claim.low, claim.high])),
            "logarithm": min(math.log(strength), _ENDLESS) if strength > 0 else -_ENDLESS,
            "leaning": "open" if not seen else "yes" if result.above > result.below else "no",
            "verdict": "open",
        }
    )


def with_interval(evaluated: Evaluated, found: Finding, *, alpha: float) -> Finding:
    """Return a finding with the means that its observations do not rule out.

    Args:
        evaluated: What models said.
        found: What is known of the claim.
        alpha: The error rate of the interval.
    """
    claim = found.claim
    span = confidence_interval(evaluated.observations(claim), alpha=alpha, low=claim.low, high=claim.high)
    kind = {"interval": (span.low, span.high), "error_rate": alpha, "interval_kind": "confidence sequence"}
    return found.model_copy(update=kind)


def decided(report: Report) -> Report:
    """Return the report with the verdicts that all its evidence together allows at its error rate (e-BH)."""
    examined = [finding for finding in report.findings if not finding.trouble]
    shared = share_errors([math.exp(finding.logarithm) for finding in examined], alpha=report.alpha)
    verdicts = iter(shared.decided)

    def ruled(finding: Finding) -> Finding:
        if finding.trouble:
            return finding
        return finding.model_copy(update={"verdict": finding.leaning if next(verdicts) else "open"})

    experiments = [
        one.model_copy(update={"findings": [ruled(finding) for finding in one.findings]}) for one in report.experiments
    ]
    return report.model_copy(update={"experiments": experiments})


def error_rate(report: Report) -> float:
    """Return the error rate of each claim's interval that goes with the verdicts of a report."""
    examined = [finding for finding in report.findings if not finding.trouble]
    return share_errors([math.exp(finding.logarithm) for finding in examined], alpha=report.alpha).alpha


def replaced(report: Report, number: int, experiment: Experiment) -> Report:
    """Return the report with another state of one experiment."""
    experiments = [experiment if place == number else one for place, one in enumerate(report.experiments)]
    return report.model_copy(update={"experiments": experiments})


def judged(report: Report, number: int, evaluated: Evaluated) -> Report:
    """Return the report with the findings of one experiment as its trials have them now, and all verdicts.

    Args:
        report: As it was.
        number: The place of the experiment.
        evaluated: Its trials.
    """
    experiment = report.experiments[number]
    findings = [one if one.trouble else finding(experiment.design, evaluated, one) for one in experiment.findings]
    return decided(replaced(report, number, experiment.model_copy(update={"findings": findings})))


def with_intervals(report: Report, number: int, evaluated: Evaluated) -> Report:
    """Return the report with the results of one experiment and the intervals that agree with all verdicts.

    All of them have one error rate: it follows from how many verdicts there are, and these from the evidence alone.

    Args:
        report: With its verdicts.
        number: The place of the experiment.
        evaluated: Its trials.
    """
    experiment, alpha = report.experiments[number], error_rate(report)
    findings = [one if one.trouble else with_interval(evaluated, one, alpha=alpha) for one in experiment.findings]
    known = {"findings": findings, "results": evaluated.results(alpha=alpha)}
    return replaced(report, number, experiment.model_copy(update=known))


def asked_now(experiment: Experiment) -> list[str]:
    """Return the models that are asked about an experiment's pictures: those whose claims more pictures may decide."""
    return list(
        dict.fromkeys(name for one in experiment.pending for name in (one.claim.model, one.claim.other) if name)
    )


def next_rounds(report: Report) -> int:
    """Return how many more rounds the experiment under way gets before anybody looks again.

    Rounds are sized by the units that they have: fifteen pictures of one original say as much as one unit does.
    """
    experiment = report.under_way
    design, left = experiment.design, _left(report)
    if experiment.stopped or spent(report) or (experiment.rounds and hopes(experiment, left, report.alpha) < UNLIKELY):
        return 0
    units = max(STEP, experiment.units // 6) if experiment.rounds else FIRST
    least = 0 if experiment.rounds else -(-design.least // len(design.arms))
    return max(min(max(-(-units // design.units), least), left), 0)


def hopes(experiment: Experiment, rounds: int, alpha: float) -> float:
    """Return how likely so many more rounds decide one of an experiment's claims, of those that matter."""
    units = rounds * experiment.design.units
    return max(
        (
            prospect(one.n, one.mean, one.spread, one.claim.threshold, most=one.n + units, alpha=alpha)
            for one in experiment.pending
            if one.n
        ),
        default=0.0,
    )


def spent(report: Report) -> str:
    """Say which part of the budget is used up, apart from pictures; empty while none is."""
    budget = report.budget
    if report.seconds >= budget.seconds:
        return f"the {budget.seconds:.0f} seconds for measuring are over"
    if report.trials >= budget.trials:
        return f"the {budget.trials:,} trials are used up"
    return ""


def why_stopped(report: Report) -> str:
    """Say why the experiment under way gets no more pictures."""
    experiment = report.under_way
    if experiment.stopped:
        return experiment.stopped
    examined = [one for one in experiment.findings if not one.trouble]
    if not examined:
        return "nobody could be asked"
    if not experiment.pending:
        undecided = any(one.verdict == "open" for one in examined)
        return "what matters is decided" if undecided else "all claims are decided"
    return spent(report) or (SHARE_USED if _left(report) < 1 else HOPELESS)


def taken_up(report: Report, unsettled: Sequence[str]) -> Report:
    """Take up the experiment again that the rest of the pictures most likely decides, for claims about these models.

    Args:
        report: Whose experiments have all ended.
        unsettled: Whom claims are about that would still make a difference: `Claim.about`.
    """
    left = report.budget.images - report.images

    def again(number: int) -> Experiment:
        experiment = report.experiments[number]
        findings = [one.model_copy(update={"moot": one.claim.about not in unsettled}) for one in experiment.findings]
        return experiment.model_copy(update={"findings": findings, "stopped": ""})

    def hope(number: int) -> float:
        return hopes(again(number), left // len(report.experiments[number].design.arms), report.alpha)

    open_ones = [place for place, one in enumerate(report.experiments) if one.stopped in _MAY_GO_ON]
    if report.budget.each or not open_ones:
        return report
    best = max(open_ones, key=hope)
    return replaced(report, best, again(best)).model_copy(update={"again": best})


def _left(report: Report) -> int:
    """Return how many more rounds the experiment under way may have."""
    budget, experiment = report.budget, report.under_way
    before = report.images - experiment.images
    if budget.each:
        images = min(budget.each, budget.images - before)
    else:
        # Half of what is left for each: later experiments depend on what earlier ones show.
        last = report.again is not None or len(report.experiments) >= budget.experiments
        images = (budget.images - before) // (1 if last else 2)
    return max(images - experiment.images, 0) // len(experiment.design.arms)
