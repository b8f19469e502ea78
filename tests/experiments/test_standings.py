"""Standings of models: what is said of them, and whether another experiment may change it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import pytest

from snellen.experiments.design import Design
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.model_outcomes import ModelOutcome
from snellen.experiments.report import Experiment, Finding, Report, Result
from snellen.experiments.verdicts import Verdict
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
        # A group is asked for by its members; its name can only take back that a model fails.
        ("Can it recognize birds?", [("yes",)], "yes", False),
        ("Can it recognize birds?", [("no",)], "open", True),
        ("Can it recognize birds?", [("open",)], "open", False),
        ("Can it recognize birds?", [("no",), ("yes",)], "yes", False),
        ("Can it recognize birds?", [("no",), ("no",)], "no", True),
        ("Can it recognize birds?", [("no",), ("no",), ("open",)], "no", False),
        ("Can it recognize birds?", [("no",), ("no",), ("yes",)], "open", False),
        ("Can it count?", [("no",)], "open", True),
        ("Can it count?", [("no",), ("no",)], "no", False),
        ("Can it count?", [("open",), ("yes",)], "open", False),
        # Of robustness, the claims are: right in the pictures as they were, and losing more than the margin.
        ("Is it robust to noise?", [("yes", "no")], "open", True),
        ("Is it robust to noise?", [("open", "yes")], "no", False),
        ("Is it robust to noise?", [("no", "open")], "open", True),
        ("Is it robust to noise?", [("no", "open"), ("no", "open")], "open", True),
        ("Is it robust to noise?", [("no", "open"), ("no", "open"), ("yes", "no")], "yes", False),
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


def result(
    design: Design, said: str, *, plain: bool = False, calibrated: tuple[float, float, float, float] | None = None
) -> Result:
    """Return the result of a model that says one thing of 20 pictures of each class, or nothing but the truth."""
    confusion = {name: {said or name: 20} for name in design.classes}
    return Result(
        model="it", plain=plain, n=40, average=0.5, by_class={}, abstention=None, invalid=0, informedness=0,
        confusion=confusion, calibrated=calibrated,
    )  # fmt: skip


def answered_so(
    query: str,
    experiments: list[tuple[str, int | None]],
    calibrated: Sequence[tuple[float, float, float, float] | None] = (),
) -> Report:
    """Return the report so far, with the verdict of each experiment and the place of what the model always said.

    Args:
        query: What is asked.
        experiments: The verdicts and the place of each.
        calibrated: How often the model was right in each with what it prefers taken out of its scores.
    """
    report = Report(query=query, models=["it"], alpha=0.05, seed=0)
    for (verdicts, place), without in zip_longest(experiments, calibrated):
        design = EXAMINER.next_design(report)
        assert design is not None, "no further experiment was wanted"
        said = "" if place is None else design.classes[place]
        findings = [
            Finding(claim=claim, verdict=verdict, n=40, mean=0.5)
            for claim, verdict in zip(design.claims, verdicts.split(), strict=True)
        ]
        results = [result(design, said, plain=plain, calibrated=without) for plain in design.conditions]
        done = Experiment(design=design, rounds=20, findings=findings, results=results)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report


@pytest.mark.parametrize(
    ("query", "experiments", "says", "pending"),
    [
        # Who fails at the members of a group is asked otherwise, and then by its name.
        ("Can it recognize birds?", [("no", 1)], "open", True),
        ("Can it recognize birds?", [("no", 1), ("yes", None)], "yes", False),
        ("Can it recognize birds?", [("no", None), ("no", None)], "no", True),
        ("Can it recognize birds?", [("no", None), ("no", None), ("no", None)], "no", False),
        ("Can it recognize birds?", [("no", None), ("open", None)], "open", False),
        # Who knows a kind by its name and not by its members depends on the words.
        ("Can it recognize birds?", [("no", None), ("no", None), ("yes", None)], "open", False),
        ("Can it recognize birds?", [("no", None), ("no", None), ("no", 0)], "no", False),
        # The same answer whatever is shown says nothing of what it sees, and leaves open why the other wording failed:
        # a third one decides.
        ("Can it recognize birds?", [("no", None), ("no", 0)], "open", True),
        ("Can it recognize birds?", [("no", 0), ("no", None)], "open", True),
        ("Can it recognize birds?", [("no", None), ("no", 0), ("no", None)], "no", True),
        ("Can it recognize birds?", [("no", 0), ("no", None), ("no", 0)], "open", False),
        ("Can it recognize birds?", [("no", 0), ("no", None), ("open", None)], "open", False),
        ("Can it recognize birds?", [("no", 0), ("no", None), ("yes", None)], "yes", False),
        ("Can it count?", [("no", None), ("no", 0), ("no", None)], "no", False),
        # A share is one of a wording: what is reached in one alone depends on the words.
        ("Is it right in at least 90 % at recognizing birds?", [("no", None), ("yes", None)], "open", False),
        ("Is it right in at least 90 % at recognizing birds?", [("no", 1), ("yes", None)], "open", False),
        ("Is it right in at least 90 % at recognizing birds?", [("yes", None)], "yes", False),
        ("Is it right in less than 90 % at recognizing birds?", [("no", None), ("yes", None)], "open", False),
        ("Is it right in less than 90 % at recognizing birds?", [("no", None), ("no", None)], "yes", True),
        ("Can it recognize birds?", [("no", 0), ("no", 0)], "open", False),
        ("Can it count?", [("no", None)], "open", True),
        ("Can it count?", [("no", None), ("no", None)], "no", False),
        ("Can it count?", [("no", None), ("yes", None)], "open", True),
        ("Can it count?", [("no", 0), ("no", 0)], "open", True),
        ("Can it count?", [("no", 0), ("no", 0), ("yes", None)], "yes", False),
        ("Is it robust to noise?", [("no no", 0)], "open", True),
        ("Is it robust to noise?", [("no no", None), ("yes no", None)], "open", True),
        ("Is it robust to noise?", [("no no", None), ("yes no", None), ("yes no", None)], "yes", False),
        ("Is it robust to noise?", [("no no", 0), ("no no", 0), ("yes yes", None)], "no", False),
        ("Is it robust to noise?", [("yes no", None), ("no no", 0), ("no no", 0)], "open", False),
    ],
)
def test_who_fails_is_asked_in_other_words_before_it_cannot_do_something(
    query: str, experiments: list[tuple[str, int | None]], says: Verdict, *, pending: bool
) -> None:
    (found,) = EXAMINER.standings(answered_so(query, experiments))
    assert (found.says, found.pending) == (says, pending)


Calibrated = tuple[float, float, float, float]
SEEING, BLIND, UNSURE = (0.9, 0.8, 0.95, 0.95), (0.4, 0.3, 0.5, 0.55), (0.4, 0.3, 0.5, 0.75)
"""How often a model is right without what it prefers: often enough, not so, and perhaps."""


@pytest.mark.parametrize(
    ("query", "experiments", "calibrated", "says", "pending"),
    [
        # One answer to all pictures says nothing of what a model sees, unless its scores say as little.
        ("Can it count?", [("no", 0), ("no", 0), ("no", 0)], (), "open", True),
        ("Can it count?", [("no", 0), ("no", 0), ("no", 0)], (SEEING, UNSURE, UNSURE), "open", True),
        ("Can it count?", [("no", 0)], (BLIND,), "open", True),
        ("Can it count?", [("no", 0), ("no", 0)], (BLIND, BLIND), "no", False),
        # Who would be right but for what it prefers has not failed to see.
        ("Can it count?", [("no", None), ("no", None)], (BLIND, UNSURE), "no", False),
        ("Can it count?", [("no", None), ("no", None)], (BLIND, SEEING), "open", True),
        ("Can it count?", [("no", None), ("no", None), ("no", None)], (SEEING, SEEING, SEEING), "open", True),
        ("Is it robust to noise?", [("no yes", None), ("no yes", None)], (SEEING, SEEING), "no", False),
        # How often it is right is another question.
        ("Is it right in at least 90 % at counting?", [("no", None), ("no", None)], (SEEING, SEEING), "no", False),
    ],
)
def test_scores_decide_whether_a_model_failed_by_its_preferences_or_to_see(
    query: str,
    experiments: list[tuple[str, int | None]],
    calibrated: Sequence[Calibrated],
    says: Verdict,
    *,
    pending: bool,
) -> None:
    (found,) = EXAMINER.standings(answered_so(query, experiments, calibrated))
    assert (found.says, found.pending) == (says, pending)


@pytest.mark.parametrize(("calibrated", "leans"), [(SEEING, True), ((0.5, 0.4, 0.6, 0.6), False), (None, False)])
def test_who_would_be_better_without_preferences_is_compared_in_other_words(
    calibrated: Calibrated | None, *, leans: bool
) -> None:
    report = Report(query="Is clip better than blip at recognizing birds?", models=["clip", "blip"], alpha=0.05, seed=0)
    design = EXAMINER.next_design(report)
    assert design is not None
    findings = [Finding(claim=claim, verdict="yes", n=40, mean=0.5) for claim in design.claims]
    both = [result(design, "").model_copy(update={"model": "clip", "average": 1.0})]
    both += [result(design, "", calibrated=calibrated).model_copy(update={"model": "blip"})]
    outcome = ModelOutcome.of(Experiment(design=design, rounds=20, findings=findings, results=both), findings)
    assert (outcome.leans, outcome.counts, outcome.is_doubtful) == (leans, True, leans)
    told = "blip is right in 50 %, and with what it prefers taken out of its scores in 90 %"
    assert [told in one.told for one in outcome.wordings] == [True] * leans


async def test_what_scores_say_without_preferences_is_told() -> None:
    report = answered_so("Can it count?", [("no", 0), ("no", None), ("no", 0)], (BLIND, SEEING, None))
    answer = (await EXAMINER.conclude(report)).answers[0].sentence
    assert ", whatever they show, and with what it prefers taken out of its scores it is right in 40 %" in answer
    assert "but with what it prefers taken out of its scores it is right in 90 % (80 to 95)" in answer


async def test_what_is_said_whatever_is_shown_is_told() -> None:
    alike = answered_so("Can it recognize birds?", [("no", 0), ("no", 0)])
    assert EXAMINER.next_design(alike) is None
    (answer,) = (await EXAMINER.conclude(alike)).answers
    assert answer.answer == "undecided"
    members, again = (one.design for one in alike.experiments)
    assert again.question != members.question
    for design in (members, again):
        assert f"asked “{design.question}” it chooses the first name for 40 of 40 pictures" in answer.sentence
    words = answered_so("Can it recognize birds?", [("no", None), ("no", None), ("yes", None)])
    (answer,) = (await EXAMINER.conclude(words)).answers
    assert answer.sentence.startswith("it: cannot be said, because that depends on the words: asked “")
    (answer,) = (await EXAMINER.conclude(answered_so("Can it recognize birds?", [("no", 1), ("yes", None)]))).answers
    assert answer.answer == "yes"
    assert "for 40 of 40 pictures, whatever they show" in answer.sentence


def test_a_share_that_depends_on_the_words_in_one_experiment_is_reached_in_none() -> None:
    query = "Is it right in at least 90 % at counting?"
    report = answered_so(query, [("no", None), ("yes", None)])
    (found,) = EXAMINER.standings(report)
    assert (found.says, found.pending) == ("open", False)
    assert found.moot.startswith("that depends on the words: asked “How many [things] are in the image?”")


async def test_what_an_earlier_version_asked_otherwise_is_not_asked_again() -> None:
    """Its second wording of sizes is the third one now; and its experiments are of the questions that they were of."""
    report = answered_so("Can it recognize birds? Can it tell small from large things?", [("yes", None), ("no", 0)])
    older = next(one for one in further_wordings(report.experiments[-1].design) if "object" in one.question)
    older = older.model_copy(update={"purpose": further_wordings(report.experiments[-1].design)[0].purpose})
    failed = [Finding(claim=claim, verdict="no", n=40, mean=0.5) for claim in older.claims]
    done = Experiment(design=older, rounds=20, findings=failed, results=[result(older, "")])
    report = report.model_copy(update={"experiments": [*report.experiments, done]})
    _, sizes = EXAMINER.standings(report)
    assert (sizes.says, sizes.pending) == ("open", True)
    design = EXAMINER.next_design(report)
    assert design is not None
    assert design.question == "What is in the image?"


@pytest.mark.parametrize(("before", "exact", "counts"), [
    ("no", True, False), ("no", False, True), ("yes", True, True), ("open", True, True)
])  # fmt: skip
def test_a_margin_in_one_wording_alone_depends_on_the_words(before: Verdict, *, exact: bool, counts: bool) -> None:
    query = "Is one better than it at counting by more than 10 points?"
    design = EXAMINER.next_design(Report(query=query, models=["it", "one"], alpha=0.05, seed=0))
    assert design is not None
    (claim,) = design.claims
    first = ModelOutcome(design, [Finding(claim=claim, verdict=before)], counts=False, leans=True)
    second = ModelOutcome(further_wordings(design)[0], [Finding(claim=claim, verdict="yes")])
    both = first.together(second, exact=exact)
    assert (both.counts, both.depends) == (counts, not counts)


def test_what_the_name_of_a_group_opens_again_is_still_to_be_settled() -> None:
    """Claims share the error rate: what was refuted before the name was asked for may be open after it."""
    report = report_so_far("Can it recognize birds?", [("no",), ("no",), ("open",)])
    members, again, by_name = report.experiments
    opened = [finding.model_copy(update={"verdict": "open"}) for finding in again.findings]
    again = again.model_copy(update={"findings": opened})
    members = members.model_copy(update={"findings": opened})
    (found,) = EXAMINER.standings(report.model_copy(update={"experiments": [members, again, by_name]}))
    assert (found.says, found.pending, found.moot) == ("open", False, "")


def test_a_report_that_began_with_the_name_of_a_group_goes_on_as_it_began() -> None:
    begun = report_so_far("Can it recognize birds?", [("no",), ("no",), ("no",)])
    by_name = begun.experiments[-1]
    assert by_name.design.of_names
    older = begun.model_copy(update={"experiments": [by_name]})
    members = EXAMINER.next_design(older)
    assert members is not None
    assert members.purpose == begun.experiments[0].design.purpose
    (found,) = EXAMINER.standings(older.model_copy(update={"experiments": [by_name, *begun.experiments[:2]]}))
    assert (found.says, found.pending) == ("no", False)


@pytest.mark.parametrize("query", ["Can it count?", "Can it tell left from right?", "Can it notice blur?"])
def test_further_wordings_ask_the_same_of_the_same_pictures(query: str) -> None:
    design = EXAMINER.next_design(Report(query=query, models=["it"], alpha=0.05, seed=0))
    assert design is not None
    second, third = further_wordings(design)
    assert second.classes == design.classes[::-1] or not set(second.classes) & set(design.classes)
    assert len({str((one.asked(arm), one.choices)) for one in (design, second, third) for arm in one.arms[:1]}) == 3
    for other in (second, third):
        pictures = {str((arm.select, arm.transform)) for arm in design.arms}
        assert pictures == {str((arm.select, arm.transform)) for arm in other.arms}


@pytest.mark.parametrize(
    ("experiments", "moot"),
    [
        ([("no", "no"), ("no", "no"), ("no", "open"), ("no", "open")], True),
        ([("yes", "open"), ("no", "open"), ("no", "open")], False),
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


def test_who_recognizes_too_little_for_one_experiment_is_judged_by_another() -> None:
    report = report_so_far("Is it robust to noise?", [("yes", "no"), ("no", "open"), ("no", "open")])
    (found,) = EXAMINER.standings(report)
    assert (found.says, found.pending, found.moot) == ("yes", False, "")


async def test_what_is_not_decided_is_told_by_the_experiment_with_the_most_pictures() -> None:
    report = report_so_far("Is it robust to noise?", [("yes", "open"), ("yes", "open")])
    many, few = report.experiments
    drop = many.findings[1].model_copy(update={"n": 90, "mean": 0.06, "interval": (-0.02, 0.14), "logarithm": 0.1})
    rash = few.findings[1].model_copy(update={"n": 4, "mean": 0.25, "interval": (-0.8, 0.9), "logarithm": 0.2})
    told = [
        one.model_copy(update={"findings": [one.findings[0], finding]}) for one, finding in ((many, drop), (few, rash))
    ]
    concluded = await EXAMINER.conclude(report.model_copy(update={"experiments": told}))
    assert "accuracy fell 6 points (-14 to +2, threshold -10)" in concluded.conclusion


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
    assert "a difference of +30 points (+10 to +50, threshold 0)" in answer.sentence
