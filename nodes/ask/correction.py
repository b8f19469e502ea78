"""Correction: what a critique says is acted on, so that the task can be tried again (CLOVA, section 3.4, algorithm 1).

A tool at fault becomes a need of the learn graph; a wrong plan or program becomes an example of how not to do it, which
the Reasoner sees when it plans or writes again.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command

from snellen.learning.feedback import things_named_in
from snellen.learning.needs import MAX_NEEDS, concepts_of, is_new
from snellen.learning.records import LearningOutcome, Need
from snellen.memory.demonstrations import demonstration
from snellen.memory.prompts import PromptSelection
from snellen.memory.shortening import fitted_sentences, fitted_steps
from snellen.models.loading import fingerprint
from snellen.nodes.ask.reflection import next_reflection
from snellen.reasoning.critique import DOUBTFUL, SURE, Critique, Fault
from snellen.runtime.context import Context
from snellen.runtime.resources import context_of
from snellen.runtime.task_state import feedback_of, fingerprint_of_edit
from snellen.summaries.runs import SURE_AT_ALL, feedback_in_words, outcome, steps_of
from snellen.tools.program import StepRecord
from snellen.tuning import POOL_OF_TOOL, POOLS
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json
    from snellen.memory.demonstrations import Failure
    from snellen.runtime.settings import Given

Again = Literal["plan", "write", "run"]
"""Where a task is tried again: with another plan, another program, or the same one and better tools."""

ENOUGH: Final = 24
"""Prompts of one concept after which a tool is not taught it again: more of the same would not help."""
_TWICE: Final = 2
_SHOWN_EVIDENCE: Final = 4
"""Statements about a step that a doubt is told with."""
_MOST_DOUBT: Final = 1_000
"""Characters of a doubt."""
MAX_FAULTY_BYTES: Final = 2_000
"""For the steps of one wrong answer that were found at fault."""
MAX_LESSONS_BYTES: Final = 6_000
"""For the plans and programs of a run that were wrong; what does not fit is no example that anybody reads."""


async def correct(
    state: AskState, runtime: Runtime[Given]
) -> Command[Literal["learn", "plan", "write", "run", "describe", "remember"]]:
    """Act on the last critique: name what tools should learn, or mend plan and program; else look closer or give up."""
    context = await context_of(runtime, state)
    critique = Critique.from_json(state.critiques[-1])
    # What tools have learned so far is looked up in the memory.
    candidates = await asyncio.to_thread(_needs, critique, state, context)
    vain = [one for one in candidates if _was_in_vain(one, critique, state)]
    fresh = [one for one in candidates if one not in vain]
    doubts = await asyncio.to_thread(lambda: [_doubt(one, critique, state, context) for one in fresh])
    needs = [replace(one, retried=True, doubt=doubt) for one, doubt in zip(fresh, doubts, strict=True)]
    of_program = [fault for fault in critique.faults if fault.place != "tool"]
    seen: Json = {"attempts": _with_faulty(critique, state)}
    if vain:
        notes = [
            f"{one} was learned in this run and changed nothing about the step at fault: it is not learned alike again."
            for one in vain
        ]
        seen["notes"] = fitted_sentences([*state.notes, *notes])
    if not needs and not of_program:
        return Command(update=seen, goto="remember" if next_reflection(state, context) is None else "describe")
    update: Json = {**seen, "needs": [need.to_json() for need in needs], "seed": state.seed + len(state.learned)}
    if of_program:
        program = critique.program or state.program
        made = state.made | {"program": fingerprint_of_edit(program)}
        update |= {"lessons": _lessons(critique, state), "program": program, "made": made}
    return Command(update=update, goto="learn" if needs else again(replace(state, **update)))


def after_learning(state: AskState) -> Again | Literal["describe"]:
    """Return where a task goes on after learning: tried again, or looked into once more where nothing changed."""
    learned = [LearningOutcome.from_json(one) for one in state.learned[-len(state.needs) :]]
    changed = any(one.kept > one.already for one in learned)
    of_program = any(fault.place != "tool" for fault in Critique.from_json(state.critiques[-1]).faults)
    return again(state) if changed or of_program else "describe"


def again(state: AskState) -> Again:
    """Return where a corrected task is tried again."""
    critique = Critique.from_json(state.critiques[-1])
    places = {fault.place for fault in critique.faults}
    if "plan" in places:
        return "plan"
    return "write" if "program" in places and not critique.program else "run"


def _with_faulty(critique: Critique, state: AskState) -> list[Json]:
    """Keep beside the wrong answer what the steps at fault gave: they will be run again, and people compare."""
    if not (state.attempts and critique.faults):
        return state.attempts
    *earlier, last = state.attempts
    known = {step["address"]: step for step in last.get("faulty", [])}
    steps = {step["address"]: step for step in state.steps}
    known |= {fault.address: steps[fault.address] for fault in critique.faults if fault.address in steps}
    return [*earlier, last | {"faulty": fitted_steps(list(known.values()), limit=MAX_FAULTY_BYTES).value}]


def _lessons(critique: Critique, state: AskState) -> list[Json]:
    """Add what was wrong to this run's examples of how not to do it."""
    reason = " ".join(fault.reason for fault in critique.faults if fault.place != "tool")
    family, plan = state.family or "", state.plan
    about: dict[str, Any] = {"correct": False, "critique": reason, "family": family}
    wrong = [demonstration("program", state.instruction, plan=plan, program=state.program, **about)]
    if any(fault.place == "plan" for fault in critique.faults):
        wrong.append(demonstration("plan", state.instruction, plan=plan, **about))
    failure: Failure = "wrong" if state.error is None else "error"
    lessons = [asdict(replace(one, failure=failure)) for one in wrong] + state.lessons
    while lessons and len(json.dumps(lessons, ensure_ascii=False).encode()) > MAX_LESSONS_BYTES:
        lessons.pop()
    return lessons


