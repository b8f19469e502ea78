"""Measures: metrics with their intervals, or with the reason why they have no value."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Interval:
    """A confidence interval, both ends included."""

    low: float
    high: float

    @property
    def rounded(self) -> list[float]:
        """Both ends, to four digits."""
        return [round(self.low, 4), round(self.high, 4)]


@dataclass(frozen=True)
class Measure:
    """A metric.

    Attributes:
        value: It; None where it is undefined.
        n: What it is of: answers, pairs, tuples.
        undefined: Why it has no value, in words.
        interval: At 95 %; None where it was not asked for or has no value.
    """

    value: float | None
    n: int
    undefined: str = ""
    interval: Interval | None = None


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


def accuracy(right: Sequence[bool]) -> float:
    """Return the share of right answers; 0 of no answers, since nothing was shown to be right."""
    return sum(right) / len(right) if right else 0.0


def wilson_interval(right: int, total: int, *, level: float = 0.95) -> Interval:
    """Return the score interval of a share (Wilson 1927), which holds for small samples and shares near 0 and 1.

    Args:
        right: How many were right, 0 to `total`.
        total: How many there were.
        level: Confidence level, between 0 and 1.

    Returns:
        The interval within [0, 1]; (0, 1) for a total of zero, about which nothing is known.

    Raises:
        ValueError: If `right` is not between 0 and `total`.
    """
    if not 0 <= right <= total:
        msg = f"{right} right of {total} is no share"
        raise ValueError(msg)
    if total == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, slack = right / total, z * z / total
    centre = (share + slack / 2) / (1 + slack)
    reach = z / (1 + slack) * math.sqrt(share * (1 - share) / total + slack / (4 * total))
    return Interval(max(centre - reach, 0.0), min(centre + reach, 1.0))
