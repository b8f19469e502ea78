"""PairBench's metrics: of judges with a planted character, and against what their definitions say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy, kendalltau

from snellen.scoring.pairs import (
    Condition,
    PairScores,
    controllability,
    discounted_gain,
    flaws,
    invalid_rate,
    mmscore,
    mutual_information,
    relaxed_symmetry,
    smoothness,
    spearman,
    with_interval,
)

TRUTHS: dict[Condition, tuple[float, float, float]] = {"sensitive": (10, 6, 1), "invariant": (10, 10, 1)}
Score = Callable[[float, str, float, random.Random], float | None]
"""Of the truth, the order, what the pair is (10 identical, 6 changed, 1 irrelevant) and dice."""
SCORES = st.one_of(st.none(), st.integers(1, 10).map(float))
JUDGED = st.lists(
    st.builds(
        PairScores,
        st.text("abcdef", min_size=1, max_size=3),
        st.sampled_from(["sensitive", "invariant"]),
        st.sampled_from([10.0, 6.0, 1.0]),
        SCORES,
        SCORES,
    ),
    min_size=1,
    max_size=30,
)


def judge(score: Score, originals: int = 60) -> list[PairScores]:
    """Return what a judge says of identical, transformed and irrelevant pairs, in both orders under both conditions."""
    dice = random.Random(1)
    return [
        PairScores(
            f"{number}/{kind}",
            condition,
            truth,
            score(truth, "forward", TRUTHS["sensitive"][kind], dice),
            score(truth, "backward", TRUTHS["sensitive"][kind], dice),
            str(number),
        )
        for number in range(originals)
        for condition, truths in TRUTHS.items()
        for kind, truth in enumerate(truths)
    ]


PERFECT = judge(lambda truth, *_: truth)
RANDOM = judge(lambda _, __, ___, dice: dice.randint(1, 10))
CONSTANT = judge(lambda *_: 7)
SILENT = judge(lambda *_: None)
HALF = judge(lambda truth, _, __, dice: dice.choice([truth, None]))
BIASED = judge(lambda truth, order, *_: max(truth - 3, 1) if order == "forward" else truth)
DEAF = judge(lambda _, __, seen, ___: seen)


def test_a_perfect_judge_has_no_flaw() -> None:
    for condition in TRUTHS:
        assert mmscore([one for one in PERFECT if one.condition == condition]).value == pytest.approx(1)
    assert relaxed_symmetry(PERFECT, epsilon=0).value == 1
    assert controllability(PERFECT).value == pytest.approx(1)
    assert invalid_rate(PERFECT).value == 0
    assert flaws(PERFECT) == []


def test_a_random_judge_ranks_nothing() -> None:
    found = with_interval(mmscore, [one for one in RANDOM if one.condition == "sensitive"])
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high
    assert smoothness(RANDOM).value == pytest.approx(math.log2(10), abs=0.1)
    assert flaws(RANDOM) == ["its scores say nothing about how alike things are"]


def test_a_constant_judge_is_symmetric_and_undefined() -> None:
    assert mmscore(CONSTANT).value is None
    assert mmscore(CONSTANT).undefined == "all scores are the same"
    assert relaxed_symmetry(CONSTANT).value == 1
    assert smoothness(CONSTANT).value == 0
    assert "undefined in the sensitive condition: all scores are the same" in controllability(CONSTANT).undefined
    assert flaws(CONSTANT) == ["it knows only one score"]


def test_a_silent_judge_is_neither_symmetric_nor_anything() -> None:
    assert invalid_rate(SILENT).value == 1
    assert relaxed_symmetry(SILENT).value == 0
    assert relaxed_symmetry(SILENT, compatible=True).value == 1, "the release's way"
    for metric in (mmscore, spearman, mutual_information, discounted_gain, smoothness):
        assert metric(SILENT).value is None
        assert metric(SILENT).undefined == "no answer has a valid score"
    assert flaws(SILENT) == ["it never gives a score"]


def test_invalid_answers_cost_agreement_and_symmetry() -> None:
    assert invalid_rate(HALF).value == pytest.approx(0.5, abs=0.06)
    assert relaxed_symmetry(HALF).value == pytest.approx(0.25, abs=0.06)
    agreement = mmscore([one for one in HALF if one.condition == "sensitive"]).value
    assert agreement is not None
    assert 0 < agreement < 0.7
    assert any("gives no score in" in one for one in flaws(HALF))


def test_a_judge_that_minds_the_order_is_told_so() -> None:
    assert relaxed_symmetry(BIASED).value == pytest.approx(1 / 3), "only what is irrelevant scores alike"
    sensitive = [one for one in BIASED if one.condition == "sensitive"]
    assert mmscore(sensitive, order="forward").value == pytest.approx(1)
    assert mmscore(sensitive, order="backward").value == pytest.approx(1)
    both = mmscore(sensitive).value
    assert both is not None
    assert both < 1
    assert any("swapped; it scores higher in the second order" in one for one in flaws(BIASED))


def test_a_judge_that_is_deaf_to_conditions_is_told_so() -> None:
    control = controllability(DEAF).value
    assert control is not None
    assert control < 0.9
    assert any("does not follow the criterion" in one for one in flaws(DEAF))


@given(JUDGED)
def test_every_metric_has_a_value_or_a_reason(judged: list[PairScores]) -> None:
    bounds = {
        invalid_rate: (0, 1), mmscore: (-1, 1), spearman: (-1, 1), mutual_information: (0, 1),
        discounted_gain: (0, 1), relaxed_symmetry: (0, 1), smoothness: (0, math.log2(10)),
        controllability: (-math.inf, 1),
    }  # fmt: skip
    for metric, (low, high) in bounds.items():
        found = metric(judged)
        assert (found.value is None) == bool(found.undefined)
        assert found.value is None or low - 1e-9 <= found.value <= high + 1e-9
    assert isinstance(flaws(judged), list)


@given(JUDGED)
def test_metrics_are_what_their_definitions_say(judged: list[PairScores]) -> None:
    scores = [-1 if score is None else score for one in judged for score in (one.forward, one.backward)]
    truths = [one.truth for one in judged for _ in range(2)]
    found = mmscore(judged)
    if found.value is not None:
        assert found.value == pytest.approx(kendalltau(scores, truths).statistic)
    valid = [score for score in scores if score > 0]
    if valid:
        counts = [valid.count(score) for score in set(valid)]
        assert smoothness(judged).value == pytest.approx(entropy(counts, base=2))
    shares = [relaxed_symmetry(judged, epsilon=epsilon).value or 0.0 for epsilon in range(10)]
    assert shares == sorted(shares), "what is tolerated only grows"
    assert (relaxed_symmetry(judged, compatible=True).value or 0) >= shares[1]


def test_discounted_gain_is_one_for_the_right_order_and_the_mean_of_orders_for_ties() -> None:
    rows = [PairScores(str(place), "sensitive", truth, truth, truth) for place, truth in enumerate((10.0, 6.0, 1.0))]
    assert discounted_gain(rows).value == pytest.approx(1)
    tied = [
        PairScores("a", "sensitive", 10, 5, 5),
        PairScores("b", "sensitive", 1, 5, 5),
        PairScores("c", "sensitive", 1, 1, 1),
    ]
    found = discounted_gain(tied, order="forward").value
    discounts = [1, 1 / math.log2(3), 1 / 2]
    expected = (5.5 * (discounts[0] + discounts[1]) + discounts[2]) / (10 + discounts[1] + discounts[2])
    assert found == pytest.approx(expected)
