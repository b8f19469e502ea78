"""Unanswered questions of a run: VQA said none of the choices that it was asked for ("is the cat small or large?").

Such an answer is none, and the program went on as if it were one. What the run gives in the end still holds where it
is the same whichever choice is right; the steps are run again with each, and no call is made a second time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.scoring.answers import same
from snellen.tools.program.run import run
from snellen.tools.program.steps import StepRecord, final_value

if TYPE_CHECKING:
    from snellen.tools.program.syntax import Program, ProgramLimits
    from snellen.tools.registry import ToolContext
    from snellen.values import Value

_CHOICES: Final = re.compile(r"(?:is|are) (?!there\b).*?\b((?:\w+, )*\w+),? or (\w+)\W*")
_MOST: Final = 8
"""Runs with other answers; where it takes more, the answer counts as resting on them."""


def choices_asked(question: str) -> tuple[str, ...]:
    """Return the choices that a question to VQA names: small and large, of "Is the cat small or large?"."""
    found = _CHOICES.fullmatch(" ".join(question.split()).casefold())
    return (*found[1].split(", "), found[2]) if found else ()


def is_unanswered(question: str, answer: str) -> bool:
    """Tell whether an answer is none of the choices that a question names."""
    choices = choices_asked(question)
    return bool(choices) and not any(same(answer, one) for one in choices)


def rests_on_unanswered(
    program: Program,
    inputs: Mapping[str, Value],
    context: ToolContext,
    limits: ProgramLimits,
    records: Sequence[StepRecord],
) -> bool:
    """Tell whether a run would give another result if VQA had said one of the choices where it said none.

    Args:
        program: The program.
        inputs: The values of its inputs.
        context: What its tools may use.
        limits: Where a run is stopped.
        records: Those of the run, which gave a result.
    """
    asked = {one.address: str(one.arguments["question"]) for one in records if _lacks_an_answer(one)}
    answers = [choices_asked(question) for question in asked.values()]
    result = final_value(records)
    for number, chosen in enumerate(product(*answers) if asked else ()):
        overrides = dict(zip(asked, chosen, strict=True))
        running = run(program, inputs, context, limits, overrides=overrides, known=records)
        try:
            if number >= _MOST or not same(final_value(list(running)), result):
                return True
        except SnellenError:
            return True
    return False


def _lacks_an_answer(record: StepRecord) -> bool:
    question, answer = record.arguments.get("question"), record.output
    return record.tool == "VQA" and isinstance(answer, str) and is_unanswered(str(question), answer)
