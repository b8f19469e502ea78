"""Which words are taught to look where: names at their things, absent names at the picture as a whole."""

from __future__ import annotations

import pytest
import torch

from snellen.microworld.scenes import Scene, SceneObject, caption
from snellen.microworld.training.pointing import (
    POINTING,
    SHARING,
    TOKENS,
    Pointed,
    Pointer,
    facts,
    knowing_loss,
    patches,
    pointing_loss,
    shares,
    sharing_loss,
)

TEXT = """
[PAD] [SEP] a an and on the to left right of is there how many are red blue orange striped background grass dog dogs
cat cats polar bear bears two three animals objects top bottom in what ?
"""
WORDS = TEXT.split()
SEP = WORDS.index("[SEP]")


def ids(text: str) -> list[int]:
    return [WORDS.index(word) if word in WORDS else len(WORDS) for word in text.replace("?", " ?").split()]


POINTER = Pointer(ids, ("dog", "cat", "bear", "polar bear", "orange"))


def thing(concept: str, left: int, top: int, side: int, tint: str = "") -> SceneObject:
    return SceneObject(concept, "", left, top, side, "small", tint, mirrored=False)


def scene(*objects: SceneObject, pattern: str = "grass", colour: str = "") -> Scene:
    return Scene("a test", pattern, colour, "flat", "clear", objects)


def asked(text: str, shown: Scene) -> dict[str, list[int]]:
    """Return the picture tokens that each taught word of a question may look at."""
    tokens = [*ids(text), SEP]
    found = POINTER.questions(torch.tensor([tokens]), [shown])
    return {} if found is None else dict(told(found, tokens))


def told(found: Pointed, tokens: list[int], *, before: int = 0) -> list[tuple[str, list[int]]]:
    """Return each taught word, or the one that follows it, with the picture tokens that it may look at."""
    places = [row.nonzero().flatten().tolist() for row in found.patches]
    return [(WORDS[tokens[int(word) + before]], seen) for word, seen in zip(found.words, places, strict=True)]


def test_a_name_points_at_the_patches_that_its_thing_covers() -> None:
    shown = scene(thing("dog", 0, 0, 32), thing("cat", 96, 96, 32))

    assert asked("is the dog left of the cat?", shown) == {"dog": [1, 2, 9, 10], "cat": [55, 56, 63, 64]}


def test_what_is_not_there_points_at_the_class_token() -> None:
    assert asked("is there a cat?", scene(thing("dog", 0, 0, 32))) == {"cat": [0]}


def test_plurals_and_groups_point_at_all_that_they_name() -> None:
    shown = scene(thing("dog", 0, 0, 16), thing("dog", 32, 0, 16), thing("cat", 0, 32, 16))

    assert asked("how many dogs are there?", shown) == {"dogs": [1, 3]}
    assert asked("how many animals are there?", shown) == {"animals": [1, 3, 17]}
    assert asked("how many objects are there?", shown) == {"objects": [1, 3, 17]}


def test_a_long_name_is_not_the_short_one_within_it() -> None:
    shown = scene(thing("bear", 0, 0, 16), thing("polar bear", 112, 112, 16))

    assert asked("is there a polar bear?", shown) == {"polar": [64], "bear": [64]}


def test_a_thing_between_patches_points_at_the_one_that_shows_most_of_it() -> None:
    assert patches([thing("dog", 12, 0, 8)]).nonzero()[0].tolist() == [1, 2]
    assert patches([thing("dog", 14, 14, 6)]).nonzero()[0].tolist() == [10]


def test_captions_look_at_a_thing_before_the_first_word_about_it() -> None:
    shown = scene(thing("dog", 0, 0, 16, "red"), thing("dog", 32, 0, 16), thing("cat", 64, 0, 16))
    tokens = [0, *ids(caption(shown).replace(",", "")), SEP]

    pointed = POINTER.captions(torch.tensor([tokens]), [shown])

    assert pointed is not None
    assert told(pointed, tokens, before=1) == [
        ("a", [1]),
        ("red", [1]),
        ("dog", [1]),
        ("a", [3]),
        ("dog", [3]),
        ("a", [5]),
        ("cat", [5]),
    ]


def test_a_colour_of_the_background_names_no_fruit() -> None:
    shown = scene(thing("dog", 0, 0, 16), pattern="striped", colour="orange")

    assert asked("a dog on an orange striped background", shown) == {"dog": [1]}


def test_texts_of_pictures_whose_places_are_unknown_teach_nothing() -> None:
    assert POINTER.questions(torch.tensor([[*ids("is there a dog?"), SEP]]), [None]) is None
    assert float(pointing_loss([], None)) == 0.0


def test_every_thing_and_the_class_token_share_the_attention_equally() -> None:
    shared = shares([thing("dog", 0, 0, 32), thing("dog", 64, 64, 16)])

    assert shared[0] == pytest.approx(1 / 3)
    assert shared[[1, 2, 9, 10]] == pytest.approx(1 / 12)
    assert shared.sum() == pytest.approx(1)
    assert shares([])[0] == 1


def test_what_is_known_of_a_name_is_number_and_place() -> None:
    assert facts([thing("dog", 0, 96, 32)]) == (0.5, -0.75, 0.75)
    assert facts([thing("dog", 0, 0, 16)] * 2) == (1.0, 0.0, 0.0)
    assert facts([]) == (0.0, 0.0, 0.0)


def test_the_losses_are_least_where_attention_is_right() -> None:
    shown = scene(thing("dog", 0, 0, 32))
    found = POINTER.questions(torch.tensor([[*ids("is there a dog?"), SEP]]), [shown])
    assert found is not None
    word = int(found.words[0])
    right = torch.full((1, 6, 7, TOKENS), 1 / TOKENS)
    right[0, :POINTING, word] = found.patches[0] / found.patches[0].sum()
    right[0, POINTING : POINTING + SHARING, word] = found.shares[0]
    wrong = torch.full((1, 6, 7, TOKENS), 1 / TOKENS, requires_grad=True)

    assert float(pointing_loss([right], found)) == pytest.approx(0, abs=1e-6)
    assert float(sharing_loss([right], found)) == pytest.approx(0, abs=1e-6)
    (gradient,) = torch.autograd.grad(pointing_loss([wrong], found) + sharing_loss([wrong], found), [wrong])
    assert gradient.isfinite().all()
    assert not gradient[0, POINTING + SHARING :].any(), "the other heads stay free"
    assert not gradient[0, :, :word].any(), "words that name nothing stay free"


def test_the_place_of_several_things_is_not_asked() -> None:
    shown = scene(thing("dog", 0, 0, 16), thing("dog", 112, 112, 16))
    found = POINTER.questions(torch.tensor([[*ids("how many dogs are there?"), SEP]]), [shown])
    assert found is not None
    read = torch.full((1, 8, 3), 9.0)
    read[..., 0] = 1.0

    assert float(knowing_loss([read, read], found)) == 0.0
