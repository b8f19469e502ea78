"""Inference: the steps of the ask graph from an instruction to an answer (CLOVA, section 3.2).

recall → plan → write → run. Each node is a function of the state, and may run twice without harm:
LangGraph repeats the one that was interrupted, and only that one.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.memory.demonstrations import Demonstration
from snellen.memory.home import MemoryTrouble
from snellen.memory.picture_modes import is_grey
from snellen.memory.shortening import MAX_PROGRAM_BYTES, fitted_answer, fitted_plan, fitted_sentences, fitted_steps
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.task import Examples, Plan, Task
from snellen.runtime.context import Context
from snellen.runtime.edits import (
    PLAN_OF_EDITED,
    fingerprint,
    is_plan_edited,
    is_plan_followed,
    is_program_edited,
    needs_another_plan,
)
from snellen.runtime.resources import context_of
from snellen.tools import program as programs
from snellen.tools.registry import ToolContext
from snellen.values import Picture, PictureStore, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import PIL.Image
    from langgraph.runtime import Runtime

    # Types only: at run time the graphs know the nodes, never the other way round.
    from snellen.graphs.states import AskState, Json
    from snellen.reasoning.reasoner import Reasoner, ReasonerUsage
    from snellen.runtime.settings import Given
    from snellen.tools.program import StepRecord


_GREY: Final = (
    "The picture has no colors, and the models were trained on pictures with colors: they miss more in it, and what "
    "they say about colors means nothing."
)


async def recall(state: AskState, runtime: Runtime[Given]) -> Json:
    """Find the demonstrations nearest to the instruction, as many of each part of the pool as the Reasoner uses."""
    context = await context_of(runtime, state)
    return {"demonstrations": await asyncio.to_thread(_nearest, state, context)}


async def plan(state: AskState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner decompose the instruction into steps in words."""
    context = await context_of(runtime, state)
    reasoner, before = context.reasoner, context.reasoner.usage
    examples = await asyncio.to_thread(examples_of, state, context)
    made = await reasoner.plan(task_of(state), examples)
    steps = fitted_plan(made.steps)
    return {
        "plan": steps.value,
        "made": {"plan": fingerprint(steps.value)},
        "warnings": _with(state.warnings, steps.notice),
        "usage": used(state.usage, before, reasoner.usage),
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
    made = state.made | {"follows": fingerprint(state.plan), "program": fingerprint(program)}
    return planned | {"program": program, "made": made, "usage": used(state.usage, before, reasoner.usage)}


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
    except programs.ProgramError as error:
        outcome = {"steps": [], "answer": None, "error": _sentence(error)}
    doubts = await asyncio.to_thread(_doubts, state, context)
    return (
        (_as_edited(state) if edited else {})
        | outcome
        | {
            "warnings": _with(outcome.get("warnings", state.warnings), *doubts),
            "usage": used(state.usage, before, reasoner.usage),
        }
    )


def _as_edited(state: AskState) -> Json:
    """Return a plan that says what is run, where a person changed the program alone."""
    summed = fingerprint(PLAN_OF_EDITED)
    made = {"plan": summed, "follows": summed, "program": fingerprint(state.program)}
    return {"plan": list(PLAN_OF_EDITED), "made": made}


def _nearest(state: AskState, context: Context) -> list[str]:
    return [
        one.id
        for kind in ("plan", "program")
        for correct in (True, False)
        for one in context.pool.nearest(state.instruction, kind, correct=correct, k=context.reasoner.examples_wanted)
    ]


def examples_of(state: AskState, context: Context) -> Examples:
    """Return the recalled demonstrations, by the four parts of the pool, after what went wrong in this very run."""
    recalled = [*(Demonstration(**one) for one in state.lessons), *context.pool.get(state.demonstrations)]

    def part(kind: str, *, correct: bool) -> list[Demonstration]:
        if ("correct" if correct else "incorrect") in context.without:
            return []
        return [one for one in recalled if one.kind == kind and one.correct == correct]

    return Examples(
        plans_correct=part("plan", correct=True),
        plans_incorrect=part("plan", correct=False),
        programs_correct=part("program", correct=True),
        programs_incorrect=part("program", correct=False),
    )


class WatchedPictures:
    """A store that remembers when it could not store or read: the machine's trouble, not the program's."""

    def __init__(self, store: PictureStore) -> None:
        self._store = store
        self._trouble: MemoryTrouble | None = None

    def put(self, picture: PIL.Image.Image) -> Picture:
        """Store a picture."""
        try:
            return self._store.put(picture)
        except MemoryTrouble as trouble:
            self._trouble = trouble
            raise

    def get(self, picture_id: str) -> PIL.Image.Image:
        """Return a stored picture."""
        try:
            return self._store.get(picture_id)
        except MemoryTrouble as trouble:
            self._trouble = trouble
            raise

    def check(self) -> None:
        """Raise the trouble there was, which the program's runner has taken for a failed step."""
        if self._trouble is not None:
            raise self._trouble


def tools_of(context: Context, pictures: PictureStore, loop: asyncio.AbstractEventLoop) -> ToolContext:
    """Return what the tools of a program use; those that ask the Reasoner do so on its event loop."""
    return ToolContext(
        pictures=pictures,
        models=context.models,
        list_knowledge=_knowledge(context.reasoner, loop),
        profile=context.profile,
    )


def inputs_of(state: AskState) -> dict[str, Picture]:
    """Return the pictures of a task by the names of its program's inputs."""
    references = [from_json(picture) for picture in state.pictures]
    return dict(zip(programs.inputs_for(len(references)), references, strict=True))


def task_of(state: AskState) -> Task:
    """Return what the Reasoner is told of a task."""
    return Task(instruction=state.instruction, inputs=programs.inputs_for(len(state.pictures)), family=state.family)


def _execution(
    state: AskState, context: Context, pictures: PictureStore, loop: asyncio.AbstractEventLoop
) -> Iterator[StepRecord]:
    tools, inputs = tools_of(context, pictures, loop), inputs_of(state)
    limits = programs.ProgramLimits() if context.profile is None else programs.ProgramLimits.of(context.profile)
    return programs.run(programs.parse(state.program, limits), inputs, tools, limits)


def _doubts(state: AskState, context: Context) -> list[str]:
    """Say where the answer is a guess: grey or unfamiliar pictures, and lessons that are damaged."""
    if context.models is None:
        return []
    references = [from_json(picture) for picture in state.pictures]
    shown = [context.pictures.get(one.id) for one in references if isinstance(one, Picture)]
    grey = [_GREY] if any(map(is_grey, shown)) else []
    unfamiliar = [said for picture in shown if (said := context.models.warning(picture))]
    return [*grey, *unfamiliar, *context.models.troubles()]


def _knowledge(reasoner: Reasoner, loop: asyncio.AbstractEventLoop) -> Callable[[str, int, Sequence[str]], list[str]]:
    """Let a tool on a worker thread ask the Reasoner, which lives on the event loop."""

    def ask(query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        return asyncio.run_coroutine_threadsafe(reasoner.list_knowledge(query, limit, candidates), loop).result()

    return ask


def _outcome(state: AskState, records: list[StepRecord]) -> Json:
    value, error = None, None
    try:
        value = to_json(programs.final_value(records))
    except SnellenError as failure:
        error = _sentence(failure)
    steps = fitted_steps([record.to_json() for record in records])
    answer = fitted_answer(value)
    said = [warning for record in records for warning in record.warnings]
    return {
        "steps": steps.value,
        "answer": answer.value,
        "error": error,
        "warnings": _with(state.warnings, *said, steps.notice, answer.notice),
    }


def _sentence(error: SnellenError) -> str:
    """Put an error on one line, short enough for a checkpoint."""
    return fitted_sentences([" ".join(str(error).split())])[0]


def _with(warnings: list[str], *more: str | None) -> list[str]:
    return fitted_sentences([*warnings, *(sentence for sentence in more if sentence)])


def used(so_far: Json, before: ReasonerUsage, after: ReasonerUsage) -> Json:
    """Add what one node has used; a Reasoner counts from when it was made, which may be since the thread began."""
    counts = {name: value for name, value in asdict(after).items() if value is not None}
    earlier = asdict(before)
    return {name: so_far.get(name, 0) + value - (earlier[name] or 0) for name, value in counts.items()}
