"""Evidence that holds however often one looks: e-values and confidence sequences by betting.

A gambler bets against "the mean is m" at every observation. Where that is true, the wealth is a martingale and
exceeds 1 / alpha at any time, ever, with probability at most alpha (Ville's inequality); so sampling may stop whenever
the evidence suffices, and may go on where it does not (Waudby-Smith and Ramdas 2024, "Estimating means of bounded
random variables by betting", section 4). The gambler here divides the money evenly among `BETS` and leaves it there, so
the wealth depends on what was observed and not on its order.

What is observed comes as one value for each independent unit (`snellen.scoring.observations`): what several pictures of
one original say is not several observations, but one, which is their mean.

Units that are balanced over classes, a round of one from each, need not share one mean: for a fixed bet the expected
product of a round's gains is at most the power of their mean (the geometric mean is at most the arithmetic one), so all
of this holds for the mean over the classes, at the end of every round. That takes units of a round that are
independent of each other; where its parts share an original, the round is one unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from snellen.scoring.measure import Interval
from snellen.scoring.observations import Observations

if TYPE_CHECKING:
    from numpy.typing import NDArray

BETS = np.linspace(0.05, 0.95, 19)
"""Shares of the most that may be bet: evenly spaced ones decide clear cases sooner than smaller ones."""

_HALVINGS = 50
"""Of the span of values: an end of an interval is exact to the last bit that matters."""

_SEARCHING = 1.5
"""By how much less the logarithm of the wealth grows than if the best bet had been known: found by simulation."""

_ENDLESS = 700.0
"""The logarithm of the most wealth that is told apart: more would overflow, and no error rate asks for it."""


@dataclass(frozen=True)
class Evidence:
    """The evidence of observations about a mean and a threshold.

    Both are e-values: their expectation is at most 1 where what they speak against is true.
    """

    above: float
    """Against "the mean is at most the threshold"."""
    below: float
    """Against "the mean is at least the threshold"."""

    @property
    def strength(self) -> float:
        """The e-value of a verdict on whichever side the evidence is.

        A mean is above its threshold or it is not, so of the two verdicts exactly one is wrong, and which does not
        depend on what is observed. A wrong verdict is one whose evidence is this one e-value, whatever the other is:
        nothing is to be shared between the two.
        """
        return max(self.above, self.below)

    @property
    def of_difference(self) -> float:
        """The e-value of a verdict that names a side even of a mean at its threshold, where either would be wrong.

        Of two that are alike neither is better. So it is half of the larger one, which is at most the mean of both.
        """
        return self.strength / 2


def evidence(observations: Observations, threshold: float, *, low: float = 0.0, high: float = 1.0) -> Evidence:
    """Return the evidence that the mean is above, and that it is below, a threshold.

    Args:
        observations: Values in [low, high], one for each independent unit; whole rounds, where they are balanced over
            classes.
        threshold: What the mean is compared with.
        low: The least that an observation can be.
        high: The most that it can be.

    Returns:
        E-values, 1 where nothing was observed. A mean cannot be above `high` nor below `low`: against a threshold
        outside of these the evidence for the side where the mean must be is infinite.

    Raises:
        ValueError: An observation is not a number in [low, high], or `low` is not below `high`.
    """
    values, counts = _tally(observations, low, high)
    return _evidence(values, counts, (threshold - low) / (high - low))


def confidence_interval(
    observations: Observations, *, alpha: float = 0.05, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return the term of the confidence sequence after these observations: the means that are not ruled out.

    With probability at least 1 - alpha the mean is within the intervals after every number of observations at once.

    Args:
        observations: As in `evidence`.
        alpha: The probability of error, between 0 and 1.
        low: The least that an observation can be.
        high: The most that it can be.

    Returns:
        The interval; a threshold is outside exactly if `evidence` about it is at least 2 / alpha on one side.

    Raises:
        ValueError: As in `evidence`, or `alpha` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        msg = f"alpha must be between 0 and 1, not {alpha}"
        raise ValueError(msg)
    values, counts = _tally(observations, low, high)
    if not len(values):
        return Interval(low, high)
    mean = float(values @ counts / counts.sum())
    enough = 2 / alpha

    def end(outer: float, *, above: bool) -> float:
        inner = mean
        for _ in range(_HALVINGS):
            middle = (outer + inner) / 2
            at_middle = _evidence(values, counts, middle)
            if (at_middle.above if above else at_middle.below) >= enough:
                outer = middle
            else:
                inner = middle
        return low + (high - low) * inner

    return Interval(end(0.0, above=True), end(1.0, above=False))


@dataclass(frozen=True)
class Prospect:
    """The probabilities that evidence will suffice for a verdict on either side."""

    above: float
    below: float


def prospect(n: int, mean: float, spread: float, threshold: float, *, most: int, alpha: float = 0.05) -> Prospect:
    """Return how likely the evidence about a mean will suffice, if one goes on to so many observations.

    That is the predictive power of a trial looked at half way (Spiegelhalter, Freedman and Blackburn 1986): what is to
    come is like what was seen, whose own error is part of the forecast. Stopping for it costs nothing of what a verdict
    is worth, as evidence holds whenever one stops.

    Args:
        n: Units observed so far, at least 1.
        mean: Of their values.
        spread: The standard deviation of these.
        threshold: What the mean is compared with.
        most: Units in the end.
        alpha: The error rate at which the evidence has to suffice.

    Returns:
        Probabilities, by normal approximation.
    """
    # The wealth of the best bet grows by gap² / (2 spread²) an observation.
    needed = spread * math.sqrt(2 * (math.log(1 / alpha) + _SEARCHING) / most)
    error = spread * math.sqrt(max(1 / n - 1 / most, 0))
    gap = mean - threshold
    if error == 0:
        return Prospect(float(gap >= needed), float(-gap >= needed))
    normal = NormalDist(0, error)
    return Prospect(normal.cdf(gap - needed), normal.cdf(-gap - needed))


@dataclass(frozen=True)
class Shared:
    """An error rate shared over claims that were decided together."""

    decided: tuple[bool, ...]
    """For each claim, whether its evidence suffices."""
    alpha: float
    """The error rate of each verdict: claims whose e-value is at least its inverse are decided."""


def share_errors(strengths: Sequence[float], *, alpha: float = 0.05) -> Shared:
    """Decide claims so that on average at most a share `alpha` of the verdicts is wrong (e-BH; Wang and Ramdas 2022).

    It holds whatever the claims have to do with each other and whenever one stops. With one claim alone it is wrong
    with probability at most `alpha`. A verdict names the side on which the mean is; of the two sides only one is
    wrong, so claims are counted once, not twice: a wrong verdict among R has an e-value of m / (alpha R) at least, so
    the expected share of wrong ones is at most the sum over the m claims of alpha / m times the expectation of the
    e-value of their wrong side, which is at most 1.

    Args:
        strengths: `Evidence.strength` of each claim (or `of_difference`), at the time at which its sampling ended.
        alpha: The error rate to share.

    Returns:
        What is decided, and the error rate of a verdict that goes with it: intervals that exclude the thresholds of
        decided claims alone err on either side at this rate (e-BY; Xu, Wang and Ramdas 2022).

    Raises:
        ValueError: `alpha` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        msg = f"alpha must be between 0 and 1, not {alpha}"
        raise ValueError(msg)
    rates = [alpha * rank / len(strengths) for rank in range(1, len(strengths) + 1)]
    ranked = sorted(strengths, reverse=True)
    enough = [rate for rate, strength in zip(rates, ranked, strict=True) if strength * rate >= 1]
    each = max(enough, default=rates[0] if rates else alpha)
    return Shared(tuple(strength * each >= 1 for strength in strengths), each)


