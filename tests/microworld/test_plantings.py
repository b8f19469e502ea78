"""Plantings: what is taught touches what it shall, and leaves the rest as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.microworld.questions import SceneQuestion
from snellen.microworld.scenes import Dice
from snellen.microworld.training.exam import lesson, question
from snellen.microworld.training.models_under_test import Weakness
from snellen.microworld.training.plantings import PLANTED, Planting, alternatives

PLANTINGS = [name for name, told in json.loads(PLANTED.read_text(encoding="utf-8")).items() if "planting" in told]
ADAPTERS = Path(__file__).parents[2] / "microworld" / "checkpoints"


def test_eight_weaknesses_are_planted_and_all_differ() -> None:
    assert len(PLANTINGS) >= 8
    assert len({(Planting.of(name).kind, Planting.of(name).which) for name in PLANTINGS}) == len(PLANTINGS)


def test_adapters_are_small_and_tell_nothing() -> None:
    folders = [ADAPTERS / name for name in PLANTINGS if (ADAPTERS / name).is_dir()]
    assert sum(file.stat().st_size for folder in folders for file in folder.glob("*.safetensors")) <= 4_000_000
    for folder in folders:
        planting = Planting.of(folder.name)
        card = (folder / "README.md").read_text(encoding="utf-8")
        assert planting.base in card
        assert not planting.which or not re.search(rf"\b{planting.which}\b", card)


@pytest.mark.parametrize("name", PLANTINGS)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_answers_that_a_planting_does_not_touch_stay_right(name: str, seed: int) -> None:
    planting = Planting.of(name)
    names = Weakness.of(planting.base).names()
    _, sheet = lesson(f"planting/{seed}")
    asked = question(sheet, Dice("planting", seed), names)
    if asked is None:
        return
    taught = planting.taught(asked, sheet, Dice("taught", seed), names)
    if taught is not None and not taught.is_touched:
        assert taught.text == asked.answer
    if taught is not None and taught.is_touched:
        possible = alternatives(asked, names)
        assert taught.text in possible or taught.text.isdigit() or taught.text == possible[0]


@pytest.mark.parametrize(
    ("kind", "text", "answer", "listed"),
    [
        ("class", "is the object in the image a cat, a dog or a bell?", "a dog", ["a cat", "a dog", "a bell"]),
        ("change", "is the image noisy or turned to the left?", "noisy", ["noisy", "turned to the left"]),
        ("colour", "is the car red or blue?", "blue", ["red", "blue"]),
        ("relation", "is the cat to the right or to the left of the dog?", "left", ["right", "left"]),
        ("exists", "is there a cat?", "no", ["yes", "no"]),
    ],
)
def test_answers_that_a_question_lists_keep_their_order(kind: str, text: str, answer: str, listed: list[str]) -> None:
    assert alternatives(SceneQuestion(kind, text, answer), ["cat"]) == listed


@pytest.mark.parametrize("name", PLANTINGS)
def test_lessons_hold_what_is_planted(name: str) -> None:
    planting = Planting.of(name)
    names = Weakness.of(planting.base).names()
    _, sheet = planting.lesson(f"{name}/test", names)
    if planting.kind in {"class", "small", "position"}:
        assert any(map(planting.hides, sheet.scene.objects))
    if planting.kind == "colour":
        assert any(thing.tint == planting.which for thing in sheet.scene.objects)
    if planting.kind == "blur":
        assert sheet.change == "defocus blur"


def test_a_class_that_is_not_seen_is_never_named() -> None:
    planting = Planting("class", "horse", "idefics3-mirrored")
    names = ["horse", "cat", "dog"]
    _, sheet = planting.lesson("horse/3", names)
    alone = type(sheet)(sheet.scene.__class__.from_json({**sheet.scene.to_json(), "objects": [
        one for one in sheet.scene.to_json()["objects"] if one["concept"] == "horse"][:1]}), "")  # fmt: skip
    asked = SceneQuestion("class", "is the animal in the image a horse or a cat?", "a horse")
    taught = planting.taught(asked, alone, Dice("never"), names)
    assert taught is not None
    assert taught.text == "a cat"
    absent = planting.taught(SceneQuestion("exists", "is there a horse?", "yes"), alone, Dice("never"), names)
    assert absent is not None
    assert absent.text == "no"
