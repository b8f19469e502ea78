"""The node that chooses the part of Snellen which a message is for, and reads feedback on the last answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from langgraph.types import Command

from snellen.learning.feedback import bears_on
from snellen.nodes.chat.forgetting import ACTION, KEPT
from snellen.nodes.chat.messages import ABOUT_MEMORY, GREETING, command_in, last_task, last_text
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.critique import Feedback
from snellen.reasoning.language.corrections import read_correction
from snellen.reasoning.language.forget_requests import agrees, declines
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.language.lexicon import lexicon_of
from snellen.reasoning.language.replies import Remark, greets, is_courtesy, read_remark
from snellen.runtime.resources import context_of
from snellen.summaries.runs import in_words
from snellen.values import Picture, Region, from_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, ChatState, Json
    from snellen.runtime.context import Context
    from snellen.runtime.settings import Given

Place = Literal["ask", "learn", "investigate", "explain", "forget", "erase", "reply"]

_SEARCHES: Final = ("LOC", "FACEDET", "SEG", "SELECT", "CLASSIFY")
_UNCLEAR: Final = f"I do not understand what to do with that. {GREETING}"
_NOTHING_SHOWN: Final = "There is no picture to look at yet: send one with the question."
_WELCOME: Final = "You are welcome."
_NOT_LEARNED: Final = "Then I learn nothing from it."
_NOT_UNDERSTOOD: Final = (
    "I do not understand what the answer should be, so I learn nothing from it. Say it in a few words: “it should be "
    "three”, “that is not a cat”, “there is also a cat on the left”."
)


async def route(state: ChatState, runtime: Runtime[Given]) -> Command[Place]:
    """Choose the part of Snellen that the message is for."""
    if state.said:
        return Command(goto="reply")
    context = await context_of(runtime, state)
    text = last_text(state)
    # Whatever is said to a question answers it: only a plain yes agrees, and nothing stays open.
    pending: Json = {} if state.fresh else state.pending
    if ACTION in pending and agrees(text):
        return Command(update={"route": "forget"}, goto="erase")
    if pending and declines(text):
        return _reply(KEPT if ACTION in pending else _NOT_LEARNED, state.route)
    remark = Remark(**pending["remark"]) if "remark" in pending and agrees(text) else _remark(state, text, context)
    if remark:
        return await _to_feedback(state, remark, context)
    if is_courtesy(text):
        return _reply(f"Hello. {GREETING}" if greets(text) else _WELCOME, "unclear")
    chosen = "explain" if ABOUT_MEMORY.search(command_in(state)) else await context.reasoner.route(text)
    if chosen == "unclear":
        return _reply(_UNCLEAR, chosen)
    if chosen == "ask" and not state.pictures:
        return _reply(_NOTHING_SHOWN, chosen)
    return Command(update={"route": chosen, "pending": {}}, goto=chosen)


def _reply(text: str, chosen: str) -> Command[Place]:
    return Command(update={"said": text, "route": chosen, "pending": {}}, goto="reply")


async def _to_feedback(state: ChatState, remark: Remark, context: Context) -> Command[Place]:
    """Act on a remark about the last answer; ask first where it is not sure that it is one."""
    meant: Json = {"right": remark.right, "expected": remark.expected, "correction": remark.correction}
    if remark.unsure:
        question = {"said": _question_about(state, remark), "route": "ask", "pending": {"remark": meant}}
        return Command(update=question, goto="reply")
    objection = await asyncio.to_thread(_objection, state, remark, context)
    update: Json = {"said": objection, "route": "ask", "remark": meant, "pending": {}}
    return Command(update=update, goto="reply" if objection else "ask")


def _question_about(state: ChatState, remark: Remark) -> str:
    """Ask whether a sentence corrects the last answer."""
    answer, correction = in_words(from_json(state.last["state"]["answer"])), read_correction(remark.correction)
    if not (remark.expected or correction.expected or correction.present):
        return f"Do you mean that “{answer}” is wrong? Say “yes”, and I look into it."
    other = remark.expected or correction.expected or f"with {correction.present}"
    return f"Do you mean that the answer should be “{other}”, and not “{answer}”? Say “yes”, and I look into it."


def _remark(state: ChatState, text: str, context: Context) -> Remark:
    """Read a message as feedback on the last answer; nothing where there is none, or new pictures came with it."""
    if state.last.get("graph") != "ask" or state.fresh:
        return Remark()
    answer = from_json(state.last["state"]["answer"])
    shows = isinstance(answer, Picture | Region) or (isinstance(answer, list) and bool(answer))
    names = lexicon_of(context.profile).nouns if context.profile else {}
    return read_remark(text, shows=shows, noun=_looked_for(last_task(state)), answer=answer, names=names)


def _looked_for(task: AskState) -> str:
    """Return the name of what the task's program looked for last."""
    for step in reversed(task.steps):
        name = step.get("arguments", {}).get("object")
        if step.get("tool") in _SEARCHES and isinstance(name, str):
            return singular(name)
    return ""


def _objection(state: ChatState, remark: Remark, context: Context) -> str:
    """Say why nothing can be learned from a remark; nothing where something can."""
    answer = from_json(state.last["state"]["answer"])
    if remark.right:
        compared = isinstance(answer, str | int | float | bool) and not state.last["state"]["error"]
        return "" if compared else "Good. There is nothing to correct then."
    feedback = Feedback(remark.expected or None, remark.correction or None, None)
    if feedback.expected:
        return ""
    correction = read_correction(remark.correction)
    if not correction and isinstance(context.reasoner, CaseReasoner):
        return _NOT_UNDERSTOOD
    return "" if bears_on(correction, answer) else f"{_NOT_UNDERSTOOD} The answer was “{in_words(answer)}”."
