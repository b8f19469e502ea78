"""Ask: a visual task is answered; a wrong answer is looked into, corrected, and tried again (CLOVA, figure 2).

    read → recall → plan → write → run → judge ─┬─ right, or nobody objects → remember
                      ↑      ↑      ↑           └─ wrong → describe → reflect_globally → correct → learn ─┐
                      └──────┴──────┴───────────── again ←──── still wrong: reflect_locally → correct ←───┘

``read`` looks for the meaning of the instruction; where there are several, it may wait for a person to choose.
A run in trouble (a step failed, found nothing that a later one rests on, or contradicts another) goes from ``run`` to
``revise`` and back, at most twice before its answer is judged.

A task that was answered before and comes with feedback begins with ``judge``. The graph is exported without a saver;
``snellen.threads.ask`` and the server bring their own.
"""

from __future__ import annotations

from typing import Final, Literal

from langgraph.graph import END, START

from snellen.graphs.forms import AskInput, AskOutput
from snellen.graphs.learn import graph as learn
from snellen.graphs.states import AskState
from snellen.graphs.wiring import Wiring
from snellen.nodes.ask.correction import Again, after_learning, correct
from snellen.nodes.ask.inference import plan, recall, run, write
from snellen.nodes.ask.judgement import judge
from snellen.nodes.ask.reading import read
from snellen.nodes.ask.reflection import describe, reflect_globally, reflect_locally
from snellen.nodes.ask.remembering import remember
from snellen.nodes.ask.revision import revise
from snellen.runtime.settings import RunSettings
from snellen.runtime.task_state import feedback_of, is_plan_followed, is_program_edited

RECURSION_LIMIT: Final = 86
"""Twelve steps for an answer, and twelve for each of three reflections at most, four of them for two revisions and one
for a third that comes to nothing; half as many again as a margin."""


def where_next(state: AskState) -> Again | Literal["describe"]:
    """Try the task again, or look closer where nothing could be learned."""
    return after_learning(state)


def where_written(state: AskState) -> Literal["write", "run"]:
    """Run the program; write it anew where a person changed the plan alone since it was written."""
    return "run" if is_plan_followed(state) or is_program_edited(state) else "write"


def where_run(state: AskState) -> Literal["revise", "judge"]:
    """Revise the program of a run in trouble; else look at the answer."""
    return "revise" if state.trouble else "judge"


def where_to_begin(state: AskState) -> Literal["read", "judge"]:
    """Look into an answer that is there already, and that somebody says is wrong; else begin at the beginning."""
    answered = bool(state.steps) or state.error is not None
    return "judge" if answered and feedback_of(state) else "read"


builder = Wiring(AskState, takes=AskInput, gives=AskOutput, settings=RunSettings)

builder.add_node("read", read)
builder.add_node("recall", recall)
builder.add_node("plan", plan)
builder.add_node("write", write)
builder.add_node("run", run)
builder.add_node("revise", revise, destinations=("run", "judge"))
builder.add_node("judge", judge, destinations=("remember", "describe"))
builder.add_node("describe", describe, destinations=("reflect_globally", "reflect_locally", "remember"))
builder.add_node("reflect_globally", reflect_globally)
builder.add_node("reflect_locally", reflect_locally)
builder.add_node("correct", correct, destinations=("learn", "plan", "write", "run", "describe", "remember"))
builder.add_node("learn", learn)
builder.add_node("remember", remember)

builder.add_conditional_edges(START, where_to_begin)
builder.add_edge("read", "recall")
builder.add_edge("recall", "plan")
builder.add_edge("plan", "write")
builder.add_conditional_edges("write", where_written, ["write", "run"])
builder.add_conditional_edges("run", where_run, ["revise", "judge"])
builder.add_edge("reflect_globally", "correct")
builder.add_edge("reflect_locally", "correct")
builder.add_conditional_edges("learn", where_next, ["plan", "write", "run", "describe"])
builder.add_edge("remember", END)

graph = builder.compile(name="ask").with_config(recursion_limit=RECURSION_LIMIT)
