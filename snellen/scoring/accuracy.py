"""Shares of right answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from snellen.scoring.interval import Interval


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
