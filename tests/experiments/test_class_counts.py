"""Claims about how many classes a model recognizes: all, most, half or a number of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from snellen.errors import BadInput
from snellen.experiments.decisions import judged, with_intervals
from snellen.experiments.design import Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.further_wordings import is_further_wording
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.report import Answer, Experiment, Finding, Report
from snellen.memory.samples import Sample
from snellen.profiles import load_profile
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query

PROFILE = load_profile("embedded")
EXAMINER = CaseExaminer(PROFILE)
EVERY = "Can clip recognize every bird?"


def design_of(query: str) -> Design:
    report = Report(query=query, models=["clip", "blip"], alpha=0.05, seed=0)
    (part,) = EXAMINER._plan_of(report).parts
    (design,) = part.designs
    return checked(design, ["clip", "blip"])


def claim_of(query: str) -> Claim:
    return design_of(query).claims[0]


BIRDS = sorted(design_of(EVERY).compared)


def measured(report: Report, design: Design, shares: Mapping[str, float], always: str) -> Report:
    """Return the report after one experiment more, of 24 pictures of each bird."""
    size, number = len(design.arms), len(report.experiments)
    rows = [(name, turn / 24 < shares.get(name, 1.0)) for turn in range(24) for name in BIRDS]
    rows = rows[: len(rows) // size * size]
    samples = [
        Sample("i", 0, place // size, place % size, f"c{place}", f"c{place}", name, "", 0)
        for place, (name, _) in enumerate(rows)
    ]
    said = [always or (design.arms[place % size].answer if right else None) for place, (_, right) in enumerate(rows)]
    evaluated = EvaluatedChoices(design, samples, {("clip", False): dict(zip(samples, said, strict=True))})
    begun = Experiment(design=design, rounds=len(rows) // size, findings=[Finding.unobserved(design.claims[0])])
    report = report.model_copy(update={"experiments": [*report.experiments, begun]})
    return with_intervals(judged(report, number, evaluated), number, evaluated)


async def answered(
    query: str, shares: Mapping[str, float], again: Mapping[str, float] | None = None, *, always: str = ""
) -> tuple[Finding, Answer]:
    """Return what is found first, and what is answered when no further experiment is wanted.

    Args:
        query: The question.
        shares: Of 24 pictures of each bird, those that the model is right about; the others are always recognized.
        again: The same when it is asked in other words; None for the same shares.
        always: What the model says to every picture instead.
    """
    report = Report(query=query, models=["clip"], alpha=0.05, seed=0)
    report = measured(report, design_of(query), shares, always)
    if (design := EXAMINER.next_design(report)) is not None:
        assert is_further_wording(design)
        report = measured(report, design, shares if again is None else again, always)
    assert EXAMINER.next_design(report) is None
    return report.experiments[0].findings[0], (await EXAMINER.conclude(report)).answers[0]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (EVERY, len(BIRDS)),
        ("Is there a bird that clip cannot recognize?", len(BIRDS)),
        ("Can clip recognize most of the birds?", len(BIRDS) // 2 + 1),
        ("Can clip recognize at least half of the birds?", (len(BIRDS) + 1) // 2),
        ("Can clip recognize more than one of the birds?", 2),
        ("Can clip recognize none of the birds?", 1),
    ],
)
def test_the_claim_is_about_so_many_classes_each_by_itself(query: str, count: int) -> None:
    claim, design = claim_of(query), design_of(query)
    assert (claim.kind, claim.count, claim.threshold) == ("classes", count, 0.625)
    assert all(members == [name] for name, members in design.compared.items())


def test_a_stated_share_is_that_of_the_pictures_of_each_class() -> None:
    claim = claim_of("Does clip recognize all birds at least 90 % of the time?")
    assert (claim.count, claim.threshold) == (len(BIRDS), 0.9)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("Can clip recognize at least 300 of the birds?", f"show {len(BIRDS)} kinds of birds"),
        ("Can clip recognize everything?", "too many kinds of things"),
        ("Can clip recognize every cat?", "one kind of cats"),
    ],
)
def test_what_cannot_be_counted_is_refused_with_the_reason(query: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        design_of(query)


def test_an_upper_bound_is_not_taken_for_one_of_so_many_classes() -> None:
    """Less than 80 % for three kinds or more is not the opposite of more than 80 % for three kinds or more."""
    query = "Is clip right in {} than 80 % at recognizing at least 3 kinds of birds?"
    assert isinstance(read_query(query.format("more"), ["clip", "blip"], PROFILE), UnderstoodQuery)
    reading = read_query(query.format("less"), ["clip", "blip"], PROFILE)
    assert not isinstance(reading, UnderstoodQuery)


async def test_every_class_is_recognized_only_where_none_fails() -> None:
    found, answer = await answered(EVERY, {})
    assert (found.verdict, found.interval, found.among) == ("yes", (1.0, 1.0), [])
    assert answer.sentence.startswith("Yes, clip recognizes all kinds of birds: right in more than 62.5 %")
    found, answer = await answered(EVERY, {BIRDS[0]: 0.0})
    assert (found.verdict, found.among) == ("no", BIRDS[:1])
    assert found.interval[1] < 1
    assert answer.sentence.startswith("No, clip does not recognize all kinds of birds: ")
    assert f"{len(BIRDS) - 1} of {len(BIRDS)} kinds" in answer.sentence
    found, answer = await answered(EVERY, {BIRDS[0]: 0.625})
    assert (found.verdict, answer.answer) == ("open", "undecided")


@pytest.mark.parametrize(
    ("query", "failing", "answer"),
    [
        ("Can clip recognize at least half of the birds?", 1, "yes"),
        ("Can clip recognize at least half of the birds?", len(BIRDS) - 1, "no"),
        ("Is there a bird that clip cannot recognize?", 1, "yes"),
        ("Is there a bird that clip cannot recognize?", 0, "no"),
        ("Can clip recognize none of the birds?", 1, "no"),
        ("Can clip recognize none of the birds?", len(BIRDS), "yes"),
    ],
)
async def test_the_answer_is_to_how_many_were_asked_about(query: str, failing: int, answer: str) -> None:
    _, told = await answered(query, dict.fromkeys(BIRDS[:failing], 0.0))
    assert told.answer == answer


@pytest.mark.parametrize(
    ("first", "again", "answer"),
    [
        ([0], [0], "no"),  # that one fails in both wordings
        ([0], [], "yes"),
        ([0], [1], "undecided"),  # each wording fails another one: none is shown not to be seen
        ([0, 1], [1, 2], "no"),
    ],
)
async def test_a_class_fails_only_in_both_wordings(first: list[int], again: list[int], answer: str) -> None:
    failing, failing_again = ({BIRDS[place]: 0.0 for place in places} for places in (first, again))
    found, told = await answered(EVERY, failing, failing_again)
    assert (found.verdict, told.answer) == ("no", answer)
    assert ("which kinds it fails at depends on the words" in told.sentence) == (answer == "undecided")
    assert f"it is right often enough about {len(BIRDS) - len(first)} of {len(BIRDS)} kinds" in told.sentence


async def test_a_failure_that_was_not_asked_about_in_other_words_decides_nothing() -> None:
    report = Report(query=EVERY, models=["clip"], alpha=0.05, seed=0, ended="all 1 experiments are used up")
    report = measured(report, design_of(EVERY), {BIRDS[0]: 0.0}, "")
    (answer,) = (await EXAMINER.conclude(report)).answers
    assert answer.answer == "undecided"
    assert "it has to be asked in other words, “What is in the image?”, before it is said to fail" in answer.sentence


async def test_who_says_one_thing_to_every_picture_has_not_failed_to_see() -> None:
    found, answer = await answered(EVERY, {}, always="the first")
    assert found.verdict == "no"
    assert answer.answer == "undecided"
    assert "cannot be said" in answer.sentence
