"""Judging outcomes: answers by their words, tags by boxes and names, edits region by region."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from PIL import Image

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.scenes import NUMBERS
from snellen.microworld.tasks.edits import judge_edit
from snellen.microworld.tasks.task import Score, TagAnswer, TaggedRegion, TaskOutcome, TextAnswer, WorldTask
from snellen.scoring import LabelledBox, f1, match_boxes

Recogniser = Callable[[Image.Image, str], bool]
"""Tells whether a cropped picture shows what a name says."""

_SAME = {"true": "yes", "false": "no", "none": "0", "no one": "0", "grey": "gray", "big": "large", "little": "small"}
_SAME |= {word: str(number) for number, word in enumerate(NUMBERS)} | {"eight": "8", "nine": "9", "ten": "10"}
_LEADING = re.compile(r"^(?:a|an|the)\s+")


def score(task: WorldTask, outcome: TaskOutcome, *, recognise: Recogniser | None = None) -> Score:
    """Judge what came of a task.

    Args:
        task: What was asked.
        outcome: What came of it.
        recognise: Tells for an edit whether a replaced region shows what was asked for; without it, such a region
            only has to have changed.

    Returns:
        1 or 0 for answers and edits, the F1 at an intersection over union of 0.5 with equal names for tags.
    """
    if outcome.error:
        return Score(0.0, correct=False, reason=outcome.error)
    if isinstance(task.expected, TextAnswer):
        return _judge_answer(task.expected, outcome)
    if isinstance(task.expected, TagAnswer):
        return _judge_tags(task.expected, outcome)
    if outcome.picture is None:
        return Score(0.0, correct=False, reason="no picture came out")
    return judge_edit(task.scenes[0], task.expected, outcome.picture, recognise=recognise)


def normalized(answer: str | float | bool | None) -> str:  # noqa: FBT001 - an answer may be a truth value
    """Write an answer in the one form in which answers are compared.

    Lower case, no article, no full stop; truth as `yes` and `no`, numbers as digits, names in the singular. Nothing
    at all gives "".
    """
    if answer is None:
        return ""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, int | float):
        return str(int(answer)) if answer == int(answer) else str(answer)
    text = _LEADING.sub("", " ".join(answer.lower().split()).strip(" .!?'\""))
    text = re.sub(r"^(-?\d+)\.0+$", r"\1", text)
    return _SAME.get(text, _singulars().get(text, text))


@cache
def _singulars() -> dict[str, str]:
    return {plural(concept.name): concept.name for concept in vocabulary().concepts}


def _judge_answer(expected: TextAnswer, outcome: TaskOutcome) -> Score:
    answer = normalized(outcome.answer)
    if not answer:
        return Score(0.0, correct=False, reason="no answer came out")
    if answer == normalized(expected.text):
        return Score(1.0, correct=True)
    return Score(0.0, correct=False, reason="wrong answer")


def _judge_tags(expected: TagAnswer, outcome: TaskOutcome) -> Score:
    matches = match_boxes(_boxes(outcome.regions), _boxes(expected.regions))
    value = f1(matches)
    if value == 1:
        return Score(1.0, correct=True)
    if not matches.found:
        return Score(0.0, correct=False, reason="nothing was tagged")
    missed = matches.matched < matches.true
    return Score(value, correct=False, reason="a region was missed" if missed else "a region too many was tagged")


def _boxes(regions: Iterable[TaggedRegion]) -> list[LabelledBox]:
    return [LabelledBox(region.box, normalized(region.name)) for region in regions]