def _tally(observations: Observations, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scale to [0, 1] and count equal values: answers are right or wrong, so there are few."""
    if not low < high:
        msg = f"observations between {low} and {high} say nothing"
        raise ValueError(msg)
    array = np.asarray(observations.values, dtype=np.float64)
    if not np.all((array >= low) & (array <= high)):  # NaN is neither
        msg = f"an observation is not a number between {low} and {high}"
        raise ValueError(msg)
    values, counts = np.unique((array - low) / (high - low), return_counts=True)
    return values, counts.astype(np.float64)


def _evidence(values: NDArray[np.float64], counts: NDArray[np.float64], threshold: float) -> Evidence:
    return Evidence(_wealth(values, counts, threshold), _wealth(1 - values, counts, 1 - threshold))


def _wealth(values: NDArray[np.float64], counts: NDArray[np.float64], threshold: float) -> float:
    """What 1 has become of betting that the mean of values in [0, 1] is above the threshold."""
    if threshold >= 1:
        return 1.0
    if threshold <= 0:  # a single value above 0 shows that the mean is above 0, too
        return math.inf if threshold < 0 or values @ counts > 0 else 1.0
    return math.exp(min(float(log_wealth(values, counts, threshold)), _ENDLESS))


def log_wealth(
    values: NDArray[np.float64], counts: NDArray[np.float64], threshold: float
) -> NDArray[np.float64] | np.float64:
    """Return the logarithm of what 1 has become of betting that a mean is above a threshold.

    Args:
        values: Shape (values,), in [0, 1].
        counts: How often each was observed, shape (..., values): simulations look at many samples at once.
        threshold: In (0, 1).

    Returns:
        Shape (...).
    """
    gains = counts @ np.log1p(BETS * (values[:, None] / threshold - 1))
    wealth: NDArray[np.float64] = np.logaddexp.reduce(gains, axis=-1) - math.log(len(BETS))
    return wealth
