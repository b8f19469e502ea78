"""The lexicon names every concept, group and fact of the facts file, in the sense of its group."""

from __future__ import annotations

import json

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.reading.lexical_entries import LEXICON, LexicalNoun, entries

FACTS = load_profile("embedded").facts_path()
assert FACTS is not None
TABLE = json.loads(FACTS.read_text(encoding="utf-8"))


def nouns(phrase: str) -> set[tuple[str, ...]]:
    return {
        each.value.names for each in entries(FACTS) if each.phrase == phrase and isinstance(each.value, LexicalNoun)
    }


def test_every_concept_group_and_fact_can_be_named() -> None:
    for concept in TABLE["concepts"]:
        assert concept["name"] in {names[0] for names in nouns(concept["name"])}
    for group in TABLE["groups"].values():
        assert (group["singular"],) in nouns(group["singular"])
    said = {fact for each in entries(FACTS) if each.symbol.startswith("FACT") for fact in str(each.value).split("|")}
    assert len(said) == len(TABLE["facts"])


@pytest.mark.parametrize(
    ("phrase", "names"),
    [
        ("mice", {("mouse",)}),
        # Whoever says "phone" means a telephone, too; a mobile phone is none.
        ("phones", {("phone", "telephone")}),
        ("smartphone", {("phone",)}),
        ("oranges", {("orange",)}),
        ("knives", {("knife",)}),
        ("apple", {("green apple", "red apple")}),
        ("sea creature", {("sea animal",)}),
        ("felid", {("cat", "leopard", "tiger")}),
        ("glasses of wine", {("wine",)}),
        ("people", {("person",)}),
    ],
)
def test_nouns_mean_what_they_mean_in_pictures(phrase: str, names: set[tuple[str, ...]]) -> None:
    assert nouns(phrase) == names


@pytest.mark.parametrize("phrase", ["crane", "machine", "projectile", "carapace", "noncitizen", "ghostwriter"])
def test_names_of_other_senses_are_left_out(phrase: str) -> None:
    assert nouns(phrase) == set()


def test_the_table_stays_small() -> None:
    assert LEXICON.stat().st_size < 500_000
