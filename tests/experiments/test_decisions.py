"""How many pictures are made: as many as a decision that is expected of them is worth."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.decisions import decided, gain, next_rounds, taken_up, with_reopened_told
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.report import Budget, Experiment, Finding, Report
from snellen.tools.calls import ToolCall

MEANS = st.floats(0, 1)


def experiment(*means: float, rounds: int = 20, of_names: bool = False, stopped: str = "") -> Experiment:
    """Return an experiment about as many models as there are means, each of which was measured so."""
    arms = [Arm(answer=name, select=ToolCall(name="TextToImageGeneration")) for name in "ab"]
    claims = [Claim(kind="ability", model=f"m{place}", threshold=0.75) for place in range(len(means))]
    design = Design(
        difficulty=1, purpose="p", skill="s", question="q", arms=arms, claims=claims, of_names=of_names
    )  # fmt: skip
    findings = [
        Finding(claim=claim, n=2 * rounds, mean=mean, spread=0.4) for claim, mean in zip(claims, means, strict=True)
    ]
    return Experiment(design=design, rounds=rounds, findings=findings, stopped=stopped)


def report(*experiments: Experiment, **budget: int) -> Report:
    """Return a report with some experiments."""
    known = Budget.model_validate(budget)
    models = ["m0", "m1"]
    return Report(query="q", models=models, alpha=0.05, seed=0, budget=known, experiments=list(experiments))


@given(MEANS, MEANS, st.integers(0, 500))
def test_a_picture_decides_as_much_for_all_models_as_for_each(one: float, other: float, rounds: int) -> None:
    both = gain(experiment(one, other), rounds, 0.05)
    each = [gain(experiment(mean), rounds, 0.05) for mean in (one, other)]
    assert 0 <= max(each) <= both + 1e-12
    assert both <= sum(each) + 1e-12, "each has its own best number of rounds"
    assert both <= 1, "two arms, two claims"


@given(MEANS, st.integers(1, 500))
def test_more_rounds_never_make_a_picture_worth_less(mean: float, rounds: int) -> None:
    assert gain(experiment(mean), 2 * rounds, 0.05) >= gain(experiment(mean), rounds, 0.05) / 2


def test_a_close_claim_gets_pictures_only_as_far_as_a_decision_is_worth_them() -> None:
    close, clear = experiment(0.78), experiment(0.95)
    assert next_rounds(report(close, decision=2_000)) > 0
    assert next_rounds(report(close, decision=50)) == 0
    assert next_rounds(report(clear, decision=50)) > 0


def test_who_fails_at_the_name_of_a_group_is_not_asked_until_that_is_proved() -> None:
    assert gain(experiment(0.5, of_names=True), 400, 0.05) < 0.01 * gain(experiment(0.5), 400, 0.05)
    assert gain(experiment(0.9, of_names=True), 400, 0.05) == pytest.approx(gain(experiment(0.9), 400, 0.05), rel=0.01)


def test_a_report_does_not_call_claims_decided_that_later_ones_opened_again() -> None:
    ended = experiment(0.95, 0.9, stopped="all claims are decided")
    first, second = (one.model_copy(update={"verdict": "yes"}) for one in ended.findings)
    both = ended.model_copy(update={"findings": [first, second]})
    half = ended.model_copy(update={"findings": [first, second.model_copy(update={"verdict": "open"})]})
    other = experiment(0.76, stopped="its share of the pictures is used up")
    told = [one.stopped for one in with_reopened_told(report(both, half, other)).experiments]
    assert told[0] == "all claims are decided"
    assert told[1].startswith("all claims were decided at the time; some no longer are")
    assert told[2] == "its share of the pictures is used up"


def test_a_claim_that_later_ones_open_again_gets_more_pictures() -> None:
    first = experiment(0.95, stopped="all claims are decided")
    strong = first.findings[0].model_copy(update={"logarithm": math.log(25), "leaning": "yes"})
    first = first.model_copy(update={"findings": [strong]})
    assert decided(report(first)).findings[0].verdict == "yes"
    later = experiment(0.76, stopped="its share of the pictures is used up")
    opened = decided(report(first, later))
    assert opened.findings[0].verdict == "open", "two claims share the error rate"
    again = taken_up(opened, ["m0"])
    assert again.number == 0
    assert next_rounds(again) > 0
