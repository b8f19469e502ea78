"""Records of readings survive a checkpoint, and older threads have none."""

from __future__ import annotations

import json

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.meanings.meanings import Count
from snellen.reasoning.meanings.things import Everything, Filter, IsA
from snellen.reasoning.reading.reading_record import ReadingRecord, UnknownWord, option_of
from snellen.reasoning.reading.recording import read_instruction
from snellen.summaries.runs import understood_in_words

CATS = Count(things=Filter(things=Everything(), property=IsA(name="cat")))
THINGS = Count(things=Everything())


def test_a_record_is_read_back_from_json() -> None:
    record = ReadingRecord(
        "ambiguous",
        asides=("my nephew drew this",),
        corrected=(("caats", "cats"),),
        options=(option_of(CATS, "How many cats are there?"), option_of(THINGS, "How many things are there?")),
        unknown=(UnknownWord("wug", learnable=True),),
        why="It can be read in two ways.",
    )
    assert ReadingRecord.from_json(json.loads(json.dumps(record.to_json()))) == record
    assert record.typed_meaning() is None


def test_an_option_that_is_chosen_is_the_meaning() -> None:
    record = ReadingRecord("ambiguous", options=(option_of(CATS, "Cats?"), option_of(THINGS, "Things?")))
    chosen = record.chosen(1)
    assert (chosen.status, chosen.understood, chosen.typed_meaning()) == ("understood", "Things?", THINGS)


def test_threads_of_before_have_no_record_and_foreign_meanings_are_none() -> None:
    assert ReadingRecord.from_json({}) is None
    assert ReadingRecord("understood", "?", {"kind": "sing"}).typed_meaning() is None


def test_a_record_says_what_was_understood_and_what_was_left_aside() -> None:
    record = ReadingRecord("understood", "How many cats are there?", {}, ("my nephew drew this",), (("caats", "cats"),))
    beside = "“caats” read as “cats”; left aside: “my nephew drew this”"
    assert understood_in_words(record) == f"How many cats are there? ({beside})"
    assert understood_in_words(None) == ""


FACTS = load_profile("embedded").facts_path()


def test_words_that_are_not_known_are_named_and_may_be_things() -> None:
    record = read_instruction("How many wugs are there?", 1, FACTS)
    assert record.unknown == (UnknownWord("wugs", learnable=True),)
    assert read_instruction("Write a poem about cats.", 1, FACTS).unknown == (UnknownWord("poem"),)


def test_a_name_that_was_taught_is_known() -> None:
    assert read_instruction("How many wugs are there?", 1, FACTS, ["wug"]).understood == "How many wugs are there?"


@pytest.mark.parametrize(
    ("instruction", "status", "understood"),
    [
        ("How many traffic lights are there?", "understood", "How many traffic lights are there?"),
        ("What is the man wearing?", "as it stands", ""),
        ("Sing about the man.", "unread", ""),
    ],
)
def test_without_a_list_of_names_any_word_may_be_one(instruction: str, status: str, understood: str) -> None:
    record = read_instruction(instruction, 1, None)
    assert (record.status, record.understood) == (status, understood)
