"""Chat: messages with pictures are answered by the other graphs, one message after the other.

    receive → route ─┬─ ask ─────────┐
                ↑    ├─ learn ───────┤
                │    ├─ investigate ─┤
                │    ├─ explain ─────┼─ reply ── confirm ── erase ── reply
                │    ├─ forget ──────┤
                │    └─ erase ───────┤
                └── what else it says┘

Feedback on the last answer is a task for ``ask`` again. ``forget`` only proposes: after the reply that asks,
``confirm`` waits for a decision, and ``erase`` deletes what was agreed to; a "yes" as the next message leads there too.
The graph is exported without a saver; the pages and the server bring their own.
"""

from __future__ import annotations

from typing import Final

from langgraph.graph import END, START

from snellen.graphs.ask import graph as ask
from snellen.graphs.forms import ChatInput, ChatOutput
from snellen.graphs.investigate import graph as investigate
from snellen.graphs.learn import graph as learn
from snellen.graphs.states import ChatState
from snellen.graphs.wiring import Wiring
from snellen.nodes.chat.delegation import ask_with, investigate_with, learn_with
from snellen.nodes.chat.forgetting import confirm, erase, forget, waits_for_a_decision
from snellen.nodes.chat.messages import explain, receive, reply
from snellen.nodes.chat.routing import route
from snellen.runtime.settings import InvestigationSettings

PARTS: Final = ("ask", "learn", "investigate", "explain", "forget", "erase")
"""The nodes that answer a part of a message."""
RECURSION_LIMIT: Final = 4_000
"""That of the longest of the graphs inside it."""


def after_part(state: ChatState) -> str:
    """Go on with what else the message says; reply where there is nothing more, or a question is open."""
    return "route" if state.queue and not state.pending else "reply"


def after_reply(state: ChatState) -> str:
    """Wait for a decision where the reply has asked for one; else end."""
    return "confirm" if waits_for_a_decision(state) else END


builder = Wiring(ChatState, takes=ChatInput, gives=ChatOutput, settings=InvestigationSettings)

builder.add_node("receive", receive)
builder.add_node("route", route, destinations=(*PARTS, "reply", "route"))
builder.add_node("ask", ask_with(ask))
builder.add_node("learn", learn_with(learn))
builder.add_node("investigate", investigate_with(investigate))
builder.add_node("explain", explain)
builder.add_node("forget", forget)
builder.add_node("erase", erase)
builder.add_node("confirm", confirm, destinations=("erase", "reply"))
builder.add_node("reply", reply)

builder.add_edge(START, "receive")
builder.add_edge("receive", "route")
for name in PARTS:
    builder.add_conditional_edges(name, after_part, ["route", "reply"])
builder.add_conditional_edges("reply", after_reply, ["confirm", END])

graph = builder.compile(name="chat").with_config(recursion_limit=RECURSION_LIMIT)
