"""Findings about the class that a model recognizes worst, or best, of those that an experiment shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from snellen.scoring import Observations, confidence_interval, evidence_against_least

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Finding

_ENDLESS: Final = 600.0
"""Logarithms of evidence are kept below this: JSON knows no infinity."""


def extreme_finding(design: Design, seen: Observations, before: Finding) -> Finding:
    """Return what is known of the worst class now, or of the best one; its verdict is left open.

    One class is named where of every other one it is refuted to be the worst. So the evidence of the verdict is the
    least that speaks against any of these.

    Args:
        design: Of its experiment.
        seen: Whether the model was right about each picture; units begin with the name of what it shows.
        before: The finding so far.
    """
    by_name = _by_name(design.compared, seen)
    turned = {name: [1 - value for value in values] for name, values in by_name.items()}
    against = evidence_against_least(by_name if before.claim.kind == "worst" else turned)
    first, second, *_ = sorted(against, key=lambda name: against[name])
    one, other = _smoothed(by_name[first]), _smoothed(by_name[second])
    each = len(by_name)  # so many pictures it takes for one of each class
    return before.model_copy(
        update={
            "n": len(seen),
            "unit": design.unit.name,
            "mean": sum(by_name[first]) / max(len(by_name[first]), 1),
            "gap": abs(other - one),
            "spread": math.sqrt(each * (one * (1 - one) + other * (1 - other))),
            "against": against,
            "logarithm": min(against[second], _ENDLESS),
            "leaning": "yes" if seen else "open",
            "verdict": "open",
        }
    )


def extreme_with_interval(seen: Observations, found: Finding, *, alpha: float, ends: float) -> Finding:
    """Return a finding with the classes that may be it, and how often the model is right about the likeliest one.

    Args:
        seen: As in `extreme_finding`.
        found: What is known.
        alpha: The error rate of verdicts.
        ends: That of intervals; which class is likeliest was seen before, so it is shared out over all of them.
    """
    values = [value for (name, _), value in seen.by_unit.items() if name == found.likeliest]
    span = confidence_interval(Observations.independent(values), alpha=ends / max(len(found.against), 1))
    known = {
        "among": [name for name, log in found.against.items() if log < -math.log(alpha)],
        "interval": (span.low, span.high), "error_rate": ends, "interval_kind": "confidence sequence",
    }  # fmt: skip
    return found.model_copy(update=known)


def _by_name(compared: Mapping[str, Sequence[str]], seen: Observations) -> dict[str, list[float]]:
    by_name: dict[str, list[float]] = {name: [] for name in compared}
    for (name, _), value in seen.by_unit.items():
        by_name[name].append(value)
    return by_name


def _smoothed(values: Sequence[float]) -> float:
    """Return a mean as if one trial more had been right, and one wrong."""
    return (sum(values) + 1) / (len(values) + 2)
