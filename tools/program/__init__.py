"""Programs: parse text into a small tree, check it before anything runs, run it step by step.

The language is CLOVA's ``NAME=TOOL(arg=…)`` (paper, section 3.2 and figures 8 to 13) plus ``if``/``elif``/``else``
and ``for NAME in LIST:``. A program of any origin is hostile input: its text never reaches Python's evaluation.
"""

from snellen.tools.program.check import RESULT, check, inputs_for, load
from snellen.tools.program.run import run
from snellen.tools.program.steps import (
    UNDECIDED,
    ProgramFailed,
    StepRecord,
    caveat_of,
    decided_value,
    denies,
    final_value,
)
from snellen.tools.program.syntax import (
    Assign,
    Call,
    For,
    If,
    Problem,
    Program,
    ProgramError,
    ProgramLimits,
    Statement,
    parse,
)
from snellen.tools.program.unanswered import choices_asked, is_unanswered, rests_on_unanswered

__all__ = [
    "RESULT",
    "UNDECIDED",
    "Assign",
    "Call",
    "For",
    "If",
    "Problem",
    "Program",
    "ProgramError",
    "ProgramFailed",
    "ProgramLimits",
    "Statement",
    "StepRecord",
    "caveat_of",
    "check",
    "choices_asked",
    "decided_value",
    "denies",
    "final_value",
    "inputs_for",
    "is_unanswered",
    "load",
    "parse",
    "rests_on_unanswered",
    "run",
]
