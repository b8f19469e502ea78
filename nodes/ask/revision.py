"""Revision: the program of a run in trouble goes back to the Reasoner, with its steps, before the answer is judged.

run → revise → run, at most twice for an attempt. The better run of the two is kept: one without trouble is better than
one in which results contradict each other or rest on nothing, and this better than one that failed; of equals, the
earlier. A program that a person made is never revised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command

from snellen.memory.demonstrations import demonstration
from snellen.memory.shortening import fitted_sentences, fitted_steps
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.revision import MAX_CHANGE, MAX_REVISED_BYTES, MAX_REVISIONS, Revision, same_program
from snellen.reasoning.task import Examples, Plan
from snellen.reasoning.trouble import Trouble, trouble_in
from snellen.runtime.context import Context, usage_with
from snellen.runtime.program_execution import limits_of
from snellen.runtime.resources import context_of
from snellen.runtime.task_state import examples_of, fingerprint_of_edit, is_by_a_person, recalled, task_of
from snellen.tools import program as programs
from snellen.tools.program import StepRecord
from snellen.values import from_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json
    from snellen.reasoning.revision import ProposedRevision
    from snellen.runtime.settings import Given

MAX_STEPS_BYTES: Final = 7_000
"""For the steps of the run that a revision is to better; most runs need half of it."""
_OF_A_RUN: Final = ("plan", "program", "made", "steps", "answer", "caveat", "error", "warnings")
"""The fields that make up a run."""


async def revise(state: AskState, runtime: Runtime[Given]) -> Command[Literal["run", "judge"]]:
    """Have the Reasoner revise the program; without a new one, the answer is judged as it is."""
    context = await context_of(runtime, state)
    reasoner, before = context.reasoner, context.reasoner.usage
    trouble, records = Trouble.from_json(state.trouble), [StepRecord.from_json(step) for step in state.steps]
    examples = _with_tried(await asyncio.to_thread(_examples, state, context, trouble), state)
    update: Json = {"trouble": {}}
    proposed: ProposedRevision | None = None
    try:
        proposed = await reasoner.revise(task_of(state), Plan(state.plan), state.program, records, trouble, examples)
    except ReasoningFailed as failure:
        # There is an answer already, which is worth more than none.
        sentence = f"The program was not revised: {' '.join(str(failure).split())}"
        update["warnings"] = fitted_sentences([*state.warnings, sentence])
    update["usage"] = usage_with(state.usage, before, reasoner.usage)
    if proposed is None or not _is_new(proposed, state):
        return Command(update=update, goto="judge")
    return Command(update=update | _revised(proposed, trouble, records, state), goto="run")


def _examples(state: AskState, context: Context, trouble: Trouble) -> Examples:
    """Recall demonstrations anew: of the mistakes, those that failed alike come first."""
    return examples_of(replace(state, demonstrations=recalled(state, context, failure=trouble.kind)), context)


def better_run(state: AskState, run: Json, records: Sequence[StepRecord], context: Context) -> Json:
    """Return the fields of a run, or of the one before where it is a revision's and no better; and its trouble.

    Args:
        state: With the program that was run.
        run: The fields that running it changes.
        records: Its steps, whole.
        context: The resources of the run.
    """
    by_a_person = is_by_a_person(state)
    trouble = trouble_of(replace(state, error=run["error"]), records, context)
    revisions: list[Json] = []
    if state.best_run and not by_a_person:
        before = Trouble.from_json(state.best_run["trouble"])
        # A name that no tool was taught is no way out of trouble: nothing follows from what is not found.
        looks_for_more = run["caveat"] not in {None, state.best_run["untaught"]}
        helped = _rank(trouble) < _rank(before) and not looks_for_more
        revisions = [*state.revisions[:-1], state.revisions[-1] | {"helped": helped}]
        if not helped:
            run, trouble = {name: state.best_run[name] for name in _OF_A_RUN}, before
        elif run["error"] is None:
            # A program without the name that no tool was taught does not make it known.
            untaught = state.best_run["untaught"]
            denied = bool(untaught) and programs.denies(from_json(run["answer"]))
            run = run | {"caveat": run["caveat"] or untaught} | ({"answer": programs.UNDECIDED} if denied else {})
    left = len(revisions) < MAX_REVISIONS and "revisions" not in context.without and not by_a_person
    wanted = trouble if left and _is_short(run.get("plan", state.plan), run.get("program", state.program)) else None
    return run | {"revisions": revisions, "best_run": {}, "trouble": wanted.to_json() if wanted else {}}


def trouble_of(state: AskState, records: Sequence[StepRecord], context: Context) -> Trouble | None:
    """Return the gravest trouble of a run, or the error that it ended with; None where there is none."""
    try:
        program = programs.parse(state.program, limits_of(context))
    except programs.ProgramError:
        return None if state.error is None else Trouble("error", "", state.error)
    found = trouble_in(program, records)
    return found or (None if state.error is None else Trouble("error", "", state.error))


def _rank(trouble: Trouble | None) -> int:
    return 0 if trouble is None else 2 if trouble.kind == "error" else 1


def _is_short(plan: Sequence[str], program: str) -> bool:
    return max(len(program.encode()), len("\n".join(plan).encode())) <= MAX_REVISED_BYTES


def _is_new(proposed: ProposedRevision, state: AskState) -> bool:
    """Tell whether a proposal is another program than those that were run, and short enough to be kept beside them."""
    tried = {state.program, *(program for one in _revisions(state) for program in (one.program, one.revised))}
    known = any(same_program(proposed.program, one) for one in tried)
    return not known and _is_short(proposed.plan.steps, proposed.program)


def _revised(proposed: ProposedRevision, trouble: Trouble, records: Sequence[StepRecord], state: AskState) -> Json:
    """Return the fields of a state whose program is revised, the run before kept beside it."""
    change = " ".join(proposed.change.split())[:MAX_CHANGE]
    revision = Revision(trouble.kind, trouble.reason, change, state.program, proposed.program)
    followed = fingerprint_of_edit(proposed.plan.steps)
    best: dict[str, Any] = {name: getattr(state, name) for name in _OF_A_RUN}
    best |= {
        "steps": fitted_steps(state.steps, limit=MAX_STEPS_BYTES).value,
        "trouble": state.trouble,
        "untaught": programs.caveat_of(records),
    }
    of_the_steps = {warning for record in records for warning in record.warnings}
    return {
        "plan": list(proposed.plan.steps),
        "program": proposed.program,
        "made": {"plan": followed, "follows": followed, "program": fingerprint_of_edit(proposed.program)},
        "revisions": [*state.revisions, revision.to_json()],
        "best_run": best,
        # What the steps of that run said is not about the next one.
        "warnings": [warning for warning in state.warnings if warning not in of_the_steps],
    }


def _with_tried(examples: Examples, state: AskState) -> Examples:
    """Add to the examples of how not to do it what was tried in vain for this very task."""
    tried = [
        demonstration(
            "program",
            state.instruction,
            plan=state.plan,
            program=one.revised,
            correct=False,
            critique=f"Tried instead of the program, and no better: {one.change}",
            family=state.family or "",
        )
        for one in _revisions(state)
        if one.helped is False
    ]
    return replace(examples, programs_incorrect=[*tried, *examples.programs_incorrect])


def _revisions(state: AskState) -> list[Revision]:
    return [Revision.from_json(one) for one in state.revisions]
