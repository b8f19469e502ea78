"""Findings about each class that an experiment shows: which one a model recognizes worst, or best, or how many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from snellen.experiments.design import EXTREMES
from snellen.scoring import GroupEvidence, Observations, confidence_interval, evidence_against_least

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Finding

ENDLESS: Final = 600.0
"""Logarithms of evidence are kept below this: JSON knows no infinity."""


def class_finding(design: Design, seen: Observations, before: Finding) -> Finding:
    """Return what is known of a claim about classes now; its verdict is left open.

    Args:
        design: Of its experiment.
        seen: Whether the model was right about each picture; units begin with the name of what it shows.
        before: The finding so far.
    """
    by_name = _by_name(design.compared, seen)
    known = _extreme(by_name, before) if before.claim.kind in EXTREMES else _counted(by_name, before)
    each = len(by_name)  # so many pictures it takes for one of each class
    known |= {"n": len(seen), "unit": design.unit.name, "spread": math.sqrt(each) * known["spread"], "verdict": "open"}
    return before.model_copy(update=known if seen else {**known, "leaning": "open"})


def class_finding_with_interval(seen: Observations, found: Finding, *, alpha: float, ends: float) -> Finding:
    """Return a finding with what it does not rule out.

    That is how often the model is right about the likeliest class, and the classes that may be it; or for how many of
    the classes it is right often enough, and those of which it was not.

    Args:
        seen: As in `class_finding`.
        found: What is known.
        alpha: The error rate of verdicts.
        ends: That of intervals; which class is likeliest was seen before, so it is shared out over all of them.
    """
    ruled = {"error_rate": ends, "interval_kind": "confidence sequence"}
    if found.claim.kind in EXTREMES:
        values = [value for (name, _), value in seen.by_unit.items() if name == found.likeliest]
        span = confidence_interval(Observations.independent(values), alpha=ends / max(len(found.against), 1))
        among = [name for name, log in found.against.items() if log < -math.log(alpha)]
        return found.model_copy(update={"among": among, "interval": (span.low, span.high), **ruled})
    by_name = _by_name(dict.fromkeys(found.by_class, ()), seen)
    least, most = GroupEvidence.of(by_name, found.claim.threshold).bounds(ends / 2)
    among = sorted((name for name in by_name if _fails(by_name[name], found)), key=lambda name: _mean(by_name[name]))
    return found.model_copy(update={"among": among, "interval": (least / len(by_name), most / len(by_name)), **ruled})


def _extreme(by_name: Mapping[str, Sequence[float]], before: Finding) -> dict[str, Any]:
    """Return the evidence that one class is the worst, or best.

    One class is named where of every other one it is refuted to be the worst. So the evidence of the verdict is the
    least that speaks against any of these.
    """
    turned = {name: [1 - value for value in values] for name, values in by_name.items()}
    against = evidence_against_least(by_name if before.claim.kind == "worst" else turned)
    first, second, *_ = sorted(against, key=lambda name: against[name])
    one, other = _smoothed(by_name[first]), _smoothed(by_name[second])
    return {
        "mean": _mean(by_name[first]),
        "gap": abs(other - one),
        "spread": math.sqrt(one * (1 - one) + other * (1 - other)),
        "against": against,
        "logarithm": min(against[second], ENDLESS),
        "leaning": "yes",
    }


def _counted(by_name: Mapping[str, Sequence[float]], before: Finding) -> dict[str, Any]:
    """Return the evidence that a model is right about so many classes often enough, or about fewer.

    What decides is the class that is right most often but for so many others: how far it is from the threshold.
    """
    claim, known = before.claim, GroupEvidence.of(by_name, before.claim.threshold)
    yes, no = known.at_least(claim.count), known.fewer_than(claim.count)
    shares = sorted(map(_smoothed, by_name.values()), reverse=True)
    decisive = shares[claim.count - 1]
    return {
        "mean": sum(not _fails(values, before) for values in by_name.values()) / len(by_name),
        "gap": abs(decisive - claim.threshold),
        "spread": math.sqrt(decisive * (1 - decisive)),
        "by_class": {name: _mean(values) for name, values in by_name.items()},
        "logarithm": min(max(yes, no) - math.log(claim.one_of), ENDLESS),
        "leaning": "yes" if yes > no else "no",
    }


def _fails(values: Sequence[float], of: Finding) -> bool:
    return _mean(values) <= of.claim.threshold


def _by_name(compared: Mapping[str, Sequence[str]], seen: Observations) -> dict[str, list[float]]:
    by_name: dict[str, list[float]] = {name: [] for name in compared}
    for (name, _), value in seen.by_unit.items():
        by_name[name].append(value)
    return by_name


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def _smoothed(values: Sequence[float]) -> float:
    """Return a mean as if one trial more had been right, and one wrong."""
    return (sum(values) + 1) / (len(values) + 2)
