"""Verdicts about all classes, where classes differ."""

from __future__ import annotations

from benchmarks.class_nulls import SCENARIOS, measured


def test_a_few_classes_say_nothing_of_all_and_drawn_ones_do() -> None:
    (scenario,) = (one for one in SCENARIOS if one.name == "drop: one in ten lost wholly")
    few = measured(scenario, fixed=2, runs=12, alpha=0.05, seed=7)
    drawn = measured(scenario, fixed=0, runs=12, alpha=0.05, seed=7)
    assert few["wrong"] > 0.5
    assert drawn["wrong"] < 0.25
