"""Choices without what a model prefers: they do not depend on it, and find what its scores tell apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.scoring import calibrated_choices

SCORES = st.lists(st.lists(st.floats(-5, 0), min_size=3, max_size=3), min_size=6, max_size=20)
PLACES = (0, 1, 2) * 7


@given(scores=SCORES, preferred=st.lists(st.floats(-50, 50), min_size=3, max_size=3))
def test_a_preference_changes_nothing(scores: list[list[float]], preferred: list[float]) -> None:
    right = PLACES[: len(scores)]
    said = calibrated_choices(scores, right)
    biased = calibrated_choices((np.asarray(scores) + preferred).tolist(), right)
    if said is None or biased is None:  # scores that hardly differ are lost beside large preferences
        return
    centered = np.asarray(scores) - np.mean(
        [np.asarray(scores)[np.asarray(right) == each].mean(0) for each in range(3)], 0
    )
    for row, one, other in zip(centered, said.places, biased.places, strict=True):
        assert row[one] == pytest.approx(row[other], abs=1e-9)
    assert said.most >= np.mean([one == place for one, place in zip(said.places, right, strict=True)])


@given(scores=SCORES, shift=st.floats(-5, 5))
def test_no_preference_for_one_answer_makes_it_right_more_often_than_most(
    scores: list[list[float]], shift: float
) -> None:
    right = PLACES[: len(scores)]
    found = calibrated_choices(scores, right)
    if found is None:
        return
    means = np.mean([np.asarray(scores)[np.asarray(right) == each].mean(0) for each in range(3)], 0)
    shifted = np.asarray(scores) - means
    shifted[:, 0] += shift
    assert found.most >= (shifted.argmax(axis=1) == np.asarray(right)).mean() - 1e-9


@given(st.lists(st.tuples(st.floats(-5, 0), st.floats(-5, 0)), min_size=4, max_size=12), st.floats(-5, 5))
def test_between_two_answers_most_is_the_best_threshold(scores: list[tuple[float, float]], shift: float) -> None:
    right = [place % 2 for place in range(len(scores))]
    found = calibrated_choices(scores, right)
    if found is None:
        return
    chosen = [first < second + shift for first, second in scores]
    assert found.most >= np.mean([one == place for one, place in zip(chosen, right, strict=True)]) - 1e-9


def test_what_scores_tell_apart_is_found_behind_one_answer_to_all() -> None:
    right = [0, 1] * 10
    scores = [[-0.1 - 0.1 * place, -3.0 + 0.1 * place] for place in right]
    assert all(first > second for first, second in scores), "it always says the first"
    found = calibrated_choices(scores, right)
    assert found is not None
    assert (found.places, found.most) == (right, 1.0)


def test_rare_low_scores_do_not_hide_what_is_told_apart() -> None:
    """With means shifted by them the choices are worse, and the most is not."""
    right = [0, 1] * 20
    scores = [[-0.05, (-1.9, -0.4)[place] if number % 10 else -14.0] for number, place in enumerate(right)]
    scores = [[first, -0.4 if place else second] for (first, second), place in zip(scores, right, strict=True)]
    found = calibrated_choices(scores, right)
    assert found is not None
    assert found.most == 1.0
    assert np.mean([one == place for one, place in zip(found.places, right, strict=True)]) < 0.9


def test_how_often_an_answer_is_right_does_not_matter() -> None:
    right = [0] * 30 + [1] * 3
    scores = [[-1.0, -1.2 + 0.1 * place] for place in right]
    found = calibrated_choices(scores, right)
    assert found is not None
    assert found.places == right


@pytest.mark.parametrize(
    ("scores", "right"),
    [
        ([[-1.0, -2.0]] * 4, [0, 1, 0, 1]),
        ([[-1.0, -2.0], [-2.0, -1.0]], [0, 0]),
        ([[-1.0, math.nan], [-2.0, -1.0]], [0, 1]),
        ([[-1.0, -math.inf], [-2.0, -1.0]], [0, 1]),
        ([], []),
    ],
)
def test_scores_that_tell_nothing_have_no_choice(scores: list[list[float]], right: list[int]) -> None:
    assert calibrated_choices(scores, right) is None


def test_an_answer_that_is_never_right_is_never_chosen() -> None:
    scores = [[-1.0, -2.0, -0.1], [-2.0, -1.0, -0.1], [-1.1, -2.1, -0.3]]
    found = calibrated_choices(scores, [0, 1, 0])
    assert found is not None
    assert found.places == [0, 1, 0]
