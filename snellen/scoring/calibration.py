"""Calibration: how far confidences are from the shares of answers that are right (Naeini et al., 2015)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from snellen.scoring.measure import Interval, mean


@dataclass(frozen=True)
class ReliabilityBin:
    """Answers of similar confidence: how many, their mean confidence, and the share that is right."""

    n: int
    confidence: float
    right: float


def reliability(confidences: Sequence[float], outcomes: Sequence[bool], *, bins: int = 10) -> list[ReliabilityBin]:
    """Divide answers by their confidence into bins of equally many, as far as that goes.

    Args:
        confidences: Of each answer, in [0, 1].
        outcomes: Whether each is right.
        bins: How many; fewer where there are fewer answers.

    Returns:
        The bins in the order of confidence; none without answers.
    """
    ordered = sorted(zip(confidences, outcomes, strict=True), key=lambda pair: pair[0])
    count = min(bins, len(ordered))
    edges = [round(place * len(ordered) / count) for place in range(count + 1)] if count else []
    return [_bin(ordered[start:end]) for start, end in pairwise(edges)]


def _bin(answers: Sequence[tuple[float, bool]]) -> ReliabilityBin:
    return ReliabilityBin(len(answers), mean([one for one, _ in answers]), mean([right for _, right in answers]))


def calibration_error(confidences: Sequence[float], outcomes: Sequence[bool], *, bins: int = 10) -> float:
    """Return the expected calibration error in [0, 1]: the mean gap between confidence and share over the answers.

    It is above 0 even where every confidence is exactly right: :func:`calibration_interval` says by how much. Without
    answers it is 0.
    """
    parts = reliability(confidences, outcomes, bins=bins)
    return sum(part.n * abs(part.confidence - part.right) for part in parts) / max(len(confidences), 1)


def calibration_interval(confidences: Sequence[float], *, bins: int = 10, draws: int = 400, seed: int = 0) -> Interval:
    """Return where 95 % of calibration errors lie if every confidence is exactly right.

    Args:
        confidences: Of each answer, in [0, 1].
        bins: As in :func:`calibration_error`.
        draws: Simulated outcomes.
        seed: Of the draws.
    """
    dice = random.Random(seed)
    errors = sorted(
        calibration_error(confidences, [dice.random() < one for one in confidences], bins=bins) for _ in range(draws)
    )
    return Interval(errors[int(0.025 * draws)], errors[int(0.975 * draws) - 1])
