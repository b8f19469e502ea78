"""Templates of experiments about several things, their places, numbers and colors, from easy to hard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Arm, Design
from snellen.experiments.template_parts import FINE, largest_first, select, spread, unclaimed
from snellen.reasoning.language.inflection import listing, plural, with_article
from snellen.reasoning.queries.model_query import Kind

_PAIRS: Final = 3
"""Pairs of things whose places are asked for."""
_COLORS: Final = ("red", "blue", "green", "yellow", "purple")


def countable_things(kind: Kind, subjects: Subjects, count: int) -> list[str]:
    """Return things that one can count, place and paint: of the kind, or one each of the largest groups.

    Raises:
        BadInput: There are none of the kind.
    """
    group = subjects.kind(kind)
    if group is not None:
        countable = [name for name in group.members if _countable(name)]
        if not countable:
            msg = f"Of {group.name} one cannot say how many there are, or of which color they are."
            raise BadInput(msg)
        return spread(countable, count)
    largest = largest_first(subjects.groups.values())
    chosen: list[str] = []
    for group in largest:
        if all(one not in group.members for one in chosen):
            chosen += [name for name in spread(group.members, FINE) if _countable(name)][:1]
    return chosen[:count]


def _countable(name: str) -> bool:
    """Whether there can be several of a thing and it may have any color: its name says none, and has a plural."""
    return plural(name) != name and not {"red", "green", "blue", "orange", *_COLORS} & set(name.split())


_SIDES: Final = (("left", "to the left of", "to the right of"), ("right", "to the right of", "to the left of"))
_HEIGHTS: Final = (("above", "above", "below"), ("below", "below", "above"))


def placed(axis: str, kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield experiments about the places of two things: sides, heights or both."""
    things = countable_things(kind, subjects, 2 * _PAIRS)
    if len(things) == 1:
        things += [name for name in countable_things(Kind(), subjects, 2) if name not in things][:1]
    pairs = list(zip(things[::2], things[1::2], strict=False))
    both = ((2, _SIDES, "left and right"), (3, _HEIGHTS, "above and below"))
    for difficulty, words, sides in {"sides": both[:1], "heights": both[1:], "both": both}[axis]:
        arms = []
        for place, (one, other) in enumerate(pairs):
            _, right, wrong = words[place % 2]
            question = f"Is the {one} {right} the {other}?"
            for answer, relation in (("yes", right), ("no", wrong)):
                shown = f"{with_article(one)} {relation} {with_article(other)}"
                arms.append(Arm(answer=answer, select=select(shown), question=question))
        yield unclaimed(
            difficulty,
            f"Two things, of which only the places differ: {sides}.",
            f"telling {sides} apart",
            arms[0].question,
            arms,
        )


def counted(kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield experiments about numbers of equal things."""
    things = countable_things(kind, subjects, _PAIRS)
    for difficulty, numbers in ((1, (1, 3)), (3, (1, 2, 3, 4))):
        arms = [
            Arm(
                answer=str(number),
                select=select(f"{number} {plural(thing) if number > 1 else thing}"),
                question=f"How many {plural(thing)} are in the image?",
            )
            for thing in things
            for number in numbers
        ]
        yield unclaimed(
            difficulty,
            f"Nothing but equal things: {listing([str(number) for number in numbers], 'or')} of them.",
            f"counting to {max(numbers)}" if len(numbers) > 2 else "telling one from three",  # noqa: PLR2004
            arms[0].question,
            arms,
        )


def colored(named: Sequence[str], kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield experiments about the colors of a thing: those that are named first."""
    things = countable_things(kind, subjects, _PAIRS)
    ranked = [*named, *(color for color in _COLORS if color not in named)]
    for difficulty, colors in ((1, ranked[: max(len(named), 2)]), (2, ranked)):
        arms = [
            Arm(answer=color, select=select(f"a {color} {thing}"), question=f"What color is the {thing}?")
            for thing in things
            for color in colors
        ]
        yield unclaimed(
            difficulty,
            f"One thing, of which only the color differs: {listing(colors, 'or')}.",
            f"naming the colors {listing(colors)}",
            arms[0].question,
            arms,
        )


def several_or_one(likeness: str, kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield experiments about one thing, two identical ones and two different ones."""
    group = subjects.kind(kind)
    what = "random" if group is None else group.name if group.drawn else group.members[0]
    one = "random" if group is None else with_article(group.singular if group.drawn else what)
    if likeness != "different":
        yield unclaimed(
            1,
            "One thing, or two of one kind.",
            "noticing several things",
            "Are there several objects in the image?",
            [
                Arm(answer="yes", select=select(f"two identical {what}")),
                Arm(answer="no", select=select(what)),
            ],
        )
    yield unclaimed(
        2,
        "Two things: of one kind, or of different kinds.",
        "telling equal from different things",
        "Are there several different objects in the image?",
        [
            Arm(answer="yes", select=select(f"{one} and random")),
            Arm(answer="no", select=select(f"two identical {what}")),
        ],
    )
