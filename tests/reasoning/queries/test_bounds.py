"""Words that bound a question: those that a meaning holds, those that change nothing, and those that are sent back."""

from __future__ import annotations

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.queries.bounds import unexamined
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query, reader_of

MODELS = ("clip", "blip")
PROFILE = load_profile("embedded")


def left_out(text: str, meant: str) -> tuple[str, ...]:
    """Return what a text bounds and a meaning, which is said in plain words, does not."""
    reading = read_query(meant, MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery)
    return reader_of(MODELS, PROFILE).left_out(text, reading.query)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Are no more than 60 % of clip's answers right?", "Is clip right in at most 60 % at recognizing birds?"),
        ("In only 60 % or fewer is clip right about birds.", "Is clip right in at most 60 % at recognizing birds?"),
        ("birds, clip: good, yes/no", "Can clip recognize birds?"),
        ("No matter how: can clip recognize birds?", "Can clip recognize birds?"),
        ("Under blur, is clip as good as ever?", "Is clip robust to blur?"),
        ("Never mind why: is clip robust to blur?", "Is clip robust to blur?"),
        ("Does clip always pick what is listed first?", "Does clip always choose the first choice?"),
        ("Is clip stuck on yes or no?", "Does clip favor the answer yes? Does clip favor the answer no?"),
        ("Is clip up to counting to three, if birds are shown?", "Can clip count up to 3 birds?"),
        ("Yes or no: is clip stuck on yes?", "Does clip always choose the answer yes?"),
        ("Is clip stuck on yes in yes or no questions?", "Does clip always choose the answer yes?"),
        ("Can clip recognize birds, yes or no?", "Can clip recognize birds?"),
    ],
)  # fmt: skip
def test_a_word_that_a_meaning_holds_or_that_changes_nothing_is_not_sent_back(text: str, meant: str) -> None:
    assert left_out(text, meant) == ()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Are no more than 60 % of clip's answers right?", "Can clip recognize birds?"),
        ("Does only clip recognize birds?", "Can clip recognize birds?"),
        ("Does clip ever recognize birds?", "Can clip recognize birds?"),
        ("Does clip always recognize birds?", "Can clip recognize birds?"),
        ("Is no model but clip robust to blur?", "Is clip robust to blur?"),
        ("Does clip never pick what is listed first?", "Does clip favor the first choice?"),
        (
            "Is clip better than blip at birds by less than 10 points?",
            "Is clip better than blip at recognizing birds by more than 10 points?",
        ),
        ("Without rain, does clip recognize birds?", "Can clip recognize birds?"),
        ("Is clip stuck on yes or no?", "Does clip always choose the answer yes?"),
        ("Is clip up to counting to three?", "Can clip count things?"),
        ("Is clip up to counting to three, if birds are shown?", "Can clip count birds?"),
        (
            "At birds, is clip better than at counting to 5?",
            "Is clip better at recognizing birds than at counting birds?",
        ),
        ("Does clip favor the second option?", "Does clip favor the last choice?"),
        ("Is clip drawn to the 3rd of its choices?", "Does clip favor the first choice?"),
        ("Is clip stuck on no, or yes?", "Does clip always choose the answer no?"),
    ],
)
def test_a_word_that_bounds_what_a_meaning_does_not_is_sent_back(text: str, meant: str) -> None:
    assert left_out(text, meant)


def test_what_is_sent_back_is_named() -> None:
    assert unexamined("Does clip ever recognize birds?") == (
        "“ever” asks whether it happens even once: ask how often.",
    )
