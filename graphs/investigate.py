"""Investigate: a question about models becomes experiments, run until the evidence suffices (APEX, figure 1).

    open_report → design → check_design → build_benchmark → measure → discuss → judge_sufficiency → conclude
                    ↑ ← reasons ──┘          ↑ ← not yet ──┘                            │
                    └─────────────────────── not yet ───────────────────────────────────┘

The graph is exported without a saver; ``interfaces.investigations`` and the server bring their own.
"""

from __future__ import annotations

from typing import Final, Literal

from langgraph.graph import END, START, StateGraph

from graphs.states import InvestigateState
from nodes.context import Context
from nodes.experiments import build_benchmark, check_design, design, discuss, enough, measure, open_report
from nodes.sufficiency import conclude, judge_sufficiency

RECURSION_LIMIT: Final = 4_000
"""Evidence is looked at after every few pictures; what bounds an investigation is its budget."""


def where_next(state: InvestigateState) -> Literal["build_benchmark", "discuss"]:
    """Make more pictures while claims are open and the budget lasts."""
    return enough(state)


builder = StateGraph(InvestigateState, context_schema=Context)

builder.add_node("open_report", open_report)
builder.add_node("design", design)
builder.add_node("check_design", check_design, destinations=("design", "build_benchmark", "conclude"))
builder.add_node("build_benchmark", build_benchmark)
builder.add_node("measure", measure)
builder.add_node("discuss", discuss)
builder.add_node("judge_sufficiency", judge_sufficiency, destinations=("design", "conclude"))
builder.add_node("conclude", conclude)

builder.add_edge(START, "open_report")
builder.add_edge("open_report", "design")
builder.add_edge("design", "check_design")
builder.add_edge("build_benchmark", "measure")
builder.add_conditional_edges("measure", where_next)
builder.add_edge("discuss", "judge_sufficiency")
builder.add_edge("conclude", END)

graph = builder.compile(name="investigate").with_config(recursion_limit=RECURSION_LIMIT)
