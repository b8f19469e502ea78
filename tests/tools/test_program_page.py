"""The page about the language is true: each of its examples is run with perfect sight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.oracle import Oracle
from snellen.microworld.scenes import Scene, SceneObject
from snellen.tools.program import ProgramError, caveat_of, decided_value
from snellen.tools.program.fields import REGION_FIELDS
from snellen.tools.program.functions import FUNCTIONS
from snellen.tools.registry import catalogue
from snellen.values import as_text

PAGE = (Path(__file__).parents[2] / "docs" / "programs.md").read_text(encoding="utf-8")
EXAMPLES = [text.strip("\n").rsplit("\n# ", 1) for text in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)]
GARDEN = Scene(
    "garden", "grass", "", "flat", "clear",
    (
        SceneObject("house", "house.png", 4, 4, 54, "large", "red", mirrored=False),
        SceneObject("dog", "dog.png", 84, 74, 40, "medium", "", mirrored=False),
        SceneObject("cat", "cat.png", 8, 82, 38, "medium", "blue", mirrored=False),
        SceneObject("robin", "bird.png", 94, 8, 28, "small", "", mirrored=False),
        SceneObject("bicycle", "bicycle.png", 50, 94, 29, "small", "", mirrored=False),
    ),
)  # fmt: skip
YARD = Scene(
    "yard", "plain", "yellow", "flat", "clear",
    (
        SceneObject("cat", "cat.png", 6, 8, 42, "medium", "purple", mirrored=False),
        SceneObject("cat", "cat.png", 60, 12, 28, "small", "", mirrored=False),
        SceneObject("balloon", "balloon.png", 96, 6, 30, "small", "", mirrored=False),
        SceneObject("dog", "dog.png", 84, 74, 40, "medium", "blue", mirrored=False),
        SceneObject("bicycle", "bicycle.png", 10, 86, 29, "small", "", mirrored=False),
    ),
)  # fmt: skip


@pytest.mark.parametrize(("program", "said"), EXAMPLES, ids=[program.splitlines()[-2] for program, _ in EXAMPLES])
def test_an_example_gives_what_the_page_says(program: str, said: str) -> None:
    sight = Oracle([GARDEN, YARD] if "LEFT" in program.split("(")[1] else [GARDEN])
    if said.startswith("refused: "):
        with pytest.raises(ProgramError, match=re.escape(said.removeprefix("refused: "))):
            sight.run(program)
        return
    records = sight.run(program)
    caveat = caveat_of(records)
    assert f"{f'{caveat}: ' if caveat else ''}{as_text(decided_value(records)).strip()}" == said.strip()


def test_every_tool_of_regions_field_and_function_has_an_example() -> None:
    programs = " ".join(program for program, _ in EXAMPLES)
    tools = {tool.name for tool in catalogue() if ".tools.regions." in tool.function.__module__}
    assert {name for name in tools if f"{name}(" not in programs} == set()
    assert {name for name in FUNCTIONS if f"`{name}" not in PAGE and f" {name}" not in PAGE} == set()
    assert {name for name in REGION_FIELDS if f"`{name}`" not in PAGE} <= {"center"}
