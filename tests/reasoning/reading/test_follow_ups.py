"""Fragments: what they mean after another instruction; and messages that say several things."""

from __future__ import annotations

from pathlib import Path

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.reading.conversation import Dialogue, parts_of
from snellen.reasoning.reading.reader import Understood, Unread, read


@pytest.fixture(scope="module")
def facts() -> Path | None:
    return load_profile("embedded").facts_path()


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("Is there a dog?", "and what colour is it?", "What colour is the dog?"),
        ("What colour is the dog?", "and the cat?", "What colour is the cat?"),
        ("How many cats are on the left?", "and on the right?", "How many cats are there at the right?"),
        ("How many green custards are there?", "Red ones.", "How many red custards are there?"),
        ("Is there a red dog?", "what about green?", "Is there a green dog?"),
        ("How many animals are there?", "which ones?", "List the names of the animals."),
        ("How many dogs are there?", "how many of them are red?", "How many red dogs are there?"),
        ("What is the largest animal?", "and the smallest?", "What is the smallest animal?"),
        ("What is the second largest animal?", "and the third?", "What is the third largest animal?"),
        ("Is the dog to the left of the house?", "and of the cat?", "Is the dog to the left of the cat?"),
        ("Is there a camel?", "And is the girl underneath it?", "Is the girl below the camel?"),
        ("What colour is the melon?", "and the dog, it's below it, right?", "Is the dog below the melon?"),
        ("What colour is the melon?", "the dog, is it below it?", "Is the dog below the melon?"),
        ("Tag the dogs.", "now blur the rest", "Blur everything but the dogs."),
        ("Is there a pizza?", "Which of them are red?", "List the names of the red pizzas."),
        (
            "What colour is the topmost lollipop?",
            "the other one?",
            "What colour is the lollipop that is not the topmost lollipop?",
        ),
    ],
)
def test_a_fragment_takes_the_rest_from_the_instruction_before(
    facts: Path | None, before: str, said: str, understood: str
) -> None:
    first = read(before, 1, facts)
    assert isinstance(first, Understood)
    then = read(said, 1, facts, before=first.meaning)
    assert isinstance(then, Understood)
    assert echo(then.meaning) == understood
    # What was understood is an instruction that stands alone.
    again = read(echo(then.meaning), 1, facts)
    assert isinstance(again, Understood)
    assert again.meaning == then.meaning


@pytest.mark.parametrize("said", ["which ones?", "the other one", "is it red?", "is the girl below it?", "where?"])
def test_a_fragment_alone_refers_to_nothing(facts: Path | None, said: str) -> None:
    assert isinstance(read(said, 1, facts), Unread)


@pytest.mark.parametrize(
    ("message", "parts", "asides"),
    [
        ("Is there a dog? What colour is it?", ("Is there a dog?", "What colour is it?"), ()),
        ("Thanks! How many cats are there?", ("How many cats are there?",), ()),
        ("My son drew this. How many cats are there?", ("How many cats are there?",), ("My son drew this.",)),
        ("I do like custard. How many of those are there?", ("How many custards are there?",), ("I do like custard.",)),
        ("Wrong. There are four.", ("Wrong. There are four.",), ()),
        ("If there is a dog, count the cats. Otherwise, count the dogs.", None, ()),
        ("Count the animals. Ignore the frumious ones.", None, ()),
    ],
)
def test_a_message_is_cut_into_what_wants_an_answer(
    facts: Path | None, message: str, parts: tuple[str, ...] | None, asides: tuple[str, ...]
) -> None:
    cut = parts_of(message, Dialogue(1, facts))
    assert cut.parts == (parts or (message,))
    assert cut.asides == asides


def test_a_question_that_was_not_read_is_told_and_no_aside(facts: Path | None) -> None:
    cut = parts_of("Is there a dog? Is the zorblax frumious?", Dialogue(1, facts))
    assert cut.parts == ("Is there a dog?",)
    assert cut.unread == ("Is the zorblax frumious?",)
