"""Nodes that hand a message to the graphs ask, learn and investigate, and keep their results for the conversation.

Each is made for a compiled graph: ``builder.add_node("ask", ask_with(graph))``. Feedback on the last answer ("no, it's
the left one") goes back into the task that gave it.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, cast

from snellen.errors import BadInput
from snellen.experiments.report import Report
from snellen.graphs.messages import MAX_PICTURES
from snellen.graphs.states import AskState, InvestigateState, LearnState
from snellen.learning.feedback import fields_changed_by
from snellen.learning.needs import checked_concept, needs_for
from snellen.learning.records import LearningOutcome
from snellen.nodes.chat.messages import MOST_SHOWN, last_text, talk_of
from snellen.reasoning.critique import Feedback
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.meanings.talk import LearnOrder
from snellen.reasoning.reading.remarks import Remark
from snellen.reasoning.reasoner import TaskRefused
from snellen.runtime.context import Context, given_of, thread_name
from snellen.runtime.investigation_requests import InvestigationRequest, initial_fields
from snellen.runtime.node_execution import final_state
from snellen.runtime.resources import context_of
from snellen.runtime.settings import Given, InvestigationSettings
from snellen.summaries.chat_replies import answer_in_words, lessons_in_words, outlined_answer
from snellen.summaries.values import in_words
from snellen.values import Picture, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

    from snellen.graphs.states import ChatState, Json

    Graph = CompiledStateGraph[Any, Any, Any, Any]
    Node = Callable[[ChatState, Runtime[Given]], Awaitable[Json]]

CHAT_IMAGES: Final = 600
"""Pictures that an investigation within a chat may use, where nothing else is said: a minute or two."""


def ask_with(graph: Graph) -> Node:
    """Return the node that has the ask graph do a visual task, or think again about the last one."""

    async def ask(state: ChatState, runtime: Runtime[Given]) -> Json:
        try:
            task = AskState(**await final_state(graph, AskState(**task_of(state)), given_of(runtime)))
        except TaskRefused as error:
            return {"said": str(error)}
        return await asyncio.to_thread(_task_result, state, task, await context_of(runtime, state))

    return ask


def learn_with(graph: Graph) -> Node:
    """Return the node that has the learn graph learn what the message names."""

    async def learn(state: ChatState, runtime: Runtime[Given]) -> Json:
        try:
            begun = await asyncio.to_thread(_learning_of, state, await context_of(runtime, state))
        except BadInput as error:
            return {"said": str(error)}
        ended = LearnState(**await final_state(graph, LearnState(**begun), given_of(runtime)))
        return await asyncio.to_thread(_learning_result, state, ended, await context_of(runtime, state))

    return learn


def investigate_with(graph: Graph) -> Node:
    """Return the node that has the investigate graph find out what the message asks about models."""

    async def investigate(state: ChatState, runtime: Runtime[Given]) -> Json:
        try:
            begun = await asyncio.to_thread(investigation_of, state, given_of(runtime))
            ended = await final_state(graph, InvestigateState(**begun), given_of(runtime))
        except BadInput as error:
            return {"said": str(error)}
        return _investigation_result(state, InvestigateState(**ended))

    return investigate


# --- what the other graphs begin with ------------------------------------------------------------------------


def task_of(state: ChatState) -> Json:
    """Return the fields that a visual task begins with: a new one, or the last one with what was said about it."""
    remark = Remark(**state.remark) if state.remark else Remark()
    if not remark:
        pictures = state.pictures[-MAX_PICTURES:]
        begun: Json = {"pictures": pictures, "warnings": list(state.notices)}
        return begun | {"instruction": state.instruction or last_text(state)} | _profile_and_approval(state)
    before: Json = state.last["state"]
    right = in_words(from_json(before["answer"])) if remark.right else None
    feedback = Feedback(remark.expected or right, remark.correction or None)
    return before | fields_changed_by(feedback, before["learned"]) | {"approve": bool(state.approve)}


def _learning_of(state: ChatState, context: Context) -> Json:
    """Return the fields that a learning run begins with.

    Raises:
        BadInput: The message names nothing that could be learned.
    """
    order = talk_of(state)
    if not isinstance(order, LearnOrder) or not order.name or context.profile is None:
        msg = "Say what to learn in a word or two: “learn what a penguin is”."
        raise BadInput(msg)
    concept = checked_concept(singular(order.name))
    needs = needs_for(concept, (), None, context.profile)
    return {"needs": needs, "seed": state.turn} | _profile_and_approval(state)


def investigation_of(state: ChatState, given: Given | None) -> Json:
    """Return the fields that an investigation begins with.

    Raises:
        BadInput: The question or the settings cannot be used.
    """
    chosen = given if isinstance(given, InvestigationSettings) else InvestigationSettings()
    request = InvestigationRequest(
        query=state.instruction or last_text(state),
        models=chosen.models,
        profile=chosen.profile or state.profile or "embedded",
        alpha=chosen.alpha,
        budget={"images": CHAT_IMAGES} | chosen.budget,
        approve=chosen.approve if state.approve is None else state.approve,
        correct=chosen.correct,
        protocol=chosen.protocol,
    )
    # The pictures of an investigation of this turn are kept under a name of its own.
    return initial_fields(f"{thread_name()[:56].rstrip('._-')}.{state.turn}", request)


def _profile_and_approval(state: ChatState) -> Json:
    return {"profile": state.profile or "embedded", "approve": bool(state.approve)}


# --- what a conversation keeps of their results --------------------------------------------------------------


def _task_result(state: ChatState, ended: AskState, context: Context) -> Json:
    remark = Remark(**state.remark) if state.remark else Remark()
    answer = from_json(ended.answer)
    shown: list[Picture] = []
    if isinstance(answer, Picture):
        shown = [answer]
    elif (outlined := outlined_answer(ended, context.pictures)) is not None:
        shown = [context.pictures.put(outlined)]
    meaning = state.last.get("meaning", "") if remark else state.meaning
    needs = [one["need"] for one in ended.learned if one["kept"]]
    instruction = " ".join(ended.instruction.split())
    # What reflection read and tried is of no use to the next message.
    spared: Json = {"described": [], "attempts": [], "lessons": [], "needs": [], "region": None}
    spared["revisions"] = [one | {"program": "", "revised": ""} for one in ended.revisions]
    return {
        "said": _understood(state) + answer_in_words(ended, remark, meaning),
        "shown": [*state.shown, *(to_json(one) for one in shown)],
        "last": {"graph": "ask", "state": asdict(replace(ended, **cast("Any", spared))), "meaning": meaning},
    } | (_taught(state, needs, instruction) if needs or ended.verdict == "right" else {})


def _learning_result(state: ChatState, ended: LearnState, context: Context) -> Json:
    learned = [LearningOutcome.from_json(one) for one in ended.learned]
    pictures = [one for each in learned for one in each.pictures]
    needs = [each.need.to_json() for each in learned if each.kept]
    return {
        "said": lessons_in_words(learned),
        "shown": [to_json(Picture(one, *context.pictures.get(one).size)) for one in pictures[:MOST_SHOWN]],
        "last": {"graph": "learn", "state": {"learned": ended.learned}} | _spoken_of(state),
    } | (_taught(state, needs) if needs else {})


def _taught(state: ChatState, needs: list[Json], instruction: str = "") -> Json:
    """Return what was left in memory, so that it can be taken back."""
    return {"taught": {"since": state.began, "needs": needs, "instruction": instruction}}


def _spoken_of(state: ChatState) -> Json:
    """Return the meaning of the last instruction about pictures, to which later ones may refer."""
    return {"meaning": state.last.get("meaning", "")}


def _understood(state: ChatState) -> str:
    return f"*Understood: {state.understood}*\n\n" if state.understood else ""


def _investigation_result(state: ChatState, ended: InvestigateState) -> Json:
    report = Report.model_validate(ended.report)
    kept = {
        name: getattr(ended, name) for name in ("investigation", "query", "models", "profile", "report", "protocol")
    }
    corrected = {name: getattr(ended, name) for name in ("corrections", "after") if getattr(ended, name)}
    text = report.conclusion or "It found nothing out."
    if report.images:
        text += f"\n\n{report.images:,} pictures, {report.trials:,} questions. “Why?” shows the evidence."
    return {"said": text, "last": {"graph": "investigate", "state": kept | corrected} | _spoken_of(state)}
