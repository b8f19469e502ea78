"""Decisions: verdicts from what was measured, and how many more trials are worth making.

`benchmarks.nulls` runs the same functions over resampled trials, to measure how often verdicts are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.experiments.class_findings import ENDLESS, class_finding, class_finding_with_interval
from snellen.experiments.design import BY_CLASS
from snellen.scoring import confidence_interval, evidence, prospect, share_errors

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.protocols.protocol import Evaluated
    from snellen.experiments.report import Experiment, Finding, Report
    from snellen.scoring import Observations

_LEAST_SURE: Final = 0.9
"""The largest error rate of an interval: users may ask for verdicts at any rate below 1."""

FIRST: Final = 12
"""Units that each claim is observed on before anybody looks."""
STEP: Final = 4
"""Further units before anybody looks again, and a tenth of those that there are: looking costs no evidence."""
SHARE_USED: Final = "its share of the pictures is used up"
PICTURES_USED: Final = "all pictures of the budget are used up"
HOPELESS: Final = "stopped early: more pictures are unlikely to settle it"
TOO_FEW_LEFT: Final = "stopped early: the pictures that were left are unlikely to settle it"
_DECIDED: Final = "all claims are decided"
_REOPENED: Final = "all claims were decided at the time; some no longer are, since later ones share the error rate"
_SETTLED: Final = "what matters is decided"
_MAY_GO_ON: Final = frozenset(
    [
        SHARE_USED, PICTURES_USED, HOPELESS, TOO_FEW_LEFT, _DECIDED, _SETTLED,
        "the rest of its pictures would hardly decide more",
    ]
)  # fmt: skip
"""Reasons why an experiment ended whose claims more pictures may decide; the last is that of older reports.

What was decided may be open again: claims of later experiments share the error rate.
"""


def finding(design: Design, evaluated: Evaluated, before: Finding) -> Finding:
    """Return what is known of a claim now; its verdict and its interval are left open.

    Args:
        design: Of its experiment.
        evaluated: What models said.
        before: The finding so far.
    """
    claim, seen = before.claim, evaluated.observations(before.claim)
    if claim.kind in BY_CLASS:
        return class_finding(design, seen, before)
    result = evidence(seen, claim.threshold, low=claim.low, high=claim.high)
    strength = result.of_difference if claim.names_either else result.strength
    return before.model_copy(
        update={
            "n": len(seen),
            "unit": design.unit.name,
            "mean": seen.mean,
            "shares": _shares(seen) if claim.kind == "mistake" and seen else None,
            "spread": float(np.std([*seen.values, claim.low, claim.high])),
            "logarithm": min(math.log(strength / claim.one_of), ENDLESS) if strength > 0 else -ENDLESS,
            "leaning": "open" if not seen else "yes" if result.above > result.below else "no",
            "verdict": "open",
        }
    )


def _shares(seen: Observations) -> tuple[float, float]:
    """Return the shares of units with a mistake and with another one."""
    return sum(value > 0 for value in seen.values) / len(seen), sum(value < 0 for value in seen.values) / len(seen)


def with_interval(evaluated: Evaluated, found: Finding, *, alpha: float) -> Finding:
    """Return a finding with the means that its observations do not rule out.

    Args:
        evaluated: What models said.
        found: What is known of the claim.
        alpha: The error rate of verdicts: an interval has two ends, and each of them errs at this rate.
    """
    claim = found.claim
    if claim.kind in BY_CLASS:
        return class_finding_with_interval(evaluated.observations(claim), found, alpha=alpha, ends=_both_ends(alpha))
    alpha = alpha / claim.one_of if claim.names_either else _both_ends(alpha / claim.one_of)
    span = confidence_interval(evaluated.observations(claim), alpha=alpha, low=claim.low, high=claim.high)
    kind = {"interval": (span.low, span.high), "error_rate": alpha, "interval_kind": "confidence sequence"}
    return found.model_copy(update=kind)


def decided(report: Report) -> Report:
    """Return the report with the verdicts that all its evidence together allows at its error rate (e-BH)."""
    examined = [finding for finding in report.findings if not finding.trouble]
    shared = share_errors([math.exp(finding.logarithm) for finding in examined], alpha=report.verdicts_alpha)
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
    """Return the error rate of each verdict of a report, which the intervals of its claims go with."""
    examined = [finding for finding in report.findings if not finding.trouble]
    return share_errors([math.exp(finding.logarithm) for finding in examined], alpha=report.verdicts_alpha).alpha


def _both_ends(alpha: float) -> float:
    """Return the error rate of intervals each of whose ends errs at a rate."""
    return min(2 * alpha, _LEAST_SURE)


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
    known = {"findings": findings, "results": evaluated.results(alpha=_both_ends(alpha))}
    return replaced(report, number, experiment.model_copy(update=known))


def asked_now(experiment: Experiment) -> list[str]:
    """Return the models that are asked about an experiment's pictures: those whose claims more pictures may decide."""
    return list(dict.fromkeys(name for one in experiment.pending for name in one.claim.models))


