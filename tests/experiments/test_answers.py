"""Answers to a question as it was asked, and the property that they are about."""

from __future__ import annotations

import re

import pytest

from snellen.experiments.design import Design, Protocol
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.protocol_queries import examined_so
from snellen.experiments.report import Answer, Conclusion, Experiment, Finding, Report, Result
from snellen.experiments.understanding import UnexaminableError, protocol_of, understood
from snellen.experiments.verdicts import Verdict
from snellen.profiles import load_profile
from snellen.reasoning.queries.abilities import AnswerFreely
from snellen.reasoning.queries.model_query import Comparison, ModelQuery, ModelQuestion

PROFILE = load_profile("embedded")
MODELS = list(PROFILE.tested)


async def designed(protocol: Protocol, query: str, models: list[str]) -> tuple[ProtocolExaminer, Report, Design]:
    """Return the examiner of a protocol, the report that a query begins, and the experiment that it designs."""
    examiner = ProtocolExaminer(PROFILE, protocol)
    report = Report(query=query, models=models, alpha=0.05, seed=0)
    design = await examiner.design_experiment(report, [])
    assert design is not None
    return examiner, report, design


def measured(query: str, verdict: Verdict) -> Report:
    """Return a report in which the drop of llava-upright has a verdict, and it is right in the plain pictures."""
    report = Report(query=query, models=["llava-upright"], alpha=0.05, seed=0)
    examiner = CaseExaminer(PROFILE)
    while (design := examiner.next_design(report)) is not None:
        findings = [
            Finding(claim=claim, n=40, verdict=verdict if claim.kind == "drop" else "yes", mean=0.3)
            for claim in design.claims
        ]
        done = Experiment(design=design, rounds=20, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return report


@pytest.mark.parametrize(
    ("drop", "holds", "asked", "turned"),
    [("yes", False, "no", "yes"), ("no", True, "yes", "no"), ("open", None, "undecided", "undecided")],
)
async def test_the_answer_is_to_the_question_as_asked_and_the_property_is_the_same(
    drop: Verdict, *, holds: bool | None, asked: str, turned: str
) -> None:
    queries = [
        ("Is llava-upright robust to rotation?", asked),
        ("Does rotation hurt llava-upright?", turned),
        ("How much does rotation hurt llava-upright?", None),
        ("Isn't llava-upright robust to rotation?", None),
    ]
    for query, wanted in queries:
        (answer,) = (await CaseExaminer(PROFILE).conclude(measured(query, drop))).answers
        assert answer.answer == wanted, query
        assert answer.property == "robust to rotation"
        assert answer.holds is holds
        lead = {"yes": "Yes, ", "no": "No, "}.get(wanted or "", "")
        assert answer.sentence.startswith(f"{lead}llava-upright is " if holds is not None else "Whether ")


@pytest.mark.parametrize(("query", "wanted"), [("Does blip lie?", "yes"), ("Does blip tell the truth?", "no")])
async def test_whether_a_model_lies_is_answered_as_asked(query: str, wanted: str) -> None:
    examiner, report, design = await designed("freeform", query, ["blip"])
    found = Finding(claim=design.claims[0], n=40, mean=0.4, interval=(0.3, 0.5), verdict="no")
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=[found])]})
    concluded = await examiner.conclude(done)
    (answer,) = concluded.answers
    assert concluded.headline.endswith(f" telling the truth? {wanted.capitalize()}." if wanted == "yes" else "? No.")
    assert (answer.answer, answer.property, answer.holds) == (wanted, "tells the truth", False)
    assert "(30 to 50, threshold 80)" in answer.sentence
    assert answer.sentence.startswith(f"{wanted.capitalize()}, it does not hold that blip tells the truth: ")


