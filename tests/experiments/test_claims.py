"""Claims about two conditions, two models' losses, mistakes, equality and limits: planned, observed and said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.experiments.decisions import finding, judged, with_intervals
from snellen.experiments.design import PLACES, Arm, Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.drawn_answers import pool_said
from snellen.experiments.examination_plan import ExaminedQuestion
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.findings import figures
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.report import Conclusion, Experiment, Finding, Report, Result
from snellen.experiments.severity_search import limit_of
from snellen.experiments.standings import next_of, standings
from snellen.experiments.template_parts import select
from snellen.experiments.verdicts import Verdict
from snellen.memory.samples import Sample
from snellen.profiles import load_profile
from snellen.scoring import Observations
from snellen.tools.calls import ToolCall

PROFILE = load_profile("embedded")
EXAMINER = CaseExaminer(PROFILE)
MODELS = ["clip", "blip"]
BLUR = ToolCall(name="DefocusBlurImage", arguments={"blur_factor": 30.0})
TURN = ToolCall(name="RotateImage", arguments={"angle": 90})


def plan_of(query: str) -> list[ExaminedQuestion]:
    report = Report(query=query, models=MODELS, alpha=0.05, seed=0)
    return list(EXAMINER._plan_of(report).parts)


def after(query: str, experiments: Sequence[Mapping[str, Verdict]]) -> Report:
    """Return the report after some experiments, with verdicts by the kind of claim, the model and its rival."""
    report = Report(query=query, models=MODELS, alpha=0.05, seed=0)
    for verdicts in experiments:
        design = EXAMINER.next_design(report)
        assert design is not None, "no further experiment was wanted"
        findings = [
            Finding(
                claim=claim, n=40, verdict=verdicts.get(f"{claim.kind} {claim.about}", verdicts.get(claim.kind, "open"))
            )
            for claim in design.claims
        ]
        done = Experiment(design=design, rounds=20, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report


async def concluded(query: str, experiments: Sequence[Mapping[str, Verdict]]) -> Conclusion:
    return await EXAMINER.conclude(after(query, experiments))


def test_two_conditions_are_compared_on_the_same_pictures() -> None:
    (part,) = plan_of("Does rotation hurt clip more than blur does?")
    for design in part.designs:
        assert [(claim.kind, claim.threshold) for claim in checked(design, MODELS).claims] == [("drop", 0)]
        assert {arm.transform.name for arm in design.arms} == {"RotateImage"}
        assert {arm.against.name for arm in design.arms} == {"DefocusBlurImage"}
        angles = [arm.transform.arguments["angle"] for arm in design.arms]
        assert {angles.count(each) for each in angles} == {len(angles) // 3}, "every rotation as often"


async def test_a_difference_of_conditions_is_told_with_the_one_that_costs_more() -> None:
    query = "Is clip more robust to rotation than to blur?"
    for verdict, says in (
        ("yes", "No, clip is less robust to rotation"),
        ("no", "Yes, clip is more robust to rotation"),
    ):
        answer = (await concluded(query, [{"drop": verdict}])).answers[0]  # type: ignore[dict-item]  # a verdict
        assert answer.sentence.startswith(f"{says} than to defocus blur"), answer.sentence
    open_ = (await concluded(query, [{}, {}])).answers[0]
    assert (open_.answer, open_.holds) == ("undecided", None)


async def test_losses_of_two_models_are_compared_where_both_have_something_to_lose() -> None:
    query = "Does blur hurt clip more than blip?"
    (part,) = plan_of(query)
    assert {claim.kind for claim in part.designs[0].claims} == {"plain", "steadier"}
    seen = await concluded(query, [{"plain": "yes", "steadier": "no"}])
    assert [one.about for one in seen.answers] == ["clip and blip"]
    assert seen.answers[0].sentence.startswith("Yes, clip is less robust than blip to defocus blur: ")
    blind: dict[str, Verdict] = {"plain blip": "no", "plain clip": "yes", "steadier": "open"}
    assert EXAMINER.next_design(after(query, [blind])) is not None, "two may be compared at an easier task"
    easier = await concluded(query, [blind, {"plain": "yes", "steadier": "no"}])
    assert easier.answers[0].sentence.startswith("Yes, clip is less robust than blip to defocus blur: ")
    (unsaid,) = (await concluded(query, [blind, blind])).answers
    assert unsaid.holds is None
    assert "because blip does not recognize enough" in unsaid.sentence


async def test_nothing_found_is_no_equality() -> None:
    for query in ("Are clip and blip about the same at recognizing birds?", "Is clip as good as blip at counting?"):
        for design in plan_of(query)[0].designs:
            assert {claim.threshold for claim in design.claims} == {0.1}
        steps = len(plan_of(query)[0].designs)
        assert [one.holds for one in (await concluded(query, [{}] * steps)).answers] == [None]
    alike = "Are clip and blip about the same at counting?"
    both = await concluded(alike, [{"better": "no"}] * 2)
    assert "equally good at counting things, within 10 points" in both.answers[0].sentence
    half = await concluded(alike, [{"better clip and blip": "no"}] * 2)
    assert half.answers[0].holds is None
    hardest = await concluded("Is clip as good as blip at counting?", [{"better": "no"}])
    assert hardest.answers[0].holds is None, "both may guess at the hardest one"
    good = await concluded("Is clip as good as blip at counting?", [{"better": "no"}] * 2)
    assert good.answers[0].sentence.startswith("Yes, clip is as good as blip")


async def test_one_hard_task_does_not_show_that_a_difference_is_small() -> None:
    query = "Is clip better than blip at counting by more than 10 points?"
    assert EXAMINER.next_design(after(query, [{"better": "no"}])) is not None
    (shown,) = (await concluded(query, [{"better": "no"}, {"better": "yes"}])).answers
    assert shown.holds is True
    (small,) = (await concluded(query, [{"better": "no"}] * 2)).answers
    assert small.holds is False


def test_experiments_that_contradict_each_other_decide_nothing() -> None:
    query = "Is clip better than blip at counting?"
    report = after(query, [{"better": "open"}, {"better": "yes"}])
    first, second = report.experiments
    turned = [one.model_copy(update={"verdict": "no"}) for one in first.findings]
    first = first.model_copy(update={"findings": turned})
    (found,) = EXAMINER.standings(report.model_copy(update={"experiments": [first, second]}))
    assert found.says == "open"


def test_of_who_recognizes_too_little_no_losses_are_compared_any_more() -> None:
    verdicts: dict[str, Verdict] = {"plain blip": "no", "plain clip": "yes", "steadier": "open"}
    assert after("Does blur hurt clip more than blip?", [verdicts]).experiments[0].pending == []


def drawn(design: Design, number: int) -> Sample:
    return Sample("i", 0, number, number % len(design.arms), f"changed {number}", f"plain {number}", "hen", "", 0)


def observed(design: Design, claim: Claim, said: Mapping[tuple[str, bool], Sequence[str | None]]) -> list[float]:
    """Return the values of a claim about pictures of which models said something, plain or not."""
    samples = [
        Sample("i", 0, number // len(design.arms), number % len(design.arms), f"c{number}", f"p{number}", "hen", "", 0)
        for number in range(len(next(iter(said.values()))))
    ]
    choices = {key: dict(zip(samples, row, strict=True)) for key, row in said.items()}
    return sorted(EvaluatedChoices(design, samples, choices).observations(claim).values)


def test_what_one_model_loses_less_than_another_is_a_difference_of_differences() -> None:
    arms = [Arm(answer=each, select=select(each), transform=TURN) for each in ("hen", "bus")]
    claim = Claim(kind="steadier", model="clip", other="blip", threshold=0)
    design = Design(
        difficulty=1, purpose="One.", skill="telling", question="Is it a hen or a bus?", arms=arms, paired=True,
        claims=[claim],
    )  # fmt: skip
    said: dict[tuple[str, bool], Sequence[str | None]] = {
        ("clip", True): ["hen", "bus"], ("clip", False): ["hen", "bus"],  # loses nothing
        ("blip", True): ["hen", "hen"], ("blip", False): ["bus", "bus"],  # loses one, and wins one
    }  # fmt: skip
    assert observed(design, claim, said) == [-1.0, 1.0]
    assert (claim.low, claim.high) == (-2.0, 2.0)


POOLS = {"birds": ["hen", "robin"], "planes": ["airplane"], "other things": ["bus", "shirt", "violin"]}


def mistaking(**changes: Any) -> Design:  # noqa: ANN401 - fields of a design
    claim = Claim(kind="mistake", model="clip", answer="planes", threshold=0.1)
    fields = {
        "difficulty": 1, "purpose": "One.", "skill": "telling", "question": "Is it …?", "pools": POOLS,
        "arms": [Arm(answer=place, select=select("birds")) for place in PLACES[:3]], "claims": [claim],
    }  # fmt: skip
    return Design.model_validate({**fields, **changes})


@given(number=st.integers(0, 3_000))
def test_beside_a_thing_stands_one_of_each_other_pool(number: int) -> None:
    design, sample = mistaking(), drawn(mistaking(), number)
    said = {pool_said(design, sample, place) for place in PLACES[:3]}
    assert said == set(POOLS)
    assert pool_said(design, sample, design.arms[sample.arm].answer) == "birds"


def test_a_mistake_counts_for_one_kind_against_the_other() -> None:
    design = mistaking()
    samples = [Sample("i", 0, 0, arm, f"changed {arm}", f"plain {arm}", "hen", "", 0) for arm in range(3)]
    for pool, value in (("planes", 1.0), ("other things", -1.0), ("birds", 0.0)):
        choices = {one: next(p for p in PLACES[:3] if pool_said(design, one, p) == pool) for one in samples}
        evaluated = EvaluatedChoices(design, list(choices), {("clip", False): choices})
        assert set(evaluated.observations(design.claims[0]).values) == {value}


@given(st.lists(st.sampled_from(["planes", "other things", "birds"]), min_size=1, max_size=12))
def test_a_mistake_is_told_by_how_often_it_is_made_beside_how_often_another_one_is(said: list[str]) -> None:
    design, claim = mistaking(), mistaking().claims[0]
    rounds = [Sample("i", 0, number, arm, "", "", "hen", "", 0) for number in range(len(said)) for arm in range(3)]
    choices = {
        one: next(place for place in PLACES[:3] if pool_said(design, one, place) == said[one.round]) for one in rounds
    }
    evaluated = EvaluatedChoices(design, rounds, {("clip", False): choices})
    found = finding(design, evaluated, Finding.unobserved(claim))
    shares = (said.count("planes") / len(said), said.count("other things") / len(said))
    assert found.shares == pytest.approx(shares)
    assert found.mean == pytest.approx(shares[0] - shares[1])
    told = figures(found, design)
    assert f"of planes in {100 * shares[0]:.0f} % of {3 * len(said)} pictures" in told
    assert f"another wrong thing in {100 * shares[1]:.0f} %" in told
    assert "threshold +10)" in told


@pytest.mark.parametrize(
    ("design", "says"),
    [
        (mistaking(pools={**POOLS, "other things": []}), "pools of 1 classes"),
        (mistaking(claims=[Claim(kind="mistake", model="clip", answer="fish", threshold=0.1)]), "mistaken for"),
        (mistaking(arms=[Arm(answer=place, select=select("birds")) for place in PLACES[:2]]), "a name of each"),
        (
            mistaking(paired=True, arms=[
                Arm(answer=place, select=select("birds"), transform=TURN, against=BLUR) for place in PLACES[:3]
            ]),
            "in words",
        ),
    ],
)  # fmt: skip
def test_what_cannot_prove_its_claims_is_refused(design: Design, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        checked(design, MODELS)


async def test_a_mistake_is_told_in_its_direction() -> None:
    query = "Does clip call birds planes?"
    (design,) = plan_of(query)[0].designs
    assert list(design.pools)[:2] == ["birds", "airplanes"]
    assert not set(design.pools["other things"]) & {*design.pools["birds"], "airplane"}
    yes = await concluded(query, [{"mistake": "yes"}])
    assert yes.answers[0].sentence.startswith(
        "Yes, clip takes birds for airplanes more often than for other things: a difference of"
    )
    assert yes.headline == "Does clip mistake birds for airplanes? Yes."
    no = await concluded(query, [{"mistake": "no"}])
    assert no.answers[0].sentence.startswith("No, clip does not take birds for airplanes")


@given(
    truth=st.integers(0, 6),
    undecided=st.sets(st.integers(0, 5)),
)
def test_a_search_ends_at_the_limit_and_says_none_that_was_not_decided(truth: int, undecided: set[int]) -> None:
    (part,) = plan_of("At what blur does clip fail?")
    assert len(part.designs) == 6, "five severities, and pictures as they are"
    experiments: list[Experiment] = []
    while (design := next_of(part, experiments)) is not None:
        level = part.designs.index(design)
        verdict: Verdict = "open" if level in undecided else "yes" if level < truth else "no"
        findings = [Finding(claim=claim, n=40, verdict=verdict) for claim in design.claims]
        experiments.append(Experiment(design=design, rounds=20, findings=findings))
        assert len(experiments) <= len(part.designs), "no severity is examined twice"
    limit, (standing,) = limit_of("clip", part, experiments), standings(part, experiments)
    assert limit.held is None or limit.held[0] < truth
    assert limit.failed is None or limit.failed[0] >= truth
    assert (standing.says == "yes") == limit.is_found
    if not undecided:
        assert len(experiments) <= 4, "by bisection"
        assert limit.is_found or truth == 0
        assert limit.held is None or limit.held[0] == truth - 1


async def test_a_limit_is_told_by_the_severities_that_were_decided() -> None:
    query = "Up to what blur is clip right in at least 90 % at recognizing things?"
    assert {claim.threshold for design in plan_of(query)[0].designs for claim in design.claims} == {0.9}
    between = (await concluded(query, [{"ability": "no"}, {"ability": "yes"}])).answers[0]
    assert "up to defocus blur by a factor of 8, but no longer by a factor of 15" in between.sentence
    assert between.holds is True
    halfway = (await concluded(query, [{"ability": "no"}])).answers[0]
    assert halfway.holds is None, "milder ones are not examined yet"
    assert "; 4, 8, 30 and 60 were not tried; a further experiment has to decide" in halfway.sentence
    assert "is not decided" in halfway.sentence
    assert "by a factor of 15" in halfway.sentence, "what is decided is said"
    whole = await concluded(query, [{"ability": "yes"}, {"ability": "yes"}])
    assert (
        "up to defocus blur by a factor of 60, the strongest that was tried: it never failed"
        in whole.answers[0].sentence
    )


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("Is clip robust to heavy noise?", {"variance_factor": 2.5}),
        ("Is clip robust to noise?", {"variance_factor": 2.0}),
        ("Is clip robust to slight noise?", {"variance_factor": 1.4}),
        ("Is clip robust to JPEG compression at 28 dB?", {"target_psnr": 28.0}),
        ("Does clip recognize birds under severe blur?", {"blur_factor": 60.0}),
        ("Is clip robust to very dark pictures?", {"brightness_factor": 0.08}),
        ("Can clip identify heavy noise?", {"variance_factor": 2.5}),
    ],
)
def test_severities_in_words_and_figures_reach_the_transform(query: str, value: dict[str, float]) -> None:
    for design in plan_of(query)[0].designs:
        changed = [arm.transform.arguments for arm in design.arms if arm.transform.name != "Identity"]
        assert changed
        assert all(each == value for each in changed)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("Is clip robust to heavy snow?", "There is no heavy form of snowy weather here: the usual one is examined."),
        ("Is clip robust to slight fog?", "There is no slight form of foggy weather here: the usual one is examined."),
        ("Is clip robust to heavy noise?", ""),
        ("Is clip robust to slight perspective shifts?", ""),
    ],
)
async def test_a_severity_that_a_change_does_not_have_is_said(query: str, note: str) -> None:
    notes = (await EXAMINER.open_report(query, MODELS)).notes
    assert (note in notes) if note else not any("form of" in each for each in notes)


async def test_half_of_its_accuracy_is_half_of_what_was_right_before() -> None:
    query = "Does clip lose half of its accuracy under blur?"
    (part,) = plan_of(query)
    plain, drop = checked(part.designs[0], MODELS).claims
    assert (plain.kind, plain.threshold) == ("plain", 0.5 + 0.5 / len(part.designs[0].told_apart))
    assert (drop.kind, drop.threshold, drop.share) == ("drop", 0, 0.5)
    assert not drop.names_either
    assert drop.stated(part.designs[0]).startswith("clip loses more than 50 % of its accuracy beyond guessing in ")
    for verdict, says in (("yes", "Yes, clip loses at least 50 %"), ("no", "No, it does not hold that clip loses")):
        steps: int = len(part.designs) if verdict == "no" else 1
        answer = (await concluded(query, [{"drop": verdict, "plain": "yes"}] * steps)).answers[0]  # type: ignore[dict-item]
        assert answer.sentence.startswith(says), answer.sentence


@given(before=st.lists(st.booleans(), min_size=8, max_size=8), after=st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_share_is_lost_where_what_is_left_is_less_than_the_rest(before: list[bool], after: list[bool]) -> None:
    arms = [Arm(answer=each, select=select(each), transform=BLUR) for each in ("hen", "bus")]
    claim = Claim(kind="drop", model="clip", threshold=0, share=0.25)
    design = Design(
        difficulty=1, purpose="One.", skill="telling", question="Is it a hen or a bus?", arms=arms, paired=True,
        claims=[claim],
    )  # fmt: skip
    rights, wrongs = ["hen", "bus"] * 4, ["bus", "hen"] * 4
    said: dict[tuple[str, bool], Sequence[str | None]] = {
        ("clip", plain): [
            right if is_right else wrong for right, wrong, is_right in zip(rights, wrongs, told, strict=True)
        ]
        for plain, told in ((True, before), (False, after))
    }
    values = observed(design, claim, said)
    beyond, left = sum(before) - 8 * 0.5, sum(after) - 8 * 0.5
    assert sum(values) == pytest.approx(0.75 * beyond - left)
    assert all(claim.low <= each <= claim.high for each in values)


def test_of_many_models_any_of_which_answers_each_verdict_bears_its_part_of_the_error_rate() -> None:
    (part,) = plan_of("Is any model robust to blur?")
    assert {(claim.kind, claim.one_of) for claim in part.designs[0].claims} == {("plain", 1), ("drop", 2)}
    (part,) = plan_of("Are the models robust to blur?")
    assert {claim.one_of for claim in part.designs[0].claims} == {1}
    claim = Claim(kind="ability", model="clip", threshold=0.5, one_of=5)
    design = part.designs[0].model_copy(update={"claims": [claim]})
    evaluated = _Right([1.0] * 20)
    found, alone = (
        finding(design, evaluated, Finding(claim=one)) for one in (claim, claim.model_copy(update={"one_of": 1}))
    )
    assert found.logarithm == pytest.approx(alone.logarithm - math.log(5))


class _Right:
    """What was right, whatever is claimed."""

    def __init__(self, values: Sequence[float]) -> None:
        self._seen = Observations.independent(values)

    def observations(self, claim: Claim) -> Observations:
        return self._seen

    def results(self, *, alpha: float) -> list[Result]:
        return []


async def test_a_question_for_any_model_is_answered_in_the_headline() -> None:
    query = "Is any model good at recognizing birds?"
    told = (await concluded(query, [{"ability clip": "yes", "ability blip": "open"}])).headline
    assert told == ("Can any of the models recognize birds? Yes: it holds for clip; not decided for blip.")


def test_two_abilities_are_compared_by_one_claim_about_the_difference() -> None:
    (part,) = plan_of("Is clip better at birds than at vehicles?")
    (design,) = part.designs
    assert [(claim.kind, claim.threshold) for claim in checked(design, MODELS).claims] == [("contrast", 0)]
    birds, vehicles = design.parts
    assert (set(birds.pools), set(vehicles.pools)) == ({"birds", "other things"}, {"vehicles", "other things"})
    assert len(birds.arms) == len(vehicles.arms)
    assert design.of_arm(0) == birds
    assert design.of_arm(len(design.arms) - 1) == vehicles


@pytest.mark.parametrize(
    "query",
    [
        "Is clip better at counting than at colors?",
        "Is clip better at telling birds apart than at recognizing things?",
        "Is clip better at counting than at recognizing birds under blur?",
    ],
)
def test_tasks_that_are_compared_have_as_many_answers_and_the_same_changes(query: str) -> None:
    for design in plan_of(query)[0].designs:
        one, other = checked(design, MODELS).parts
        assert len(one.choices) == len(other.choices)
        assert sorted(str(arm.transform) for arm in one.arms) == sorted(str(arm.transform) for arm in other.arms)


def test_guessing_is_not_compared() -> None:
    with pytest.raises(BadInput, match="the same number of answers"):
        plan_of("Is clip better at telling cats, dogs and horses apart than at counting?")


async def test_a_difference_of_abilities_is_told_with_the_one_that_is_better() -> None:
    query = "Is clip better at birds than at vehicles?"
    for verdict, says in (("yes", "Yes, clip is better"), ("no", "No, clip is worse")):
        answer = (await concluded(query, [{"contrast": verdict}])).answers[0]  # type: ignore[dict-item]  # a verdict
        assert answer.sentence.startswith(f"{says} at recognizing birds than at recognizing vehicles"), answer.sentence
    assert (await concluded(query, [{}])).answers[0].answer == "undecided"


async def test_who_says_one_thing_whatever_a_task_shows_is_not_told_to_be_worse_at_it() -> None:
    report = after("Is clip better at birds than at vehicles?", [{"contrast": "yes"}])
    (done,) = report.experiments
    skill = done.design.tasks[1].skill
    always = {place: {"the first": 20} for place in PLACES[:2]}
    first = Result(
        model="clip", plain=False, task=skill, n=40, average=0.5, by_class={}, abstention=None, invalid=0,
        informedness=0, confusion=always,
    )  # fmt: skip
    told = await EXAMINER.conclude(report.model_copy(update={"experiments": [done.model_copy(
        update={"results": [first]}
    )]}))  # fmt: skip
    assert told.answers[0].holds is None
    assert "chooses the first name" in told.answers[0].sentence


@given(said=st.lists(st.tuples(*[st.sampled_from(["the first", "the second", None])] * 8), min_size=1, max_size=12))
def test_a_pair_counts_by_how_much_more_often_the_first_task_is_right(said: list[tuple[str | None, ...]]) -> None:
    (design,) = plan_of("Is clip better at birds than at vehicles?")[0].designs
    values = observed(design, design.claims[0], {("clip", False): [one for row in said for one in row]})
    right = [[one == arm.answer for one, arm in zip(row, design.arms, strict=True)] for row in said]
    assert values == sorted(float(row[arm]) - row[arm + 4] for row in right for arm in range(4))
    each = [sum(sum(row[start : start + 4]) for row in right) / (4 * len(said)) for start in (0, 4)]
    assert sum(values) / len(values) == pytest.approx(each[0] - each[1])


def seen_classes(said: Mapping[str, Sequence[bool]]) -> tuple[Design, EvaluatedChoices]:
    """Return an experiment that compares birds, with answers of clip about each of them."""
    (design,) = plan_of("Which birds is clip worst at recognizing?")[0].designs
    rows = [(name, right) for name, each in said.items() for right in each]
    size = len(design.arms)
    rows = rows[: len(rows) // size * size]
    samples = [
        Sample("i", 0, number // size, number % size, f"c{number}", f"c{number}", name, "", 0)
        for number, (name, _) in enumerate(rows)
    ]
    answers = [design.arms[number % size].answer if right else None for number, (_, right) in enumerate(rows)]
    return design, EvaluatedChoices(design, samples, {("clip", False): dict(zip(samples, answers, strict=True))})


def found_in(said: Mapping[str, Sequence[bool]]) -> Finding:
    design, evaluated = seen_classes(said)
    report = Report(query="", models=["clip"], alpha=0.05, seed=0)
    begun = Experiment(design=design, findings=[Finding.unobserved(claim) for claim in design.claims])
    report = judged(report.model_copy(update={"experiments": [begun]}), 0, evaluated)
    return with_intervals(report, 0, evaluated).experiments[0].findings[0]


def test_the_worst_class_is_named_where_no_other_may_be_it() -> None:
    birds = sorted(plan_of("Which birds is clip worst at recognizing?")[0].designs[0].compared)
    one_fails = found_in({name: [name != birds[1]] * 24 for name in birds})
    assert (one_fails.verdict, one_fails.likeliest, one_fails.among) == ("yes", birds[1], [birds[1]])
    assert one_fails.interval[1] < 0.75
    two_fail = found_in({name: [name not in birds[:2]] * 24 for name in birds})
    assert (two_fail.verdict, sorted(two_fail.among)) == ("open", birds[:2])
    alike = found_in({name: [True, True, False] * 8 for name in birds})
    assert (alike.verdict, sorted(alike.among)) == ("open", birds)


@pytest.mark.parametrize(
    ("verdict", "among", "says"),
    [
        ("yes", ["goose"], "Of 4 kinds of birds, clip is worst at recognizing geese"),
        ("open", ["goose", "hen"], "not decided: it may be geese or hens"),
        ("open", [], "Which of 4 kinds of birds clip is worst at recognizing is not decided"),
    ],
)
async def test_the_worst_class_is_told_with_those_among_which_it_is(
    verdict: Verdict, among: list[str], says: str
) -> None:
    report = after("Which birds is clip worst at recognizing?", [{"worst": verdict}])
    (done,) = report.experiments
    against = {"goose": 0.0, "hen": 1.0, "swan": 9.0, "duck": 9.0}
    known = [one.model_copy(update={"against": against, "among": among}) for one in done.findings]
    told = await EXAMINER.conclude(
        report.model_copy(update={"experiments": [done.model_copy(update={"findings": known})]})
    )
    assert says in told.answers[0].sentence
    assert told.answers[0].answer is None


def test_of_things_of_any_kind_groups_are_compared_that_share_no_class() -> None:
    (design,) = plan_of("What does clip recognize worst?")[0].designs
    classes = [name for members in checked(design, MODELS).compared.values() for name in members]
    assert len(classes) == len(set(classes))
    assert set(classes) == set(next(iter(design.pools.values())))
    with pytest.raises(BadInput, match="one kind of cats"):
        plan_of("Which cats is clip worst at?")


@given(said=st.lists(st.tuples(*[st.sampled_from([*PLACES[:2], None])] * 2), min_size=1, max_size=20))
def test_an_answer_is_favored_by_how_much_more_often_it_is_given_than_right(said: list[tuple[str | None, ...]]) -> None:
    design = plan_of("Does clip prefer the first option?")[0].designs[0]
    values = observed(design, design.claims[0], {("clip", False): [one for row in said for one in row]})
    given_it = sum(one == PLACES[0] for row in said for one in row)
    assert sum(values) == given_it - len(said)


async def test_a_favored_answer_is_told_with_how_often_it_is_given() -> None:
    told = await concluded("Does clip prefer the first option?", [{"favor": "yes"}])
    assert told.answers[0].sentence.startswith("Yes, clip favors the first choice: it chooses the first name")
    told = await concluded("Does clip prefer the first option?", [{"favor": "no"}] * 2)
    assert told.answers[0].sentence.startswith("No, clip does not favor the first choice")


async def test_who_always_says_yes_says_it_to_every_question() -> None:
    query = "Does blip always say yes?"
    for design in plan_of(query)[0].designs:
        assert [(claim.answer, claim.threshold) for claim in checked(design, MODELS).claims] == [("yes", 0.4)]
    assert (await concluded(query, [{"favor": "yes"}])).answers[0].answer == "undecided"
    assert (await concluded(query, [{"favor": "yes"}] * 2)).answers[0].answer == "yes"
    no = (await concluded(query, [{"favor": "no"}])).answers[0]
    assert no.sentence.startswith("No, blip does not always choose the answer yes")
