"""An operation that no seed shows is shown once, remembered, and used by the next similar task."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from snellen.graphs.ask import builder
from snellen.graphs.states import STATE_TYPES, AskState
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.checkpoints import serializer
from snellen.memory.demonstrations import DemonstrationPool
from snellen.profiles import load_profile
from snellen.reasoning.case_based import reasoner as case_based
from snellen.reasoning.case_based.reasoner import CaseReasoner, seed_demonstrations
from snellen.reasoning.llm.reasoner import ChatReasoner
from snellen.reasoning.reasoner import TaskRefused
from snellen.reasoning.subjects import subjects_of
from snellen.runtime.context import Context
from snellen.runtime.task_state import PLAN_OF_EDITED
from snellen.values import to_json
from tests.graphs.scripted import ScriptedReasoner, embed
from tests.learning.colours import Box, ColourModels, drawn

TOOL = "BETWEEN"
SHOWN = f"""\
BOX0=LOC(image=IMAGE,object='thing')
BOX1=LOC(image=IMAGE,object='cat')
BOX2=LOC(image=IMAGE,object='dog')
BETWEEN0={TOOL}(object=BOX0,of=BOX1,other=BOX2)
ANSWER0=BETWEEN0[0].label
FINAL_RESULT=RESULT(var=ANSWER0)
"""
PICTURE = (("cat", (4, 40, 20, 56)), ("bus", (40, 40, 56, 56)), ("dog", (76, 40, 92, 56)))
NEXT_PICTURE = (("bus", (4, 40, 20, 56)), ("dog", (40, 40, 56, 56)), ("cat", (76, 40, 92, 56)))


class Unsegmenting(ColourModels):
    """Models that find no segments."""

    def segment(self, pictures: Sequence[PIL.Image.Image]) -> list[list[Any]]:
        return [[] for _ in pictures]


class Imitator(GenericFakeChatModel):
    """A chat model that writes the first program that its prompt shows, about the things of the instruction."""

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:  # noqa: ANN401 - LangChain's
        role, prompt = str(messages[0].content), str(messages[-1].content)
        reply: dict[str, Any] = {"steps": ["Look at what is between them."]}
        if "**programmer**" in role:
            shown = re.findall(r"Program:\n((?:\|.*\n)+)", prompt)
            program = "\n".join(line[2:] for line in shown[0].splitlines()) if shown else "A=1\nF=RESULT(var=A)"
            reply = {"program": program.replace("'cat'", "'bus'").replace("'dog'", "'cat'")}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(json.dumps(reply)))])


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A run with a case-based reasoner whose seeds know nothing of the tool."""
    without = tuple(one for one in seed_demonstrations() if TOOL not in subjects_of(one))
    assert len(without) < len(seed_demonstrations())
    monkeypatch.setattr(case_based, "seed_demonstrations", lambda: without)
    profile = load_profile("embedded")
    pool = DemonstrationPool(tmp_path, embed=embed, constructs=subjects_of)
    pool.add(*without)
    models: Any = Unsegmenting()
    pictures = ArtifactStore(tmp_path / "artifacts")
    return Context(pictures=pictures, reasoner=CaseReasoner(profile), pool=pool, models=models, profile=profile)


async def answered(
    context: Context, instruction: str, things: Sequence[tuple[str, Box]], *, expected: str, by_hand: str = ""
) -> AskState:
    """Answer a task; with a program by hand, a person writes it in the place of the Reasoner's."""
    config: Any = {"configurable": {"thread_id": "thread"}}
    graph = builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    picture = to_json(context.pictures.put(drawn(*things)))
    start = AskState(instruction=instruction, pictures=[picture], expected=expected, family="vqa", learn=False)
    if by_hand:
        author = replace(context, reasoner=ScriptedReasoner())
        await graph.ainvoke(start, config, context=author, interrupt_after=["write"])
        await graph.aupdate_state(config, {"program": by_hand})
        start = None  # type: ignore[assignment]
    await graph.ainvoke(start, config, context=context)
    return AskState(**(await graph.aget_state(config)).values)


async def taught(context: Context) -> None:
    state = await answered(context, "What do the cat and the dog enclose?", PICTURE, expected="bus", by_hand=SHOWN)
    assert (state.verdict, state.plan) == ("right", list(PLAN_OF_EDITED))


async def asked_next(context: Context) -> AskState:
    return await answered(context, "What do the bus and the cat enclose?", NEXT_PICTURE, expected="dog")


async def test_the_case_based_reasoner_uses_what_it_was_shown(context: Context) -> None:
    with pytest.raises(TaskRefused, match="“enclose” is not known"):
        await asked_next(context)

    await taught(context)
    state = await asked_next(context)

    assert state.program == SHOWN.replace("'cat'", "'bus'").replace("'dog'", "'cat'")
    assert (state.answer, state.verdict) == ("dog", "right")


async def test_a_chat_model_is_shown_it_first(context: Context) -> None:
    chat = replace(context, reasoner=ChatReasoner(Imitator(messages=iter(()))))
    assert TOOL not in (await asked_next(chat)).program

    await taught(context)
    state = await asked_next(chat)

    assert f"{TOOL}(" in state.program
    assert (state.answer, state.verdict) == ("dog", "right")


async def test_the_plan_of_a_program_by_hand_is_remembered_in_words(context: Context) -> None:
    await taught(context)

    plans = [one.plan for one in context.pool.learned()]
    assert plans[0] == plans[1]
    assert list(PLAN_OF_EDITED) not in plans
    assert "object 'cat'" in plans[0][1]
