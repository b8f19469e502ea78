"""Patterns of failure: which are looked for, which are proved, and what is told of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.decisions import decided
from snellen.experiments.design import PLACES, Arm, Claim, Design
from snellen.experiments.failure_patterns import hypotheses, patterns_of
from snellen.experiments.pattern_sentences import with_patterns_told
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.report import Experiment, Finding, Pattern, Report
from snellen.experiments.template_parts import select
from snellen.memory.samples import Sample
from snellen.summaries.investigations import guarantee
from snellen.tools.calls import ToolCall

Says = Callable[[Arm, Sample, bool, random.Random], str]
"""Returns what a model says about a sample, or about the same one before it was transformed."""
BIRDS = ["a hen", "a duck", "a goose", "a swan"]
LEFT, RIGHT = (ToolCall(name="RotateImage", arguments={"angle": angle}) for angle in (-90, 90))
POOLS = {"birds": ["robin", "hen", "penguin"], "other things": ["bus", "violin", "shirt", "igloo"]}


def design_of(answers: Sequence[str], changes: Sequence[ToolCall] = (), **more: object) -> Design:
    plain = [Arm(answer=name, select=select(name)) for name in answers]
    arms = [arm.model_copy(update={"transform": call}) for call in changes for arm in plain] or plain
    claims = [Claim(kind="ability", model=name, threshold=0.5) for name in ("it", "another")]
    known = {"arms": arms, "claims": claims, "paired": bool(changes), "condition": "under rotation" * bool(changes)}
    return Design(difficulty=1, purpose="p", skill="telling", question="What is it?", **{**known, **more})


def drawn(pools: dict[str, list[str]] = POOLS) -> Design:
    arms = [Arm(answer=place, select=select(pool)) for place in PLACES[:2] for pool in pools]
    return design_of(PLACES[:2], arms=arms, pools=pools)


def said(design: Design, says: Says, rounds: int, seed: int = 0) -> EvaluatedChoices:
    """Return what a model says in so many rounds; another one is right about everything."""
    dice = random.Random(seed)
    samples = []
    for number in range(rounds):
        for place, arm in enumerate(design.arms):
            pool = design.pools.get(str(arm.select.arguments["class_name"]))
            label = dice.choice(pool) if pool else arm.answer
            samples.append(Sample("i", 0, number, place, f"{number}/{place}", f"{number}/{place} before", label, "", 0))
    choices = {}
    for plain in design.conditions:
        choices["it", plain] = {one: says(design.arms[one.arm], one, plain, dice) for one in samples}
        choices["another", plain] = {one: design.arms[one.arm].answer for one in samples}
    return EvaluatedChoices(design, samples, choices)


def found(*evaluated: EvaluatedChoices, alpha: float = 0.05, patterns_alpha: float = 0.01) -> list[Pattern]:
    experiments = [
        Experiment(design=one.design, findings=[Finding(claim=claim) for claim in one.design.claims])
        for one in evaluated
    ]
    report = Report(
        query="q", models=["it", "another"], alpha=alpha, patterns_alpha=patterns_alpha, seed=0, experiments=experiments
    )
    return patterns_of(report, evaluated)


DESIGNS = st.one_of(
    st.builds(design_of, st.integers(2, 6).map(lambda many: [f"a {number}" for number in range(many)]),
              st.sampled_from([(), (LEFT,), (LEFT, RIGHT)]), unknown=st.booleans()),
    st.just(drawn()),
    st.just(drawn({"cat": ["cat"], "other things": POOLS["other things"]})),
)  # fmt: skip


@given(design=DESIGNS)
def test_hypotheses_share_the_error_rate_and_each_is_there_once(design: Design) -> None:
    all_of_them = hypotheses(design)
    assert sum(one.weight for one in all_of_them) == pytest.approx(1)
    named = Counter((one.kind, one.model, one.plain, one.said, one.right, one.names, one.change) for one in all_of_them)
    assert set(named.values()) == {1}


def test_the_classes_of_a_pool_share_as_much_as_the_pool_itself_whatever_the_other_pool_has() -> None:
    many = drawn({"birds": [f"bird {number}" for number in range(5)], "other things": [f"t {n}" for n in range(90)]})
    lost = [one for one in hypotheses(many) if one.kind == "lost class" and one.model == many.models[0]]
    of_pool = {one.right: one.weight for one in lost if one.names == "pool"}
    assert len(set(of_pool.values())) == 1
    for name, members in many.pools.items():
        classes = [one.weight for one in lost if one.names == "class" and one.right in members]
        assert sum(classes) == pytest.approx(of_pool[name])
        assert len(set(classes)) == 1


@given(
    table=st.lists(st.lists(st.integers(1, 9), min_size=4, max_size=4), min_size=4, max_size=4), seed=st.integers(0, 99)
)
def test_what_is_proved_is_outside_of_its_interval_and_has_its_pictures(table: list[list[int]], seed: int) -> None:
    def says(arm: Arm, _: Sample, __: bool, dice: random.Random) -> str:  # noqa: FBT001 - as `Says` is
        return dice.choices(BIRDS, table[BIRDS.index(arm.answer)])[0]

    evaluated = said(design_of(BIRDS), says, 40, seed)
    for one in found(evaluated):
        assert one.model == "it", "who is always right fails in no way"
        assert one.interval[0] > one.bar
        assert one.interval[0] <= one.mean <= one.interval[1]
        assert one.times == round(one.mean * one.n)
        of = {sample.picture: sample for sample in evaluated.samples}
        for example in one.examples:
            sample = of[example.picture]
            assert evaluated.choices["it", False][sample] == example.said
            assert example.said != example.right == evaluated.design.arms[sample.arm].answer


def test_an_answer_that_never_changes_is_told_once() -> None:
    (one,) = found(said(design_of(BIRDS), lambda *_: "a goose", 20))
    assert (one.kind, one.said, one.n, one.is_constant) == ("preference", "a goose", 60, True)
    assert one.sentence == (
        "Asked “What is it?”, it answers “a goose” to 80 of 80 pictures, whatever they show: "
        "also to 60 of 60 for which another answer is right."
    )


def test_two_answers_that_are_exchanged_are_no_constant_answer() -> None:
    def says(arm: Arm, *_: object) -> str:
        return "right" if arm.answer == "left" else "left"

    both = found(said(design_of(["left", "right"]), says, 30))
    assert [one.sentence.partition(", ")[2] for one in both] == [
        "it answers “left” to 30 of 30 pictures for which “right” is right.",
        "it answers “right” to 30 of 30 pictures for which “left” is right.",
    ]
    assert not any(one.is_constant for one in both)


def test_a_confusion_has_a_direction_and_stands_for_the_class_that_it_loses() -> None:
    def says(arm: Arm, sample: Sample, *_: object) -> str:
        return "a goose" if arm.answer == "a hen" and sample.round % 10 < 7 else arm.answer

    (one,) = found(said(design_of(BIRDS), says, 40))
    assert (one.kind, one.right, one.said) == ("confusion", "a hen", "a goose")
    assert "answers “a goose” to 28 of 40 pictures for which “a hen” is right" in one.sentence


def test_a_class_that_is_taken_for_this_and_that_is_lost() -> None:
    def says(arm: Arm, sample: Sample, *_: object) -> str:
        return BIRDS[1 + sample.round % 3] if arm.answer == "a hen" else arm.answer

    (one,) = found(said(design_of(BIRDS), says, 90))
    assert (one.kind, one.right) == ("lost class", "a hen")
    assert "is right about 0 of 90 pictures for which “a hen” is right; guessing is about 22" in one.sentence


def test_a_change_that_flips_an_answer_is_told_with_the_pictures_before_it() -> None:
    def says(arm: Arm, _: Sample, plain: bool, __: object) -> str:  # noqa: FBT001 - as `Says` is
        return "a goose" if arm.transform == LEFT and not plain and arm.answer == "a hen" else arm.answer

    (one,) = found(said(design_of(BIRDS, (LEFT, RIGHT)), says, 60))
    assert (one.kind, one.right, one.said, one.change) == ("flip", "a hen", "a goose", "left rotation")
    assert "under left rotation, it switches from “a hen” to “a goose” in 60 of 60 pictures." in one.sentence
    assert all(each.before and each.before != each.picture for each in one.examples)


def test_what_a_model_does_anyway_is_not_for_the_change() -> None:
    (one,) = found(said(design_of(BIRDS, (LEFT, RIGHT)), lambda *_: "a duck", 30))
    assert one.plain
    assert "in the pictures as they were" in one.sentence
    assert not any(each.before for each in one.examples)


def test_where_names_are_drawn_a_place_may_be_preferred_and_a_pool_lost() -> None:
    (place,) = found(said(drawn(), lambda *_: PLACES[0], 24))
    assert (place.kind, place.said) == ("preference", "the first")
    assert "chooses the first name for 96 of 96 pictures, whatever they show: also for 48 of 48" in place.sentence
    assert all(each.said.startswith("a") and each.said != each.right for each in place.examples), "as it read them"

    def never_a_bird(arm: Arm, *_: object) -> str:
        is_bird = arm.select.arguments["class_name"] == "birds"
        return PLACES[1 - PLACES.index(arm.answer)] if is_bird else arm.answer

    lost = found(said(drawn(), never_a_bird, 60))
    assert ("lost class", "birds") in [(one.kind, one.right) for one in lost]
    assert "is right about 0 of 120 pictures of birds; guessing is about 60." in lost[0].sentence
    assert {one.right for one in lost[1:]} <= set(POOLS["birds"]), "and those of its classes that were shown enough"


def test_who_guesses_has_no_pattern() -> None:
    def says(_: Arm, __: Sample, ___: bool, dice: random.Random) -> str:  # noqa: FBT001 - as `Says` is
        return dice.choice(BIRDS)

    assert not [one for seed in range(20) for one in found(said(design_of(BIRDS), says, 40, seed))]


def test_rounds_that_are_not_complete_do_not_count() -> None:
    evaluated = said(design_of(BIRDS), lambda *_: "a goose", 20)
    answers = evaluated.choices["it", False]
    cut = {sample: answer for sample, answer in answers.items() if sample.round < 19 or sample.arm == 0}
    partial = EvaluatedChoices(evaluated.design, evaluated.samples, {**evaluated.choices, ("it", False): cut})
    assert found(partial)[0].n == 57


def test_a_report_of_an_older_version_is_read_looks_for_none_and_keeps_its_error_rate() -> None:
    evaluated = said(design_of(BIRDS), lambda *_: "a goose", 20)
    assert not found(evaluated, patterns_alpha=0)
    stored = Report(query="q", models=["it"], alpha=0.05, seed=0).model_dump(mode="json")
    for field in ("patterns", "patterns_alpha", "headline"):
        del stored[field]
    old = Report.model_validate(stored)
    assert (old.patterns, old.verdicts_alpha) == ([], 0.05)


def test_patterns_take_their_share_from_the_verdicts() -> None:
    design = design_of(BIRDS)
    findings = [Finding(claim=claim, n=9, logarithm=3.5 - 2 * number, leaning="yes")
                for number, claim in enumerate(design.claims)]  # fmt: skip

    def verdict(patterns_alpha: float) -> str:
        report = Report(
            query="q", models=["it"], alpha=0.07, patterns_alpha=patterns_alpha, seed=0,
            experiments=[Experiment(design=design, findings=findings)],
        )  # fmt: skip
        return decided(report).findings[0].verdict

    assert (verdict(0), verdict(0.014)) == ("yes", "open"), (
        "e to the 3.5 is 33.1: enough for 0.07 / 2, not for 0.056 / 2"
    )


def test_a_report_says_how_it_shares_its_error_rate() -> None:
    design = design_of(BIRDS)
    begun = Experiment(design=design, findings=[Finding(claim=claim, n=9) for claim in design.claims])
    report = Report(query="q", models=["it"], alpha=0.05, patterns_alpha=0.01, seed=0, experiments=[begun])
    assert "(e-BH over 2 claims: 4 %; all patterns of failure together: 1 %)" in guarantee(report)
    assert "(e-BH over 2 claims);" in guarantee(report.model_copy(update={"patterns_alpha": 0.0}))


def test_a_conclusion_tells_a_few_patterns_and_counts_the_others() -> None:
    (one,) = found(said(design_of(BIRDS), lambda *_: "a goose", 20))
    assert with_patterns_told("No.", []) == "No."
    assert with_patterns_told("No.", [one]) == f"No. {one.sentence}"
    many = with_patterns_told("No.", [one] * 9)
    assert many.count(one.sentence) == 6
    assert many.endswith("The report has 3 more patterns of failure.")
