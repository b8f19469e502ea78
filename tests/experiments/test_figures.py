"""Figures in sentences: with the threshold that they are compared with, and one interval for one quantity."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.findings import confidence, figures, hundredths
from snellen.experiments.report import Conclusion, Experiment, Finding, Report
from snellen.experiments.verdicts import Verdict
from snellen.profiles import load_profile
from snellen.reasoning.queries.conditions import SCALES

PROFILE = load_profile("embedded")


async def concluded(query: str, verdict: Verdict, *, mean: float = 0.3) -> Conclusion:
    """Conclude from experiments whose claims all have a verdict."""
    examiner = CaseExaminer(PROFILE)
    report = Report(query=query, models=["clip", "blip"], alpha=0.05, seed=0)
    while (design := examiner.next_design(report)) is not None:
        found = [
            Finding(claim=claim, n=40, mean=mean, interval=(mean - 0.11, mean + 0.12), error_rate=0.1,
                    verdict="yes" if claim.kind == "plain" else verdict)
            for claim in design.claims
        ]  # fmt: skip
        done = Experiment(design=design, rounds=20, findings=found)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return await examiner.conclude(report)


@pytest.mark.parametrize(
    ("query", "threshold"),
    [
        ("Can clip recognize birds?", "threshold 75)"),
        ("Can clip count?", "threshold 75)"),
        ("Is clip right in at least 90 % at counting?", "threshold 90)"),
        ("Is clip robust to rotation?", "threshold -10)"),
        ("Does clip lose more than five points under noise?", "threshold -5)"),
        ("Does clip call birds planes?", "threshold +10)"),
        ("Is clip better than blip at counting?", "threshold 0)"),
        ("Is clip as good as blip at counting?", "threshold -10)"),
        ("Is clip better than blip at food by more than ten points?", "threshold +10)"),
        ("Does rotation hurt clip more than blur does?", "threshold 0)"),
    ],
)
@pytest.mark.parametrize("verdict", ["yes", "open"])
async def test_a_verdict_says_what_it_is_measured_by(query: str, threshold: str, verdict: Verdict) -> None:
    sentence = (await concluded(query, verdict)).answers[0].sentence
    assert threshold in sentence


@pytest.mark.parametrize(
    "query", ["Can clip recognize birds?", "Is clip robust to rotation?", "Is clip better than blip?"]
)
async def test_an_experiment_is_read_in_the_figures_of_the_answers(query: str) -> None:
    said = await concluded(query, "yes")
    (figure,) = re.findall(r"\d+ (?:%|points) \([^)]*\)", said.answers[0].sentence)
    assert figure in said.discussions[-1].interpretation


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (
            "Does heavy blur hurt clip more than slight blur?",
            ("heavy defocus blur is by a factor of 60", "slight defocus blur is by a factor of 8"),
        ),
        ("Is clip robust to noise?", ("Gaussian noise is by a factor of 2.",)),
        ("Is clip robust to slight tilt?", ("slight tilt is by 30 degrees",)),
        ("Is clip robust to JPEG compression at 28 dB?", ("at 28 dB",)),
    ],
)
async def test_severities_are_named(query: str, named: tuple[str, ...]) -> None:
    sentence = (await concluded(query, "yes")).answers[0].sentence
    for one in named:
        assert one in sentence
    explained = sum(" is by " in one for one in named)
    assert sentence.count(" is by ") == explained, "what the question states needs no explanation"


@pytest.mark.parametrize("verdict", ["yes", "no", "open"])
async def test_of_a_limit_every_severity_is_told_as_tried_or_not(verdict: Verdict) -> None:
    sentence = (await concluded("At what noise does clip fail?", verdict)).answers[0].sentence
    if verdict == "no":
        assert "cannot be said, because it is not right often enough in the pictures as they were" in sentence
        return
    told, _, rest = sentence.partition("; ")
    tried = {float(each) for each in re.findall(r"\) by (?:a factor of )?(\d+(?:\.\d+)?)", told)}
    untried = {float(each) for each in re.findall(r"\d+(?:\.\d+)?", rest)}
    assert tried | untried == set(SCALES["Gaussian noise"])
    assert not tried & untried
    assert ("never failed" in sentence) == (verdict == "yes")


@given(st.floats(1e-9, 0.9))
def test_confidence_is_never_rounded_to_certainty(rate: float) -> None:
    level = float(confidence(rate).removesuffix(" %"))
    assert level < 100
    assert level == pytest.approx(100 * (1 - rate), abs=max(0.0051, 100 * rate / 2))


POINTS = st.integers(-100, 100)


@given(st.sampled_from(["Is clip better than blip at birds?", "Is clip robust to noise?"]), POINTS, POINTS)
def test_an_end_that_any_difference_is_within_is_not_told(query: str, one: int, other: int) -> None:
    low, high = sorted((one, other))
    design = CaseExaminer(PROFILE).next_design(Report(query=query, models=["clip", "blip"], alpha=0.05, seed=0))
    assert design is not None
    claim = design.claims[-1]
    finding = Finding(claim=claim, n=40, mean=(low + high) / 200, interval=(low / 100, high / 100))
    told = figures(finding, design)
    least, most = (-high, -low) if claim.kind == "drop" else (low, high)
    if (least == -100) == (most == 100):
        assert f"({least:+d} to {most:+d}, threshold" in told
    else:
        end = f"{most:+d} or less" if least == -100 else f"{least:+d} or more"
        assert f"({end}, threshold" in told


@given(st.integers(0, 400), st.integers(1, 400))
def test_a_figure_is_rounded_alike_in_percent_and_in_hundredths(right: int, n: int) -> None:
    share = min(right, n) / n
    assert hundredths(share) == f"{int(f'{100 * share:.0f}') / 100:.2f}"
    assert hundredths(-share).removeprefix("-") == hundredths(share)
