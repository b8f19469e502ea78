"""Remembering: what a right answer teaches (CLOVA, sections 3.2 and 3.4).

Its plan and program become demonstrations. Where reflection mended them, the wrong ones are kept beside them with what
was wrong, once the Reasoner has solved the very instruction with these examples in view. Answers of VQA on the way are
stored with prompts of zeros: they say where nothing has to change.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.errors import SnellenError
from snellen.memory.demonstrations import Demonstration, demonstration
from snellen.memory.prompts import PromptOrigin, PromptSelection, learned_prompt
from snellen.memory.shortening import fitted_sentences, is_whole
from snellen.models.loading import fingerprint
from snellen.reasoning.critique import SURE, Critique
from snellen.reasoning.program_plans import plan_of
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.runtime.context import Context, usage_with
from snellen.runtime.program_execution import ReplayBench, limits_of
from snellen.runtime.resources import context_of
from snellen.runtime.task_state import PLAN_OF_EDITED, examples_of, task_of
from snellen.tools.program import ProgramLimits, StepRecord, parse
from snellen.tuning import POOLS, TuningExample, tuner_of
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json
    from snellen.memory.prompts import LearnedPrompt, PromptRow
    from snellen.reasoning.task import Examples
    from snellen.runtime.settings import Given

MAX_ANSWERS: Final = 4
"""Answers of VQA that one run leaves in the pool of prompts."""
_GUESSED: Final = (
    "The corrected program is not kept as an example: it gives the right answer here, but nothing else speaks for it."
)
_UNPROVED: Final = (
    "The corrected program is not kept as an example: with it in view, the same instruction was not solved again."
)


async def remember(state: AskState, runtime: Runtime[Given]) -> Json:
    """Add what was right to memory, and what had been wrong before; adding it again changes nothing."""
    context = await context_of(runtime, state)
    # An unjudged run may be wrong, and of one that stayed wrong nobody knows what would have been right.
    if state.verdict != "right":
        return {}
    before = context.reasoner.usage
    lessons = _right_ones(state, limits_of(context))
    mistakes = [Demonstration(**one) for one in state.lessons]
    doubt = await _doubt(state, lessons, context) if mistakes and "validation" not in context.without else ""
    if not doubt:
        await asyncio.to_thread(context.pool.add, *lessons, *mistakes)
    await asyncio.to_thread(_store_answers, state, context)
    notes = fitted_sentences([*state.notes, doubt]) if doubt else state.notes
    return {"notes": notes, "usage": usage_with(state.usage, before, context.reasoner.usage)}


def _right_ones(state: AskState, limits: ProgramLimits) -> list[Demonstration]:
    family, plan = state.family or "", state.plan
    if plan == list(PLAN_OF_EDITED):
        # It says that a person wrote the program, not how the task is done.
        plan = plan_of(parse(state.program, limits))
    return [
        demonstration("plan", state.instruction, plan=plan, correct=True, family=family),
        demonstration("program", state.instruction, plan=plan, program=state.program, correct=True, family=family),
    ]


async def _doubt(state: AskState, lessons: list[Demonstration], context: Context) -> str:
    """Say why a corrected program is no example; nothing where it is one."""
    corrections = [
        one for one in map(Critique.from_json, state.critiques) if any(f.place != "tool" for f in one.faults)
    ]
    if any(one.certainty < SURE for one in corrections):
        return _GUESSED
    return "" if await _solved_again(state, lessons, context) else _UNPROVED


async def _solved_again(state: AskState, lessons: list[Demonstration], context: Context) -> bool:
    """Have the Reasoner solve the instruction with the new examples: that proves them (CLOVA, section 3.4)."""
    examples = _with_right_ones(await asyncio.to_thread(examples_of, state, context), lessons)
    task = task_of(state)
    try:
        plan = await context.reasoner.plan(task, examples)
        program = await context.reasoner.write_program(task, plan, examples)
    except ReasoningFailed:
        return False
    return program == state.program or (await ReplayBench.of(state, context).replayer({}, program)).agrees


def _with_right_ones(examples: Examples, lessons: list[Demonstration]) -> Examples:
    plans = [one for one in lessons if one.kind == "plan"]
    programs = [one for one in lessons if one.kind == "program"]
    return replace(
        examples,
        plans_correct=[*plans, *examples.plans_correct],
        programs_correct=[*programs, *examples.programs_correct],
    )


def _store_answers(state: AskState, context: Context) -> None:
    """Store a prompt of zeros for each right answer of VQA (CLOVA, section 8.1)."""
    if context.learning is None or context.models is None:
        return
    answered = [one for step in state.steps if is_whole(step) for one in _answered(StepRecord.from_json(step))]
    prompts, pool = _zero_prompts(answered[:MAX_ANSWERS], context), context.learning.prompts
    if not prompts:
        return
    with pool.writing():
        # Their ids follow from every bit of what was seen, and the last bits depend on what was looked at together.
        there = {_about(row) for row in pool.rows(PromptSelection(pool="VQA", fingerprint=prompts[0].row.fingerprint))}
        new = {_about(one.row): one for one in prompts if _about(one.row) not in there}
        pool.add(*new.values())


def _about(row: PromptRow) -> tuple[str, str, str, bool]:
    return row.picture, row.question, row.answer, row.steps > 0


def _answered(step: StepRecord) -> list[tuple[Picture, str, str]]:
    """Return picture, question and answer of a step that asked VQA something."""
    picture, question = from_json(step.arguments.get("image")), step.arguments.get("question")
    if step.tool != "VQA" or not (isinstance(picture, Picture) and isinstance(question, str)):
        return []
    return [(picture, question, step.value)] if isinstance(step.value, str) and step.value else []


def _zero_prompts(answered: list[tuple[Picture, str, str]], context: Context) -> list[LearnedPrompt]:
    if not answered:
        return []
    try:
        tuner = tuner_of(context.vision(), "VQA")
        checkpoint = fingerprint(context.vision().profile, POOLS["VQA"])
    except SnellenError:
        return []
    examples = [
        TuningExample(context.pictures.get(one.id), question=question, answer=answer)
        for one, question, answer in answered
    ]
    return [
        learned_prompt(
            tuner.pool,
            "",
            fingerprint=checkpoint,
            prompt=np.zeros(tuner.shape, dtype=np.float32),
            feature=feature,
            source="answer",
            lesson=PromptOrigin(question=question, answer=answer, picture=picture.id, steps=0, loss=0.0),
        )
        for (picture, question, answer), feature in zip(answered, tuner.features(examples), strict=True)
    ]
