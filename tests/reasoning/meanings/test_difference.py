"""Differences of meanings: what some scene answers otherwise, and what is only said otherwise."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.meanings import random_scenes
from benchmarks.random_meanings import MeaningSampler
from snellen.microworld.scenes import Dice
from snellen.profiles import load_profile
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.difference import differ
from snellen.reasoning.meanings.meanings import Meaning
from snellen.reasoning.reading.reader import Understood, read

FACTS = load_profile("embedded").facts_path()


def meaning(text: str, pictures: int = 1) -> Meaning:
    reading = read(text, pictures, FACTS)
    assert isinstance(reading, Understood), reading
    return reading.meaning


@pytest.mark.parametrize(
    ("one", "other", "pictures"),
    [
        ("List the names of the cats.", "What are the cats?", 1),
        ("Is the cat below the dog?", "Is the dog above the cat?", 1),
        ("What colour is the cat above any dog?", "What colour is the cat above the dog?", 1),
        ("Are there no cats?", "Is it true that there are exactly zero cats?", 1),
        ("Are there more cats than dogs?", "Are there fewer dogs than cats?", 1),
        ("How many cats are there in the left picture?", "Count the cats in the left picture.", 2),
    ],
)
def test_what_every_scene_answers_alike_does_not_differ(one: str, other: str, pictures: int) -> None:
    assert not differ(meaning(one, pictures), meaning(other, pictures))


@pytest.mark.parametrize(
    ("one", "other", "pictures"),
    [
        ("Is there a cat?", "Is there a dog?", 1),
        ("Is the cat left of the dog?", "Is the dog left of the cat?", 1),
        ("Is there a large cat?", "Are there at most one large cat?", 1),
        ("How many cats are there?", "Are there exactly three cats?", 1),
        ("What colour is the largest cat?", "What is the largest cat?", 1),
        ("Remove the cat.", "Tag the cat.", 1),
        ("Is there a cat in the left picture?", "Is there a cat in the right picture?", 2),
        ("If there is a cat, count the dogs, otherwise count the birds.", "Count the dogs.", 1),
    ],
)
def test_what_some_scene_answers_otherwise_differs(one: str, other: str, pictures: int) -> None:
    assert differ(meaning(one, pictures), meaning(other, pictures))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_a_meaning_differs_from_no_form_of_itself(seed: int, dice: random.Random) -> None:
    sampler = MeaningSampler(dice.choice, random_scenes(Dice("difference", seed), f"difference/{seed}"))
    drawn, another = sampler.meaning(1), sampler.meaning(1)
    assert not differ(drawn, drawn)
    assert differ(drawn, another) == differ(another, drawn)
    assert not differ(drawn, canonical(drawn)) or differ(canonical(drawn), drawn)
