"""Feedback in the state of a task: the right answer as far as it is known, and the wrong answers so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.learning.feedback import EDITING, MARKING, Agreement, agreement
from snellen.memory.shortening import fitted_answer, fitted_steps
from snellen.reasoning.critique import Feedback, region_from_json
from snellen.tools.program import StepRecord
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState, Json

_MAX_ATTEMPT_BYTES: Final = 1_500


def feedback_of(state: AskState) -> Feedback:
    """Return what is known of the right answer."""
    return Feedback(state.expected, state.correction or None, region_from_json(state.region))


def attempts_with(state: AskState) -> list[Json]:
    """Return the wrong answers so far and the present one; the first with the steps that drew or changed its picture.

    Later answers are compared with the first, and the last one's steps are in the state.
    """
    answer = fitted_answer(state.answer, limit=_MAX_ATTEMPT_BYTES).value
    if state.attempts:
        return [*state.attempts, {"answer": answer, "error": state.error, "steps": []}]
    shown = [step for step in state.steps if step.get("tool") in {*MARKING, *EDITING}]
    steps = fitted_steps(shown, limit=2 * _MAX_ATTEMPT_BYTES).value
    return [{"answer": answer, "error": state.error, "steps": steps}]


def agreement_of(state: AskState) -> Agreement:
    """Return the judge of a run's next answers: beside the first one that was wrong, or the present one."""
    first = attempts_with(state)[0]
    records = [StepRecord.from_json(step) for step in first["steps"]]
    return agreement(feedback_of(state), from_json(first["answer"]), records)