# --- needs ---------------------------------------------------------------------------------------------------


def _needs(critique: Critique, state: AskState, context: Context) -> list[Need]:
    """Return what the tools at fault should learn; what this run could not learn before is not asked for again."""
    if context.learning is None:
        return []
    hopeless = {_key(one.need) for one in map(LearningOutcome.from_json, state.learned) if one.trouble}
    needs: dict[tuple[str, ...], Need] = {}
    for fault in critique.faults:
        if fault.tool == "VQA" and critique.certainty < SURE and not feedback_of(state).expected:
            continue
        if fault.place == "tool" and fault.tool in POOL_OF_TOOL:
            for need in _needs_of(fault, state, context):
                needs.setdefault(_key(need), need)
    return [need for key, need in needs.items() if key not in hopeless and not _taught(need, context)][:MAX_NEEDS]


def _taught(need: Need, context: Context) -> bool:
    """Tell whether a tool has learned so much of a concept that learning more of it would not help."""
    pool = POOL_OF_TOOL[need.tool]
    if not need.concept or context.learning is None:
        return False
    rows = context.learning.prompts.rows(PromptSelection(pool=pool, concept=need.concept))
    if len(rows) < ENOUGH:
        return False
    checkpoint = fingerprint(context.vision().profile, POOLS[pool])
    return sum(row.fingerprint == checkpoint for row in rows) >= ENOUGH


def _key(need: Need) -> tuple[str, ...]:
    picture = need.picture.id if need.picture else ""
    return (POOL_OF_TOOL.get(need.tool, need.tool), need.concept, need.question, need.answer, picture)


def _needs_of(fault: Fault, state: AskState, context: Context) -> list[Need]:
    if fault.tool == "VQA":
        return [_question(fault, state)]
    named = concepts_of(fault.concept, things_named_in(feedback_of(state)), POOL_OF_TOOL[fault.tool], context.models)
    return [Need(fault.tool, concept=name, reason=fault.reason) for name in named]


def _was_in_vain(need: Need, critique: Critique, state: AskState) -> bool:
    """Tell whether this run has learned it before, and the step at fault gives the very same as it did without."""
    taught = [LearningOutcome.from_json(one) for one in state.learned]
    if _key(need) not in {_key(one.need) for one in taught if one.helped is False} or len(state.attempts) < _TWICE:
        return False
    before = {step["address"]: step for step in state.attempts[-2].get("faulty", [])}
    now = {step["address"]: step for step in state.steps}
    named = [fault.address for fault in critique.faults if fault.tool == need.tool and fault.address in before]
    return bool(named) and all(
        address in now and now[address]["output"] == before[address]["output"] for address in named
    )


def _doubt(need: Need, critique: Critique, state: AskState, context: Context) -> str:
    """Say why a person should be asked before this is learned, with the evidence; empty where nobody has to be.

    What is said of the right answer may be false, and then a tool that was right is found at fault, with little
    certainty. That a tool was wrong about what it was never taught is no surprise, whatever the certainty; except VQA,
    which learns the very words that were said, and nothing else can disprove them.
    """
    expected = need.tool != "VQA" and is_new(need, context.models)
    if state.insist or critique.certainty >= DOUBTFUL or expected:
        return ""
    addresses = {fault.address for fault in critique.faults if fault.tool == need.tool}
    gave = [f"step {one.address} gave {outcome(one)}" for one in steps_of(state) if one.address in addresses]
    evidence = [each for one in state.described if one["address"] in addresses for each in one["evidence"]]
    strongest = sorted(evidence, key=lambda one: -abs(one["support"]))[:_SHOWN_EVIDENCE]
    reasons = [f"{one['says']}: {one['value']} ({'for' if one['support'] > 0 else 'against'} it)" for one in strongest]
    shown = "; ".join([*gave[:1], *reasons])
    sure = f"{critique.certainty:.0%}" if critique.certainty >= SURE_AT_ALL else "less than 1%"
    return (
        f"It is doubtful that {need.tool} was wrong ({sure} sure){f': {shown}' if shown else ''}. Is it really "
        f"“{feedback_in_words(state)}”?"
    )[:_MOST_DOUBT]


def _question(fault: Fault, state: AskState) -> Need:
    """Return the question that VQA answered wrongly, with the answer that reflection inferred."""
    step = next((one for one in state.steps if one["address"] == fault.address), None)
    arguments: dict[str, Any] = {} if step is None else StepRecord.from_json(step).arguments
    picture = from_json(arguments.get("image"))
    return Need(
        "VQA",
        question=str(arguments.get("question", "")),
        answer=fault.right_output,
        picture=picture if isinstance(picture, Picture) else None,
        reason=fault.reason,
    )
