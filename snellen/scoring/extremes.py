"""Evidence about which of several groups of trials is right least often, or most often.

Exactly one group is right least often, unless several tie. So "this one is" is tested for each group at the whole error
rate, and the groups of which it is not refuted have the least one among them: it is only left out where the test of
that one group errs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.scoring.evidence import log_wealth

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MEANS: Final = np.linspace(0, 1, 101)[1:-1]


def evidence_against_least(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the logarithm of the evidence against each group that no other one has a smaller mean.

    Where a group is the least, its mean is at most that of any other: some threshold lies between the two. Against it,
    the evidence that the one is above times the evidence that the other is below is an e-value, as their trials are
    independent. So the smallest such product over all thresholds is one, wherever the means are, and so is the average
    of these over the other groups. All of it holds whenever one looks.

    Args:
        values: Of each group, independent trials in [0, 1]; groups without any are not refuted.

    Returns:
        Logarithms by group, 0 with fewer than two groups.
    """
    names = list(values)
    if len(names) < 2 or not any(values.values()):  # noqa: PLR2004 - one alone is the least
        return dict.fromkeys(names, 0.0)
    distinct = np.unique([value for each in values.values() for value in each])
    counts = np.array([[sum(value == one for value in each) for one in distinct] for each in values.values()])
    nothing = np.zeros((len(names), 1))  # that a mean is below 0, or above 1, nothing shows
    above = np.hstack([_wealth(distinct, counts), nothing])
    below = np.hstack([nothing, _wealth(1 - distinct, counts)[:, ::-1]])
    # Between two thresholds that are tried, the one evidence is at least what it is at the upper one, the other what it
    # is at the lower one. So this is at most the minimum over all thresholds.
    least = (above[:, None, :] + below[None, :, :]).min(axis=-1)
    np.fill_diagonal(least, -np.inf)
    means = np.logaddexp.reduce(least, axis=1) - math.log(len(names) - 1)
    return dict(zip(names, map(float, means), strict=True))


def _wealth(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithms of the evidence that means are above thresholds, shape (groups, thresholds)."""
    return np.stack([log_wealth(values, counts.astype(np.float64), mean) for mean in _MEANS], axis=-1)
