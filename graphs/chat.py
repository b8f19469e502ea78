"""Chat: messages with pictures are answered by the other graphs, one message after the other.

    receive → route ─┬─ ask ─────────┐
                     ├─ learn ───────┤
                     ├─ investigate ─┤
                     ├─ explain ─────┼─ reply ── confirm ── erase ── reply
                     ├─ forget ──────┤
                     └─ erase ───────┘

Feedback on the last answer is a task for ``ask`` again. ``forget`` only proposes: after the reply that asks,
``confirm`` waits for a decision, and ``erase`` deletes what was agreed to; a "yes" as the next message leads there too.
The graph is exported without a saver; the pages and the server bring their own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from langgraph.graph import END, START

from snellen.errors import BadInput
from snellen.graphs.ask import graph as answering
from snellen.graphs.forms import ChatInput, ChatOutput
from snellen.graphs.investigate import graph as investigating
from snellen.graphs.learn import graph as learning
from snellen.graphs.states import AskState, ChatState, InvestigateState, LearnState
from snellen.graphs.wiring import Wiring, ended
from snellen.nodes.chat.conversation import (
    confirm,
    erase,
    explain,
    forget,
    inquiry_of,
    inquiry_told,
    learning_of,
    learning_told,
    receive,
    reply,
    route,
    task_of,
    task_told,
    waits_for_a_decision,
)
from snellen.reasoning.reasoner import TaskRefused
from snellen.runtime.context import given_of
from snellen.runtime.resources import context_of
from snellen.runtime.settings import Given, InvestigationSettings

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

RECURSION_LIMIT: Final = 4_000
"""That of the longest of the graphs inside it."""

Json = dict[str, Any]


async def ask(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Have the ask graph do a visual task, or think again about the last one."""
    try:
        task = AskState(**await ended(answering, AskState(**task_of(state)), given_of(runtime)))
    except TaskRefused as error:
        return {"said": str(error)}
    return await asyncio.to_thread(task_told, state, task, await context_of(runtime, state))


async def learn(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Have the learn graph learn what the message names."""
    try:
        begun = await asyncio.to_thread(learning_of, state, await context_of(runtime, state))
    except BadInput as error:
        return {"said": str(error)}
    lesson = LearnState(**await ended(learning, LearnState(**begun), given_of(runtime)))
    return await asyncio.to_thread(learning_told, state, lesson, await context_of(runtime, state))


async def investigate(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Have the investigate graph find out what the message asks about models."""
    try:
        begun = await asyncio.to_thread(inquiry_of, state, given_of(runtime))
        inquiry = await ended(investigating, InvestigateState(**begun), given_of(runtime))
    except BadInput as error:
        return {"said": str(error)}
    return inquiry_told(InvestigateState(**inquiry))


def after_reply(state: ChatState) -> str:
    """Wait for a decision where the reply has asked for one; else end."""
    return "confirm" if waits_for_a_decision(state) else END


builder = Wiring(ChatState, takes=ChatInput, gives=ChatOutput, settings=InvestigationSettings)

builder.add_node("receive", receive)
builder.add_node("route", route, destinations=("ask", "learn", "investigate", "explain", "forget", "erase", "reply"))
builder.add_node("ask", ask)
builder.add_node("learn", learn)
builder.add_node("investigate", investigate)
builder.add_node("explain", explain)
builder.add_node("forget", forget)
builder.add_node("erase", erase)
builder.add_node("confirm", confirm, destinations=("erase", "reply"))
builder.add_node("reply", reply)

builder.add_edge(START, "receive")
builder.add_edge("receive", "route")
for name in ("ask", "learn", "investigate", "explain", "forget", "erase"):
    builder.add_edge(name, "reply")
builder.add_conditional_edges("reply", after_reply, ["confirm", END])

graph = builder.compile(name="chat").with_config(recursion_limit=RECURSION_LIMIT)
