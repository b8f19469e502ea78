"""The node that judges an answer by what is known of the right one, and notes what looks wrong by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from langgraph.types import Command

from snellen.learning.feedback import contradiction
from snellen.learning.records import LearningOutcome
from snellen.memory.shortening import fitted_sentences
from snellen.nodes.ask.reflection import next_reflection
from snellen.nodes.ask.revision import trouble_of
from snellen.runtime.confidence import calibration_of
from snellen.runtime.resources import context_of
from snellen.runtime.task_state import agreement_of, attempts_with, feedback_of
from snellen.tools import program as programs
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, from_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json, Ruling
    from snellen.runtime.context import Context
    from snellen.runtime.settings import Given


async def judge(state: AskState, runtime: Runtime[Given]) -> Command[Literal["remember", "describe"]]:
    """Compare the answer with what is known of the right one, and note trouble on the way.

    A wrong answer goes to reflection, as long as there is a kind of it that was not tried. It is kept beside the run,
    for people and for judging the next one.
    """
    context = await context_of(runtime, state)
    ruling = ruling_of(state)
    troubles = await asyncio.to_thread(_troubles, state, context)
    update: Json = {"verdict": ruling, "notes": fitted_sentences(troubles)} | _helped(state, ruling)
    if ruling != "wrong" or not state.learn or next_reflection(state, context) is None:
        return Command(update=update, goto="remember")
    return Command(update=update | {"attempts": attempts_with(state)}, goto="describe")


def ruling_of(state: AskState) -> Ruling:
    """Say whether an answer is right, as far as anybody said."""
    feedback = feedback_of(state)
    if not feedback or contradiction(feedback):
        return "unjudged"
    if state.error is not None:
        return "wrong"
    if feedback.expected is None and not state.attempts:
        # Somebody saw this answer and said what is wrong with it.
        return "wrong"
    if _incomparable(state):
        return "unjudged"
    records = [StepRecord.from_json(step) for step in state.steps]
    if agreement_of(state)(from_json(state.answer), records):
        return "right"
    # A guess that was withheld is not wrong: it said what is right.
    guessed = state.answer == programs.UNDECIDED and agreement_of(state)(programs.final_value(records), records)
    return "unjudged" if guessed else "wrong"


def _helped(state: AskState, ruling: Ruling) -> Json:
    """Say of what was learned for this try whether the answer is right with it; nothing where nothing was."""
    learned = [LearningOutcome.from_json(one) for one in state.learned]
    waiting = [one.need.retried and one.is_new and one.helped is None for one in learned]
    if ruling == "unjudged" or not any(waiting):
        return {}
    outcomes = [
        replace(one, helped=ruling == "right") if waits else one for one, waits in zip(learned, waiting, strict=True)
    ]
    return {"learned": [one.to_json() for one in outcomes]}


def _incomparable(state: AskState) -> bool:
    """Tell whether words are expected of an answer that is to be looked at, without a name that TAG wrote into it."""
    tagged = any(step.get("tool") == "TAG" for step in state.steps)
    return state.expected is not None and _shows(from_json(state.answer)) and not tagged


def _troubles(state: AskState, context: Context) -> list[str]:
    conflict = contradiction(feedback_of(state))
    contradicted = [f"The feedback contradicts itself, so nothing is judged by it. {conflict}"] if conflict else []
    if state.error:
        return [*contradicted, state.error]
    trouble = trouble_of(state, [StepRecord.from_json(step) for step in state.steps], context)
    noticed = [*contradicted, *([trouble.reason] if trouble else [])]
    if context.models is not None and context.profile is not None and calibration_of(context.profile) is None:
        noticed.append(f"No confidence was calibrated for the models of the profile {context.profile.name!r}.")
    if _incomparable(state):
        noticed.append("The answer shows a picture or a place in one, which cannot be compared with words.")
    return noticed


def _shows(answer: object) -> bool:
    """Tell whether an answer is to be looked at: a picture, or regions without names."""
    if isinstance(answer, list):
        return bool(answer) and all(_shows(item) for item in answer)
    return isinstance(answer, Picture) or (isinstance(answer, Region) and not answer.label)