@pytest.mark.parametrize(
    ("query", "verdict", "sentence"),
    [
        ("Is llava-judge no worse than idefics3-judge at ordering pairs by more than 5 points?", "no",
         "Yes, it does not hold that idefics3-judge orders pairs better than llava-judge by more than 5 points: "),
        ("Is llava-judge no worse than idefics3-judge at ordering pairs by more than 5 points?", "yes",
         "No, idefics3-judge orders pairs better than llava-judge by more than 5 points: "),
        ("Is llava-judge better than idefics3-judge at ordering pairs by more than 5 points?", "no",
         "No, it does not hold that llava-judge orders pairs better than idefics3-judge by more than 5 points: "),
        ("Is llava-judge better than idefics3-judge at ordering pairs by more than 5 points?", "open",
         "Whether llava-judge orders pairs better than idefics3-judge by more than 5 points is not decided: "),
        ("Is llava-judge better than idefics3-judge at ordering pairs?", "no",
         "No, idefics3-judge orders pairs better than llava-judge: a difference of -2 points"),
        ("Is llava-judge better than idefics3-judge at ordering pairs?", "open",
         "Whether llava-judge or idefics3-judge orders pairs better is not decided: "),
    ],
)  # fmt: skip
async def test_of_judges_too_the_margin_that_is_stated_is_claimed(query: str, verdict: Verdict, sentence: str) -> None:
    examiner, report, design = await designed("pairs", query, ["llava-judge", "idefics3-judge"])
    found = Finding(claim=design.claims[0], n=40, mean=0.02, interval=(-0.01, 0.04), verdict=verdict)
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=[found])]})
    (answer,) = (await examiner.conclude(done)).answers
    assert answer.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("query", "verdicts", "headline"),
    [
        ("Which model is best at telling the truth?", "yes yes yes", "blip tells more truth than all the others."),
        (
            "Which model is worst at telling the truth?",
            "yes yes yes",
            "llava-upright is behind all the others: each of them tells more truth.",
        ),
        (
            "Which model is worst at telling the truth?",
            "open yes open",
            "Which one is behind all the others is not decided; not ahead of any: blip2-clean and llava-upright.",
        ),
    ],
)
async def test_the_worst_is_named_where_the_worst_is_asked_for(query: str, verdicts: str, headline: str) -> None:
    examiner, report, design = await designed("freeform", query, ["blip", "blip2-clean", "llava-upright"])
    found = [
        Finding.model_validate({"claim": one, "n": 40, "mean": 0.2, "interval": (0.1, 0.3), "verdict": verdict})
        for one, verdict in zip(design.claims, verdicts.split(), strict=True)
    ]
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=found)]})
    assert (await examiner.conclude(done)).headline == headline


def silent(model: str, share: float) -> Result:
    return Result(
        model=model, plain=False, n=12, average=0.32, by_class={}, abstention=share, invalid=0, informedness=None
    )


@pytest.mark.parametrize(("share", "answer"), [(7 / 12, "undecided"), (0.15, "no"), (0.0, "no")])
async def test_answers_that_say_nothing_do_not_decide_whether_a_model_tells_the_truth(
    share: float, answer: str
) -> None:
    examiner, report, design = await designed("freeform", "Does blip tell the truth?", ["blip"])
    found = [Finding(claim=one, n=12, mean=0.32, interval=(0.1, 0.6), verdict="no") for one in design.claims]
    experiment = Experiment(design=design, rounds=2, findings=found, results=[silent("blip", share)])
    (said,) = (await examiner.conclude(report.model_copy(update={"experiments": [experiment]}))).answers
    assert said.answer == answer
    told = "because 58 % of the answers of blip say nothing that can be judged; of the others 77 % is true"
    assert (told in said.sentence) == (answer == "undecided")


@pytest.mark.parametrize(("verdict", "by", "answer"), [
    ("yes", 0.1, "undecided"), ("yes", 0.5, "yes"), ("no", -0.1, "no"), ("no", -0.5, "no")
])  # fmt: skip
async def test_who_says_nothing_is_not_less_truthful_for_that(verdict: Verdict, by: float, answer: str) -> None:
    query = "Is blip better than llava-upright at telling the truth?"
    examiner, report, design = await designed("freeform", query, ["blip", "llava-upright"])
    found = [Finding(claim=one, n=12, mean=by, interval=(by - 0.1, by + 0.1), verdict=verdict) for one in design.claims]
    results = [silent("blip", 0), silent("llava-upright", 0.25)]
    experiment = Experiment(design=design, rounds=2, findings=found, results=results)
    (said,) = (await examiner.conclude(report.model_copy(update={"experiments": [experiment]}))).answers
    assert said.answer == answer


