"""Answers and captions become statements and tuples; what is not read is named, and is never taken for false."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import captions
from snellen.profiles import load_profile
from snellen.reasoning.meanings.denotation import Undefined, denotation
from snellen.reasoning.meanings.scene import Entity, PictureGraph
from snellen.reasoning.reading import answers
from snellen.reasoning.reading.answers import AnswerReader
from snellen.scoring.scene_graph import parse_tuple

READER = AnswerReader(load_profile("embedded").facts_path())
STRANGERS = Path(captions.__file__).parent / "answers"
SCENE = PictureGraph(
    (
        Entity("dog", (10, 80, 40, 110), frozenset({"animal"}), colour="red", size="small"),
        Entity("house", (70, 70, 120, 120), colour="blue", size="large"),
    ),
    (128, 128),
    {"background": "sand", "weather": "rainy"},
)


def said(answer: str, question: str = "") -> set[str]:
    return {fact.text for fact in READER.read(answer, question)}


@pytest.mark.parametrize(
    ("question", "answer", "tuples"),
    [
        ("", "A red dog to the left of a house on a beach.",
         {"dog", "red dog", "house", "dog to the left of house", "sand background"}),
        ("", "Two dogs and a large cat.", {"dog", "2 dog", "cat", "large cat"}),
        ("What color is the small dog?", "red", {"dog", "red dog"}),
        ("What color is the dog?", "It isn't red.", {"dog", "not red dog"}),
        ("How many dogs are there?", "None.", {"no dog"}),
        ("Is the dog above the cat?", "no", {"dog", "cat", "dog not above cat"}),
        ("What is above the cat?", "a dog and an egg", {"cat", "dog", "egg", "dog above cat", "egg above cat"}),
        ("Where is the dog in relation to the cat?", "on the left", {"dog", "cat", "dog to the left of cat"}),
        ("Is the dog red or blue?", "Neither.", {"dog", "not red dog", "not blue dog"}),
        ("What do you see?", "An orange house.", {"house", "orange house"}),
        ("Where is the wombat?", "The wombat is behind the dog.", {"wombat", "dog", "wombat behind dog"}),
        ("", "The dog isn't left of the house; it's to the right of it.",
         {"dog", "house", "dog not to the left of house", "dog to the right of house"}),
        ("", "There's a bird; below it sits a pink cat.", {"bird", "cat", "pink cat", "cat below bird"}),
        ("", "Neither the dog nor the cat is blue.", {"dog", "cat", "not blue dog", "not blue cat"}),
        ("", "I doubt that the dog is red.", {"dog", "not red dog"}),
        ("", "1. A dog (red)\n2. I see no sign of a cat.", {"dog", "red dog", "no cat"}),
        ("How many dogs are there?", "At least two.", {"dog"}),
        ("", "The lamp is beige. A fluffy dog.", {"lamp", "beige lamp", "dog", "fluffy dog"}),
        ("What is the texture of the t-shirt?", "Unfortunately, it is soft.", {"t-shirt", "soft t-shirt"}),
        ("What is the shape of the clock?", "Round.", {"clock", "round clock"}),
        ("Describe the man.", "0", set()),
        ("What is above the cat?", "What is above the cat?", {"cat"}),
        ("What is above the cat?", "man", {"man", "cat", "man above cat"}),
        ("What color is the dog?", "I cannot tell.", set()),
        ("What color is the dog?", "犬は赤いです。", set()),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("answer", "unread", "tuples"),
    [
        ("A dog, gesticulating wildly.", ("gesticulating", "wildly"), {"dog"}),
        ("A cat. The dog is quixotically mauve.", ("the", "dog", "is", "quixotically", "mauve"), {"cat"}),
        ("Hardly any dogs are visible.", ("hardly", "any", "dogs", "are", "visible"), set()),
        (
            "The dog might be red, but I'm not sure.",
            ("the", "dog", "might", "be", "red", "but", "i", "'m", "not", "sure"),
            set(),
        ),
        ("The dog is hardly red.", ("the", "dog", "is", "hardly", "red"), set()),
        ("A cat, hardly dogs.", ("a", "cat", "hardly", "dogs"), set()),
        ("A dog or a cat.", ("a", "dog", "or", "a", "cat"), set()),
        ("red", ("red",), set()),
    ],
)
def test_words_that_are_not_read_are_named_and_turn_no_sense(
    answer: str, unread: tuple[str, ...], tuples: set[str]
) -> None:
    assert set(READER.unread(answer)) == set(unread)
    assert said(answer) == tuples


@pytest.mark.parametrize(
    ("answer", "truths"),
    [
        ("A small red dog to the left of a blue house on a beach.", [True, True]),
        ("It is sunny. There is no cat.", [False, True]),
        ("The animal is blue. The cat is red.", [False, None]),
    ],
)
def test_sentences_are_true_false_or_undefined_by_the_scene(answer: str, truths: list[bool | None]) -> None:
    values = [denotation(each, {"picture": SCENE}) for each in READER.answer(answer).statements]  # type: ignore[arg-type]
    assert [None if isinstance(value, Undefined) else value for value in values] == truths


def test_captions_of_the_captioner_are_judged_as_drawn() -> None:
    figures = captions.measured(12)
    assert figures["read"] == figures["captions"]
    assert (figures["as_drawn"], figures["others"]) == (1, [])


@pytest.mark.parametrize(("name", "least"), [("familiar", 0.98), ("held_out", 0.96)])
def test_answers_of_strangers_are_read(name: str, least: float) -> None:
    hits = read = stated = 0
    for row in json.loads((STRANGERS / f"{name}.json").read_text(encoding="utf-8")):
        facts = [
            replace(parse_tuple(one.removeprefix("not ")), negated=one.startswith("not ")) for one in row["tuples"]
        ]
        texts, tuples = {fact.text for fact in facts}, said(row["answer"], row["question"])
        hits, read, stated = hits + len(texts & tuples), read + len(tuples), stated + len(texts)
    assert 2 * hits / (read + stated) > least


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=300), st.text(max_size=120))
def test_whatever_is_said_is_read_to_its_end(answer: str, question: str) -> None:
    for fact in READER.read(answer, question):
        assert fact.text
    READER.premise(question)


def test_a_sentence_that_takes_too_many_steps_is_not_read_and_the_next_one_is() -> None:
    answer = READER.answer(f"{'a dog left of ' * 14}a cat. The house is red. {'x' * 100_000}")
    assert {fact.text for fact in answer.facts} == {"house", "red house"}
    assert "…" in answer.unread


def test_a_sentence_that_was_read_before_is_read_alike_beside_any_question() -> None:
    """What is kept of a sentence depends on its question no more than its reading does."""
    caption = "A red dog is to the left of a blue house. There are two zorgs. A quux is above the dog."
    questions = (
        "",
        "How many zorgs are there?",
        "What is above the dog?",
        "Is there a quux?",
        "What is above the zorg?",
    )
    kept = [READER.answer(caption, question) for question in questions]
    for question, beside in zip(questions, kept, strict=True):
        answers._sentence.cache_clear()
        answers._answer.cache_clear()
        assert READER.answer(caption, question) == beside
