"""What answers, captions and questions say, read by rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.profiles import load_profile
from snellen.reasoning.language.lexicon import lexicon_of
from snellen.reasoning.language.statements import Statements
from snellen.scoring.scene_graph import parse_tuple

READER = Statements(lexicon_of(load_profile("embedded")))
STRANGERS = Path(__file__).parents[2] / "benchmarks" / "answers"


def said(answer: str, question: str = "") -> set[str]:
    return {fact.text for fact in READER.read(answer, question)}


@pytest.mark.parametrize(
    ("question", "answer", "tuples"),
    [
        ("", "A red dog on grass.", {"dog", "red dog", "grass background"}),
        ("", "Two dogs and a large cat.", {"dog", "2 dog", "cat", "large cat"}),
        ("What color is the dog?", "red", {"dog", "red dog"}),
        ("What color is the dog?", "It isn't red.", {"dog", "not red dog"}),
        ("How many dogs are there?", "three", {"dog", "3 dog"}),
        ("How many dogs are there?", "None.", {"no dog"}),
        ("Is the dog above the cat?", "no", {"dog", "cat", "dog not above cat"}),
        ("Is the dog above the cat?", "Yes, it is.", {"dog", "cat", "dog above cat"}),
        ("Is there a dog?", "I don't think so", {"no dog"}),
        ("What is above the cat?", "a dog and an egg", {"cat", "dog", "egg", "dog above cat", "egg above cat"}),
        ("Where is the dog?", "It's in the top left corner.", {"dog", "top left dog"}),
        ("Where is the dog in relation to the cat?", "on the left", {"dog", "cat", "dog to the left of cat"}),
        ("Is the dog red or blue?", "Neither.", {"dog", "not red dog", "not blue dog"}),
        ("What is the weather like?", "It's rainy.", {"rainy weather"}),
        ("Describe the orange.", "A large orange.", {"orange", "large orange"}),
        ("What do you see?", "An orange house.", {"house", "orange house"}),
        ("What color is the t-shirt?", "The t-shirt is blue.", {"t-shirt", "blue t-shirt"}),
        ("What color is the dog?", "I cannot tell.", set()),
        ("What color is the dog?", "", set()),
        ("What color is the dog?", "犬は赤いです。", set()),
    ],
)
def test_answers_say_what_their_questions_leave_open(question: str, answer: str, tuples: set[str]) -> None:
    assert said(answer, question) == tuples


@pytest.mark.parametrize(
    ("question", "premise"),
    [
        ("What color is the small dog?", {"dog", "small dog"}),
        ("Is there a dog above the cat?", {"cat"}),
        ("What is above the cat in the top left?", {"cat", "top left cat"}),
        ("What do you see?", set()),
    ],
)
def test_questions_take_something_for_granted(question: str, premise: set[str]) -> None:
    assert {fact.text for fact in READER.premise(question)} == premise


@pytest.mark.parametrize(("name", "least"), [("familiar", 0.96), ("held_out", 0.95)])
def test_answers_of_strangers_are_read(name: str, least: float) -> None:
    hits = found = wanted = 0
    for row in json.loads((STRANGERS / f"{name}.json").read_text(encoding="utf-8")):
        stated = [
            replace(parse_tuple(one.removeprefix("not ")), negated=one.startswith("not ")) for one in row["tuples"]
        ]
        texts, read = {fact.text for fact in stated}, said(row["answer"], row["question"])
        hits, found, wanted = hits + len(texts & read), found + len(read), wanted + len(texts)
    assert 2 * hits / (found + wanted) > least


@given(st.text(max_size=300), st.text(max_size=120))
def test_whatever_is_said_is_read_to_its_end(answer: str, question: str) -> None:
    for fact in READER.read(answer, question):
        assert fact.text
    READER.premise(question)


def test_of_a_very_long_answer_the_beginning_is_read() -> None:
    assert "red dog" in said("The dog is red. " + "x" * 100_000, "What color is the dog?")
