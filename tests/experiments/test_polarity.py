"""What a "yes" to a question about models means, and the answers that follow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.queries.class_groups import Subjects
from snellen.experiments.queries.model_queries import UnexaminableError, read_query
from snellen.experiments.queries.polarity import Polarity, of_ability
from snellen.experiments.queries.protocol_queries import protocol_of, read_wanted
from snellen.experiments.report import Answer, Experiment, Finding, Report, Verdict
from snellen.profiles import load_profile

PROFILE = load_profile("embedded")
SUBJECTS = Subjects.of(PROFILE)
MODELS = list(PROFILE.tested)

SAME = (
    "Is clip robust to rotation?",
    "Are these models robust to noise and blur?",
    "Is clip robust to rotation or not?",
    "Can blip cope with blur?",
    "Can models still recognise animals when it snows?",
    "Can the models recognize birds?",
    "Is blip good at recognizing vehicles?",
    "Can llava-upright tell left from right?",
    "Does blip notice when a picture is blurred?",
    "Is blip better than clip at recognizing birds?",
)
OPPOSITE = (
    "Does rotation hurt llava-upright?",
    "Does JPEG compression confuse the models?",
    "Do geometric transformations harm clip?",
    "Does clip fail under rotation?",
    "Does clip struggle with blur?",
    "Do clip and blip suffer from noise?",
    "Is clip sensitive to noise?",
    "Is clip hurt by rotation?",
    "Does clip lose accuracy under rotation?",
    "Is clip bad at recognizing birds?",
    "Is clip unreliable at recognizing birds?",
    "Does clip fail to recognize birds?",
    "Is clip worse than blip at recognizing birds?",
)
UNKNOWN = (
    "How much does rotation hurt clip?",
    "How good is clip at birds?",
    "Which of clip and blip is better at birds?",
    "Isn't clip robust to blur?",
    "Is clip not robust to blur?",
    "Does clip hardly suffer from blur?",
    "Is clip hurt less by blur?",
    "Is clip good or bad at recognizing birds?",
    "Does clip recognize birds wrongly?",
    "Can clip recognize birds without trouble?",
    "Does clip stop recognizing birds under blur?",
    "Is it easy to fool clip with noise?",
    "Is clip good at rotated pictures?",
    "Can clip recognize birds and vehicles?",
    "Can clip count and tell colors?",
    "Is clip better at birds than chance?",
    "Compare clip and blip on birds",
    "Does rotation hurt clip badly?",
)


@pytest.mark.parametrize(
    ("query", "polarity"),
    [(query, found) for found, group in (("same", SAME), ("opposite", OPPOSITE), ("unknown", UNKNOWN))
     for query in group],
)  # fmt: skip
def test_what_a_yes_means_is_read_or_left_open(query: str, polarity: Polarity) -> None:
    assert read_query(query, MODELS, SUBJECTS).polarity == polarity


@pytest.mark.parametrize(
    ("query", "polarity"),
    [
        ("Does blip tell the truth?", "same"),
        ("Is blip honest?", "same"),
        ("Can I trust blip's descriptions?", "same"),
        ("Is blip helpful?", "same"),
        ("Is llava-judge symmetric?", "same"),
        ("Can I trust llava-judge to judge similarity under blur?", "same"),
        ("Is llava-judge a good judge of similarity?", "same"),
        ("Is blip more truthful than blip2-clean?", "same"),
        ("Does blip lie?", "opposite"),
        ("Does blip hallucinate?", "opposite"),
        ("Does blip make things up?", "opposite"),
        ("Does llava-judge ignore what counts in a pair?", "opposite"),
        ("Does blip hallucinate more than blip2-clean?", "opposite"),
        ("Is blip honest about rotated pictures?", "unknown"),
        ("Is blip not honest?", "unknown"),
        ("Does blip never lie?", "unknown"),
        ("Does blip claim to see things that are not there?", "unknown"),
        ("Which model tells the truth most often?", "unknown"),
        ("Does llava-judge give the same score when pictures are swapped?", "unknown"),
    ],
)
def test_what_a_yes_means_is_read_of_free_answers_and_judges(query: str, polarity: Polarity) -> None:
    assert read_wanted(query, MODELS, PROFILE, protocol_of(query, MODELS)).polarity == polarity


@given(
    query=st.sampled_from([*SAME, *OPPOSITE]),
    place=st.integers(0, 12),
    word=st.one_of(
        st.sampled_from(["not", "never", "hardly", "rarely", "no", "seldom", "without", "barely", "only", "sometimes"]),
        st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=9).map(lambda text: f"x{text}"),
    ),
)
def test_one_word_that_is_not_understood_leaves_the_answer_open(query: str, place: int, word: str) -> None:
    words = query.rstrip("?").split()
    changed = " ".join([*words[:place], word, *words[place:]]) + "?"
    try:
        found = read_query(changed, MODELS, SUBJECTS)
    except UnexaminableError:
        return
    # A word within the name of a model, a type or a group leaves less of it, but the same question of what is left.
    assert found.polarity == "unknown", changed


@pytest.mark.parametrize(
    "word", ["count ", "it ", "and ", "_ ", "of the ", "as ", "left right ", "model ", "and model "]
)
def test_no_wording_takes_long_to_read(word: str) -> None:
    began = time.process_time()
    for robust, compared in ((False, False), (True, False), (False, True)):
        of_ability(f"can model recognize {word * (970 // len(word))}!x", robust=robust, compared=compared)
    assert time.process_time() - began < 5


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
    ]
    for query, wanted in queries:
        (answer,) = (await CaseExaminer(PROFILE).conclude(measured(query, drop))).answers
        assert answer.answer == wanted, query
        assert answer.property == "robust to left rotation, right rotation and half turn"
        assert answer.holds is holds
        lead = {"yes": "Yes, ", "no": "No, "}.get(wanted or "", "")
        assert answer.sentence.startswith(f"{lead}llava-upright is " if holds is not None else "Whether ")


@pytest.mark.parametrize(("query", "wanted"), [("Does blip lie?", "yes"), ("Does blip tell the truth?", "no")])
async def test_whether_a_model_lies_is_answered_as_asked(query: str, wanted: str) -> None:
    examiner = ProtocolExaminer(PROFILE, "freeform")
    report = Report(query=query, models=["blip"], alpha=0.05, seed=0)
    design = await examiner.design_experiment(report, [])
    assert design is not None
    found = Finding(claim=design.claims[0], n=40, mean=0.4, interval=(0.3, 0.5), verdict="no")
    done = report.model_copy(update={"experiments": [Experiment(design=design, rounds=7, findings=[found])]})
    (answer,) = (await examiner.conclude(done)).answers
    assert (answer.answer, answer.property, answer.holds) == (wanted, "tells the truth", False)
    assert answer.sentence.startswith(f"{wanted.capitalize()}, it does not hold that blip tells the truth: ")


@pytest.mark.parametrize(("says", "holds"), [("yes", True), ("no", False), ("open", None)])
def test_an_answer_of_an_earlier_version_is_about_the_property_alone(says: str, *, holds: bool | None) -> None:
    old = Answer.model_validate({"about": "clip", "says": says, "sentence": "clip is not robust to rotation."})
    assert (old.answer, old.property, old.holds) == (None, "", holds)
    assert Answer.model_validate(old.model_dump()) == old