def next_rounds(report: Report) -> int:
    """Return how many more rounds the experiment under way gets before anybody looks again.

    It gets none where a decision would cost more pictures than it is worth (`Budget.decision`). Rounds are sized by the
    units that they have: fifteen pictures of one original say as much as one unit does.
    """
    experiment = report.under_way
    if experiment.stopped or spent(report) or not experiment.pending:
        return 0
    if experiment.rounds and gain(experiment, _left(report), next_error_rate(report)) * report.budget.decision < 1:
        return 0
    return rounds_of_next_look(report)


def rounds_of_next_look(report: Report) -> int:
    """Return how many more rounds the experiment under way gets before anybody looks again, if they are worth it."""
    experiment = report.under_way
    design = experiment.design
    units = max(STEP, experiment.units // 10) if experiment.rounds else FIRST
    least = 0 if experiment.rounds else -(-design.least // len(design.arms))
    return max(min(max(-(-units // design.units), least), _left(report)), 0)


def next_error_rate(report: Report) -> float:
    """Return the error rate at which the next claim of a report would be decided (e-BH)."""
    examined = [finding for finding in report.findings if not finding.trouble]
    known = sum(finding.verdict != "open" for finding in examined)
    return report.verdicts_alpha * min(known + 1, len(examined)) / max(len(examined), 1) or report.verdicts_alpha


def gain(experiment: Experiment, rounds: int, alpha: float) -> float:
    """Return how many claims one more picture of an experiment decides, in expectation.

    That is the number expected to be decided by some further rounds, for each of their pictures; of so many rounds that
    it is largest. One picture serves all models whose claims are open. Who fails at the name of a group does not fail
    for that, so of such a claim only a "yes" counts.

    Args:
        experiment: With its findings; those that no longer matter are not counted.
        rounds: How many more it may have.
        alpha: The error rate at which evidence has to suffice.
    """
    design = experiment.design
    observed = [one for one in experiment.pending if one.n]

    def decided_by(more: int) -> float:
        return sum(likely_decided(one, experiment, more, alpha=alpha) for one in observed)

    horizons = {min(2**power, rounds) for power in range(max(rounds, 0).bit_length() + 1)} - {0}
    return max((decided_by(more) / (more * len(design.arms)) for more in horizons), default=0.0)


def likely_decided(found: Finding, experiment: Experiment, rounds: int, *, alpha: float) -> float:
    """Return how likely a claim is decided by some further rounds.

    Args:
        found: What is known of it, from one unit at least.
        experiment: The experiment of the claim.
        rounds: How many more it gets.
        alpha: The error rate at which evidence has to suffice.
    """
    design, claim = experiment.design, found.claim
    # Of the pictures whose things a model has to know, no more will count than did so far.
    most = found.n + rounds * design.units * found.n // max(experiment.units, found.n)
    if claim.kind in BY_CLASS:
        rate = alpha / max(len(found.against) - 1, 1)
        return prospect(found.n, found.gap, found.spread, 0, most=most, alpha=rate).above
    rate = alpha / claim.one_of
    likely = prospect(found.n, found.mean, found.spread, claim.threshold, most=most, alpha=rate)
    only_above = design.of_names and claim.kind == "ability"
    return likely.above + (0 if only_above else likely.below)


def spent(report: Report) -> str:
    """Say which part of the budget is used up, apart from pictures; empty while none is."""
    budget = report.budget
    if report.seconds >= budget.seconds:
        return f"the {budget.seconds:.0f} seconds for measuring are over"
    if report.trials >= budget.trials:
        return f"the {budget.trials:,} questions to models are used up"
    return ""


def is_worth_more(report: Report, experiment: Experiment) -> bool:
    """Tell whether more pictures would be worth a decision on an experiment's claims if the budget had them."""
    ample = report.budget.decision // len(experiment.design.arms)
    return gain(experiment, ample, next_error_rate(report)) * report.budget.decision >= 1


def why_stopped(report: Report) -> str:
    """Say why the experiment under way gets no more pictures."""
    experiment = report.under_way
    if experiment.stopped:
        return experiment.stopped
    examined = [one for one in experiment.findings if not one.trouble]
    if not examined:
        return "no model could be asked"
    if not experiment.pending:
        undecided = any(one.verdict == "open" for one in examined)
        return _SETTLED if undecided else _DECIDED
    return spent(report) or _why_no_more(report, experiment, _left(report))


def _why_no_more(report: Report, experiment: Experiment, rounds: int) -> str:
    """Say why an experiment with open claims gets no more pictures, of which it might have so many rounds."""
    if rounds < 1:
        unspent = report.budget.images - report.images
        return PICTURES_USED if unspent < len(experiment.design.arms) else SHARE_USED
    return TOO_FEW_LEFT if is_worth_more(report, experiment) else HOPELESS


def with_unspent_told(report: Report, unsettled: Collection[str]) -> Report:
    """Return a report that makes no more pictures, without experiments that seem to wait for the rest of the budget.

    When its share was used up, an experiment waited for what later ones would leave.

    Args:
        report: Its experiments have all ended.
        unsettled: Whom claims are about that would still make a difference: `Claim.about`.
    """

    def told(one: Experiment) -> str:
        if one.stopped != SHARE_USED or one.design.most or report.budget.each:
            return one.stopped
        if not any(each.claim.about in unsettled for each in one.pending):
            return _SETTLED
        return _why_no_more(report, one, (report.budget.images - report.images) // len(one.design.arms))

    experiments = [one.model_copy(update={"stopped": told(one)}) for one in report.experiments]
    return report.model_copy(update={"experiments": experiments})


def with_reopened_told(report: Report) -> Report:
    """Return a concluded report that does not call claims decided which the error rate of later ones opened again."""
    experiments = [
        one.model_copy(update={"stopped": _REOPENED})
        if one.stopped == _DECIDED and any(each.verdict == "open" and not each.trouble for each in one.findings)
        else one
        for one in report.experiments
    ]
    return report.model_copy(update={"experiments": experiments})


def taken_up(report: Report, unsettled: Sequence[str]) -> Report:
    """Take up the experiment again whose next pictures decide most, for claims about these models.

    Args:
        report: Whose experiments have all ended.
        unsettled: Whom claims are about that would still make a difference: `Claim.about`.
    """
    left = report.budget.images - report.images

    def again(number: int) -> Experiment:
        experiment = report.experiments[number]
        findings = [one.model_copy(update={"moot": one.claim.about not in unsettled}) for one in experiment.findings]
        return experiment.model_copy(update={"findings": findings, "stopped": ""})

    def gained(number: int) -> float:
        return gain(again(number), left // len(report.experiments[number].design.arms), next_error_rate(report))

    open_ones = [
        place for place, one in enumerate(report.experiments) if one.stopped in _MAY_GO_ON and not one.design.most
    ]
    if report.budget.each or not open_ones:
        return report
    best = max(open_ones, key=gained)
    return replaced(report, best, again(best)).model_copy(update={"again": best})


def _left(report: Report) -> int:
    """Return how many more rounds the experiment under way may have."""
    budget, experiment = report.budget, report.under_way
    before = report.images - experiment.images
    if budget.each:
        images = min(budget.each, budget.images - before)
    else:
        # Half of what is left for each: later experiments depend on what earlier ones show. Less than a first look
        # would show nothing.
        last = report.again is not None or len(report.experiments) >= budget.experiments
        unspent = budget.images - before
        first = len(experiment.design.arms) * -(-FIRST // experiment.design.units)
        images = unspent if last else max(unspent // 2, min(first, unspent))
    images = min(images, experiment.design.most or images)
    return max(images - experiment.images, 0) // len(experiment.design.arms)
