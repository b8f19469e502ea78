"""Instructions that are answered as a user's are, by the graph, with the embedded models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.instruction_scores import InstructionAnswer
from benchmarks.reference_programs import tagged
from snellen.errors import SnellenError
from snellen.graphs.ask import graph
from snellen.graphs.states import AskState
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import home
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Scene
from snellen.runtime.context import Context
from snellen.summaries.runs import in_words, steps_of
from snellen.threads import ask
from snellen.values import Picture, from_json, to_json

ASKED_BACK: Final = "asked back"


@dataclass(frozen=True)
class AnsweredInstruction:
    """What came of an instruction.

    Attributes:
        answer: The answer; empty where there is none.
        refusal: Why there is none: what was said, or ``asked back``.
        state: The state of the thread; None where it was refused.
    """

    answer: InstructionAnswer
    refusal: str = ""
    state: AskState | None = None


def asking_context(folder: Path) -> Context:
    """Return a context of the embedded profile whose pictures are kept in a folder."""
    return replace(ask.make_context("embedded", home()), pictures=ArtifactStore(folder / "pictures"))


async def answered(instruction: str, scenes: Sequence[Scene], context: Context) -> AnsweredInstruction:
    """Ask an instruction about drawn scenes."""
    stored = [to_json(context.pictures.put(draw(scene))) for scene in scenes]
    task = AskState(instruction=instruction, pictures=stored)
    try:
        values = await graph.ainvoke(task, context=context, output_keys=graph.stream_channels_list)
    except SnellenError as error:
        return AnsweredInstruction(InstructionAnswer(), refusal=str(error))
    if "__interrupt__" in values:
        return AnsweredInstruction(InstructionAnswer(), refusal=ASKED_BACK)
    state = AskState(**values)
    return AnsweredInstruction(_answer(state, context), state=state)


def _answer(state: AskState, context: Context) -> InstructionAnswer:
    if state.error is not None:
        return InstructionAnswer()
    value = from_json(state.answer)
    if not isinstance(value, Picture):
        return InstructionAnswer(in_words(value))
    return InstructionAnswer("", context.pictures.get(value.id), tagged(steps_of(state)))
