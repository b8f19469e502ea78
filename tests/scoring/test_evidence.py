from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.scoring import Evidence, Interval, Observations, prospect, share_errors
from snellen.scoring import confidence_interval as interval_over
from snellen.scoring import evidence as evidence_over

ANSWERS = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=40)
RATES = st.floats(0.001, 0.5)
CHANCES = st.floats(0.05, 0.95)


def evidence(values: Sequence[float], threshold: float, *, low: float = 0.0, high: float = 1.0) -> Evidence:
    return evidence_over(Observations.independent(values), threshold, low=low, high=high)


def confidence_interval(values: Sequence[float], *, alpha: float = 0.05, low: float = 0.0) -> Interval:
    return interval_over(Observations.independent(values), alpha=alpha, low=low)


def test_nothing_observed_says_nothing() -> None:
    found = evidence([], 0.5)
    assert found.above == pytest.approx(1)
    assert found.below == pytest.approx(1)
    interval = confidence_interval([], low=-1)
    assert (interval.low, interval.high) == (-1, 1)


@given(st.floats(0.01, 0.99), st.integers(1, 6))
def test_expected_wealth_is_one_where_the_threshold_is_the_mean(mean: float, rounds: int) -> None:
    expected = 0.0
    for hits in range(rounds + 1):
        share = math.comb(rounds, hits) * mean**hits * (1 - mean) ** (rounds - hits)
        expected += share * evidence([1.0] * hits + [0.0] * (rounds - hits), mean).above
    assert expected == pytest.approx(1, rel=1e-6)


@given(st.tuples(CHANCES, CHANCES), st.tuples(CHANCES, CHANCES), st.floats(0.1, 0.9))
def test_at_most_alpha_of_verdicts_are_wrong_though_either_side_may_win(
    means: tuple[float, float], thresholds: tuple[float, float], alpha: float
) -> None:
    """Every outcome of five observations of two claims, with its probability; a mean at its threshold is not above."""
    expected = 0.0
    for hits in itertools.product(range(6), repeat=2):
        chances = (math.comb(5, n) * mean**n * (1 - mean) ** (5 - n) for n, mean in zip(hits, means, strict=True))
        found = [evidence([1.0] * n + [0.0] * (5 - n), bar) for n, bar in zip(hits, thresholds, strict=True)]
        decided = share_errors([one.strength for one in found], alpha=alpha).decided
        wrong = [
            ruled and (one.above > one.below) != (mean > bar)
            for ruled, one, mean, bar in zip(decided, found, means, thresholds, strict=True)
        ]
        expected += math.prod(chances) * sum(wrong) / max(sum(decided), 1)
    assert expected <= alpha + 1e-9


@given(CHANCES, st.floats(0.1, 0.9))
def test_of_two_that_are_alike_hardly_any_verdict_is_made(mean: float, alpha: float) -> None:
    """Of a difference either verdict is wrong at its threshold; so it is charged for both sides."""
    expected = 0.0
    for hits in range(9):
        found = evidence([1.0] * hits + [0.0] * (8 - hits), mean)
        ruled = share_errors([found.of_difference], alpha=alpha).decided[0]
        expected += math.comb(8, hits) * mean**hits * (1 - mean) ** (8 - hits) * ruled
    assert expected <= alpha + 1e-9


@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=5))
def test_expected_wealth_is_at_most_one_for_the_mean_over_classes(means: list[float]) -> None:
    """A round has one observation of each class; classes differ."""
    threshold, expected = sum(means) / len(means), 0.0
    for code in range(2 ** len(means)):
        hits = [bool(code >> place & 1) for place in range(len(means))]
        share = math.prod(mean if hit else 1 - mean for mean, hit in zip(means, hits, strict=True))
        expected += share * evidence([float(hit) for hit in hits], threshold).above
    assert expected <= 1 + 1e-9


@given(ANSWERS, st.floats(-0.9, 0.9), RATES)
def test_a_threshold_is_outside_exactly_if_its_evidence_suffices(
    answers: list[float], threshold: float, alpha: float
) -> None:
    interval = confidence_interval(answers, alpha=alpha, low=-1)
    strength = evidence(answers, threshold, low=-1).of_difference
    if math.isclose(strength * alpha, 1, rel_tol=1e-6):
        return
    assert (strength * alpha >= 1) == (not interval.low <= threshold <= interval.high)


@given(SCORES, RATES)
def test_an_interval_holds_the_mean_and_lies_within_what_is_possible(scores: list[float], alpha: float) -> None:
    interval = confidence_interval(scores, alpha=alpha)
    assert 0 <= interval.low <= sum(scores) / len(scores) + 1e-9
    assert sum(scores) / len(scores) - 1e-9 <= interval.high <= 1


@given(SCORES, st.floats(0.1, 0.9))
def test_order_does_not_matter(scores: list[float], threshold: float) -> None:
    shuffled = random.Random(3).sample(scores, len(scores))
    assert evidence(shuffled, threshold).above == pytest.approx(evidence(scores, threshold).above, rel=1e-6)


