"""Readings of a task's state: its inputs, examples and feedback, its wrong answers, and what a person edited in it.

An edited plan binds: the program is written to it, or the task is refused. An edited program is run as it is, and the
plan then says so. What a state shows so never contradicts what was run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, get_args

from snellen.learning.feedback import EDITING, MARKING, Agreement, agreement
from snellen.memory.demonstrations import Demonstration, Kind
from snellen.memory.shortening import fitted_answer, fitted_steps
from snellen.reasoning.critique import Feedback, region_from_json
from snellen.reasoning.reading.reading_record import ReadingRecord
from snellen.reasoning.reasoner import MAX_EXAMPLES
from snellen.reasoning.task import Examples, Task
from snellen.tools import program as programs
from snellen.tools.program import StepRecord
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState, Json
    from snellen.memory.demonstrations import Failure
    from snellen.runtime.context import Context

_MAX_ATTEMPT_BYTES: Final = 1_500
PLAN_OF_EDITED: Final = ("Run the program as it was edited.",)
"""The plan of a program that a person changed without changing the plan."""


def inputs_of(state: AskState) -> dict[str, Picture]:
    """Return the pictures of a task by the names of its program's inputs."""
    references = [from_json(picture) for picture in state.pictures]
    return dict(zip(programs.inputs_for(len(references)), references, strict=True))


def task_of(state: AskState) -> Task:
    """Return what the Reasoner is told of a task."""
    return Task(
        instruction=state.instruction,
        inputs=programs.inputs_for(len(state.pictures)),
        family=state.family,
        reading=ReadingRecord.from_json(state.reading),
    )


def recalled(state: AskState, context: Context, *, failure: Failure = "") -> list[str]:
    """Return the ids of the demonstrations to show, of each part of the pool as many as the Reasoner uses.

    Args:
        state: The task.
        context: Its pool and its Reasoner.
        failure: How the program failed that is being revised; mistakes of that sort then come first.
    """
    wanted, recall = context.reasoner.examples_wanted, context.pool.nearest
    chosen: list[Demonstration] = []
    for kind in get_args(Kind):
        right = recall(state.instruction, kind, correct=True, k=wanted)
        wrong = recall(state.instruction, kind, correct=False, k=wanted, beside=right[:MAX_EXAMPLES], failure=failure)
        chosen += [*right, *wrong]
    return [one.id for one in chosen]


def examples_of(state: AskState, context: Context) -> Examples:
    """Return the recalled demonstrations, by the four parts of the pool, after what went wrong in this very run."""
    shown = [*(Demonstration(**one) for one in state.lessons), *context.pool.get(state.demonstrations)]

    def part(kind: str, *, correct: bool) -> list[Demonstration]:
        if ("correct" if correct else "incorrect") in context.without:
            return []
        return [one for one in shown if one.kind == kind and one.correct == correct]

    return Examples(
        plans_correct=part("plan", correct=True),
        plans_incorrect=part("plan", correct=False),
        programs_correct=part("program", correct=True),
        programs_incorrect=part("program", correct=False),
    )


def feedback_of(state: AskState) -> Feedback:
    """Return what is known of the right answer."""
    return Feedback(state.expected, state.correction or None, region_from_json(state.region))


def attempts_with(state: AskState) -> list[Json]:
    """Return the wrong answers so far and the present one; the first with the steps that drew or changed its picture.

    Later answers are compared with the first, and the last one's steps are in the state.
    """
    answer = fitted_answer(state.answer, limit=_MAX_ATTEMPT_BYTES).value
    shown = [step for step in state.steps if step.get("tool") in {*MARKING, *EDITING}] if not state.attempts else []
    attempt: Json = {"answer": answer, "error": state.error, "caveat": state.caveat}
    attempt["steps"] = fitted_steps(shown, limit=2 * _MAX_ATTEMPT_BYTES).value
    if state.revisions:
        attempt["revisions"] = [
            {name: one[name] for name in ("trouble", "change", "helped")} for one in state.revisions
        ]
    return [*state.attempts, attempt]


def agreement_of(state: AskState) -> Agreement:
    """Return the judge of a run's next answers: beside the first one that was wrong, or the present one."""
    first = attempts_with(state)[0]
    records = [StepRecord.from_json(step) for step in first["steps"]]
    return agreement(feedback_of(state), from_json(first["answer"]), records)


def fingerprint_of_edit(made: Sequence[str] | str) -> str:
    """Return a short sum of a plan or a program."""
    return hashlib.sha256(json.dumps(made if isinstance(made, str) else list(made)).encode()).hexdigest()[:16]


def is_plan_edited(state: AskState) -> bool:
    """Tell whether the plan is not the one that was made; of older threads nobody knows."""
    return "plan" in state.made and fingerprint_of_edit(state.plan) != state.made["plan"]


def is_program_edited(state: AskState) -> bool:
    """Tell whether the program is not the one that was made."""
    return "program" in state.made and fingerprint_of_edit(state.program) != state.made["program"]


def is_plan_followed(state: AskState) -> bool:
    """Tell whether the program was written to the plan that the state holds."""
    return "follows" not in state.made or fingerprint_of_edit(state.plan) == state.made["follows"]


def is_by_a_person(state: AskState) -> bool:
    """Tell whether a person made the plan or the program as they are: they are run so, or the task is refused."""
    return is_program_edited(state) or is_plan_edited(state) or state.plan == list(PLAN_OF_EDITED)


def needs_another_plan(state: AskState) -> bool:
    """Tell whether a plan is of no use to write a program to: it stands for an edited one, or its answer was wrong."""
    return state.plan == list(PLAN_OF_EDITED) or (bool(state.lessons) and is_plan_edited(state))
