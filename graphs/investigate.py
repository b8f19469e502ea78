"""Investigate: a question about models becomes experiments, run until the evidence suffices (APEX, figure 1).

    open_report → design → check_design → build_benchmark → measure → discuss → judge_sufficiency → conclude → …
                    ↑ ← reasons ──┘          ↑ ← not yet ──┘                            │
                    └─────────────────────── not yet ───────────────────────────────────┘

On request models are then taught what was found that they cannot do, and measured again with the same nodes:

    … conclude → teach → design → … → conclude → compare

The graph is exported without a saver; ``snellen.threads.investigate`` and the server bring their own.
"""

from __future__ import annotations

from typing import Final, Literal

from langgraph.graph import END, START

from snellen.graphs.forms import InvestigateInput, InvestigateOutput
from snellen.graphs.states import InvestigateState
from snellen.graphs.wiring import Wiring
from snellen.nodes.investigate.experiments import (
    build_benchmark,
    check_design,
    design,
    discuss,
    enough,
    measure,
    open_report,
)
from snellen.nodes.investigate.model_correction import compare, has_weaknesses, teach
from snellen.nodes.investigate.sufficiency import conclude, judge_sufficiency
from snellen.runtime.settings import InvestigationSettings

RECURSION_LIMIT: Final = 4_000
"""Evidence is looked at after every few pictures; what bounds an investigation is its budget."""


def where_next(state: InvestigateState) -> Literal["build_benchmark", "discuss"]:
    """Make more pictures while claims are open and the budget lasts."""
    return enough(state)


def what_follows(state: InvestigateState) -> Literal["teach", "compare", "__end__"]:
    """Correct the models that are weak, where that is wanted; say what came of it once it was measured."""
    if state.after:
        return "compare"
    return "teach" if state.correct and has_weaknesses(state) else "__end__"


builder = Wiring(InvestigateState, takes=InvestigateInput, gives=InvestigateOutput, settings=InvestigationSettings)

builder.add_node("open_report", open_report)
builder.add_node("design", design)
builder.add_node("check_design", check_design, destinations=("design", "build_benchmark", "conclude"))
builder.add_node("build_benchmark", build_benchmark)
builder.add_node("measure", measure)
builder.add_node("discuss", discuss)
builder.add_node("judge_sufficiency", judge_sufficiency, destinations=("design", "build_benchmark", "conclude"))
builder.add_node("conclude", conclude)
builder.add_node("teach", teach, destinations=("design", END))
builder.add_node("compare", compare)

builder.add_edge(START, "open_report")
builder.add_edge("open_report", "design")
builder.add_edge("design", "check_design")
builder.add_edge("build_benchmark", "measure")
builder.add_conditional_edges("measure", where_next)
builder.add_edge("discuss", "judge_sufficiency")
builder.add_conditional_edges("conclude", what_follows)
builder.add_edge("compare", END)

graph = builder.compile(name="investigate").with_config(recursion_limit=RECURSION_LIMIT)
