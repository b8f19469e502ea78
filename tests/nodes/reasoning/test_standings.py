"""Where models stand on a ladder: what is said of them, and whether another rung may change it."""

from __future__ import annotations

import pytest

from nodes.reasoning.examiner import Examiner
from nodes.reasoning.inquiry import Experiment, Finding, Report, Verdict
from profiles import load_profile

EXAMINER = Examiner(load_profile("embedded"))


def climbed(query: str, rungs: list[tuple[Verdict, ...]]) -> Report:
    """Return the report of a ladder so far; the verdicts of each rung in the order of its claims."""
    report = Report(query=query, models=["it"], alpha=0.05, seed=0)
    for verdicts in rungs:
        design = EXAMINER.next_rung(report)
        assert design is not None, "no further rung was wanted"
        findings = [
            Finding(claim=claim, verdict=verdict) for claim, verdict in zip(design.claims, verdicts, strict=True)
        ]
        done = Experiment(design=design, rounds=1, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report


@pytest.mark.parametrize(
    ("query", "rungs", "says", "pending"),
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
def test_a_ladder_is_climbed_as_far_as_it_may_say_more(
    query: str, rungs: list[tuple[Verdict, ...]], says: Verdict, *, pending: bool
) -> None:
    (found,) = EXAMINER.standings(climbed(query, rungs))
    assert (found.says, found.pending) == (says, pending)


@pytest.mark.parametrize(
    ("rungs", "moot"),
    [
        ([("no", "no")], True),
        ([("yes", "no"), ("no", "open")], True),
        ([("yes", "open"), ("no", "open")], False),
    ],
)
async def test_nothing_more_is_asked_of_who_has_nothing_to_lose(
    rungs: list[tuple[Verdict, ...]], *, moot: bool
) -> None:
    report = climbed("Is it robust to noise?", rungs)
    (found,) = EXAMINER.standings(report)
    assert found.says == "open"
    assert bool(found.moot) == moot
    judged = await EXAMINER.judge_sufficiency(report)
    assert judged.sufficient
    assert judged.unsettled == ([] if moot else ["it"])


async def test_what_is_not_decided_is_told_by_the_experiment_with_the_most_pictures() -> None:
    report = climbed("Is it robust to noise?", [("yes", "open"), ("yes", "open")])
    many, few = report.experiments
    drop = many.findings[1].model_copy(update={"n": 90, "mean": 0.06, "interval": (-0.02, 0.14), "logarithm": 0.1})
    rash = few.findings[1].model_copy(update={"n": 4, "mean": 0.25, "interval": (-0.8, 0.9), "logarithm": 0.2})
    told = [
        one.model_copy(update={"findings": [one.findings[0], finding]}) for one, finding in ((many, drop), (few, rash))
    ]
    concluded = await EXAMINER.conclude(report.model_copy(update={"experiments": told}))
    assert "it loses 6 points" in concluded.conclusion
