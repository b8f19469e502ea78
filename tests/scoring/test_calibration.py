from __future__ import annotations

import pytest

from snellen.scoring.calibration import calibration_error, calibration_interval, reliability


def test_bins_hold_equally_many_answers_in_the_order_of_confidence() -> None:
    bins = reliability([0.9, 0.1, 0.8, 0.2], [True, False, True, True], bins=2)
    assert [(one.n, round(one.confidence, 2), one.right) for one in bins] == [(2, 0.15, 0.5), (2, 0.85, 1.0)]


def test_the_error_is_the_mean_gap_between_confidence_and_share() -> None:
    assert calibration_error([0.9, 0.1, 0.8, 0.2], [True, False, True, True], bins=2) == pytest.approx(0.25)
    assert calibration_error([0.7] * 10, [True] * 7 + [False] * 3, bins=1) == pytest.approx(0.0)
    assert calibration_error([], []) == 0.0


def test_confidences_that_are_right_err_within_the_interval() -> None:
    confidences = [0.5] * 200
    interval = calibration_interval(confidences, bins=1)
    assert interval.low <= calibration_error(confidences, [True, False] * 100, bins=1) <= interval.high < 0.1
