"""Metrics of judges: whether a model can be trusted to judge how alike two things are (PairBench, section 2.2).

A judge scores every pair in both orders and under two conditions: asked to mind a change, or to overlook it. Scores are
1 to 10; an answer without one is invalid. Where the paper is silent, the definitions are these:

- An invalid answer counts as -1 in what is ranked (section 2.2 sets it so), and as nothing in what is counted.
- Two invalid answers are not symmetric: a judge that never answers would be the most symmetric of all. The paper's
  release takes them for equal; `relaxed_symmetry(…, compatible=True)` does that.
- What has no value is not 0: it is undefined, with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from snellen.scoring.measure import Interval, Measure

INVALID: Final = -1.0
"""What an answer without a score counts as where scores are ranked."""

Condition = Literal["sensitive", "invariant"]
"""Whether the judge is asked to mind the change between the two, or to overlook it."""
PairOrder = Literal["forward", "backward", "both"]

CONDITIONS: Final[tuple[Condition, ...]] = ("sensitive", "invariant")
_OFTEN: Final = 0.1
"""The share of answers without a score that is a flaw."""
_FEW: Final = 5
"""Originals below which their pairs say too little for an interval."""
_MANY: Final = 0.2
"""The share of pairs that is, where orders or conditions are compared."""


@dataclass(frozen=True)
class PairScores:
    """A pair as a judge scored it.

    Attributes:
        pair: Its name; the same under both conditions.
        condition: What the judge was asked to do.
        truth: The score it should have: 10, 6 or 1 (section 2.1).
        forward: The score of the pair in its order; None for an invalid answer.
        backward: The score of the pair in the other order.
        cluster: Pairs of one original picture have the same: they are drawn together.
    """

    pair: str
    condition: Condition
    truth: float
    forward: float | None
    backward: float | None
    cluster: str = ""


def invalid_rate(judged: Sequence[PairScores]) -> Measure:
    """Return the share of answers without a usable score."""
    scores = [score for one in judged for score in (one.forward, one.backward)]
    if not scores:
        return Measure(None, 0, "nothing was judged")
    return Measure(sum(score is None for score in scores) / len(scores), len(scores))


def mmscore(judged: Sequence[PairScores], *, order: PairOrder = "both") -> Measure:
    """Return how well the scores rank pairs as the truth does: Kendall's τ-b (section 2.2.1).

    Args:
        judged: Under one condition.
        order: The pairs in their order, in the other, or both together, as the paper has it.

    Returns:
        From -1 to 1; undefined where the scores or the truths are all the same, or nothing is valid.
    """
    return _ranked(judged, order, _kendall)


def spearman(judged: Sequence[PairScores], *, order: PairOrder = "both") -> Measure:
    """Return Spearman's rank correlation between scores and truth (appendix C.2); see `mmscore`."""
    return _ranked(judged, order, _spearman)


def mutual_information(judged: Sequence[PairScores], *, order: PairOrder = "both") -> Measure:
    """Return the mutual information of scores and truth, over the mean of their entropies (appendix C.2)."""
    return _ranked(judged, order, _mutual_information)


def discounted_gain(judged: Sequence[PairScores], *, order: PairOrder = "both") -> Measure:
    """Return the normalized discounted cumulative gain of the pairs in the order of their scores (appendix C.2).

    Pairs with one score share the gains of their places (McSherry and Najork 2008).
    """
    return _ranked(judged, order, _discounted_gain)


def relaxed_symmetry(judged: Sequence[PairScores], *, epsilon: float = 1.0, compatible: bool = False) -> Measure:
    """Return the share of pairs whose scores in both orders differ by at most ε (ε-RelaxSym, section 2.2.2).

    Args:
        judged: The pairs.
        epsilon: What they may differ by; the paper's is 1.
        compatible: Take two invalid answers for equal, as the paper's release does.
    """
    if not judged:
        return Measure(None, 0, "nothing was judged")

    def alike(one: PairScores) -> bool:
        if one.forward is None or one.backward is None:
            return compatible and one.forward is one.backward
        return abs(one.forward - one.backward) <= epsilon

    return Measure(sum(map(alike, judged)) / len(judged), len(judged))


