"""Choices of tools taken from demonstrations: an operation is done as programs did it that were right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from snellen.reasoning.meanings.tool_choices import ToolChoices
from snellen.tools.program import ProgramError, parse
from snellen.tools.program.syntax import Call, For, Program

Sign: TypeAlias = Callable[[Program], bool]
_COLOURED: Final = re.compile(r"'(?:red|orange|yellow|green|blue|purple|pink|brown|black|white|gr[ae]y) \w")
_EVERYTHING: Final = re.compile(r"'(?:all )?(?:object|thing|item)s?'")


def demonstrated_choices(right: Sequence[str], wrong: Sequence[str] = ()) -> ToolChoices:
    """Return the choices that demonstrations show.

    Another tool than the default is taken where programs with it were more often right than wrong, and by more than
    those with the default.

    Args:
        right: Programs that were right.
        wrong: Programs that were wrong.
    """
    scores = Counter(_shown(right))
    scores.subtract(_shown(wrong))
    defaults = ToolChoices()
    update = {}
    for operation, signs in _SIGNS.items():
        default = getattr(defaults, operation)
        best = max(signs, key=lambda tool: (scores[operation, tool], tool == default))
        if scores[operation, best] > 0:
            update[operation] = best
    return defaults.model_copy(update=update)


def _shown(programs: Sequence[str]) -> Iterable[tuple[str, str]]:
    for text in programs:
        try:
            program = parse(text)
        except ProgramError:
            continue
        for operation, signs in _SIGNS.items():
            yield from ((operation, tool) for tool, is_shown in signs.items() if is_shown(program))


def _calls(program: Program, tool: str) -> list[Call]:
    return [each for each in program.walk() if isinstance(each, Call) and each.tool == tool]


def _says(program: Program, tool: str, argument: str, *words: str) -> bool:
    """Tell whether a tool is called with words in an argument."""
    texts = [each.arguments[argument].text for each in _calls(program, tool) if argument in each.arguments]
    return any(word in text.lower() for text in texts for word in words)


def _matches(program: Program, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(each.arguments["object"].text) for each in _calls(program, "LOC") if each.arguments)


def _asks_colour(program: Program) -> bool:
    return _says(program, "VQA", "question", "what color", "what colour")


def _edits(program: Program) -> bool:
    return any(_calls(program, tool) for tool in ("COLORPOP", "BGBLUR"))


_SIGNS: Final[dict[str, dict[str, Sign]]] = {
    "everything": {
        "THINGS": lambda program: bool(_calls(program, "THINGS")),
        "LOC": lambda program: _matches(program, _EVERYTHING),
    },
    "colour_filter": {
        "VQA": lambda program: _asks_colour(program) and any(isinstance(each, For) for each in program.walk()),
        "LOC": lambda program: _matches(program, _COLOURED),
    },
    "fact_filter": {
        "label": lambda program: _says(program, "FILTER", "where", "label in"),
        "CLASSIFY": lambda program: bool(_calls(program, "CLASSIFY")),
    },
    "colour_answer": {
        "crop": lambda program: _asks_colour(program) and not _calls(program, "WIDEN"),
        "margin": lambda program: _asks_colour(program) and bool(_calls(program, "WIDEN")),
    },
    "background": {
        "VQA": lambda program: _says(program, "VQA", "question", "background"),
        "BACKGROUND": lambda program: bool(_calls(program, "BACKGROUND")),
    },
    "outlines": {
        "masks": lambda program: _edits(program) and any(_calls(program, tool) for tool in ("MASK", "SEG")),
        "boxes": lambda program: _edits(program) and not any(_calls(program, tool) for tool in ("MASK", "SEG")),
    },
}
"""How a program shows by which tool it does each operation of `ToolChoices`."""