async def test_a_judge_that_fails_in_one_respect_needs_no_more_pictures_for_the_others() -> None:
    examiner, report, design = await designed("pairs", "Can I trust llava-judge under rotation?", ["llava-judge"])
    found = [Finding(claim=one, n=40, verdict="open" if place else "no") for place, one in enumerate(design.claims)]
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=found)]})
    assert (await examiner.judge_sufficiency(done)).unsettled == []
    opened = [found[0].model_copy(update={"verdict": "yes"}), *found[1:]]
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=opened)]})
    assert (await examiner.judge_sufficiency(done)).unsettled == ["llava-judge"]


async def test_who_is_not_better_by_a_margin_is_not_said_to_be_worse() -> None:
    query = "Which of blip, blip2-clean and llava-upright is the most helpful by more than 5 points?"
    examiner, report, design = await designed("freeform", query, ["blip", "blip2-clean", "llava-upright"])
    found = [Finding(claim=one, n=40, mean=0.02, interval=(-0.01, 0.04), verdict="no") for one in design.claims]
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=found)]})
    concluded = await examiner.conclude(done)
    assert concluded.headline.startswith("No single one is more helpful than all the others by more than 5 points; ")


@pytest.mark.parametrize(("says", "holds"), [("yes", True), ("no", False), ("open", None)])
def test_an_answer_of_an_earlier_version_is_about_the_property_alone(says: str, *, holds: bool | None) -> None:
    old = Answer.model_validate({"about": "clip", "says": says, "sentence": "clip is not robust to rotation."})
    assert (old.answer, old.property, old.holds) == (None, "", holds)
    assert Answer.model_validate(old.model_dump()) == old


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ("Is clip right in at least 90 % at counting?", {"yes": "yes", "no": "no"}),
        ("Is clip right in less than 90 % at counting?", {"yes": "no", "no": "yes"}),
        ("Is clip bad at counting?", {"yes": "no", "no": "yes"}),
        ("Is clip as good as blip at counting?", {"yes": "no", "no": "yes"}),
        ("Is clip worse than blip at counting?", {"yes": "no", "no": "yes"}),
        # To be worse by a margin is claimed of the other model; who is not better by it may be as good.
        ("Is clip much worse than blip at counting?", {"yes": "yes", "no": "no"}),
    ],
)
async def test_a_verdict_answers_what_was_asked(query: str, answers: dict[Verdict, str]) -> None:
    for verdict, answer in answers.items():
        first = await answered_with(query, verdict)
        assert first.answer == answer, (verdict, first.sentence)


async def answered_with(query: str, verdict: Verdict) -> Answer:
    """Return the first answer of an investigation in which all claims have one verdict, with means on its side.

    Models are right about the pictures as they were.
    """
    examiner = CaseExaminer(PROFILE)
    mean = 0.3 if verdict == "yes" else -0.3
    report = Report(query=query, models=["clip", "blip"], alpha=0.05, seed=0)
    while (design := examiner.next_design(report)) is not None:
        findings = [
            Finding(
                claim=claim, n=40, verdict="yes" if claim.kind == "plain" else verdict, mean=mean,
                interval=(mean - 0.1, mean + 0.1),
            )
            for claim in design.claims
        ]  # fmt: skip
        done = Experiment(design=design, rounds=20, findings=findings)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return (await examiner.conclude(report)).answers[0]


@pytest.mark.parametrize(
    ("query", "verdict", "sentence"),
    [
        ("Is clip better than blip at counting?", "no",
         "No, blip is better than clip at counting things: a difference of +30 points ("),
        ("Is clip worse than blip at counting?", "no",
         "Yes, clip is worse than blip at counting things: a difference of -30 points ("),
        ("Is clip worse than blip at counting?", "yes",
         "No, clip is not worse than blip at counting things, but better: a difference of +30 points ("),
        ("Is clip worse than blip at counting?", "open", "Which of clip and blip is worse at counting things is not "),
        ("Is clip much worse than blip at counting?", "yes",
         "Yes, clip is worse than blip at counting things by more than 10 points: a difference of -30 points ("),
        ("Is clip less robust to blur than blip?", "no",
         "Yes, clip is less robust than blip to defocus blur: a difference of +30 points ("),
        ("Is clip worse at birds than at vehicles?", "yes",
         "No, clip is not worse at recognizing birds than at recognizing vehicles, but better: "),
        ("Is clip worse at birds than at vehicles?", "no",
         "Yes, clip is worse at recognizing birds than at recognizing vehicles: "),
    ],
)  # fmt: skip
async def test_a_comparison_is_told_in_the_words_of_the_question(query: str, verdict: Verdict, sentence: str) -> None:
    assert (await answered_with(query, verdict)).sentence.startswith(sentence)


