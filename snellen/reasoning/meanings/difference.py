"""Differences of meanings in what they ask: their denotations on scenes that are made of what they name.

"List the dogs" and "What are the dogs?" are different meanings with one answer, and so are "the dogs" and "the dog"
where there is one. Two readings of a sentence are a question to the user only where some scene has another answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from snellen.reasoning.meanings.denotation import Undefined, denotation
from snellen.reasoning.meanings.meanings import Meaning, SettingIs, pictures_in
from snellen.reasoning.meanings.scene import Entity, Graphs, PictureGraph
from snellen.reasoning.meanings.things import HasColour, HasFact, IsA, PictureName, sets_within

_SCENES: Final = 60
_FEWEST: Final = 3
"""Scenes that answer both of two meanings, if they may count as the same."""
_MOST_THINGS: Final = 6
_OF_TWO_KINDS: Final = 0.2
_SIDE: Final = 128
_STRANGE: Final = ("stranger", "visitor")
_PLAIN: Final = {"background": "plain", "background colour": "white", "weather": "clear", "style": "flat"}


def differ(one: Meaning, other: Meaning) -> bool:
    """Tell whether some scene has another answer to one meaning than to the other.

    Where a presupposition fails ("the dog" of two) there is no answer to compare. Meanings of which hardly any scene
    answers both count as different.
    """
    if one == other:
        return False
    compared = 0
    names = pictures_in(one) | pictures_in(other)
    if "picture" in names and len(names) > 1:
        return True  # one is about one picture, the other about two
    shown: tuple[PictureName, ...] = ("left", "right") if names & {"left", "right", "both"} else ("picture",)
    dice = random.Random(0)  # the same scenes for the same meanings
    parts = [*sets_within(one), *sets_within(other)]
    for _ in range(_SCENES):
        graphs: Graphs = {name: _scene(dice, parts, name) for name in shown}
        answers = [_answer(denotation(each, graphs)) for each in (one, other)]
        if None in answers:
            continue
        if answers[0] != answers[1]:
            return True
        compared += 1
    return compared < _FEWEST


def _answer(denoted: Any) -> Any:  # noqa: ANN401 - a denotation, or a part of one
    """Return a denotation to compare, lists in any order; None where there is none."""
    if isinstance(denoted, Undefined):
        return None
    if isinstance(denoted, tuple):
        answers = [_answer(each) for each in denoted]
        return None if None in answers else sorted(answers, key=str)
    return sorted([each] for each in denoted.split(", ")) if isinstance(denoted, str) else denoted


def _scene(dice: random.Random, parts: list[Any], picture: PictureName) -> PictureGraph:
    kinds = [name for each in parts if isinstance(each, IsA) for name in each.names] or list(_STRANGE)
    facts = [each.fact for each in parts if isinstance(each, HasFact)]
    colours = [each.colour for each in parts if isinstance(each, HasColour)]
    settings = {each.aspect: each.value for each in parts if isinstance(each, SettingIs) and dice.random() < 1 / 2}
    entities = [
        _entity(dice, box, sorted(set(kinds)), sorted(set(facts)), sorted(set(colours)), picture)
        for box in _boxes(dice, dice.randint(1, _MOST_THINGS))
    ]
    return PictureGraph(tuple(entities), (_SIDE, _SIDE), {**_PLAIN, **settings})  # type: ignore[dict-item]


def _entity(
    dice: random.Random,
    box: tuple[int, int, int, int],
    kinds: list[str],
    facts: list[str],
    colours: list[str],
    picture: PictureName,
) -> Entity:
    named = [dice.choice([*kinds, *kinds, *_STRANGE])]
    if dice.random() < _OF_TWO_KINDS:
        named.append(dice.choice(kinds))
    return Entity(
        named[0], box, frozenset(named), frozenset(each for each in facts if dice.random() < 1 / 2),
        dice.choice([*colours, *colours, "", "red"]), dice.choice(("small", "medium", "large")), picture,
    )  # fmt: skip


def _boxes(dice: random.Random, count: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield boxes in different cells of a grid, so that none lies on another."""
    cells = [(column, row) for column in range(3) for row in range(3)]
    for column, row in dice.sample(cells, count):
        side = dice.randint(14, 38)
        left, top = 42 * column + dice.randint(0, 40 - side), 42 * row + dice.randint(0, 40 - side)
        yield left, top, left + side, top + side
