"""Metrics, and what they say at the edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.scoring import (
    Box,
    Interval,
    LabelledBox,
    Matches,
    accuracy,
    bootstrap_interval,
    f1,
    iou,
    match_boxes,
    mean,
    wilson_interval,
)

EDGES = st.integers(0, 50)
BOXES = st.tuples(EDGES, EDGES, EDGES, EDGES)
SCORES = st.lists(st.floats(0, 1), max_size=12)


def test_nothing_is_right_of_no_answers() -> None:
    assert accuracy([]) == mean([]) == 0.0
    assert accuracy([True, True, False, True]) == 0.75
    assert wilson_interval(0, 0) == bootstrap_interval([]) == Interval(0.0, 1.0)


def test_wilsons_interval_is_the_published_one() -> None:
    # Newcombe 1998, table I: 81 of 263.
    interval = wilson_interval(81, 263)
    assert interval.low == pytest.approx(0.2553, abs=1e-4)
    assert interval.high == pytest.approx(0.3662, abs=1e-4)


@given(st.integers(0, 300), st.integers(0, 300))
def test_wilsons_interval_holds_the_share(right: int, wrong: int) -> None:
    interval = wilson_interval(right, right + wrong)
    assert 0 <= interval.low <= interval.high <= 1
    if right + wrong:
        assert interval.low <= right / (right + wrong) + 1e-12
        assert interval.high >= right / (right + wrong) - 1e-12


def test_a_share_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="3 right of 2"):
        wilson_interval(3, 2)


@given(SCORES)
def test_the_bootstrap_is_reproducible_and_holds_the_mean(scores: list[float]) -> None:
    interval = bootstrap_interval(scores, resamples=200)
    assert interval == bootstrap_interval(scores, resamples=200)
    assert 0 <= interval.low <= interval.high <= 1 + 1e-12


def test_equal_scores_give_the_bootstrap_no_width() -> None:
    assert bootstrap_interval([0.5] * 9) == Interval(0.5, 0.5)


@given(BOXES, BOXES)
def test_overlap_is_symmetric_and_between_nothing_and_all(first: Box, second: Box) -> None:
    assert 0 <= iou(first, second) == iou(second, first) <= 1


def test_overlap_counts_shared_over_covered_area() -> None:
    assert iou((0, 0, 10, 10), (5, 0, 15, 10)) == pytest.approx(50 / 150)
    assert iou((0, 0, 10, 10), (0, 0, 10, 10)) == 1
    assert iou((3, 3, 3, 9), (3, 3, 3, 9)) == 0


def test_a_box_is_matched_once_and_by_the_best_overlap() -> None:
    true = [LabelledBox((0, 0, 10, 10), "dog")]
    found = [LabelledBox((1, 0, 11, 10), "dog"), LabelledBox((0, 0, 10, 10), "dog"), LabelledBox((0, 0, 10, 10), "cat")]
    assert match_boxes(found, true) == Matches(1, 3, 1)
    assert f1(match_boxes(found, true)) == 0.5
    assert match_boxes([LabelledBox((5, 0, 15, 10), "dog")], true) == Matches(0, 1, 1)


def test_f1_at_the_edges() -> None:
    assert f1(Matches(0, 0, 0)) == 1.0
    assert f1(Matches(0, 2, 0)) == f1(Matches(0, 0, 2)) == f1(Matches(0, 2, 2)) == 0.0
    assert f1(Matches(2, 2, 2)) == 1.0