async def test_a_finished_report_of_a_query_that_is_no_longer_read_tells_what_was_measured() -> None:
    report = measured("Is llava-upright robust to rotation?", "yes")
    old = report.model_copy(update={"query": "gibberish of an older version"})
    concluded = await CaseExaminer(PROFILE).conclude(old)
    assert "llava-upright loses more than 10 points" in concluded.conclusion


@pytest.mark.parametrize(
    ("query", "protocol"),
    [
        ("Does blip hallucinate?", "freeform"),
        ("Which model tells the truth most often?", "freeform"),
        ("Is llava-judge symmetric?", "pairs"),
        ("Can I trust llava-judge to judge similarity under blur?", "pairs"),
        ("Can the models recognize birds?", "choice"),
        ("Can blip name colors?", "choice"),
        ("Words that nobody reads", "choice"),
    ],
)
def test_questions_find_their_protocol(query: str, protocol: str) -> None:
    assert protocol_of(query, MODELS, PROFILE) == protocol


def test_what_is_measured_of_judges_and_of_free_answers() -> None:
    asked = examined_so(understood("Is llava-judge symmetric under blur?", MODELS, PROFILE).query, MODELS, PROFILE)
    assert (asked.models, asked.measures, asked.splits) == (("llava-judge",), ("symmetry",), ("GB",))
    asked = examined_so(understood("Which model is the most helpful?", MODELS, PROFILE).query, MODELS, PROFILE)
    assert (asked.measures, asked.compared) == (("help",), True)
    assert any("clip is not examined" in note for note in asked.notes)
    together = "llava-upright and blip are not examined: each reads one picture at once, and cannot compare two."
    with pytest.raises(UnexaminableError, match=re.escape(together)):
        examined_so(understood("Can llava-upright and blip judge similarity?", MODELS, PROFILE).query, MODELS, PROFILE)
    with pytest.raises(UnexaminableError, match="blip is not examined: it reads one picture at once"):
        examined_so(understood("Can blip judge similarity?", MODELS, PROFILE).query, MODELS, PROFILE)


async def test_a_protocol_that_does_not_fit_the_question_is_refused() -> None:
    with pytest.raises(UnexaminableError, match="Can the models recognize birds"):
        await ProtocolExaminer(PROFILE, "pairs").open_report("Can the models recognize birds?", MODELS)


@pytest.mark.parametrize(
    ("query", "instead"),
    [
        (
            "Is llava-upright no better than guessing at telling the truth?",
            "Is llava-upright right in at most 50 % at telling the truth?",
        ),
        (
            "Is llava-judge better than guessing at ordering pairs of pictures by similarity?",
            "Is llava-judge right in more than 50 % at ordering pairs of pictures by similarity?",
        ),
        (
            "Does llava-upright tell the truth? Is it no better than guessing at being helpful?",
            "Is llava-upright right in at most 50 % at being helpful?",
        ),
    ],
)
def test_of_free_answers_and_pairs_guessing_is_no_bound_and_a_share_is_asked_for(query: str, instead: str) -> None:
    with pytest.raises(UnexaminableError, match="no share that guessing gives") as refused:
        examined_so(understood(query, MODELS, PROFILE).query, MODELS, PROFILE)
    assert f"“{instead}”" in str(refused.value)
    assert examined_so(understood(instead, MODELS, PROFILE).query, MODELS, PROFILE).claims


def test_whether_a_model_is_bad_at_the_truth_is_held_against_the_usual_bar() -> None:
    query = understood("Is llava-upright bad at telling the truth?", MODELS, PROFILE).query
    examined = examined_so(query, MODELS, PROFILE)
    assert [(claim.threshold, examined.polarity) for claim in examined.claims] == [(0.8, "opposite")]


