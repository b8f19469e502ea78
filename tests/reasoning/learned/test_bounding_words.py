"""Words that bound a question: where they say what is meant, and where they are sent back."""

from __future__ import annotations

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.learned.bounding_words import are_meant
from snellen.reasoning.queries.bounds import unexamined_words
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query, reader_of

MODELS = ("clip", "blip")
PROFILE = load_profile("embedded")


def left_out(text: str, meant: str) -> tuple[str, ...]:
    """Return what a question bounds and a meaning does not, besides words that say what it means."""
    reading = read_query(meant, MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery)
    said = {each for each in unexamined_words(text, reading.query) if are_meant(each, reading.query)}
    return reader_of(MODELS, PROFILE).left_out(text, reading.query, said)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Does clip know birds far better than a coin would?", "Can clip recognize birds?"),
        ("Rain costs clip hardly anything.", "Is clip robust to rainy weather?"),
        ("Rain is no problem for clip.", "Is clip robust to rainy weather?"),
        ("At birds clip is no better than a coin.", "Is clip bad at recognizing birds?"),
    ],
)
def test_words_that_say_what_is_meant_are_not_sent_back(text: str, meant: str) -> None:
    assert left_out(text, meant) == ()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Is clip far better than blip at birds?", "Is clip better than blip at recognizing birds?"),
        ("Does rain make clip slightly worse?", "Is clip sensitive to rainy weather?"),
        ("Rain is no problem for clip if no animal is in view.", "Is clip robust to rainy weather?"),
        ("Rain is no problem for clip, only with few vehicles?", "Is clip robust to rainy weather?"),
        ("Does clip know no birds?", "Can clip recognize birds?"),
        ("Does clip hardly ever recognize birds?", "Can clip recognize birds?"),
        ("Does clip always recognize birds?", "Can clip recognize birds?"),
        ("Does clip often say yes, though not always?", "Does clip favor the answer yes?"),
    ],
)
def test_others_are(text: str, meant: str) -> None:
    assert left_out(text, meant)
