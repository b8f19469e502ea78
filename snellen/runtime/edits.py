"""Edits: plans and programs that a person changed in the state, told from those that the Reasoner made.

An edited plan binds: the program is written to it, or the task is refused. An edited program is run as it is, and the
plan then says so. What a state shows so never contradicts what was run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    # Types only: at run time the graphs know the nodes, never the other way round.
    from snellen.graphs.states import AskState

PLAN_OF_EDITED: Final = ("Run the program as it was edited.",)
"""The plan of a program that a person changed without changing the plan."""


def fingerprint(made: Sequence[str] | str) -> str:
    """Return a short sum of a plan or a program."""
    return hashlib.sha256(json.dumps(made if isinstance(made, str) else list(made)).encode()).hexdigest()[:16]


def is_plan_edited(state: AskState) -> bool:
    """Tell whether the plan is not the one that was made; of older threads nobody knows."""
    return "plan" in state.made and fingerprint(state.plan) != state.made["plan"]


def is_program_edited(state: AskState) -> bool:
    """Tell whether the program is not the one that was made."""
    return "program" in state.made and fingerprint(state.program) != state.made["program"]


def is_plan_followed(state: AskState) -> bool:
    """Tell whether the program was written to the plan that the state holds."""
    return "follows" not in state.made or fingerprint(state.plan) == state.made["follows"]


def needs_another_plan(state: AskState) -> bool:
    """Tell whether a plan is of no use to write a program to: it stands for an edited one, or its answer was wrong."""
    return state.plan == list(PLAN_OF_EDITED) or (bool(state.lessons) and is_plan_edited(state))
