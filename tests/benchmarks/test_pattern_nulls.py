"""Patterns of failure where there are none, and beside one that there is."""

from __future__ import annotations

from benchmarks.pattern_nulls import SCENARIOS, measured


def test_what_is_there_is_told_and_nothing_else() -> None:
    (scenario,) = (one for one in SCENARIOS if one.name == "two answers, beside a constant answer")
    row = measured(scenario, runs=6, alpha=0.05, seed=7)
    assert row["found"] == 1
    assert row["end"] == row["ever"] == 0
