"""Headlines: a question answered in a sentence over all the models that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.headlines import headline_of, headline_of_answers
from snellen.experiments.examiners.quantified_headlines import quantified_headline
from snellen.experiments.report import Answer, Conclusion, Experiment, Finding, Report
from snellen.experiments.standings import ModelStanding
from snellen.experiments.understanding import meaning_of
from snellen.experiments.verdicts import Verdict
from snellen.profiles import load_profile
from snellen.reasoning.queries.conditions import Change, Condition
from snellen.reasoning.queries.model_query import Comparison, ModelQuestion, Sense
from snellen.reasoning.queries.quantifiers import Quantifier

NAMES = ("a", "b", "c", "d")
PROFILE = load_profile("embedded")


def standing_of(about: str, says: Verdict, moot: str = "") -> ModelStanding:
    return ModelStanding(about, says, pending=False, decisive=says, moot=moot)


def answered(says: dict[str, Verdict], *, sense: Sense = "holds", moot: str = "") -> str:
    turned = {"yes": "no", "no": "yes"}
    words = {name: turned.get(one, one) if sense == "fails" else one for name, one in says.items()}
    answers = [
        Answer(about=name, answer={"open": "undecided"}.get(word, word), sentence="s") for name, word in words.items()
    ]
    standings = [standing_of(name, one, moot if name == "c" else "") for name, one in says.items()]
    return headline_of(ModelQuestion(models=tuple(says), sense=sense), standings, answers)


def ranked(
    verdicts: dict[tuple[str, str], Verdict],
    *,
    sense: Sense = "holds",
    unasked: str = "",
    under: Condition | None = None,
) -> str:
    """Return the headline where of some pairs one is better, and the others are not decided."""
    standings = [
        standing_of(f"{one} and {other}", verdicts.get((one, other), "open"), "m" if unasked in (one, other) else "")
        for one, other in combinations(NAMES, 2)
    ]
    question = ModelQuestion(
        models=NAMES, comparison=Comparison(how="best"), sense=sense, condition=under, robust=under is not None
    )
    return headline_of(question, standings, [Answer(about=one.about, sentence="s") for one in standings])


def test_it_says_for_whom_it_is_yes_for_whom_no_and_for_whom_neither() -> None:
    told = answered({"a": "yes", "b": "no", "c": "open", "d": "yes"}, moot="it was not asked")
    assert told == "Can the models recognize things? Yes for a and d; no for b; cannot be said for c."
    assert answered({"a": "no", "b": "no", "d": "no"}) == "Can the models recognize things? No, for all of them."
    assert answered({"a": "open", "b": "open"}) == "Can the models recognize things? Not decided, for both of them."
    told = answered({"a": "yes", "b": "no"}, sense="fails")
    assert told == "Are the models bad at recognizing things? Yes for b; no for a."


def test_one_model_has_a_headline_too() -> None:
    assert answered({"a": "yes"}) == "Can a recognize things? Yes."
    assert answered({"a": "no"}) == "Can a recognize things? No."
    assert answered({"a": "open"}) == "Can a recognize things? Not decided."
    assert answered({"a": "no"}, sense="fails") == "Is a bad at recognizing things? Yes."
    assert answered({"c": "open"}, moot="it was not asked") == "Can c recognize things? Cannot be said."


def test_what_is_no_question_of_yes_or_no_is_answered_by_what_was_found() -> None:
    standing = replace(standing_of("a", "no"), figures="right in 40 % (30 to 50, threshold 75) in counting")
    nothing_said = [Answer(about="a", sentence="s")]
    much = ModelQuestion(models=("a",), asks="how much")
    assert (
        headline_of(much, [standing], nothing_said)
        == "How good is a at recognizing things? Right in 40 % (30 to 50, threshold 75) in counting."
    )
    whether = ModelQuestion(models=("a",), sense="open")
    assert headline_of(whether, [standing], nothing_said) == "a is not good at recognizing things."
    both = [standing, standing_of("b", "open")]
    two = ModelQuestion(models=("a", "b"), asks="how much")
    assert headline_of(two, both, nothing_said * 2) == "Good at recognizing things: no for a; not decided for b."


def test_a_limit_is_told_as_far_as_it_is_decided() -> None:
    blur = Condition(change=Change(type="defocus blur"))
    question = ModelQuestion(models=("a", "b", "c"), condition=blur, asks="limit")
    standings = [
        replace(standing_of("a", "yes"), found="up to defocus blur by a factor of 8, but no longer by a factor of 15"),
        replace(standing_of("b", "open"), bound="at least up to defocus blur by a factor of 30"),
        standing_of("c", "open"),
    ]
    answers = [Answer(about=one.about, sentence="s") for one in standings]
    assert headline_of(question, standings, answers).partition("? ")[2] == (
        "Up to defocus blur by a factor of 8, but no longer by a factor of 15, for a; not decided, but at least up to "
        "defocus blur by a factor of 30, for b; not decided, for c."
    )
    alone = question.model_copy(update={"models": ("b",)})
    told = headline_of(alone, standings[1:2], answers[1:2])
    assert told.endswith("? Not decided, but at least up to defocus blur by a factor of 30.")


def test_what_is_asked_of_several_pairs_holds_of_all_of_them_or_not() -> None:
    question = ModelQuestion(models=("a", "b", "c"), comparison=Comparison(how="alike"))

    def told(*says: Verdict) -> str:
        pairs = zip(("a and b", "a and c", "b and c"), says, strict=True)
        standings = [standing_of(about, one) for about, one in pairs]
        words = {"yes": "yes", "no": "no", "open": "undecided"}
        answers = [Answer(about=one.about, answer=words[one.says], sentence="s") for one in standings]
        return headline_of(question, standings, answers).partition("? ")[2]

    assert told("yes", "no", "open") == "No: yes for a against b; no for a against c; not decided for b against c."
    assert (
        told("yes", "open", "yes") == "Not decided: yes for a against b and b against c; not decided for a against c."
    )
    assert told("yes", "yes", "yes") == "Yes, for all of them."


def test_a_ranking_is_an_order_with_ties() -> None:
    better: dict[tuple[str, str], Verdict] = {("a", "b"): "no", ("b", "c"): "yes", ("b", "d"): "yes"}
    assert ranked(better) == "b is best at recognizing things; then a, c and d, not told apart."
    assert ranked(better, sense="fails") == "Which of a, c and d is worst at recognizing things is not decided; then b."
    chain: dict[tuple[str, str], Verdict] = {("a", "b"): "yes", ("b", "c"): "yes", ("c", "d"): "yes"}
    assert ranked(chain) == "a is best at recognizing things; then b; then c; then d."
    assert ranked(chain, sense="fails") == "d is worst at recognizing things; then c; then b; then a."
    assert ranked({}) == "Which of a, b, c and d is best at recognizing things is not decided."
    assert ranked(better, unasked="c").endswith("then a and d, not told apart; c cannot be compared.")
    fog = Condition(change=Change(type="foggy weather"))
    assert ranked(better, under=fog).startswith("b is most robust to ")
    assert ranked(chain, sense="fails", under=fog).startswith("d is least robust to ")


@given(st.dictionaries(st.sampled_from(list(combinations(NAMES, 2))), st.sampled_from(["yes", "no", "open"])))
def test_nobody_is_best_whom_a_verdict_puts_behind_another(verdicts: dict[tuple[str, str], Verdict]) -> None:
    told = ranked(verdicts)
    behind = {two if says == "yes" else one for (one, two), says in verdicts.items() if says != "open"}
    best = told.partition(" is best")[0]
    if len(best) == 1 and set(NAMES) - behind:
        assert best not in behind


@pytest.mark.parametrize(("verdict", "lead"), [("no", "Yes, "), ("yes", "No, it does not hold that ")])
async def test_as_good_as_is_said_with_the_difference_of_the_first_from_the_second(verdict: Verdict, lead: str) -> None:
    query, models = "Is blip as good as llava-upright at naming colors?", ["blip", "llava-upright"]
    report = Report(query=query, models=models, alpha=0.05, seed=0)
    examiner = CaseExaminer(PROFILE)
    mean = -0.67 if verdict == "no" else 0.67
    while (design := examiner.next_design(report)) is not None:
        found = [
            Finding(claim=claim, n=40, verdict=verdict, mean=mean, interval=(mean - 0.2, mean + 0.2))
            for claim in design.claims
        ]
        done = Experiment(design=design, rounds=8, findings=found)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    (answer,) = (await examiner.conclude(report)).answers
    assert answer.sentence.startswith(
        f"{lead}blip is as good as llava-upright at naming the colors of things, or worse"
    )
    sign = "+" if verdict == "no" else "-"
    assert f"a difference of {sign}67 points ({sign}{'47' if sign == '+' else '87'} to" in answer.sentence


QUANTIFIERS = {
    "any": Quantifier(how="at least", count=1), "all": Quantifier(how="all"), "none": Quantifier(how="at most"),
    "most": Quantifier(how="most"), "not all": Quantifier(how="not all"), "two": Quantifier(how="exactly", count=2),
}  # fmt: skip


def counted(quantifier: Quantifier, said: dict[str, str]) -> str:
    question = ModelQuestion(models=NAMES, quantifier=quantifier)
    return quantified_headline(question, quantifier, said).partition("? ")[2]


def test_one_yes_answers_any_and_one_no_answers_all_while_others_are_open() -> None:
    some = {"a": "yes", "b": "not decided", "c": "not decided", "d": "cannot be said"}
    assert counted(QUANTIFIERS["any"], some) == ("Yes: it holds for a; not decided for b and c; cannot be said for d.")
    assert counted(QUANTIFIERS["none"], some).startswith("No: ")
    assert counted(QUANTIFIERS["all"], some).startswith("Not decided: ")
    assert counted(QUANTIFIERS["all"], some | {"b": "no"}).startswith("No: ")
    assert counted(Quantifier(how="how many"), some) == (
        "1 to 4 of 4: it holds for a; not decided for b and c; cannot be said for d."
    )
    everyone = dict.fromkeys(NAMES, "yes")
    assert counted(Quantifier(how="how many"), everyone) == "4 of 4: it holds for all 4."
    assert counted(QUANTIFIERS["all"], everyone) == "Yes: it holds for all 4."


@given(
    st.sampled_from(sorted(QUANTIFIERS)),
    st.fixed_dictionaries({name: st.sampled_from(("yes", "no", "not decided")) for name in NAMES}),
)
def test_what_is_not_decided_changes_no_answer_that_is_given(name: str, said: dict[str, str]) -> None:
    meanings: dict[str, Callable[[tuple[bool, ...]], bool]] = {
        "any": any, "all": all, "none": lambda true: not any(true), "most": lambda true: sum(true) > len(true) / 2,
        "not all": lambda true: not all(true), "two": lambda true: sum(true) == 2,
    }  # fmt: skip
    options = [(True, False) if one == "not decided" else (one == "yes",) for one in said.values()]
    possible = {meanings[name](true) for true in product(*options)}
    answer = "Not decided" if len(possible) > 1 else "Yes" if True in possible else "No"
    assert counted(QUANTIFIERS[name], said).startswith(f"{answer}: ")


FOUND = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["", "ship", "car", "m"]), min_size=2)


@given(FOUND)
def test_a_worst_class_is_told_of_all_models_in_one_sentence(found: dict[str, str]) -> None:
    standings = [
        replace(standing_of(name, "yes" if kind else "open", "m" if kind == "m" else ""), found=kind)
        for name, kind in found.items()
    ]
    question = ModelQuestion(models=tuple(found), asks="which classes", sense="fails")
    answers = [Answer(about=one.about, sentence="s") for one in standings]
    told = headline_of(question, standings, answers).partition("? ")[2].removesuffix(".")
    assert told
    said: dict[str, list[str]] = {}
    for clause in told.split("; "):
        what, _, whom = clause.rpartition(", for ")
        everyone = list(found) if whom.endswith(" of them") else re.split(", | and ", whom)
        said.setdefault(what.lower(), []).extend(everyone)
    words = {"": "not decided", "ship": "ships", "car": "cars", "m": "cannot be said"}
    wanted: dict[str, list[str]] = {}
    for name, kind in found.items():
        wanted.setdefault(words[kind], []).append(name)
    assert {what: sorted(names) for what, names in said.items()} == {
        what: sorted(names) for what, names in wanted.items()
    }


def test_classes_that_are_left_are_told_where_none_is_found() -> None:
    few, many = ((("car", "ship"), 15), (tuple("abcdefg"), 15))
    standings = [replace(standing_of("a", "open"), among=few), replace(standing_of("b", "open"), among=many)]
    question = ModelQuestion(models=("a", "b"), asks="which classes", sense="fails")
    told = headline_of(question, standings, [Answer(about=one.about, sentence="s") for one in standings])
    assert told.endswith("? Not decided, but may be cars or ships, for a; not decided, for b.")


@pytest.mark.parametrize(
    "query",
    [
        "Are all the models except clip good at birds?",
        "Can any of clip and blip count?",
        "Can clip and blip recognize birds?",
        "Can the models recognize birds?",
        "How many of the models can count?",
        "Are blip and clip robust to everything except blur?",
        "Which vehicles are clip and blip worst at?",
    ],
)
async def test_the_headline_asks_about_the_models_that_were_asked_about(query: str) -> None:
    examiner, models = CaseExaminer(PROFILE), ["clip", "blip", "llava-upright", "blip2-clean", "idefics3-mirrored"]
    opening = await examiner.open_report(query, models)
    report = Report(query=query, models=opening.models, alpha=0.05, seed=0)
    design = examiner.next_design(report)
    assert design is not None
    findings = [Finding(claim=claim) for claim in design.claims]
    report = report.model_copy(update={"experiments": [Experiment(design=design, rounds=1, findings=findings)]})
    assert (await examiner.conclude(report)).headline.startswith(opening.understood)


MANY = [f"m{number}" for number in range(15)]


async def opened_and_concluded(query: str, drop: Verdict, models: list[str] = MANY) -> tuple[Report, Conclusion]:
    """Examine models that recognize everything in the pictures as they were, and lose something, or not."""
    examiner = CaseExaminer(PROFILE)
    opening = await examiner.open_report(query, models)
    report = Report(query=query, models=opening.models, candidates=len(models), notes=opening.notes, alpha=0.05, seed=0)
    while (design := examiner.next_design(report)) is not None:
        findings = [
            Finding(claim=claim, n=40, verdict="yes" if claim.kind == "plain" else drop) for claim in design.claims
        ]
        done = Experiment(design=design, rounds=20, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report, await examiner.conclude(report)


@pytest.mark.parametrize(
    ("query", "drop", "headline"),
    [
        (
            "Are the models robust to noise?", "no",
            "Are the first 12 of 15 models robust to Gaussian noise? Yes, for all of them.",
        ),
        (
            "Are all models robust to noise?", "no",
            "Are all of the first 12 of 15 models robust to Gaussian noise? Yes: it holds for all 12.",
        ),
        (
            "How many of the models are robust to noise?", "yes",
            "How many of the first 12 of 15 models are robust to Gaussian noise? 0 of 12: it does not hold for all 12.",
        ),
        (
            "How robust are the models to noise?", "no",
            "Robust to Gaussian noise: yes, for all of them (among the first 12 of 15 models).",
        ),
    ],
)  # fmt: skip
async def test_of_more_models_than_have_room_it_is_said_how_many_are_examined(
    query: str, drop: Verdict, headline: str
) -> None:
    report, conclusion = await opened_and_concluded(query, drop)
    assert "Only the first 12 of 15 models are examined: name the ones that matter." in report.notes
    assert report.models == [one.about for one in conclusion.answers] == MANY[:12]
    assert conclusion.headline == headline
    assert {claim.one_of for claim in report.experiments[0].design.claims} <= {1, 12}


async def test_a_ranking_says_among_how_many_models_it_is() -> None:
    report, conclusion = await opened_and_concluded("Which model is best at counting?", "yes")
    assert "Only the first 7 of 15 models are compared: name the ones that matter." in report.notes
    assert conclusion.headline.startswith("m0 is best at counting things; then m1;")
    assert conclusion.headline.endswith("(among the first 7 of 15 models).")


async def test_where_all_models_have_room_nothing_is_said_of_the_first() -> None:
    report, conclusion = await opened_and_concluded("Are the models robust to noise?", "no", MANY[:12])
    assert not any("the first" in each for each in (*report.notes, conclusion.headline))
    report, _ = await opened_and_concluded("Can the models recognize birds?", "yes", [f"m{n}" for n in range(22)])
    assert "Only the first 20 of 22 models are examined: name the ones that matter." in report.notes


def test_a_chat_model_that_leaves_models_out_answers_for_those_that_it_names() -> None:
    meaning = meaning_of("Are the models robust to noise?", MANY[:3], PROFILE)
    assert meaning is not None
    answers = [Answer(about=name, answer="yes", holds=True, sentence="s") for name in MANY[:2]]
    told = headline_of_answers(meaning, answers, MANY[:3])
    assert told == "Are m0 and m1 robust to Gaussian noise? Yes, for both of them."
