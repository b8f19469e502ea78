"""Relevance: an answer about one thing does not rest on evidence about another."""

from __future__ import annotations

import pytest

from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Claim, ClaimKind
from snellen.experiments.examination_plan import planned
from snellen.experiments.relevance import AskedProperty
from snellen.experiments.report import Experiment, Finding
from snellen.experiments.understanding import meaning_of
from snellen.profiles import load_profile

PROFILE = load_profile("embedded")
MODELS = ["clip", "blip"]
SUBJECTS = Subjects.of(PROFILE)


def asked(query: str) -> AskedProperty:
    meaning = meaning_of(query, MODELS, PROFILE)
    assert meaning is not None
    return AskedProperty(meaning, SUBJECTS)


def experiment(query: str, *, kinds: set[ClaimKind] | None = None) -> Experiment:
    """Return the first experiment of a query, with all claims decided, or those of some kinds."""
    design = planned(asked(query).query, SUBJECTS, MODELS).parts[0].designs[-1]
    findings = [
        Finding(claim=claim, n=40, verdict="yes" if kinds is None or claim.kind in kinds else "open")
        for claim in design.claims
    ]
    return Experiment(design=design, rounds=20, findings=findings)


@pytest.mark.parametrize(
    "query",
    [
        "Can clip recognize birds?",
        "Is clip robust to noise?",
        "Can clip tell left from right?",
        "Does rotation hurt clip more than blur does?",
        "Does clip call birds planes?",
        "Can clip identify blur?",
    ],
)
def test_the_experiments_of_a_question_are_about_it(query: str) -> None:
    assert asked(query).objection("clip", [experiment(query)]) == ""


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
    assert says in asked(query).objection(about, [experiment(evidence)])


def test_an_open_claim_bears_out_nothing() -> None:
    query = "Is clip robust to noise?"
    assert "drop" in asked(query).objection("clip", [experiment(query, kinds={"plain"})])
    pair = Claim(kind="better", model="clip", other="blip", threshold=0)
    assert pair.about == "clip and blip"
