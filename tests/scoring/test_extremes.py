"""Which of several groups is right least often."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.scoring import evidence, evidence_against_least
from snellen.scoring.observations import Observations

trials = st.lists(st.sampled_from([0.0, 1.0]), max_size=40)


@given(st.dictionaries(st.sampled_from("abcdef"), trials, max_size=6))
def test_it_does_not_depend_on_the_order_of_groups_or_trials(values: dict[str, list[float]]) -> None:
    turned = {name: list(reversed(values[name])) for name in reversed(values)}
    assert evidence_against_least(turned) == pytest.approx(evidence_against_least(values))


@given(trials, trials, st.floats(0.01, 0.99))
def test_of_two_groups_it_is_never_more_than_the_evidence_at_any_threshold(
    one: list[float], other: list[float], threshold: float
) -> None:
    against = evidence_against_least({"one": one, "other": other})
    above = evidence(Observations.independent(one), threshold).above
    below = evidence(Observations.independent(other), threshold).below
    assert math.exp(against["one"]) <= above * below * (1 + 1e-9)


def test_the_only_one_that_fails_is_left_and_without_trials_nothing_is_refuted() -> None:
    values = {"a": [0.0] * 30, "b": [1.0] * 30, "c": [1.0] * 30, "d": []}
    against = evidence_against_least(values)
    assert min(against["b"], against["c"]) > math.log(20)
    assert max(against["a"], against["d"]) <= 0
    assert set(evidence_against_least({"a": [], "b": []}).values()) == {0.0}


def test_the_least_group_is_rarely_refuted_however_often_one_looks() -> None:
    dice, wrong, runs = np.random.default_rng(5), 0, 150
    for _ in range(runs):
        drawn = {name: (dice.random(120) < 0.7).astype(float).tolist() for name in "abc"}
        looks = (evidence_against_least({name: row[:n] for name, row in drawn.items()}) for n in range(10, 121, 10))
        wrong += any(against["a"] >= math.log(10) for against in looks)
    assert wrong / runs <= 0.1