@given(ANSWERS, st.floats(-0.9, 0.9))
def test_both_sides_are_mirrored(answers: list[float], threshold: float) -> None:
    found = evidence(answers, threshold, low=-1)
    mirrored = evidence([-answer for answer in answers], -threshold, low=-1)
    assert mirrored.below == pytest.approx(found.above, rel=1e-6)
    assert mirrored.above == pytest.approx(found.below, rel=1e-6)


def test_more_of_the_same_narrows_an_interval_without_end() -> None:
    few, many = (confidence_interval([1.0, 0.0] * n) for n in (50, 5_000))
    assert few.low < many.low < 0.5 < many.high < few.high
    assert many.high - many.low < 0.08


def test_a_mean_is_where_means_can_be() -> None:
    assert evidence([], -0.1).above == math.inf
    assert evidence([0.5], 1.1).below == math.inf
    assert evidence([0.0, 0.0], 0.0).above == 1
    assert evidence([0.0, 0.1], 0.0).above == math.inf
    assert evidence([1.0] * 100_000, 0.01).above < math.inf


@pytest.mark.parametrize("observation", [math.nan, -0.1, 1.1, math.inf])
def test_what_cannot_be_observed_is_refused(observation: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.0 and 1\.0"):
        evidence([0.5, observation], 0.5)


def test_no_span_and_no_error_rate_are_refused() -> None:
    with pytest.raises(ValueError, match="say nothing"):
        evidence([], 0.5, low=1, high=1)
    with pytest.raises(ValueError, match="alpha"):
        confidence_interval([], alpha=0)
    with pytest.raises(ValueError, match="alpha"):
        share_errors([], alpha=1)


def test_one_claim_needs_one_over_alpha() -> None:
    assert share_errors([20.0]).decided == (True,)
    assert share_errors([19.9]).decided == (False,)
    assert share_errors([20.0]).alpha == 0.05


def test_claims_that_are_clear_help_each_other() -> None:
    """Three of four: the third needs 4 / (3 alpha), not 4 / alpha; the interval's rate says the same."""
    shared = share_errors([1_000.0, 27.0, 1.0, 90.0])
    assert shared.decided == (True, True, False, True)
    assert shared.alpha == pytest.approx(0.05 * 3 / 4)


def test_nothing_decided_shares_the_rate_evenly() -> None:
    assert share_errors([1.0, 2.0]) == share_errors([39.0, 0.0])
    assert share_errors([1.0, 2.0]).alpha == 0.025
    assert share_errors([]).decided == ()


@given(st.lists(st.floats(0, 1_000), min_size=1, max_size=8), RATES)
def test_decided_are_those_whose_intervals_exclude_their_thresholds(strengths: list[float], alpha: float) -> None:
    shared = share_errors(strengths, alpha=alpha)
    for strength, decided in zip(strengths, shared.decided, strict=True):
        assert decided == (strength * shared.alpha >= 1)


@given(st.integers(1, 500), st.floats(0, 1), st.floats(0.01, 0.5), st.integers(0, 2_000))
def test_a_prospect_has_probabilities_and_is_as_good_on_either_side(
    n: int, mean: float, spread: float, more: int
) -> None:
    found = prospect(n, mean, spread, 0.5, most=n + more)
    mirrored = prospect(n, 1 - mean, spread, 0.5, most=n + more)
    assert 0 <= found.above + found.below <= 1
    assert (found.above, found.below) == pytest.approx((mirrored.below, mirrored.above), abs=1e-9)


@pytest.mark.parametrize("rate", [0.75, 0.78, 0.81, 0.85])
def test_hardly_anything_that_is_given_up_would_have_been_decided(rate: float) -> None:
    dice, most, given_up, decided = np.random.default_rng(1), 600, 0, 0
    for _ in range(100):
        answers = (dice.random(most) < rate).astype(float)
        for n in range(20, most, 40):
            if evidence(answers[:n].tolist(), 0.75).strength >= 20:
                break
            likely = prospect(n, answers[:n].mean(), answers[:n].std(), 0.75, most=most)
            if likely.above + likely.below < 0.05:
                given_up += 1
                decided += any(evidence(answers[:m].tolist(), 0.75).strength >= 20 for m in range(n, most + 1, 40))
                break
    assert decided <= 0.1 * given_up + 1
    assert given_up > 60 if rate < 0.8 else given_up < 40


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1)), max_size=40), st.randoms())
def test_a_unit_is_one_observation_however_many_parts_it_has(
    parts: list[tuple[int, float]], dice: random.Random
) -> None:
    seen = Observations.of_parts(parts)
    assert len(seen) == len({unit for unit, _ in parts})
    assert Observations.of_parts(dice.sample(parts, len(parts))).by_unit == pytest.approx(dict(seen.by_unit))
    doubled = Observations.of_parts([*parts, *parts])
    assert evidence_over(doubled, 0.5).strength == pytest.approx(evidence_over(seen, 0.5).strength)


def test_observations_do_not_change_under_whoever_holds_them() -> None:
    values = {"a": 1.0}
    seen = Observations(values)
    values["b"] = 0.0
    assert len(seen) == 1
    with pytest.raises(TypeError):
        seen.by_unit["c"] = 0.5  # type: ignore[index]
    assert (-seen).values == (-1.0,)
    assert Observations({}).mean == 0
