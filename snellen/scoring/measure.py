"""A metric with its value, or with the reason why it has none."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.scoring.interval import Interval


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