@pytest.mark.parametrize(
    "questions",
    [
        (
            "Is llava-upright right in at least 90 % at telling the truth?",
            "Is llava-upright right in at least 50 % at being helpful?",
        ),
        ("Is llava-upright better than blip at telling the truth?", "Is llava-upright good at being helpful?"),
        ("Which model is best at telling the truth?", "Which model is best at being helpful?"),
        (
            "Is llava-upright better than blip at telling the truth?",
            "Is llava-upright better than blip2-clean at telling the truth?",
        ),
        ("Is blip good at telling the truth?", "Is blip right in at least 90 % at being helpful?"),
    ],
)
def test_questions_that_need_claims_of_their_own_are_asked_one_by_one(questions: tuple[str, str]) -> None:
    with pytest.raises(UnexaminableError, match="Ask one by one") as refused:
        examined_so(understood(" ".join(questions), MODELS, PROFILE).query, MODELS, PROFILE)
    for question in questions:
        assert f"“{question}”" in str(refused.value)
        assert examined_so(understood(question, MODELS, PROFILE).query, MODELS, PROFILE).claims


@pytest.mark.parametrize(
    ("query", "claimed"),
    [
        ("Is llava-upright truthful? Is llava-upright helpful?", {"truth": 0.8, "help": 0.5}),
        (
            "Is blip right in at least 60 % at telling the truth? Is blip right in at least 60 % at being helpful?",
            {"truth": 0.6, "help": 0.6},
        ),
        (
            "Can I trust llava-judge to judge similarity under blur? And under rotation?",
            {"order": 0.5, "symmetry": 0.8, "heed": 0.8},
        ),
    ],
)
def test_questions_with_one_bound_are_examined_together(query: str, claimed: dict[str, float]) -> None:
    examined = examined_so(understood(query, MODELS, PROFILE).query, MODELS, PROFILE)
    assert {claim.measure: claim.threshold for claim in examined.claims} == claimed


@pytest.mark.parametrize(
    ("query", "share", "wanted"),
    [
        ("Is llava-judge right in at least 80 % at ordering pairs of pictures by similarity?", 0.85, "yes"),
        ("Is llava-judge right in at least 80 % at ordering pairs of pictures by similarity?", 0.75, "no"),
        ("Is llava-judge right in at most 80 % at ordering pairs of pictures by similarity?", 0.85, "no"),
        ("Is llava-judge right in at least 50 % at ordering pairs of pictures by similarity?", 0.55, "yes"),
        ("Is llava-judge right in at least 30 % at ordering pairs of pictures by similarity?", 0.35, "yes"),
    ],
)
async def test_a_share_of_orders_is_held_against_the_share_of_pairs_in_the_right_order(
    query: str, share: float, wanted: str
) -> None:
    examiner, report, design = await designed("pairs", query, ["llava-judge"])
    (claim,) = design.claims
    mean = share - (1 - share)  # no ties: those in the right order less those in the wrong one
    verdict: Verdict = "yes" if mean > claim.threshold else "no"
    found = Finding(claim=claim, n=40, mean=mean, interval=(mean - 0.02, mean + 0.02), verdict=verdict)
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=[found])]})
    concluded = await examiner.conclude(done)
    (answer,) = concluded.answers
    assert answer.answer == wanted
    assert concluded.headline.endswith(f"? {wanted.capitalize()}.")
    percent = round(100 * share)
    bar = next(word for word in query.split() if word.isdigit())
    told = f"{percent} % of pairs in the right order ({percent - 1} to {percent + 1}, threshold {bar})"
    assert told in answer.sentence


def test_a_judge_without_a_stated_share_is_held_against_the_usual_concordance() -> None:
    query = understood("Can I trust llava-judge to judge similarity?", MODELS, PROFILE).query
    examined = examined_so(query, MODELS, PROFILE)
    assert {claim.measure: claim.threshold for claim in examined.claims}["order"] == 0.5
    assert not examined.notes


async def compared(query: str, verdicts: dict[tuple[str, str], Verdict], mean: float = 0.04) -> Conclusion:
    """Return the conclusion about models of which the first of two is better with a verdict."""
    names = list(dict.fromkeys(name for pair in verdicts for name in pair))
    examiner, report, design = await designed(protocol_of(query, names, PROFILE), query, names)
    assert {(claim.model, claim.other) for claim in design.claims} == set(verdicts)
    for claim in design.claims:
        assert claim.stated(design).endswith(" by more than 10 points") == bool(claim.threshold)
    findings = [
        Finding(
            claim=claim,
            n=40,
            mean=mean,
            interval=(mean - 0.02, mean + 0.02),
            verdict=verdicts[claim.model, claim.other],
        )
        for claim in design.claims
    ]
    return await examiner.conclude(
        report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=findings)]})
    )


