"""Relevance: an answer about one thing does not rest on evidence about another."""

from __future__ import annotations

import pytest

from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Claim, ClaimKind
from snellen.experiments.examination_plan import planned
from snellen.experiments.relevance import AskedProperty
from snellen.experiments.report import Experiment, Finding, Said
from snellen.experiments.understanding import meaning_of
from snellen.experiments.verdicts import Verdict
from snellen.profiles import load_profile

PROFILE = load_profile("embedded")
MODELS = ["clip", "blip"]
SUBJECTS = Subjects.of(PROFILE)
PAIR = "clip and blip"


def asked(query: str) -> AskedProperty:
    meaning = meaning_of(query, MODELS, PROFILE)
    assert meaning is not None
    return AskedProperty(meaning, SUBJECTS)


def experiment(query: str, *, kinds: set[ClaimKind] | None = None, verdict: Verdict = "yes") -> Experiment:
    """Return the first experiment of a query, with all claims decided, or those of some kinds."""
    design = planned(asked(query).query, SUBJECTS, MODELS).parts[0].designs[-1]
    findings = [
        Finding(claim=claim, n=40, verdict=verdict if kinds is None or claim.kind in kinds else "open")
        for claim in design.claims
    ]
    return Experiment(design=design, rounds=20, findings=findings)


@pytest.mark.parametrize(
    ("query", "holds", "answer"),
    [
        ("Can clip recognize birds?", True, "yes"),
        ("Is clip bad at recognizing birds?", True, "no"),
        ("Is clip right in at most 40 % at counting?", False, "no"),
        ("Is clip right in at least 40 % at counting?", True, "yes"),
        ("Is clip robust to noise?", False, "no"),
        ("Does rotation hurt clip?", False, "yes"),
        ("Does clip lose more than 5 points under noise?", True, "yes"),
        ("Does clip lose at most 5 points under noise?", False, "no"),
        ("Can clip tell left from right?", True, "yes"),
        ("Can clip recognize birds under noise?", True, "yes"),
        ("Is clip more robust to rotation than to blur?", False, "no"),
        ("Does rotation hurt clip more than blur does?", False, "yes"),
        ("Does clip call birds planes?", True, "yes"),
        ("Can clip identify blur?", True, "yes"),
        ("Does clip favor the first choice?", True, "yes"),
        ("Is clip better at counting than at naming colors?", True, "yes"),
    ],
)
def test_an_answer_is_what_the_claims_say_that_it_rests_on(query: str, *, holds: bool, answer: Said) -> None:
    turned: dict[Said, Said] = {"yes": "no", "no": "yes"}
    both: list[tuple[Verdict, bool, Said]] = [("yes", holds, answer), ("no", not holds, turned[answer])]
    for verdict, held, said in both:
        found = [experiment(query, verdict=verdict)]
        assert asked(query).objection("clip", found, holds=held, answer=said) == ""
        assert asked(query).objection("clip", found, holds=held) == ""
        assert "bears out" in asked(query).objection("clip", found, holds=not held, answer=turned[said])
        assert f"is not {turned[said]!r}" in asked(query).objection("clip", found, holds=held, answer=turned[said])


def compared(*verdicts: tuple[str, str, float, Verdict]) -> Experiment:
    """Return an experiment that compares models in counting: which one is the better, by how much, and the verdict."""
    done = experiment("Is clip better than blip at counting?")
    findings = [
        Finding(claim=Claim(kind="better", model=one, other=other, threshold=bar), n=40, verdict=verdict)
        for one, other, bar, verdict in verdicts
    ]
    return done.model_copy(update={"findings": findings})


