"""Ask: a visual task is planned, written as a program, run, judged and remembered (CLOVA, figure 2, left half).

    recall → plan → write → run → judge → remember

The graph is exported without a saver; ``interfaces.sessions`` and the server bring their own.
"""

from __future__ import annotations

from typing import Final

from langgraph.graph import END, START, StateGraph

from graphs.states import AskState
from nodes.context import Context
from nodes.inference import judge, plan, recall, remember, run, write

RECURSION_LIMIT: Final = 12
"""Twice the six steps of the flow: a run that takes more is going in circles."""

builder = StateGraph(AskState, context_schema=Context)

builder.add_node("recall", recall)
builder.add_node("plan", plan)
builder.add_node("write", write)
builder.add_node("run", run)
builder.add_node("judge", judge, destinations=("remember",))
builder.add_node("remember", remember)

builder.add_edge(START, "recall")
builder.add_edge("recall", "plan")
builder.add_edge("plan", "write")
builder.add_edge("write", "run")
builder.add_edge("run", "judge")
builder.add_edge("remember", END)

graph = builder.compile(name="ask").with_config(recursion_limit=RECURSION_LIMIT)
