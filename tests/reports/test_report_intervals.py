"""One interval a figure, named, in every form of a report; what older versions stored is called what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snellen.experiments.decisions import judged, with_intervals
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.report import Experiment, Finding, Report
from snellen.exports.investigations import investigation
from snellen.memory.samples import Sample
from snellen.reports.investigation_page import render
from snellen.reports.investigation_text import markdown
from snellen.summaries.investigations import guarantee
from snellen.threads.investigate import InvestigationResult
from snellen.tools.calls import ToolCall

DESIGN = Design(
    difficulty=1,
    purpose="p",
    skill="telling",
    question="Which?",
    arms=[
        Arm(answer=name, select=ToolCall(name="TextToImageGeneration", arguments={"class_name": name})) for name in "ab"
    ],
    claims=[Claim(kind="ability", model="m", threshold=0.5), Claim(kind="ability", model="n", threshold=0.5)],
)
NAMED = "90 % confidence sequence"
"""Of two ends each of which errs at the rate of the verdicts, 5 %."""


@pytest.fixture
def report() -> Report:
    samples = [Sample("t", 0, number, arm, f"{number}", "", "", "") for number in range(30) for arm in range(2)]
    right = {sample: DESIGN.arms[sample.arm].answer for sample in samples}
    said = {(name, False): right for name in "mn"}
    begun = Experiment(
        design=DESIGN, rounds=30, findings=[Finding(claim=claim) for claim in DESIGN.claims], stopped="x"
    )
    known = Report(
        query="q?", models=["m", "n"], alpha=0.05, seed=0, experiments=[begun], fingerprints={"m": "1", "n": "2"}
    )
    evaluated = EvaluatedChoices(DESIGN, samples, said)
    return with_intervals(judged(known, 0, evaluated), 0, evaluated)


def test_a_claim_and_a_result_about_one_number_have_one_interval(report: Report) -> None:
    (experiment,) = report.experiments
    for finding, result in zip(experiment.findings, experiment.results, strict=True):
        assert (finding.mean, finding.interval, finding.n) == (result.average, result.interval, result.n)
        assert (finding.error_rate, finding.unit) == (result.error_rate, result.unit) == (0.1, "picture")


def test_every_form_of_a_report_names_its_interval(report: Report, tmp_path: Path) -> None:
    found = InvestigationResult("t", report)
    text, page = markdown(found), render(found, tmp_path)
    assert f"Intervals: {NAMED}." in guarantee(report)
    assert f"mean ({NAMED}), n" in text
    for said in (text, page):
        assert f"accuracy ({NAMED})" in said
        assert "n = 60 pictures" in said
        assert "(95 %)" not in said
        assert "bootstrap" not in said
    stored = json.loads(report.model_dump_json())["experiments"][0]
    for row in (*stored["findings"], *stored["results"]):
        assert (row["interval_kind"], row["error_rate"], row["unit"]) == ("confidence sequence", 0.1, "picture")
    tables = {table.name: list(table.rows()) for table in investigation(found, tmp_path, ended=True).tables}
    for row in (*tables["findings"], *tables["results"]):
        assert (row["interval"], row["unit"], row["n"]) == (NAMED, "picture", 60)


def test_an_older_report_is_read_and_calls_its_intervals_what_they_are(report: Report, tmp_path: Path) -> None:
    stored = json.loads(report.model_dump_json())
    for row in (*stored["experiments"][0]["findings"], *stored["experiments"][0]["results"]):
        for key in ("unit", "error_rate", "interval_kind"):
            del row[key]
    old = InvestigationResult("t", Report.model_validate(stored))
    for said in (markdown(old), render(old, tmp_path)):
        assert "accuracy (95 % bootstrap, which ignores stopping)" in said
        assert "Intervals: confidence sequence." in said


def test_a_report_that_was_stopped_claims_nothing_and_says_how_it_goes_on(report: Report, tmp_path: Path) -> None:
    (experiment,) = report.experiments
    begun = experiment.model_copy(
        update={"stopped": "", "results": [], "findings": [Finding(claim=claim) for claim in DESIGN.claims]}
    )
    found = InvestigationResult("t", report.model_copy(update={"experiments": [begun]}))
    for said in (markdown(found), render(found, tmp_path)):
        assert "`snellen resume t` goes on" in said
        assert "Nothing is measured yet" in said
        assert "of such verdicts" not in said
        assert "under way" in said
