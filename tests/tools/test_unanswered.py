"""Answers that are none of the choices that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import PIL.Image
import pytest

from snellen.tools.program import choices_asked, is_unanswered, parse, rests_on_unanswered, run
from snellen.tools.program.syntax import ProgramLimits
from snellen.tools.registry import ToolContext
from snellen.values import Region, Value

SMALL = """
SAID=''
KEPT=[]
for B in BOXES:
    SAID=VQA(image=IMAGE,question='{B.label}: is it small or large?')
    KEPT=KEPT + ([B] if SAID == 'small' else [])
"""
ASKED = "is the {B.label} small or large?"
BOXES = [Region((0, 0, 10, 10), 0.9, "dog"), Region((20, 20, 40, 40), 0.8, "cat"), Region((0, 9, 9, 20), 0.8, "hen")]


def rests(end: str, said: Sequence[str], context: ToolContext) -> bool:
    """Tell whether a program's end rests on what is no answer, where VQA says these of the regions."""
    program = parse(f"{SMALL}{end}".replace("{B.label}: is it small or large?", ASKED))
    inputs: dict[str, Value] = {
        "BOXES": BOXES[: len(said)],
        "IMAGE": context.pictures.put(PIL.Image.new("RGB", (64, 64))),
    }
    answers = {f"3[{number}].1": answer for number, answer in enumerate(said, 1)}
    records = [replace(one, given=False) for one in run(program, inputs, context, overrides=answers)]
    return rests_on_unanswered(program, inputs, context, ProgramLimits(), records)


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("Is the cat small or large?", ("small", "large")),
        ("are they small, medium or large", ("small", "medium", "large")),
        ("is it red, green, or blue?", ("red", "green", "blue")),
        ("Are there cats or dogs?", ()),
        ("what color is the bus?", ()),
        ("is there a cat?", ()),
    ],
)
def test_choices_are_those_that_the_question_names(question: str, choices: tuple[str, ...]) -> None:
    assert choices_asked(question) == choices
    assert not any(is_unanswered(question, one) for one in choices)
    assert is_unanswered(question, "yellow") == bool(choices)


@pytest.mark.parametrize(
    ("end", "said", "is_open"),
    [
        ("R=RESULT(var='yes' if len(KEPT) == 0 else 'no')", ["yellow", "yellow"], True),
        ("R=RESULT(var='yes' if len(KEPT) == 0 else 'no')", ["yellow", "small"], False),
        ("R=RESULT(var='yes' if len(KEPT) == 0 else 'no')", ["large", "small"], False),
        ("R=RESULT(var=len(KEPT))", ["yellow", "small"], True),
        ("R=RESULT(var=SAID)", ["yellow", "small"], False),
        ("R=RESULT(var=SAID)", ["small", "yellow"], True),
        ("R=RESULT(var=len(BOXES))", ["yellow", "yellow", "yellow"], False),
    ],
)
def test_a_result_rests_on_no_answer_where_another_choice_would_change_it(
    context: ToolContext, end: str, said: list[str], *, is_open: bool
) -> None:
    assert rests(end, said, context) == is_open
