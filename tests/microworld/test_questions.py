"""Questions of the training corpus: their answers are true of the scene."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.questions import KINDS, SceneQuestion, ask, singles, view
from snellen.microworld.scenes import SIDE, Dice, Scene, SceneObject, place, recipe, sample_scene

NAMES = tuple(c.name for c in vocabulary().share("known"))


def asked(kind: str, count: int = 60) -> list[tuple[Scene, SceneQuestion]]:
    pairs = []
    for seed in range(count):
        scene = sample_scene(f"questions/{seed}", recipe(NAMES))
        question = ask(scene, Dice("ask", seed), kinds=(kind,), distractors=NAMES)
        if question is not None:
            pairs.append((scene, question))
    return pairs


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_and_answered_in_lower_case(kind: str) -> None:
    pairs = asked(kind)
    assert pairs
    for _, question in pairs:
        assert question.kind == kind
        assert question.text.endswith(("?", "."))
        assert question.answer == question.answer.lower() != ""


def test_counts_are_the_number_of_objects() -> None:
    for scene, question in asked("count", 120):
        for item in scene.objects:
            if f" {plural(item.concept)} " in question.text.replace("?", " ").replace(".", " "):
                names = [o for o in scene.objects if o.concept == item.concept]
                grouped = scene.grouped(plural(item.concept)) if plural(item.concept) in vocabulary().groups else names
                assert question.answer in {str(len(names)), str(len(grouped))}


def test_yes_and_no_are_about_equally_frequent() -> None:
    answers = Counter(question.answer for _, question in asked("exists", 400))
    assert 0.4 <= answers["yes"] / answers.total() <= 0.6


def test_places_are_those_of_single_objects() -> None:
    for scene, question in asked("place", 120):
        if question.text.startswith("where"):
            assert question.answer in {place(o) for o in singles(scene)}
        else:
            assert question.answer in {o.concept for o in scene.objects}


def test_a_view_keeps_what_is_inside_and_is_unclear_about_what_is_cut() -> None:
    dog = SceneObject("dog", "dog.png", 10, 10, 40, "medium", "", mirrored=False)
    cat = replace(dog, concept="cat", file="cat.png", left=80)
    scene = Scene("0", "plain", "white", "flat", "clear", (dog, cat))
    left = view(scene, (0, 0, 64, SIDE))
    assert left is not None
    assert [o.concept for o in left.objects] == ["dog"]
    assert view(scene, (0, 0, 100, SIDE)) is None
    right = view(scene, (70, 0, SIDE, SIDE))
    assert right is not None
    assert [(o.concept, o.left) for o in right.objects] == [("cat", 10)]
