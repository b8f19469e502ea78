"""Inference: the steps of the ask graph from an instruction to an answer (CLOVA, section 3.2).

recall → plan → write → run, and ``run`` once more after ``revise`` (`snellen.nodes.ask.revision`). Each node is a
function of the state, and may run twice without harm: LangGraph repeats the one that was interrupted, and no other.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.memory.picture_modes import is_grey
from snellen.memory.shortening import MAX_PROGRAM_BYTES, fitted_answer, fitted_plan, fitted_sentences, fitted_steps
from snellen.nodes.ask.revision import better_run
from snellen.reasoning.reading.reading_record import ReadingRecord
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.task import Plan
from snellen.runtime.confidence import Confidence, confidence_in
from snellen.runtime.context import Context, usage_with
from snellen.runtime.program_execution import WatchedPictures, limits_of, tools_of
from snellen.runtime.resources import context_of
from snellen.runtime.task_state import (
    PLAN_OF_EDITED,
    examples_of,
    fingerprint_of_edit,
    inputs_of,
    is_plan_edited,
    is_plan_followed,
    is_program_edited,
    needs_another_plan,
    recalled,
    task_of,
)
from snellen.tools import program as programs
from snellen.values import Picture, PictureStore, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json
    from snellen.runtime.settings import Given
    from snellen.tools.program import StepRecord


_GREY: Final = (
    "The picture has no colors, and the models were trained on pictures with colors: they miss more in it, and what "
    "they say about colors means nothing."
)


async def recall(state: AskState, runtime: Runtime[Given]) -> Json:
    """Find demonstrations for the instruction, as many of each part of the pool as the Reasoner uses."""
    context = await context_of(runtime, state)
    return {"demonstrations": await asyncio.to_thread(recalled, state, context)}


async def plan(state: AskState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner decompose the instruction into steps in words."""
    context = await context_of(runtime, state)
    reasoner, before = context.reasoner, context.reasoner.usage
    examples = await asyncio.to_thread(examples_of, state, context)
    made = await reasoner.plan(task_of(state), examples)
    steps = fitted_plan(made.steps)
    return {
        "plan": steps.value,
        "made": {"plan": fingerprint_of_edit(steps.value)},
        "warnings": _with(state.warnings, steps.notice),
        "usage": usage_with(state.usage, before, reasoner.usage),
    }


