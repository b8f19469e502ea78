"""Evidence about how many of several groups have a mean above a threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.scoring import GroupEvidence, evidence
from snellen.scoring.observations import Observations

trials = st.lists(st.sampled_from([0.0, 1.0]), max_size=30)
groups = st.dictionaries(st.sampled_from("abcdef"), trials, min_size=1, max_size=6)
thresholds = st.floats(0.05, 0.95)


@given(trials, thresholds)
def test_of_one_group_it_is_the_evidence_about_its_mean(values: list[float], threshold: float) -> None:
    found = GroupEvidence.of({"one": values}, threshold)
    known = evidence(Observations.independent(values), threshold)
    assert math.exp(found.at_least(1)) == pytest.approx(known.above)
    assert math.exp(found.fewer_than(1)) == pytest.approx(known.below)


@given(groups, thresholds)
def test_more_groups_are_never_surer_and_the_bounds_are_in_order(
    values: dict[str, list[float]], threshold: float
) -> None:
    found = GroupEvidence.of(values, threshold)
    numbers = range(1, len(values) + 1)
    at_least, fewer = [found.at_least(one) for one in numbers], [found.fewer_than(one) for one in numbers]
    assert at_least == pytest.approx(sorted(at_least, reverse=True))
    assert fewer == pytest.approx(sorted(fewer))
    least, most = found.bounds(0.05)
    assert 0 <= least <= most <= len(values)


@given(groups, thresholds)
def test_the_other_side_is_the_same_of_mistakes(values: dict[str, list[float]], threshold: float) -> None:
    found = GroupEvidence.of(values, threshold)
    turned = GroupEvidence.of({name: [1 - one for one in each] for name, each in values.items()}, 1 - threshold)
    for number in range(1, len(values) + 1):
        assert found.fewer_than(number) == pytest.approx(turned.at_least(len(values) - number + 1))


def test_clear_groups_are_counted_and_others_are_not_known() -> None:
    values = {"a": [1.0] * 40, "b": [1.0] * 40, "c": [0.0] * 40, "d": []}
    assert GroupEvidence.of(values, 0.7).bounds(0.05) == (2, 3)


@pytest.mark.parametrize("number", [0, 3])
def test_a_number_that_there_is_not_is_an_error(number: int) -> None:
    with pytest.raises(ValueError, match="of 2 groups"):
        GroupEvidence.of({"a": [1.0], "b": [1.0]}, 0.5).at_least(number)


@pytest.mark.parametrize(("means", "number"), [((0.7,) * 5, 1), ((0.99, 0.99, 0.7, 0.7), 3), ((0.99,) * 5 + (0.7,), 6)])
def test_too_many_groups_are_rarely_claimed_however_often_one_looks(means: tuple[float, ...], number: int) -> None:
    dice, wrong, runs = np.random.default_rng(7), 0, 100
    for _ in range(runs):
        drawn = {name: (dice.random(60) < mean).astype(float).tolist() for name, mean in enumerate(means)}
        looks = (GroupEvidence.of({str(name): row[:n] for name, row in drawn.items()}, 0.7) for n in range(5, 61, 5))
        wrong += any(each.at_least(number) >= math.log(10) for each in looks)
    assert wrong / runs <= 0.1
