"""Pictures by description."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.microworld.arrangements import PLACES, is_in, read
from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.samples import portrait
from snellen.microworld.scenes import NUMBERS, SIDE, TINTS, article, place, relation_holds, tintable

NAMES = st.sampled_from([concept.name for concept in vocabulary().share("known")])
SEEDS = st.integers(0, 10**6).map(str)


@settings(max_examples=40)
@given(NAMES, st.integers(1, 5), st.sampled_from(["", *TINTS]), SEEDS)
def test_so_many_of_a_colour_are_drawn(name: str, count: int, tint: str, seed: str) -> None:
    tinted = f"{tint} {name if count == 1 else plural(name)}".strip()
    words = article(tinted) if count == 1 else f"{NUMBERS[count]} {tinted}"
    if tint and not tintable(name):
        with pytest.raises(BadInput, match="another color"):
            portrait(words, seed)
        return
    drawn = portrait(words, seed)
    assert [thing.concept for thing in drawn.scene.objects] == [name] * count
    assert not tint or {thing.tint for thing in drawn.scene.objects} == {tint}
    assert drawn.class_name in {words, name}
    assert portrait(words, seed) == drawn


@settings(max_examples=40)
@example("fork and knife", "bear", "left", "0")
@given(NAMES, NAMES, st.sampled_from(["left", "right", "above", "below"]), SEEDS)
def test_things_stand_as_they_shall(one: str, other: str, relation: str, seed: str) -> None:
    words = {"left": "to the left of", "right": "to the right of"}.get(relation, relation)
    drawn = portrait(f"{article(one)} {words} {article(other)}", seed)
    first, second = drawn.scene.objects
    assert (first.concept, second.concept) == (one, other)
    assert relation_holds(first, relation, second)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(NAMES, st.sampled_from(sorted(PLACES)), SEEDS)
def test_a_thing_lies_in_the_place_that_is_asked_for(name: str, where: str, seed: str) -> None:
    drawn = portrait(f"{article(name)} in the {where}", seed)
    (thing,) = drawn.scene.objects
    assert thing.concept == name
    assert drawn.class_name == f"{article(name)} in the {where}"
    ends = {"left": thing.left, "top": thing.top, "right": thing.left + thing.side, "bottom": thing.top + thing.side}
    for word in where.split():
        if word in {"left", "top"}:
            assert ends[{"left": "right", "top": "bottom"}[word]] <= SIDE / 2
        if word in {"right", "bottom"}:
            assert ends[{"right": "left", "bottom": "top"}[word]] >= SIDE / 2
    assert len(where.split()) == 1 or "half" in where or place(thing) == where
    assert where != "middle" or all(SIDE / 4 <= each <= 3 * SIDE / 4 for each in ends.values())
    assert is_in(thing, where)


@settings(max_examples=40)
@given(st.lists(NAMES, min_size=3, max_size=4, unique=True), SEEDS)
def test_things_beside_one_another_are_those_that_are_named(names: list[str], seed: str) -> None:
    drawn = portrait(" and ".join(map(article, names)), seed)
    assert [thing.concept for thing in drawn.scene.objects] == names
    assert all(article(name) in drawn.class_name for name in names)


def test_groups_are_of_several_kinds_and_identical_things_of_one() -> None:
    birds = [portrait("three birds", str(seed)).scene.objects for seed in range(8)]
    assert all(len(things) == 3 for things in birds)
    assert any(len({thing.concept for thing in things}) > 1 for things in birds)
    same = [portrait("three identical birds", str(seed)).scene.objects for seed in range(8)]
    assert all(len({thing.concept for thing in things}) == 1 for things in same)
    assert len({things[0].concept for things in same}) > 1
    two = [portrait("random and random", str(seed)).scene.objects for seed in range(8)]
    assert all(one.concept != other.concept for one, other in two)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("guitr", "Did you mean guitar"),
        ("eight dogs", "no class 'eight dogs'"),
        ("four dogs and four cats", "at most 7 things"),
        ("two dogs left of a cat", "one thing left of one other"),
        ("a red green apple", "another color"),
        ("two dogs in the top left", "one thing in the top left"),
        ("a dog and a cat in the middle", "one thing in the middle"),
        (" and ".join(["a dog"] * 8), "no class"),
        ("a dog and", "no class"),
        ("", "no class"),
        ("a dog " * 400, "no class"),
    ],
)
def test_what_cannot_be_drawn_is_refused(words: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        portrait(words, "1")


def test_there_is_no_colour_in_a_sketch() -> None:
    with pytest.raises(BadInput, match="There is no color in the style 'sketch'"):
        portrait("a red dog", "1", image_type="sketch")


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_words_are_read_or_refused(words: str) -> None:
    try:
        wanted = read(words)
    except BadInput:
        return
    assert all(part.names for part in wanted.parts)
