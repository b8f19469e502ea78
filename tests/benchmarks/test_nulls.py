"""Verdicts keep their error rate on real trials that are drawn again, through the product's own decisions."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.nulls import SCENARIOS, NullScenario, Scenario, measured
from benchmarks.real_trials import Trials, real_trials

ALPHA = 0.05
SHORT = (
    "choice: paired drop, blip2-clean",
    "choice: two experiments",
    "freeform: help, llava-upright",
    "freeform: all comparisons of four models",
    "pairs: order, llava-judge",
    "pairs: symmetry, llava-judge",
    "pairs: three claims about two judges",
)


@pytest.fixture(scope="module")
def trials() -> dict[str, Trials]:
    return real_trials()


def named(name: str) -> Scenario:
    return next(one for one in SCENARIOS if one.name == name)


def test_thresholds_are_where_real_trials_have_their_means(trials: dict[str, Trials]) -> None:
    for scenario in SCENARIOS:
        bench = NullScenario.of(scenario, trials)
        for design, values in zip(bench.designs, bench.populations, strict=True):
            assert [claim.threshold for claim in design.claims if claim not in bench.true] == pytest.approx(
                [values[claim].mean() for claim in design.claims if claim not in bench.true]
            )


def test_what_is_clearly_so_is_found(trials: dict[str, Trials]) -> None:
    bench = NullScenario.of(named("pairs: claims about two judges, and clear ones"), trials)
    report = bench.report(np.random.default_rng(3), ALPHA)
    verdicts = {one.claim: one.verdict for one in report.findings}
    assert {verdicts[claim] for claim in bench.true} == {"yes"}
    assert report.images <= report.budget.images


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_at_most_alpha_of_verdicts_are_wrong(name: str, trials: dict[str, Trials]) -> None:
    found = measured(named(name), trials, runs=600, alpha=ALPHA, seed=5)
    assert found["wrong"] <= ALPHA
    assert found["interval"]["low"] <= ALPHA


@pytest.mark.slow
def test_the_nulls_see_what_counting_each_split_did(trials: dict[str, Trials]) -> None:
    found = measured(named("each split counted: symmetry, llava-judge"), trials, runs=600, alpha=ALPHA, seed=5)
    assert found["interval"]["low"] > ALPHA
