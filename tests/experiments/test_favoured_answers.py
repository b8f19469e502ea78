"""Questions for the answer that a model gives too often, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from snellen.experiments.design import Claim
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.report import Answer, Experiment, Finding, Report
from snellen.experiments.verdicts import Verdict
from snellen.profiles import load_profile

EXAMINER = CaseExaminer(load_profile("embedded"))
WHICH = "Which answer does blip favor?"


async def answered(query: str, verdicts: Mapping[str, Verdict], *, otherwise: Verdict = "no") -> tuple[Report, Answer]:
    """Return the report and its first answer, with verdicts on claims by the answer that they are about."""
    report = Report(query=query, models=["blip"], alpha=0.05, seed=0)
    while (design := EXAMINER.next_design(report)) is not None:
        findings = [
            Finding(claim=one, n=40, mean=0.3, interval=(0.2, 0.4), verdict=verdicts.get(one.answer, otherwise))
            for one in design.claims
        ]
        done = Experiment(design=design, rounds=20, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report, (await EXAMINER.conclude(report)).answers[0]


def claims(report: Report) -> list[Claim]:
    return [claim for one in report.experiments for claim in one.design.claims]


async def test_each_answer_of_each_question_is_claimed_to_be_the_one() -> None:
    report, answer = await answered(WHICH, {})
    assert {claim.kind for claim in claims(report)} == {"favor"}
    said = [claim.answer for claim in claims(report)]
    assert (set(said), said.count("yes"), said.count("no")) == ({"the first", "the second", "yes", "no"}, 2, 2)
    assert (answer.answer, answer.holds) == (None, False)
    assert answer.sentence.startswith("blip does not favor any answer: ")


@pytest.mark.parametrize(("given", "called"), [("yes", "“yes”"), ("the second", "the second name")])
async def test_the_favored_answer_is_told(given: str, called: str) -> None:
    _, answer = await answered(WHICH, {given: "yes"})
    assert (answer.answer, answer.holds) == (None, True)
    assert answer.sentence.startswith(f"blip favors {called}: it chooses {called} 30 points more often (")
    _, answer = await answered("Does blip prefer one answer over the others?", {given: "yes"})
    assert answer.answer == "yes"


async def test_every_experiment_is_made_and_told_and_every_favored_answer_is_named() -> None:
    report, answer = await answered(WHICH, {"yes": "yes", "the first": "yes"})
    assert len(report.experiments) == len(EXAMINER._plan_of(report).parts[0].designs)
    assert all(f"in {one.design.task}" in answer.sentence for one in report.experiments)
    assert answer.sentence.startswith("blip favors the first name and “yes”: ")


async def test_which_answers_are_favored_is_told_model_by_model() -> None:
    report = Report(query="Which answer do clip and blip favor?", models=["clip", "blip"], alpha=0.05, seed=0)
    while (design := EXAMINER.next_design(report)) is not None:
        found = [
            Finding(claim=one, n=40, mean=0.3, verdict="yes" if (one.model, one.answer) == ("blip", "no") else "no")
            for one in design.claims
        ]
        done = Experiment(design=design, rounds=20, findings=found)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    told = (await EXAMINER.conclude(report)).headline
    assert told == "Which answer do clip and blip favor? None, for clip; “no”, for blip."


async def test_what_is_not_decided_is_said_so() -> None:
    _, answer = await answered(WHICH, {}, otherwise="open")
    assert answer.holds is None
    assert answer.sentence.startswith("Whether blip favors any answer is not decided: ")


async def test_who_always_says_no_is_said_to_where_both_answers_are_asked_about() -> None:
    report, _ = await answered("Does blip always say yes or no?", {"no": "yes"})
    answers = (await EXAMINER.conclude(report)).answers
    assert [one.answer for one in answers] == ["no", "yes"]


@pytest.mark.parametrize(
    ("verdicts", "answer"),
    [({"yes": "yes", "the first": "yes"}, "yes"), ({"yes": "yes"}, "no"), ({}, "no")],
)
async def test_one_thing_is_always_said_where_each_question_has_one(verdicts: dict[str, Verdict], answer: str) -> None:
    _, told = await answered("Does blip always say the same thing?", verdicts)
    assert told.answer == answer
