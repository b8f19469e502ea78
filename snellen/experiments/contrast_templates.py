"""Templates of experiments that compare a model with itself in two tasks: birds and vehicles, counting and colors.

A pair of pictures, one of either task, drawn independently of each other, is one observation: whether the model is
right about the one, less whether about the other. Each task is asked as it would be by itself (`templates`), so that
its share means what it means there. Guessing is right more often the fewer answers there are: tasks are compared where
both have as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.experiments.design import IDENTITY, ComparedTask, Design
from snellen.experiments.template_parts import unclaimed
from snellen.experiments.templates import calls_of, experiments_about
from snellen.reasoning.queries.echo import ability_in_words, condition_in_words

if TYPE_CHECKING:
    from snellen.experiments.class_groups import Subjects
    from snellen.experiments.design import Arm
    from snellen.reasoning.queries.abilities import Ability
    from snellen.reasoning.queries.conditions import Condition

_MOST_ARMS: Final = 20
"""Arms of a task."""


def experiments_contrasting(
    ability: Ability, than: Ability, subjects: Subjects, condition: Condition | None
) -> list[Design]:
    """Return the experiments that compare two abilities, the easiest first; they claim nothing yet.

    Args:
        ability: The first.
        than: The other.
        subjects: What pictures can be of.
        condition: How the pictures of both are changed; None for pictures as they are.

    Raises:
        BadInput: There is nothing to draw such pictures from, or no experiment of the one has as many answers as one of
            the other.
    """
    if ability == than:
        msg = f"This compares {ability_in_words(ability, gerund=True)} with itself."
        raise BadInput(msg)
    by_answers, others = (_by_answers(experiments_about(each, subjects)) for each in (ability, than))
    pairs = [(one, others[number]) for number, one in sorted(by_answers.items()) if number in others]
    if not pairs:
        words = " and ".join(ability_in_words(each, gerund=True) for each in (ability, than))
        msg = f"No experiments on {words} have the same number of answers, so guessing would decide."
        raise BadInput(msg)
    return [contrasting(one, other, condition) for one, other in pairs]


def _by_answers(designs: Sequence[Design]) -> dict[int, Design]:
    """Return the easiest experiment with each number of answers, but for those that ask for the name of a group."""
    found: dict[int, Design] = {}
    for design in designs:
        if not design.of_names:
            found.setdefault(len(design.classes), design)
    return found


def contrasting(one: Design, other: Design, condition: Condition | None) -> Design:
    """Return the experiment that compares the tasks of two others, which have as many answers each.

    Args:
        one: An experiment with the first task alone.
        other: One with the other task.
        condition: How the pictures of both are changed.
    """
    sides = [list(_by_turns(one)), list(_by_turns(other))]
    while lcm(*map(len, sides)) > _MOST_ARMS:  # of groups that are shown by some of their classes, fewer of them
        longest = max(sides, key=len)
        del longest[-len(one.classes) :]
    each = lcm(*map(len, sides))
    calls = [IDENTITY] if condition is None else calls_of(condition)[: _MOST_ARMS // each]
    arms = [
        arm.model_copy(update={"transform": call})
        for side in sides
        for call in calls
        for arm in side * (each // len(side))
    ]
    tasks = [ComparedTask(skill=side.skill, pools=side.pools, arms=len(arms) // 2) for side in (one, other)]
    words = "" if condition is None else f" All with {condition_in_words(condition)}."
    made = unclaimed(
        max(one.difficulty, other.difficulty),
        f"Two tasks, asked equally often: {one.skill}, and {other.skill}.{words}"[:300],
        f"{one.skill} and {other.skill}"[:300],
        " / ".join(dict.fromkeys([one.question, other.question]))[:300],
        arms,
    )
    under = "" if condition is None else f"under {condition_in_words(condition)}"[:200]
    return made.model_copy(update={"tasks": tasks, "condition": under})


def _by_turns(design: Design) -> Iterator[Arm]:
    """Yield arms with what is asked about them, one of each answer after the other."""
    arms = {answer: [arm for arm in design.arms if arm.answer == answer] for answer in design.classes}
    for row in zip(*arms.values(), strict=True):
        yield from (arm.model_copy(update={"question": design.asked(arm), "otherwise": []}) for arm in row)