async def write(state: AskState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner turn the plan into a program that parses and checks."""
    planned = await plan(state, runtime) if needs_another_plan(state) else {}
    state = replace(state, **planned)
    context = await context_of(runtime, state)
    reasoner, before = context.reasoner, context.reasoner.usage
    examples = await asyncio.to_thread(examples_of, state, context)
    followed = Plan(steps=state.plan, edited=is_plan_edited(state))
    program = await reasoner.write_program(task_of(state), followed, examples)
    if len(program.encode()) > MAX_PROGRAM_BYTES:
        msg = f"The program is longer than {MAX_PROGRAM_BYTES:,} bytes; ask for less at once."
        raise ReasoningFailed(msg)
    made = state.made | {"follows": fingerprint_of_edit(state.plan), "program": fingerprint_of_edit(program)}
    return planned | {"program": program, "made": made, "usage": usage_with(state.usage, before, reasoner.usage)}


async def run(state: AskState, runtime: Runtime[Given]) -> Json:
    """Execute the program on worker threads, telling of each step as it is done.

    A tool that fails ends the program: the state then has no answer, and the error's sentence. A full or read-only
    disk is no fault of the program: it interrupts the node, which a resumed thread runs again.
    """
    context = await context_of(runtime, state)
    edited = is_program_edited(state) and is_plan_followed(state)
    reasoner, before = context.reasoner, context.reasoner.usage
    pictures = WatchedPictures(context.pictures)
    records: list[StepRecord] = []
    try:
        steps = await asyncio.to_thread(_execution, state, context, pictures, asyncio.get_running_loop())
        while (record := await asyncio.to_thread(next, steps, None)) is not None:
            pictures.check()
            records.append(record)
            runtime.stream_writer({"step": record.to_json()})
        outcome = _outcome(state, records)
        if outcome["error"] is None:
            loop = asyncio.get_running_loop()
            if await asyncio.to_thread(_rests_on_unanswered, state, context, pictures, loop, records):
                outcome["answer"] = programs.UNDECIDED
    except programs.ProgramError as error:
        outcome = {"steps": [], "answer": None, "caveat": None, "error": _sentence(error)}
    unfamiliar = await asyncio.to_thread(_unfamiliar, state, context)
    learned = context.models.troubles() if context.models else []
    outcome["warnings"] = _with(outcome.get("warnings", state.warnings), *unfamiliar, *learned)
    update = better_run(state, outcome, records, context)
    # Its calibration holds for the checkpoints that it was fitted with: their files are looked at.
    confidence = await asyncio.to_thread(_confidence, update, state, context, familiar=not unfamiliar)
    return (
        (_as_edited(state) if edited else {})
        | update
        | confidence
        | {"usage": usage_with(state.usage, before, reasoner.usage)}
    )


def _confidence(run: Json, state: AskState, context: Context, *, familiar: bool) -> Json:
    """Return the fields that say how sure an answer is; nothing is said of guesses and of unfamiliar pictures.

    An answer is right if the instruction was read rightly, and what it means was seen rightly.
    """
    confidence = Confidence()
    if context.profile is not None and familiar and run["caveat"] is None and run["error"] is None:
        confidence = confidence_in(run["answer"], run["steps"], run["revisions"], context.profile)
    reading = ReadingRecord.from_json(state.reading)
    meant = 1.0 if reading is None else reading.probability
    value = None if confidence.value is None else confidence.value * meant
    return {"confidence": value, "rival": confidence.rival}


def _as_edited(state: AskState) -> Json:
    """Return a plan that says what is run, where a person changed the program alone."""
    summed = fingerprint_of_edit(PLAN_OF_EDITED)
    made = {"plan": summed, "follows": summed, "program": fingerprint_of_edit(state.program)}
    return {"plan": list(PLAN_OF_EDITED), "made": made}


def _execution(
    state: AskState, context: Context, pictures: PictureStore, loop: asyncio.AbstractEventLoop
) -> Iterator[StepRecord]:
    tools, inputs = tools_of(context, pictures, loop), inputs_of(state)
    limits = limits_of(context)
    return programs.run(programs.parse(state.program, limits), inputs, tools, limits)


def _rests_on_unanswered(
    state: AskState,
    context: Context,
    pictures: PictureStore,
    loop: asyncio.AbstractEventLoop,
    records: list[StepRecord],
) -> bool:
    tools, limits = tools_of(context, pictures, loop), limits_of(context)
    program = programs.parse(state.program, limits)
    return programs.rests_on_unanswered(program, inputs_of(state), tools, limits, records)


def _unfamiliar(state: AskState, context: Context) -> list[str]:
    """Say where the answer is a guess, as a picture is grey or unlike those that the models know."""
    if context.models is None:
        return []
    references = [from_json(picture) for picture in state.pictures]
    shown = [context.pictures.get(one.id) for one in references if isinstance(one, Picture)]
    grey = [_GREY] if any(map(is_grey, shown)) else []
    return [*grey, *(warning for picture in shown if (warning := context.models.warning(picture)))]


def _outcome(state: AskState, records: list[StepRecord]) -> Json:
    value, error = None, None
    try:
        value = to_json(programs.decided_value(records))
    except SnellenError as failure:
        error = _sentence(failure)
    steps = fitted_steps([record.to_json() for record in records])
    answer = fitted_answer(value)
    warnings = [warning for record in records for warning in record.warnings]
    # What the steps of a wrong attempt warned of is not about this one.
    of_before = {warning for step in state.steps for warning in step.get("warnings", ())}
    known = [warning for warning in state.warnings if warning not in of_before]
    return {
        "steps": steps.value,
        "answer": answer.value,
        "caveat": programs.caveat_of(records) if error is None else None,
        "error": error,
        "warnings": _with(known, *warnings, steps.notice, answer.notice),
    }


def _sentence(error: SnellenError) -> str:
    """Put an error on one line, short enough for a checkpoint."""
    return fitted_sentences([" ".join(str(error).split())])[0]


def _with(warnings: list[str], *more: str | None) -> list[str]:
    return fitted_sentences([*warnings, *(sentence for sentence in more if sentence)])
