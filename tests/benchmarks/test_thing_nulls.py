"""Verdicts about all things, where things differ, and about those that a model recognizes."""

from __future__ import annotations

import pytest

from benchmarks.thing_nulls import SCENARIOS, How, measured


@pytest.mark.parametrize(
    ("name", "drawn", "otherwise"),
    [
        ("numbers: one in ten things never counted", "drawn for each picture", "few for all pictures"),
        ("places: told of known things, of which there are half", "recognized", "recognized or not"),
        (
            "places: always yes, things recognized more often where it is right",
            "recognized",
            "recognized, unbalanced",
        ),
    ],
)
def test_drawn_and_recognized_things_say_something_of_all_and_others_do_not(
    name: str, drawn: How, otherwise: How
) -> None:
    (scenario,) = (one for one in SCENARIOS if one.name == name)
    assert measured(scenario, how=drawn, runs=10, alpha=0.05, seed=7)["wrong"] < 0.25
    assert measured(scenario, how=otherwise, runs=10, alpha=0.05, seed=7)["wrong"] > 0.5


def test_the_mean_over_recognized_pictures_is_that_of_many_of_them() -> None:
    (scenario,) = (one for one in SCENARIOS if one.name.endswith("there are a quarter"))
    # Of two things both are known with (1/4)², and a guess of one in eight is right.
    known, once = 0.25**2, 2 * 0.25 * 0.75 / 8
    expected = (known + 0.5 * (once + (0.75 / 8) ** 2)) / (known + once + (0.75 / 8) ** 2)
    assert scenario.threshold(2) == pytest.approx(expected, abs=0.01)
