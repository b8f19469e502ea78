"""Tools taken from demonstrations: right programs teach, wrong ones unteach, and every choice can be taught."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from benchmarks.tool_choices import cases
from snellen.microworld.scenes import SIDE, Scene, SceneObject
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.demonstrated_choices import demonstrated_choices
from snellen.reasoning.meanings.meanings import read_meaning
from snellen.reasoning.meanings.tool_choices import ToolChoices

BACKGROUND = "GROUND=BACKGROUND(image=IMAGE)\nFINAL_RESULT=RESULT(var=GROUND[0].label)\n"
ASKED = "ANSWER0=VQA(image=IMAGE,question='what is the background?')\nFINAL_RESULT=RESULT(var=ANSWER0)\n"
CAT = SceneObject("cat", "cat.png", 4, 4, SIDE // 4, "small", "red", mirrored=False)
EVERY_CHOICE = [
    (operation, tool) for operation, field in ToolChoices.model_fields.items() for tool in get_args(field.annotation)
]


def program_of(choices: ToolChoices) -> str:
    return compile_meaning(read_meaning(json.dumps({"kind": "query setting", "aspect": "background"})), choices).program


def test_a_right_program_teaches_the_tool_that_it_used() -> None:
    assert "VQA(" in program_of(demonstrated_choices([]))
    assert "BACKGROUND(" in program_of(demonstrated_choices([BACKGROUND]))


def test_what_was_wrong_as_often_as_right_is_not_taken() -> None:
    assert demonstrated_choices([BACKGROUND], [BACKGROUND]) == ToolChoices()
    assert demonstrated_choices([BACKGROUND, ASKED]) == ToolChoices()
    assert demonstrated_choices([BACKGROUND, BACKGROUND, ASKED]).background == "BACKGROUND"


def test_what_is_no_program_teaches_nothing() -> None:
    assert demonstrated_choices(["this is no program", "X=LOC("]) == ToolChoices()


@pytest.mark.parametrize(("operation", "tool"), EVERY_CHOICE)
def test_programs_of_a_choice_teach_that_choice(operation: str, tool: str) -> None:
    scene = Scene("a test", "grass", "", "flat", "clear", (CAT,))
    choices = ToolChoices.model_validate({operation: tool})
    programs = [compile_meaning(case.meaning, choices).program for case in cases(scene) if case.operation == operation]
    assert programs
    assert getattr(demonstrated_choices(programs), operation) == tool
