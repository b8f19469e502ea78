"""Prompts as files, filled in one pass, with everything that others wrote fenced.

The files in ``prompts/`` follow figures 12 and 13 of CLOVA in our own words: role, tools, rules, correct cases,
incorrect cases with reasons, then the query. What follows the dividing line is sent as the user's message, the rest as
the system's.

The fence: a text that a user, a demonstration or a model wrote enters a prompt only through `fenced`. Every line of it
then begins with ``|``, after every character that could end a line, hide or reorder text, or open a turn of a chat
template has been made harmless. A heading or "Instruction:" inside such a text is therefore never at the start of a
line, where the prompt's own sections are, and the prompts say that lines with a bar are material. Slots are filled in
a single pass, so ``{{plan}}`` inside an instruction stays those eight characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from snellen.reasoning.reasoner import MAX_EXAMPLES, MAX_PLAN_STEPS, MAX_STEP_LENGTH

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration
    from snellen.reasoning.task import Examples, Plan, Task

DIVIDER = "\n=== sent as the user's message ===\n"
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_SECTION = re.compile(r"^\{\{#(\w+)\}\}\n(.*?)^\{\{/\1\}\}\n", re.MULTILINE | re.DOTALL)
_STEP_NUMBER = re.compile(r"^\s*step\s*\d+\s*[,:.)-]\s*", re.IGNORECASE)
# Turn markers of the usual chat templates: some servers read them inside a message as if the template had written them.
_TURN_MARKERS = re.compile(
    r"<(?=\|)|(?<=\|)>|<(?=/?s>)|<(?=(?:start|end)_of_turn>)|<(?=[be]os>)|<(?=</?SYS>)|\[(?=/?(?:INST|SYSTEM_PROMPT)\])",
    re.IGNORECASE,
)
_JOINERS = "\u200c\u200d"  # needed by some scripts and by composed emoji


@dataclass(frozen=True)
class Prompt:
    """Messages that open a conversation."""

    system: str
    user: str


def fill(name: str, slots: Mapping[str, str]) -> Prompt:
    """Fill the prompt of that name.

    Args:
        name: The file's name without ".md".
        slots: Text for each slot; a section ``{{#slot}}…{{/slot}}`` is kept only if its slot has text.

    Raises:
        KeyError: If the file has a slot that was not given (a mistake in this program, never the user's).
    """
    template = _SECTION.sub(lambda match: match[2] if slots[match[1]] else "", _template(name))
    filled = [_SLOT.sub(lambda match: slots[match[1]], part).strip() for part in template.split(DIVIDER)]
    return Prompt(system=filled[0], user=filled[1])


@cache
def _template(name: str) -> str:
    return resources.files("snellen.reasoning.llm").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")


def fenced(text: str) -> str:
    """Quote a text that others wrote, so that no line of it can pass for a part of the prompt."""
    return "\n".join(f"| {line}".rstrip() for line in plain(text).split("\n"))


def plain(text: str) -> str:
    """Drop what could hide, reorder or forge text: control and format characters, exotic line ends, turn markers."""
    lines = ["".join(map(_plain_character, line)) for line in text.strip().splitlines()]
    return _TURN_MARKERS.sub(lambda match: f" {match[0]}" if match[0] == ">" else f"{match[0]} ", "\n".join(lines))


def _plain_character(character: str) -> str:
    if character == "\t":
        return "    "
    if character in _JOINERS:
        return character
    # Cc control, Cf format (bidi overrides, invisible tags), Cs lone surrogates (cannot be sent), Co private use
    return "" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"} else character


def numbered(steps: Sequence[str]) -> str:
    """Write a plan as the paper does: "Step1, …"."""
    return "\n".join(f"Step{number}, {_one_line(step)}" for number, step in enumerate(steps, start=1))


def without_number(step: str) -> str:
    """Return a step without a leading "Step3," that a model may have written in spite of the prompt."""
    return _STEP_NUMBER.sub("", _one_line(step))


def _one_line(text: str) -> str:
    return " ".join(plain(text).split())


def listed(inputs: Mapping[str, str]) -> str:
    """Write the input variables of a program: "LEFT (Picture), RIGHT (Picture)"."""
    return ", ".join(f"{name} ({kind})" for name, kind in inputs.items())


def plan_cases(demonstrations: Sequence[Demonstration]) -> str:
    """Write up to four demonstrations for the planner, with the critique of those that are incorrect."""
    return _cases(demonstrations, _plan_case)


def program_cases(demonstrations: Sequence[Demonstration]) -> str:
    """Write up to four demonstrations for the programmer, with the critique of those that are incorrect."""
    return _cases(demonstrations, lambda shown: f"{_plan_case(shown)}\nProgram:\n{fenced(shown.program)}")


def _cases(demonstrations: Sequence[Demonstration], write: Callable[[Demonstration], str]) -> str:
    return "\n\n".join(
        f"Case {number}\n{write(shown)}{_reason(shown)}"
        for number, shown in enumerate(demonstrations[:MAX_EXAMPLES], start=1)
    )


def _plan_case(shown: Demonstration) -> str:
    return f"Instruction:\n{fenced(shown.instruction)}\nPlan:\n{fenced(numbered(shown.plan))}"


def _reason(shown: Demonstration) -> str:
    return f"\nReason:\n{fenced(shown.critique)}" if shown.critique and not shown.correct else ""


def planner_prompt(task: Task, examples: Examples, catalogue: str) -> Prompt:
    """Fill the planner's prompt (CLOVA, figure 12)."""
    return fill(
        "planner",
        {
            "catalogue": catalogue,
            "max_steps": str(MAX_PLAN_STEPS),
            "max_step_length": str(MAX_STEP_LENGTH),
            "correct": plan_cases(examples.plans_correct),
            "incorrect": plan_cases(examples.plans_incorrect),
            "inputs": listed(task.inputs),
            "instruction": fenced(task.instruction),
            "understood": fenced(task.reading.understood) if task.reading and task.reading.understood else "",
        },
    )


def programmer_prompt(task: Task, plan: Plan, examples: Examples, catalogue: str) -> Prompt:
    """Fill the programmer's prompt (CLOVA, figure 13)."""
    return fill(
        "programmer",
        {
            "catalogue": catalogue,
            "correct": program_cases(examples.programs_correct),
            "incorrect": program_cases(examples.programs_incorrect),
            "inputs": listed(task.inputs),
            "instruction": fenced(task.instruction),
            "plan": fenced(numbered(plan.steps)),
        },
    )


def lister_prompt(query: str, limit: int, candidates: Sequence[str]) -> Prompt:
    """Fill the prompt that answers a program's LIST step (CLOVA, table 2)."""
    shown = fenced("\n".join(" ".join(each.split()) for each in candidates)) if candidates else ""
    return fill("lister", {"candidates": shown, "limit": str(limit), "query": fenced(query)})


def router_prompt(message: str) -> Prompt:
    """Fill the prompt that sorts a message."""
    return fill("router", {"message": fenced(message)})
