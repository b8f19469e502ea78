"""Typed actions: every meaning whose names a text has is built by them, and whatever is chosen is a meaning."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from benchmarks.meanings import random_scenes
from benchmarks.random_meanings import MeaningSampler
from snellen.microworld.scenes import Dice
from snellen.profiles import load_profile
from snellen.reasoning.learned.languages import PICTURES, QUERIES, UNTAUGHT, VOCABULARY
from snellen.reasoning.learned.mentions import MentionedText, ModelNames
from snellen.reasoning.learned.named_text import NamedTexts
from snellen.reasoning.learned.typed_actions import Action, NoSuchMeaning
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Meaning
from snellen.reasoning.meanings.things import Part
from snellen.reasoning.queries.echo import echo as query_echo
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion, Threshold
from snellen.reasoning.queries.quantifiers import Quantifier
from tests.reasoning.queries.random_queries import JUDGES, queries

PROFILE = load_profile("embedded")
MODELS = tuple(PROFILE.tested)
SAID = TypeAdapter(Meaning)
NAMES = NamedTexts(PROFILE.facts_path())
NAMES_OF_MODELS = NamedTexts(PROFILE.facts_path(), models=ModelNames(MODELS, frozenset(JUDGES)))
often = settings(
    max_examples=200, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)  # fmt: skip


def named(text: str) -> MentionedText:
    return NAMES.of(text)


@often
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_a_meaning_whose_names_are_said_is_built_by_its_actions(seed: int, dice: random.Random) -> None:
    pictures = random_scenes(Dice("actions", seed), f"actions/{seed}")
    meaning = canonical(MeaningSampler(dice.choice, pictures).meaning())
    text = named(echo(meaning))
    try:
        actions = PICTURES.actions(meaning, text.copyables)
    except NoSuchMeaning:  # a name that stands for several, a word that the reader does not write
        reject()
    built = PICTURES.possible(actions, text.copyables)
    assert isinstance(built, Part)
    assert canonical(built) == meaning


def test_what_the_reader_was_not_trained_with_is_never_chosen_and_has_no_row() -> None:
    assert UNTAUGHT, "the grammars read all that the reader does"
    assert UNTAUGHT.isdisjoint(VOCABULARY)
    text = NAMES_OF_MODELS.of("Is clip better than guessing at half of the cats?")
    guessing = Threshold(how="more than", share=0.5, guessing=True)
    for field in ({"threshold": guessing}, {"classes": Quantifier(how="at least half")}, {"asks": "which classes"}):
        with pytest.raises(NoSuchMeaning):
            QUERIES.actions(ModelQuery(questions=(ModelQuestion.model_validate(field),)), text.copyables)
    for seed in range(20):
        dice, before = random.Random(seed), list[Action]()
        with contextlib.suppress(NoSuchMeaning):
            while isinstance(possible := QUERIES.possible(before, text.copyables), list):
                assert UNTAUGHT.isdisjoint(possible)
                before.append(dice.choice(possible))
        assert before


@often
@given(queries(MODELS))
def test_a_query_whose_names_are_said_is_built_by_its_actions(query: ModelQuery) -> None:
    text = NAMES_OF_MODELS.of(query_echo(query))
    try:
        actions = QUERIES.actions(query, text.copyables)
    except NoSuchMeaning:
        reject()
    assert QUERIES.possible(actions, text.copyables) == query


@often
@given(st.data(), st.sampled_from(("How many red dogs are near the house?", "Is clip better than blip at birds?")))
def test_whatever_is_chosen_is_a_meaning_or_nothing(data: st.DataObject, said: str) -> None:
    text = NAMES_OF_MODELS.of(said)
    for language in (PICTURES, QUERIES):
        chosen: list[str | int] = []
        possible = language.possible(chosen, text.copyables)
        try:
            while isinstance(possible, list):
                assert possible
                assert len(set(possible)) == len(possible)
                chosen.append(data.draw(st.sampled_from(possible)))
                possible = language.possible(chosen, text.copyables)
        except NoSuchMeaning:  # parts that exclude one another, or too many
            continue
        assert isinstance(possible, Part)
        assert type(possible).model_validate(possible.model_dump()) == possible
