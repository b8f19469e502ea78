"""Instructions become meanings, questions back, or the words that were not read; hostile input costs little."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snellen.profiles import load_profile
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Are, Count, Exist, Meaning, Query
from snellen.reasoning.meanings.things import (
    Everything,
    Filter,
    HasColour,
    InRelation,
    IsA,
    IsAt,
    One,
    Property,
    Things,
)
from snellen.reasoning.reading.reader import MAX_CHARACTERS, SECONDS, Reading, Understood, Unread, read

FACTS = load_profile("embedded").facts_path()
KINDS = ("cat", "dog", "house", "bicycle", "alarm clock", "animal", "vehicle", "truck", "knife", "strawberry")
COLOURS = ("red", "green", "blue", "yellow", "purple")
SIDES = ("left of", "right of", "above", "below", "next to", "larger than", "smaller than")


def kinds(name: str) -> Things:
    return Filter(things=Everything(), property=IsA(name=name))


@st.composite
def properties(draw: st.DrawFn) -> Property:
    """A colour, a place, or a relation to one thing of a kind."""
    match draw(st.integers(0, 2)):
        case 0:
            return HasColour.model_validate({"colour": draw(st.sampled_from(COLOURS))})
        case 1:
            return IsAt.model_validate({"across": draw(st.sampled_from(["left", "right"])), "down": "top"})
    of = One(things=kinds(draw(st.sampled_from(KINDS))))
    return InRelation.model_validate({"relation": draw(st.sampled_from(SIDES)), "of": of})


@st.composite
def meanings(draw: st.DrawFn) -> Meaning:
    """A count, an existence, a colour or a truth about things with one property or two."""
    things = kinds(draw(st.sampled_from(KINDS)))
    narrowed = Filter(things=things, property=draw(properties()))
    match draw(st.integers(0, 3)):
        case 0:
            return Count(things=narrowed)
        case 1:
            return Exist(things=narrowed)
        case 2:
            return Query(things=One(things=narrowed), what="colour")
    return Are(things=One(things=things), property=draw(properties()))


def understood(instruction: str, pictures: int = 1) -> Meaning:
    reading = read(instruction, pictures, FACTS)
    assert isinstance(reading, Understood), (instruction, reading)
    return reading.meaning


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(meanings())
def test_the_echo_of_a_meaning_is_read_as_that_meaning(meaning: Meaning) -> None:
    assert canonical(understood(echo(meaning))) == canonical(meaning), echo(meaning)


@pytest.mark.parametrize(
    "echoed",
    [
        "How many of (the two largest of the animals that are next to any house) are there?",
        "Are (the cats to the left of the house) and the dogs all of the same colour?",
        "For each of the things in the top row, from left to right, say whether it is not an animal.",
        "If the weather is rainy: [(1) Tag the cats. (2) Say nothing.] Otherwise: Describe the picture.",
    ],
)
def test_an_echo_that_no_rule_reads_is_read_as_the_meaning_that_it_says(echoed: str) -> None:
    assert echo(understood(f" {echoed}\n")) == echoed


@pytest.mark.parametrize(
    ("instruction", "echoed"),
    [
        ("What are the cats?", "List the names of the cats."),
        ("What colour is the large cat?", "What colour is the largest cat?"),
    ],
)
def test_what_people_say_otherwise_than_the_echo_means_what_they_say(instruction: str, echoed: str) -> None:
    assert echo(understood(instruction)) == echoed


def test_a_sentence_keeps_its_meaning_when_a_noun_changes() -> None:
    pattern = understood("Would you mind telling me which colour the cat to the left of the house has?")
    changed = understood("Would you mind telling me which colour the ladybug to the left of the house has?")
    assert changed.model_dump_json() == pattern.model_dump_json().replace('"cat"', '"ladybug"')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many kitties are there?", "How many cats are there?"),
        ("Is there an aeroplane?", "Is there an airplane?"),
        ("What color is the lorry?", "What colour is the truck?"),
        ("How many mice are there?", "How many mouses are there?"),
        ("Is there anything edible?", "Is there anything one can eat?"),
        ("is ther a bycicle in the foto", "Is there a bicycle?"),
        ("Is there a hand bag?", "Is there a handbag?"),
        ("The bus is red, isn't it?", "Is the bus red?"),
    ],
)
def test_synonyms_spellings_and_forms_mean_the_same(one: str, other: str) -> None:
    assert understood(one) == understood(other)


@pytest.mark.parametrize(
    ("instruction", "echoed"),
    [
        (
            "Is there a dog, a cat and a house?",
            "Is it true that there is a dog, and there is a cat, and there is a house?",
        ),
        ("Which animals are to the left of the house?", "List the names of the animals to the left of the house."),
        ("In total there are four dogs in the two images.", "Are there exactly four dogs in the two pictures?"),
        ("There aren't any trains, are there?", "Is there a train?"),
        ("Is the red car bigger than the blue one?", "Is the red car larger than the blue car?"),
        ("If there is a cat, what colour is it?", "If there is a cat: What colour is the cat?"),
        ("Apart from the dog, how many animals are there?", "How many animals are there that are not dogs?"),
        ("Make everything grey but keep the house in colour.", "Keep the house in colour and make the rest grey."),
    ],
)
def test_every_part_of_a_sentence_is_in_its_meaning(instruction: str, echoed: str) -> None:
    assert echo(understood(instruction, 2 if "images" in instruction else 1)) == echoed


@pytest.mark.parametrize(
    "instruction", ["All but one of the cats are blue.", "Is there another cat?", "Only cats are blue."]
)
def test_what_would_change_the_meaning_is_not_dropped(instruction: str) -> None:
    assert not isinstance(read(instruction, 1, FACTS), Understood)


@pytest.mark.parametrize("word", ["frandle", "zibbled", "glorpy"])
def test_a_word_that_is_not_known_is_named(word: str) -> None:
    reading = read(f"How many {word} cats are there?", 1, FACTS)
    assert isinstance(reading, Unread)
    assert reading.words == (word,)
    assert word in reading.why


def test_an_english_word_is_never_taken_for_a_misspelt_known_one() -> None:
    reading = read("Is there a coat?", 1, FACTS)
    assert isinstance(reading, Unread)
    assert reading.words == ("coat",)


@pytest.mark.parametrize(
    "instruction",
    [
        "What is the girl's name?",
        "How much did the house cost?",
        "Wie viele Autos sind auf dem Bild?",
        "",
        "?!",
        "cat " * 60,
    ],
)
def test_what_has_no_meaning_is_not_given_one(instruction: str) -> None:
    assert isinstance(read(instruction, 1, FACTS), Unread)


def test_a_clause_about_the_speaker_is_shown_as_an_aside() -> None:
    reading = read("My nephew gave me this, how many dogs are there?", 1, FACTS)
    assert isinstance(reading, Understood)
    assert reading.meaning == understood("How many dogs are there?")
    assert "nephew" in " ".join(reading.asides)


def test_places_of_two_pictures_need_two_pictures() -> None:
    understood("There are more cats in the left picture than in the right one.", 2)
    assert not isinstance(read("There are more cats in the left picture than in the right one.", 1, FACTS), Understood)


@pytest.mark.parametrize(
    "instruction",
    [
        "the cat to the left of " * 40,
        "cats and dogs and " * 50,
        "is " * 300,
        "if there is a cat then " * 40,
        "not " * 240,
        "(" * MAX_CHARACTERS,
        "a" * 100_000,
        "most of the " * 80,
    ],
)
def test_hostile_instructions_are_read_in_bounded_time(instruction: str) -> None:
    read("Is there a cat?", 1, FACTS)
    started = time.thread_time()
    read(instruction, 1, FACTS)
    assert time.thread_time() - started < 2 * SECONDS


FRAGMENTS = ("is", "the", "cat", "left", "of", "a", "'s", "and", "or", "not", '"', "'", "(", "how", "many")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=200) | st.lists(st.sampled_from(FRAGMENTS)).map(" ".join))
def test_any_text_gives_a_reading(text: str) -> None:
    reading: Reading = read(text, 1, FACTS)
    assert read(text, 1, FACTS) == reading
