"""What an investigation tells at its end, held against its own trials: figures, wordings, what is not decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from snellen.experiments.report import Answer, Report
from snellen.models.under_test import Question
from snellen.reports.trial_rows import rows_of_experiment
from tests.experiments.investigating import Oracle
from tests.graphs.test_investigate import investigated

_TOLD: Final = re.compile(r"asked “([^”]+)” it is right in (\d+) % of (\d+) pictures")
_QUOTED: Final = re.compile(r"asked “([^”]+)”")
Rate = Callable[[Question, bool], float]


def always(rate: float) -> Rate:
    return lambda _, __: rate


def fading(question: Question, changed: bool) -> float:  # noqa: FBT001 - what an oracle is asked
    return 0.8 if changed else 0.97


def counts_poorly(question: Question, _: bool) -> float:  # noqa: FBT001 - as above
    return 0.97 if "objects" in question.text else 0.4


SCENARIOS: Final[list[tuple[str, dict[str, Rate], dict[str, int]]]] = [
    ("Can these models recognize birds?", {"poor": always(0.4), "close": always(0.72)}, {"images": 40}),
    ("Can these models recognize birds?", {"poor": always(0.4), "good": always(0.97)}, {"experiments": 1}),
    ("Can poor recognize birds?", {"poor": always(0.4)}, {"experiments": 2}),
    ("Can poor recognize birds?", {"poor": always(0.4)}, {}),
    ("Can these models count?", {"a": always(0.8), "worded": counts_poorly}, {"images": 200, "experiments": 4}),
    ("Is a robust to noise?", {"a": fading}, {"images": 61}),
]


@pytest.fixture(scope="module")
def reports() -> dict[int, tuple[Report, Path]]:
    """The reports of the scenarios that were examined already."""
    return {}


async def report_of(
    place: int, reports: dict[int, tuple[Report, Path]], factory: pytest.TempPathFactory
) -> tuple[Report, Path]:
    if place not in reports:
        (query, rates, budget), folder = SCENARIOS[place], factory.mktemp("home")
        reports[place] = await investigated(folder, Oracle(dict(rates)), query, budget=dict(budget)), folder
    return reports[place]


def recounted(report: Report, folder: Path, model: str) -> list[tuple[str, int, float]]:
    """Return for each experiment and condition about a model its question, and how often it was right of how many."""
    counts: list[tuple[str, int, float]] = []
    for number, experiment in enumerate(report.experiments):
        rows: list[dict[str, Any]] = list(rows_of_experiment("t", report, number, folder, "embedded"))
        for plain in experiment.design.conditions:
            right = [row["right"] for row in rows if (row["model"], row["plain"]) == (model, plain)]
            if right:
                counts.append((experiment.design.question, len(right), sum(right) / len(right)))
    return counts


@pytest.mark.parametrize("place", range(len(SCENARIOS)))
async def test_every_wording_that_is_told_is_told_once_with_what_the_trials_say(
    place: int, reports: dict[int, tuple[Report, Path]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    report, folder = await report_of(place, reports, tmp_path_factory)
    for answer in report.answers:
        counts = recounted(report, folder, answer.about)
        known = [(question, round(100 * share), n) for question, n, share in counts]
        told = [(question, int(share), int(n)) for question, share, n in _TOLD.findall(answer.sentence)]
        assert not Counter(told) - Counter(known), answer.sentence
        quoted = Counter(_QUOTED.findall(answer.sentence))
        assert not quoted - Counter(question for question, _, _ in counts), "quoted as often as it was asked"
        if answer.answer == "no" and not report.experiments[0].design.paired:
            assert set(quoted) == {question for question, _, _ in counts}, "a failure in words that are not told"


@pytest.mark.parametrize("place", range(len(SCENARIOS)))
async def test_nobody_fails_whom_the_trials_do_not_show_to_fail_in_two_wordings(
    place: int, reports: dict[int, tuple[Report, Path]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    report, folder = await report_of(place, reports, tmp_path_factory)
    if report.experiments[0].design.paired:
        return
    for answer in report.answers:
        by_question = {question: share for question, _, share in recounted(report, folder, answer.about)}
        failed = [question for question, share in by_question.items() if share < 0.75]
        if answer.answer == "no":
            assert len(failed) > 1, answer.sentence
        if answer.answer == "yes":
            assert len(failed) < len(by_question), answer.sentence


def reasons(answer: Answer) -> list[str]:
    """Return what a sentence says after its figures that is no other wording."""
    return [one for one in answer.sentence.split("; ")[1:] if not one.startswith("asked “")]


@pytest.mark.parametrize("place", range(len(SCENARIOS)))
async def test_what_is_undecided_says_why_and_what_would_decide_it(
    place: int, reports: dict[int, tuple[Report, Path]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    report, _ = await report_of(place, reports, tmp_path_factory)
    undecided = [one for one in report.answers if one.answer == "undecided" and "cannot be said" not in one.sentence]
    assert bool(undecided) <= bool(report.ended)
    for answer in undecided:
        assert reasons(answer), answer.sentence
        assert re.search(r"more pictures would probably decide|budget of [\d,]+|too close to call", answer.sentence)
    ended = [note for note in report.notes if note.startswith("It ended before everything was decided: ")]
    assert len(ended) == bool(report.ended)
    left = report.budget.images - report.images
    if ended and left >= max(len(one.design.arms) for one in report.experiments):
        assert f"{left:,} pictures that are left" in ended[0] or "experiment" in ended[0] or "further" in ended[0]
    for experiment in report.experiments:
        assert experiment.images, "an experiment without pictures"
        if left and report.ended:
            assert experiment.stopped != "its share of the pictures is used up", "it waits for what nobody gives it"


async def test_the_budget_that_a_note_names_asks_what_was_lacking(
    reports: dict[int, tuple[Report, Path]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    report, folder = await report_of(1, reports, tmp_path_factory)
    poor, good = report.answers
    assert (poor.answer, good.answer) == ("undecided", "yes")
    assert "it has to be asked in other words, “What is in the image?”" in poor.sentence
    (note,) = (one for one in report.notes if "with the budget" in one)
    named = re.search(r"the budget ([a-z=0-9,]+)", note)
    assert named is not None
    budget = {name: int(number) for name, _, number in (one.partition("=") for one in named[1].split(","))}
    oracle = Oracle(dict(SCENARIOS[1][1]))
    again = await investigated(folder, oracle, SCENARIOS[1][0], budget=budget)
    assert [one.answer for one in again.answers] == ["no", "yes"]
    first = report.experiments[0].images
    assert again.experiments[0].images == first, "what was asked already is enough"
    assert sum(text == again.experiments[0].design.question for _, text, _ in oracle.asked) == 0


async def test_what_is_left_when_there_are_no_more_experiments_goes_to_open_claims(tmp_path: Path) -> None:
    oracle = Oracle({"close": always(0.82), "clear": always(0.97)})
    report = await investigated(tmp_path, oracle, "Can these models count?", budget={"images": 300, "experiments": 2})
    assert len(report.experiments) == 2
    assert report.again is not None, "pictures were left, and a claim was open"
    left = report.budget.images - report.images
    assert left < 4 or "unlikely to decide" in report.ended or "experiments are used up" in report.ended
