"""Evidence about how many of several groups of trials have a mean above a threshold.

That fewer than k of m groups have one is refuted by what speaks against each of the m - k + 1 groups of which it is
least clear: fewer than k are above only if at least so many are not (the partial conjunction hypothesis; Benjamini and
Heller 2008). Among those that are truly not, so many have evidence whose average is an e-value (Vovk and Wang 2021),
and the average of the smallest is at most that. The other side is alike. Both hold whenever one looks, and, as they
shrink with the number that is claimed, for all numbers at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.scoring.evidence import log_wealth


@dataclass(frozen=True)
class GroupEvidence:
    """Evidence about each of several groups, as logarithms of e-values in ascending order.

    Attributes:
        above: Against "its mean is at most the threshold".
        below: Against "its mean is at least the threshold".
    """

    above: tuple[float, ...]
    below: tuple[float, ...]

    @classmethod
    def of(cls, values: Mapping[str, Sequence[float]], threshold: float) -> GroupEvidence:
        """Return the evidence of trials.

        Args:
            values: Of each group, independent trials in [0, 1]; of one without any nothing is known.
            threshold: In (0, 1).
        """
        distinct = np.unique([value for each in values.values() for value in each] or [0.0])
        counts = np.array(
            [[sum(value == one for value in each) for one in distinct] for each in values.values()], dtype=np.float64
        )
        above, below = log_wealth(distinct, counts, threshold), log_wealth(1 - distinct, counts, 1 - threshold)
        return cls(tuple(map(float, np.sort(above))), tuple(map(float, np.sort(below))))

    def at_least(self, number: int) -> float:
        """Return the logarithm of the evidence that so many groups or more have a mean above the threshold.

        Raises:
            ValueError: There are not so many groups, or the number is not positive.
        """
        return _mean_of_least(self.above, len(self.above) - number + 1)

    def fewer_than(self, number: int) -> float:
        """Return the logarithm of the evidence that fewer groups do; errors as for `at_least`."""
        return _mean_of_least(self.below, number)

    def bounds(self, error_rate: float) -> tuple[int, int]:
        """Return the least and the most groups with a mean above the threshold that are not ruled out at a rate.

        Args:
            error_rate: Of each end.
        """
        enough, numbers = -math.log(error_rate), range(1, len(self.above) + 1)
        least = max((one for one in numbers if self.at_least(one) >= enough), default=0)
        most = min((one for one in numbers if self.fewer_than(one) >= enough), default=len(self.above) + 1) - 1
        return least, most


def _mean_of_least(logarithms: Sequence[float], number: int) -> float:
    if not 1 <= number <= len(logarithms):
        msg = f"of {len(logarithms)} groups, {number} have to be refuted"
        raise ValueError(msg)
    return float(np.logaddexp.reduce(logarithms[:number]) - math.log(number))
