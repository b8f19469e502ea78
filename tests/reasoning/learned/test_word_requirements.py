"""Words that ask for a part of the meaning."""

from __future__ import annotations

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.learned.languages import PICTURES, QUERIES, VOCABULARY
from snellen.reasoning.learned.mentions import ModelNames
from snellen.reasoning.learned.named_text import NamedTexts
from snellen.reasoning.learned.word_requirements import _requirements, unmet
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.reading.reader import Understood, read

PROFILE = load_profile("embedded")
FACTS = PROFILE.facts_path()
MODELS = ("clip", "blip")


def missed(text: str, meant: str) -> tuple[str, ...]:
    """Return the words of a text that ask for more than a sentence means."""
    reading = read(meant, 1, FACTS)
    assert isinstance(reading, Understood)
    said = NamedTexts(FACTS).of(text)
    return unmet(said, PICTURES.actions(canonical(reading.meaning), said.copyables), 1)


def missed_of_models(text: str, meant: str) -> tuple[str, ...]:
    reading = read_query(meant, MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery)
    said = NamedTexts(FACTS, models=ModelNames(MODELS)).of(text)
    return unmet(said, QUERIES.actions(reading.query, said.copyables), 0)


@pytest.mark.parametrize(
    ("text", "meant", "words"),
    [
        ("bottom row, third thing, what is it", "What is the third thing from the left?", ("bottom", "row")),
        ("bottom row, third thing, what is it", "What is the third thing from the left in the bottom row?", ()),
        ("crop it to the cat", "Tag the cat.", ("crop",)),
        ("crop it to the cat", "Crop the picture to the cat.", ()),
        # One of two that it may be, alone, is another question; what it is, is the same.
        ("is the background striped or has it got checks", "Is the background striped?", ("striped", "checks")),
        ("is the background striped or has it got checks", "What is the background?", ()),
        ("is the cat a big one or a small one", "Is the large cat among the small cats?", ("big", "small")),
        ("is the cat a big one or a small one", "What size is the cat?", ()),
        # What bounds or excludes is no word to pass over.
        ("is it the dog only that is red", "Is the dog red?", ("only",)),
        ("blur only the dog", "Blur everything but the dog.", ()),
        ("is the cat ever or never red", "Is the cat red?", ("never",)),
        ("are there few cats", "Are there cats?", ("few",)),
        ("do you see a few cats", "Are there cats?", ()),
        # What denies that there is something is in the meaning, or was not understood.
        ("would it be a lie to say there's a cat", "Is there a cat?", ("lie",)),
        ("would it be a lie to say there's a cat", "Are there no cats?", ()),
        ("so it is not the case that the cat is red", "Is the cat red?", ("not",)),
        ("isn't it true that the cat is red", "Is the cat red?", ()),
        ("the cat is red, true or false", "Is the cat red?", ()),
        ("does none of it look like a cat", "Is there a cat?", ("none",)),
        ("does none of it look like a cat", "Are there no cats?", ()),
        ("no cats left then, how many dogs", "How many dogs are there?", ("no",)),
        ("a cat, yes or no", "Is there a cat?", ()),
        ("no, is there a cat", "Is there a cat?", ()),
        ("isn't a cat there", "Is there a cat?", ()),
        ("two cats, no more and no fewer", "Are there exactly two cats?", ()),
        ("no cat is bigger than this one, what colour has it", "What colour is the largest cat?", ()),
    ],
)
def test_a_row_an_edit_or_an_end_that_is_left_out_is_named(text: str, meant: str, words: tuple[str, ...]) -> None:
    assert missed(text, meant) == words


@pytest.mark.parametrize(
    ("text", "meant", "words"),
    [
        ("is clip fine with noise when it counts", "Can clip count things?", ("noise",)),
        ("is clip fine with noise", "Is clip robust to Gaussian noise?", ()),
    ],
)
def test_a_change_that_is_left_out_is_named(text: str, meant: str, words: tuple[str, ...]) -> None:
    assert missed_of_models(text, meant) == words


def test_what_is_required_are_actions_that_the_languages_have() -> None:
    assert {part for words in _requirements().values() for parts in words.values() for part in parts} <= set(VOCABULARY)