@pytest.mark.parametrize(
    ("query", "about", "verdicts", "holds"),
    [
        ("Is clip better than blip at counting?", PAIR, [("clip", "blip", 0, "yes")], True),
        ("Is clip better than blip at counting?", PAIR, [("clip", "blip", 0, "no")], False),
        ("Is clip better than blip at counting?", PAIR, [("blip", "clip", 0, "yes")], False),
        ("Is clip better than blip at counting?", "blip and clip", [("blip", "clip", 0, "no")], True),
        ("Is clip better than blip at counting?", "clip", [("clip", "blip", 0, "yes")], True),
        ("Is clip better than blip at counting?", PAIR, [("clip", "blip", 0.1, "no")], None),
        ("Is clip worse than blip at counting?", PAIR, [("clip", "blip", 0, "no")], False),
        ("Is clip worse than blip at counting by more than 5 points?", PAIR, [("blip", "clip", 0.05, "yes")], True),
        ("Is clip better than blip at counting by more than 5 points?", PAIR, [("clip", "blip", 0, "yes")], None),
        ("Is clip better than blip at counting by more than 5 points?", PAIR, [("clip", "blip", 0, "no")], False),
        ("Is clip as good as blip at counting?", PAIR, [("blip", "clip", 0.1, "no")], True),
        ("Is clip as good as blip at counting?", PAIR, [("blip", "clip", 0.1, "yes")], False),
        ("Is clip as good as blip at counting?", PAIR, [("blip", "clip", 0, "yes")], None),
        ("Are clip and blip equally good at counting?", PAIR,
         [("blip", "clip", 0.1, "no"), ("clip", "blip", 0.1, "no")], True),
        ("Are clip and blip equally good at counting?", PAIR, [("clip", "blip", 0.1, "no")], None),
        ("Are clip and blip equally good at counting?", PAIR, [("clip", "blip", 0.1, "yes")], False),
        ("Which model is best at counting?", "blip and clip", [("clip", "blip", 0, "yes")], False),
        ("Which model is best at counting?", "clip", [("clip", "blip", 0, "yes")], True),
        ("Which model is worst at counting?", "clip", [("clip", "blip", 0, "yes")], False),
        ("Which model is best at counting?", "clip", [("clip", "blip", 0, "yes"), ("clip", "dog", 0, "no")], False),
    ],
)  # fmt: skip
def test_a_comparison_is_what_its_claims_say_whichever_model_they_name_first(
    query: str, about: str, verdicts: list[tuple[str, str, float, Verdict]], *, holds: bool | None
) -> None:
    found, question = [compared(*verdicts)], asked(query)
    assert question.query.questions[0].comparison is not None
    accepted = [said for said in (True, False) if not question.objection(about, found, holds=said)]
    assert accepted == ([] if holds is None else [holds])


def test_a_claim_that_says_neither_bears_out_neither() -> None:
    plain = experiment("Is clip robust to noise?", kinds={"plain"})
    ability = experiment("Can clip recognize birds under noise?", verdict="no")
    query = "Can clip recognize birds under noise?"
    both = ability.model_copy(update={"findings": [*ability.findings, *plain.findings]})
    assert "bears out" in asked(query).objection("clip", [both], holds=True)
    assert asked(query).objection("clip", [both], holds=False) == ""
    skills = "Is clip better at counting than at naming colors?"
    counting = experiment("Can clip count?")
    assert all("bears out" in asked(skills).objection("clip", [counting], holds=said) for said in (True, False))


def test_of_several_experiments_those_count_that_are_about_what_was_asked() -> None:
    query = "Can clip recognize birds?"
    others = [experiment("Can clip recognize vehicles?"), experiment("Can clip count?")]
    found = [*others, experiment(query, verdict="no")]
    assert "bears out" in asked(query).objection("clip", found, holds=True)
    assert asked(query).objection("clip", found, holds=False) == ""


def test_what_is_asked_of_everything_does_not_hold_where_one_change_says_no() -> None:
    query = "Is clip robust to every transformation?"
    found = [experiment("Is clip robust to noise?", verdict="no"), experiment("Is clip robust to blur?", verdict="yes")]
    assert "bears out" in asked(query).objection("clip", found, holds=True)
    assert asked(query).objection("clip", found, holds=False) == ""
    assert asked(query).objection("clip", found[:1], holds=True) == ""


@pytest.mark.parametrize(
    ("query", "evidence", "about", "says"),
    [
        ("Is clip robust to noise?", "Is clip robust to rotation?", "clip", "with Gaussian noise"),
        ("Can clip recognize birds?", "Can clip recognize vehicles?", "clip", "pictures of birds"),
        ("Is clip robust to noise?", "Can clip recognize birds under noise?", "clip", "drop"),
        ("Is clip robust to noise?", "Is blip robust to noise?", "blip", "not about blip"),
        ("Is clip better than blip at counting?", "Can clip count?", "clip", "better"),
    ],
)
def test_evidence_about_something_else_bears_out_nothing(query: str, evidence: str, about: str, says: str) -> None:
    assert says in asked(query).objection(about, [experiment(evidence)], holds=True)


def test_an_open_claim_bears_out_nothing() -> None:
    query = "Is clip robust to noise?"
    assert "drop" in asked(query).objection("clip", [experiment(query, kinds={"plain"})], holds=True)
    pair = Claim(kind="better", model="clip", other="blip", threshold=0)
    assert pair.about == "clip and blip"
