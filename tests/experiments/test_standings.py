"""Standings of models: what is said of them, and whether another experiment may change it."""

from __future__ import annotations

import pytest

from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.report import Experiment, Finding, Report, Verdict
from snellen.profiles import load_profile

PROFILE = load_profile("embedded")
EXAMINER = CaseExaminer(PROFILE)


def report_so_far(query: str, experiments: list[tuple[Verdict, ...]]) -> Report:
    """Return the report so far, with the verdicts of each experiment in the order of its claims."""
    report = Report(query=query, models=["it"], alpha=0.05, seed=0)
    for verdicts in experiments:
        design = EXAMINER.next_design(report)
        assert design is not None, "no further experiment was wanted"
        findings = [
            Finding(claim=claim, verdict=verdict) for claim, verdict in zip(design.claims, verdicts, strict=True)
        ]
        done = Experiment(design=design, rounds=1, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report


@pytest.mark.parametrize(
    ("query", "experiments", "says", "pending"),
    [
        ("Can it recognize birds?", [("yes",)], "open", True),
        ("Can it recognize birds?", [("no",)], "no", False),
        ("Can it recognize birds?", [("open",)], "open", True),
        ("Can it recognize birds?", [("open",), ("no",)], "no", False),
        ("Can it recognize birds?", [("open",), ("yes",)], "open", False),
        ("Can it recognize birds?", [("yes",), ("yes",)], "yes", False),
        # Of robustness, the claims are: right in the pictures as they were, and losing more than the margin.
        ("Is it robust to noise?", [("yes", "no")], "open", True),
        ("Is it robust to noise?", [("open", "yes")], "no", False),
        ("Is it robust to noise?", [("no", "open")], "open", False),
        ("Is it robust to noise?", [("yes", "open")], "open", True),
        ("Is it robust to noise?", [("yes", "open"), ("yes", "yes")], "no", False),
        ("Is it robust to noise?", [("yes", "open"), ("yes", "no")], "open", False),
        ("Is it robust to noise?", [("yes", "no"), ("open", "no")], "yes", False),
    ],
)
def test_experiments_go_on_as_far_as_they_may_say_more(
    query: str, experiments: list[tuple[Verdict, ...]], says: Verdict, *, pending: bool
) -> None:
    (found,) = EXAMINER.standings(report_so_far(query, experiments))
    assert (found.says, found.pending) == (says, pending)


@pytest.mark.parametrize(
    ("experiments", "moot"),
    [
        ([("no", "no")], True),
        ([("yes", "no"), ("no", "open")], True),
        ([("yes", "open"), ("no", "open")], False),
    ],
)
async def test_nothing_more_is_asked_of_who_has_nothing_to_lose(
    experiments: list[tuple[Verdict, ...]], *, moot: bool
) -> None:
    report = report_so_far("Is it robust to noise?", experiments)
    (found,) = EXAMINER.standings(report)
    assert found.says == "open"
    assert bool(found.moot) == moot
    judged = await EXAMINER.judge_sufficiency(report)
    assert judged.sufficient
    assert judged.unsettled == ([] if moot else ["it"])


async def test_what_is_not_decided_is_told_by_the_experiment_with_the_most_pictures() -> None:
    report = report_so_far("Is it robust to noise?", [("yes", "open"), ("yes", "open")])
    many, few = report.experiments
    drop = many.findings[1].model_copy(update={"n": 90, "mean": 0.06, "interval": (-0.02, 0.14), "logarithm": 0.1})
    rash = few.findings[1].model_copy(update={"n": 4, "mean": 0.25, "interval": (-0.8, 0.9), "logarithm": 0.2})
    told = [
        one.model_copy(update={"findings": [one.findings[0], finding]}) for one, finding in ((many, drop), (few, rash))
    ]
    concluded = await EXAMINER.conclude(report.model_copy(update={"experiments": told}))
    assert "accuracy fell 6 points (-14 to +2)" in concluded.conclusion


@pytest.mark.parametrize(("verdict", "mean", "interval"), [("yes", 0.3, (0.1, 0.5)), ("no", -0.3, (-0.5, -0.1))])
@pytest.mark.parametrize(
    ("examiner", "query"),
    [
        (EXAMINER, "Is llava-upright or blip better at recognizing birds?"),
        (ProtocolExaminer(PROFILE, "freeform"), "Which of llava-upright and blip tells the truth more often?"),
    ],
)
async def test_whoever_is_said_to_be_better_is_so_by_a_difference_above_zero(
    examiner: CaseExaminer | ProtocolExaminer, query: str, verdict: Verdict, mean: float, interval: tuple[float, float]
) -> None:
    report = Report(query=query, models=["llava-upright", "blip"], alpha=0.05, seed=0)
    design = await examiner.design_experiment(report, [])
    assert design is not None
    (claim,) = (one for one in design.claims if one.kind == "better")
    found = Finding(claim=claim, n=40, mean=mean, interval=interval, verdict=verdict, logarithm=5.0)
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=20, findings=[found])]})
    (answer,) = (await examiner.conclude(done)).answers
    first, second = (claim.model, claim.other) if verdict == "yes" else (claim.other, claim.model)
    assert answer.sentence.startswith(f"{first} ")
    assert f"than {second}" in answer.sentence
    assert "a difference of +30 points (+10 to +50)" in answer.sentence