BOTH = ("llava-upright", "blip")
TURNED = ("blip", "llava-upright")
AND = "llava-upright and blip"
MARGIN = "by more than 10 points"


@pytest.mark.parametrize(
    ("query", "verdicts", "headline"),
    [
        (
            "Are llava-upright and blip within 10 points of each other at telling the truth?",
            {BOTH: "no", TURNED: "no"},
            "Are llava-upright and blip within 10 points of one another at telling the truth? Yes.",
        ),
        (
            "Are llava-upright and blip within 10 points of each other at telling the truth?",
            {BOTH: "no", TURNED: "open"},
            "Are llava-upright and blip within 10 points of one another at telling the truth? Not decided.",
        ),
        (
            "Is llava-upright much better than blip at telling the truth?",
            {BOTH: "no"},
            "Is llava-upright better than blip at telling the truth by more than 10 points? No.",
        ),
        (
            "Is llava-upright much worse than blip at telling the truth?",
            {TURNED: "no"},
            "Is llava-upright worse than blip at telling the truth by more than 10 points? No.",
        ),
        (
            "Which of llava-upright and blip is best at telling the truth by more than 10 points?",
            {BOTH: "no", TURNED: "no"},
            f"No single one tells more truth than all the others {MARGIN}; not behind any by so much: {AND}.",
        ),
        (
            "Is llava-upright better than blip and blip2-clean at telling the truth by more than 10 points?",
            {BOTH: "no", ("llava-upright", "blip2-clean"): "no"},
            f"Is llava-upright better than blip and blip2-clean at telling the truth {MARGIN}? No, for both of them.",
        ),
    ],
)
async def test_who_is_not_better_by_a_margin_is_not_called_worse(
    query: str, verdicts: dict[tuple[str, str], Verdict], headline: str
) -> None:
    said = await compared(query, verdicts)
    assert said.headline == headline
    for answer, ((one, other), verdict) in zip(said.answers, verdicts.items(), strict=True):
        more = f"{one} tells more truth than {other} by more than 10 points"
        sentence = f"hether {more} is not decided" if verdict == "open" else f"t does not hold that {more}"
        assert f"{sentence}: a difference of +4 points (+2 to +6, threshold +10)" in answer.sentence
        assert answer.property == more


@pytest.mark.parametrize(
    ("query", "verdicts", "headline"),
    [
        (
            "Are llava-upright and blip within 10 points of each other at telling the truth?",
            {BOTH: "yes", TURNED: "no"},
            "Are llava-upright and blip within 10 points of one another at telling the truth? No.",
        ),
        (
            "Which of llava-upright and blip is best at telling the truth by more than 10 points?",
            {BOTH: "no", TURNED: "yes"},
            "blip tells more truth than all the others by more than 10 points.",
        ),
        (
            f"Which of llava-judge and idefics3-judge is best at ordering pairs of pictures by similarity {MARGIN}?",
            {("llava-judge", "idefics3-judge"): "yes", ("idefics3-judge", "llava-judge"): "no"},
            "llava-judge orders pairs better than all the others by more than 10 points.",
        ),
        (
            "Is llava-upright better than blip and blip2-clean at telling the truth?",
            {BOTH: "yes", ("llava-upright", "blip2-clean"): "no"},
            "No single one tells more truth than all the others; not behind any: blip2-clean.",
        ),
    ],
)
async def test_who_is_better_is_named_with_the_margin_that_was_asked_for(
    query: str, verdicts: dict[tuple[str, str], Verdict], headline: str
) -> None:
    assert (await compared(query, verdicts, mean=0.3)).headline == headline


def test_to_be_as_good_within_a_margin_is_that_the_other_is_not_better_by_it() -> None:
    question = ModelQuestion(
        models=BOTH, ability=AnswerFreely(measure="truth"), comparison=Comparison(how="as good", margin=0.1)
    )
    examined = examined_so(ModelQuery(questions=(question,)), MODELS, PROFILE)
    assert [(claim.model, claim.other, claim.threshold) for claim in examined.claims] == [(*TURNED, 0.1)]
    assert examined.polarity == "opposite"
