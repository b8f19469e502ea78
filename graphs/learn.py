"""Learn: pictures are collected, prompts tuned and proved, and what proved itself is stored (CLOVA, section 3.4).

    collect → approve → tune → validate → store

``approve`` waits for a person where the state says so. A subgraph of ask, and a graph of its own (``snellen learn``).
It is exported without a saver; ``snellen.threads.ask``, ``snellen.threads.learn`` and the server bring their own.
"""

from __future__ import annotations

from typing import Final

from langgraph.graph import END, START

from snellen.graphs.forms import LearnInput, LearnOutput
from snellen.graphs.states import LearnState
from snellen.graphs.wiring import Wiring
from snellen.nodes.learn.approval import approve
from snellen.nodes.learn.prompt_tuning import collect, store, tune_prompts, validate_prompts
from snellen.runtime.settings import RunSettings

RECURSION_LIMIT: Final = 10
"""Twice the five steps of the flow."""

builder = Wiring(LearnState, takes=LearnInput, gives=LearnOutput, settings=RunSettings)

builder.add_node("collect", collect)
builder.add_node("approve", approve)
builder.add_node("tune", tune_prompts)
builder.add_node("validate", validate_prompts)
builder.add_node("store", store)

builder.add_edge(START, "collect")
builder.add_edge("collect", "approve")
builder.add_edge("approve", "tune")
builder.add_edge("tune", "validate")
builder.add_edge("validate", "store")
builder.add_edge("store", END)

graph = builder.compile(name="learn").with_config(recursion_limit=RECURSION_LIMIT)
