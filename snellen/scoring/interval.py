"""Means of bounded scores and how far they can be trusted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A confidence interval, both ends included."""

    low: float
    high: float


def mean(scores: Sequence[float]) -> float:
    """Return the arithmetic mean; 0 of no scores, since nothing was shown to be right."""
    return sum(scores) / len(scores) if scores else 0.0


def bootstrap_interval(
    scores: Sequence[float], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the percentile bootstrap interval of the mean (Efron 1979).

    Args:
        scores: Scores in [0, 1], one a task.
        level: Confidence level, between 0 and 1.
        resamples: How many samples with replacement are drawn.
        seed: The same seed gives the same interval.

    Returns:
        The interval; (0, 1) for no scores, about which nothing is known. Scores that are all equal give an interval
        of no width: the bootstrap has seen nothing else.
    """
    if not scores:
        return Interval(0.0, 1.0)
    dice = random.Random(seed)
    means = sorted(mean(dice.choices(scores, k=len(scores))) for _ in range(resamples))
    tail = (1 - level) / 2
    return Interval(means[int(tail * resamples)], means[min(int((1 - tail) * resamples), resamples - 1)])