def smoothness(judged: Sequence[PairScores]) -> Measure:
    """Return the entropy of the valid scores in bits: 0 for a judge that only knows one (section 2.2.3)."""
    scores = [score for one in judged for score in (one.forward, one.backward) if score is not None]
    if not scores:
        return Measure(None, 0, "no answer has a valid score")
    return Measure(_entropy(scores), len(scores))


def controllability(judged: Sequence[PairScores], *, order: PairOrder = "both") -> Measure:
    """Return how alike a judge ranks under both conditions (section 2.2.4).

    Returns:
        1 where MMScore is the same under both; it may be far below 0. Undefined where MMScore is under either, and
        where the two are not both above 0: the root in the formula has no meaning then.
    """
    sides = [mmscore(_under(judged, name), order=order) for name in CONDITIONS]
    n = sum(side.n for side in sides)
    for name, side in zip(CONDITIONS, sides, strict=True):
        if side.value is None:
            return Measure(None, n, f"MMScore is undefined in the {name} condition: {side.undefined}")
    sensitive, invariant = (side.value or 0.0 for side in sides)
    if min(sensitive, invariant) <= 0:
        return Measure(None, n, f"MMScore is not above 0 under both conditions ({sensitive:.2f} and {invariant:.2f})")
    return Measure(1 - abs(sensitive - invariant) / math.sqrt(sensitive * invariant), n)


