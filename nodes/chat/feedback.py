"""Feedback in a conversation: what is done with a remark about the last answer, and what is asked before that."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from langgraph.types import Command

from snellen.learning.feedback import bears_on
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.critique import Feedback
from snellen.reasoning.meanings.talk import Correction, Decline
from snellen.reasoning.reading.remarks import Remark
from snellen.reasoning.reading.talk_reader import read_correction, read_talk
from snellen.summaries.values import in_words
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState, Json
    from snellen.runtime.context import Context

NOT_UNDERSTOOD: Final = (
    "I do not understand what the answer should be, so I learn nothing from it. Say it in a few words: “it should be "
    "three”, “that is not a cat”, “there is also a cat on the left”."
)


async def given(remark: Remark, state: ChatState, context: Context) -> Command[Any]:
    """Act on a remark about the last answer; ask first where it is not sure that it is one."""
    if remark.unsure:
        pending = {"remark": _json(replace(remark, unsure=False))}
        return Command(update={"said": question_about(state, remark), "route": "ask", "pending": pending}, goto="reply")
    objection = await asyncio.to_thread(_objection, state, remark, context)
    update: Json = {"said": objection, "route": "ask", "remark": _json(remark), "pending": {}}
    return Command(update=update, goto="reply" if objection else "ask")


def agreed(remark: Remark, state: ChatState, context: Context) -> Command[Any]:
    """Act on a remark that was asked about."""
    objection = _objection(state, replace(remark, unsure=False), context)
    update: Json = {"said": objection, "route": "ask", "remark": _json(remark), "pending": {}}
    return Command(update=update, goto="reply" if objection else "ask")


async def not_understood(text: str, state: ChatState, context: Context) -> Command[Any]:
    """Hand words that no grammar reads to a chat model; without one, say that they were not understood."""
    if isinstance(context.reasoner, CaseReasoner):
        return Command(update={"said": NOT_UNDERSTOOD, "route": "ask", "pending": {}}, goto="reply")
    return await given(Remark(correction=text), state, context)


def only_denied(text: str) -> bool:
    """Tell whether a sentence begins with a denial: "no, …"."""
    head = text.partition(",")[0]
    return head != text and any(
        (isinstance(each, Decline) and each.bare) or (isinstance(each, Correction) and each.only_denies)
        for each in read_talk(head)
    )


def question_about(state: ChatState, remark: Remark) -> str:
    """Ask whether a sentence corrects the last answer."""
    answer, correction = in_words(from_json(state.last["state"]["answer"])), _read(remark)
    if not (remark.expected or correction.expected or correction.present):
        return f"Do you mean that “{answer}” is wrong? Say “yes”, and I look into it."
    other = remark.expected or correction.expected or f"with {correction.present}"
    return f"Do you mean that the answer should be “{other}”, and not “{answer}”? Say “yes”, and I look into it."


def _read(remark: Remark) -> Correction:
    return read_correction(remark.correction) or Correction()


def _json(remark: Remark) -> Json:
    return {"right": remark.right, "expected": remark.expected, "correction": remark.correction}


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
    if correction is None and isinstance(context.reasoner, CaseReasoner):
        return NOT_UNDERSTOOD
    return "" if bears_on(_read(remark), answer) else f"{NOT_UNDERSTOOD} The answer was “{in_words(answer)}”."