def with_interval(
    metric: Callable[[Sequence[PairScores]], Measure],
    judged: Sequence[PairScores],
    *,
    level: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> Measure:
    """Return a metric with its percentile bootstrap interval over original pictures.

    Args:
        metric: Of the pairs.
        judged: The pairs; those of one original picture are drawn together.
        level: Confidence level, between 0 and 1.
        resamples: How many samples with replacement are drawn.
        seed: The same seed gives the same interval.

    Returns:
        The metric; without an interval where it is undefined, or is so in more than ``1 - level`` of the samples.
    """
    measure = metric(judged)
    if measure.value is None:
        return measure
    clusters: dict[str, list[PairScores]] = {}
    for one in judged:
        clusters.setdefault(one.cluster or one.pair, []).append(one)
    if len(clusters) < _FEW:
        return measure
    groups, dice = list(clusters.values()), np.random.default_rng(seed)
    drawn = (
        metric([one for place in dice.integers(len(groups), size=len(groups)) for one in groups[place]]).value
        for _ in range(resamples)
    )
    values = [value for value in drawn if value is not None]
    if len(values) < level * resamples:
        return measure
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Measure(measure.value, measure.n, interval=Interval(float(low), float(high)))


def flaws(judged: Sequence[PairScores]) -> list[str]:
    """Say in plain words what a judge cannot be trusted with; nothing where no flaw is seen.

    A flaw is named from a tenth of the answers on, or a fifth of the pairs where orders and conditions are compared:
    rarer ones are in the figures.
    """
    invalid = invalid_rate(judged).value
    if invalid is None or invalid == 1:
        return ["it never gives a score"]
    faults = [f"it gives no score in {invalid:.0%} of its answers"] if invalid >= _OFTEN else []
    if smoothness(judged).value == 0:
        return [*faults, "it knows only one score"]
    if all(_useless(_under(judged, name)) for name in CONDITIONS):
        return [*faults, "its scores say nothing about how alike things are"]
    # A judge may be fair where changes are to be overlooked, and not where they count: the worse of the two speaks.
    swapped = max((_swapped(_under(judged, name)) for name in CONDITIONS), key=_changed)
    changed = _changed(swapped)
    if changed > _MANY:
        higher = sum(step > 0 for step in swapped) / max(sum(step != 0 for step in swapped), 1)
        lean = {True: "; it scores higher in the second order", False: "; it scores higher in the first order"}
        biased = lean[higher > 1 / 2] if abs(higher - 1 / 2) > 1 / 4 else ""
        faults.append(f"{changed:.0%} of its scores change when the two are swapped{biased}")
    followed = _followed(judged)
    if followed is not None and followed < 1 - _MANY:
        often = "does not always follow" if followed > 1 / 2 else "does not follow"
        faults.append(
            f"it {often} the criterion: {1 - followed:.0%} of changed pairs score alike under both conditions"
        )
    return faults


def _swapped(judged: Sequence[PairScores]) -> list[float]:
    """Return how much higher each pair scores in the second order, where both have a score."""
    both = [one for one in judged if one.forward is not None and one.backward is not None]
    return [(one.backward or 0) - (one.forward or 0) for one in both]


def _changed(steps: Sequence[float]) -> float:
    """The share of scores that differ by more than 1."""
    return sum(abs(step) > 1 for step in steps) / len(steps) if steps else 0.0


def _useless(judged: Sequence[PairScores]) -> bool:
    """Whether scores do not rank pairs better than chance, as far as their pictures can tell."""
    measure = with_interval(mmscore, judged, resamples=200)
    return measure.value is None or (measure.interval is not None and measure.interval.low <= 0)


def _followed(judged: Sequence[PairScores]) -> float | None:
    """Of the pairs that should score higher where the change is to be overlooked, the share that does."""
    sides = [{one.pair: one for one in _under(judged, name)} for name in CONDITIONS]
    sensitive, invariant = sides
    rising = [
        (_mean(sensitive[name]), _mean(invariant[name]))
        for name in sensitive.keys() & invariant.keys()
        if invariant[name].truth > sensitive[name].truth
    ]
    known = [(low, high) for low, high in rising if low is not None and high is not None]
    return sum(high > low for low, high in known) / len(known) if known else None


def _mean(one: PairScores) -> float | None:
    scores = [score for score in (one.forward, one.backward) if score is not None]
    return sum(scores) / len(scores) if scores else None


def _under(judged: Sequence[PairScores], condition: Condition) -> list[PairScores]:
    return [one for one in judged if one.condition == condition]


def _ranked(
    judged: Sequence[PairScores], order: PairOrder, agreement: Callable[[list[float], list[float]], float]
) -> Measure:
    """Compare the scores with the truths, where there is anything to compare."""
    rows = [(one.forward, one.truth) for one in judged if order != "backward"]
    rows += [(one.backward, one.truth) for one in judged if order != "forward"]
    reason = ""
    if not rows:
        reason = "nothing was judged"
    elif all(score is None for score, _ in rows):
        reason = "no answer has a valid score"
    elif len({score for score, _ in rows}) == 1:
        reason = "all scores are the same"
    elif len({truth for _, truth in rows}) == 1:
        reason = "all pairs have the same truth"
    if reason:
        return Measure(None, len(rows), reason)
    scores = [INVALID if score is None else score for score, _ in rows]
    return Measure(agreement(scores, [truth for _, truth in rows]), len(rows))


def _kendall(scores: list[float], truths: list[float]) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(scores, truths, variant="b").statistic)


def _spearman(scores: list[float], truths: list[float]) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(scores, truths).statistic)


def _mutual_information(scores: list[float], truths: list[float]) -> float:
    apart = (_entropy(scores), _entropy(truths))
    together = _entropy(list(zip(scores, truths, strict=True)))
    return 2 * (sum(apart) - together) / sum(apart)


def _discounted_gain(scores: list[float], truths: list[float]) -> float:
    discounts = 1 / np.log2(np.arange(2, len(scores) + 2))
    ranked, gains = np.asarray(scores), np.asarray(truths)

    def gain(by: np.ndarray) -> float:
        total, begun = 0.0, 0
        for value in np.unique(by)[::-1]:
            tied = gains[by == value]
            total += float(tied.mean() * discounts[begun : begun + len(tied)].sum())
            begun += len(tied)
        return total

    return gain(ranked) / gain(gains)


def _entropy(values: Sequence[object]) -> float:
    """The entropy of observed values in bits."""
    shares = np.array(list(Counter(values).values())) / len(values)
    return float(-(shares * np.log2(shares)).sum()) + 0.0
