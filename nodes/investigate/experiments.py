"""Nodes of experiments: designed, checked, made into pictures, measured and discussed (APEX, section 3.2).

open_report → design → check_design → build_benchmark → measure → discuss. Each node is a function of the state, and may
run twice without harm: a picture follows from the seed and its place, and a trial is measured once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command, interrupt
from pydantic import ValidationError

from snellen.errors import BadInput, SnellenError
from snellen.experiments.decisions import asked_now, next_rounds, replaced, why_stopped, with_unspent_told
from snellen.experiments.design import Design
from snellen.experiments.design_checks import checked
from snellen.experiments.drawing_ahead import drawing_ahead
from snellen.experiments.endings import too_few_left, used_up
from snellen.experiments.failure_patterns import PATTERNS_SHARE
from snellen.experiments.model_shards import ModelShards, ask_side_by_side
from snellen.experiments.preview import previewed
from snellen.experiments.protocols.protocol import card_of, unmeasured
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.experiments.report import Budget, Experiment, Finding, Opening, Report
from snellen.experiments.rounds import make_rounds, tried, weighed
from snellen.memory.home import MemoryTrouble
from snellen.runtime import picture_allotment
from snellen.runtime.approval import approval_request, decisions_in
from snellen.runtime.context import given_of, thread_name, usage_with
from snellen.runtime.investigation_requests import fields_filled_by
from snellen.runtime.investigation_state import (
    free_sample_set,
    investigator_of,
    opened,
    report_of,
    sample_set_of,
    written,
)
from snellen.runtime.resources import context_of
from snellen.summaries.experiment_previews import expected_in_words

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.experiments.resources import Examination
    from snellen.graphs.states import InvestigateState, Json
    from snellen.memory.samples import Sample
    from snellen.runtime.settings import Given

MAX_HEALING: Final = 3
"""Times that a design goes back with what is wrong with it, before another one is made (APEX, section 3.4)."""
MAX_DESIGNS: Final = 2
"""Designs that are made from scratch for one experiment."""
ACTION: Final = "experiment"
"""The name of the requested action."""
_DECISIONS: Final = ("approve", "edit", "reject")
"""The decisions about it."""

Next = Literal["design", "build_benchmark", "conclude"]


async def open_report(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Begin the report: the query, the models that are examined, and what cannot be.

    What was begun without an interface that checks orders is checked here.
    """
    context = await context_of(runtime, state)
    ordered = await asyncio.to_thread(fields_filled_by, state, given_of(runtime), thread_name())
    state = replace(state, **ordered)
    state = await opened(state, investigator_of(state, context))
    opening, alpha = Opening.model_validate(state.opening["said"]), float(ordered["alpha"])
    allotment = await asyncio.to_thread(picture_allotment.allot, state, opening.models, context.examiner())
    about = picture_allotment.notes_of(allotment, chosen=state.seed is not None, folder=bool(state.folder), alpha=alpha)
    report = Report(
        query=state.query,
        understood=opening.understood,
        models=opening.models,
        candidates=len(state.models),
        alpha=alpha,
        patterns_alpha=PATTERNS_SHARE * alpha if (state.protocol or "choice") == "choice" else 0.0,
        seed=allotment.seed,
        budget=Budget.model_validate(state.budget),
        notes=[*opening.notes, *about],
    )
    return ordered | written(state, report) | {"opening": state.opening, "usage": state.usage}


async def design(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner design the next experiment; nothing where none would help."""
    context = await context_of(runtime, state)
    investigator = investigator_of(state, context)
    before = investigator.usage
    try:
        made = await investigator.design_experiment(report_of(state), state.refusals)
    except BadInput as error:
        # One that does not design anew says once more what was wrong.
        return {"design": None, "refusals": list(dict.fromkeys([*state.refusals, _sentence(error)]))}
    return {
        "design": None if made is None else made.model_dump(mode="json"),
        "usage": usage_with(state.usage, before, investigator.usage),
    }


async def check_design(state: InvestigateState, runtime: Runtime[Given]) -> Command[Next]:
    """See whether the design can be run, and ask whoever wants to be asked; a bad one goes back with the reason."""
    context = await context_of(runtime, state)
    report = report_of(state)
    if state.design is None:
        return Command(goto="conclude", update=_given_up(state, report, state.refusals[-1:]))
    try:
        made = checked(Design.model_validate(state.design), report.models)
        if report.images + len(made.arms) > report.budget.images:
            ended = report.model_copy(update={"ended": used_up(report) or too_few_left(report)})
            return Command(goto="conclude", update=written(state, ended) | {"design": None})
        await asyncio.to_thread(tried, made, report, context.examiner())
    except (BadInput, ValidationError) as error:
        return _refused(state, report, _sentence(error))
    if state.approve and not state.after:
        reviewed, objection = await _reviewed(made, report, context.examiner())
        if reviewed is None:
            return _refused(state, report, objection)
        made = reviewed
    sample_set = await asyncio.to_thread(free_sample_set, state, len(report.experiments), context.examiner().samples)
    report = await asyncio.to_thread(_begun, state, report, made, context.examiner())
    update = written(state, report) | {"design": None, "refusals": [], "investigation": sample_set}
    return Command(goto="build_benchmark", update=update)


def _begun(state: InvestigateState, report: Report, made: Design, examination: Examination) -> Report:
    """Return the report with an experiment that is about to begin, on the pictures that the ledger allots to it."""
    seed = picture_allotment.begin(state, report, made, examination)
    notes, number = list(report.notes), len(report.experiments) + 1
    if seed != report.seed:
        notes.append(
            f"Experiment {number} was designed otherwise the first time this was asked. It has pictures of its own "
            f"(seed {seed}), as the others may have suggested how."
        )
    findings = list(map(Finding.unobserved, made.claims))
    begun = Experiment(design=made, findings=findings, seed=None if seed == report.seed else seed)
    for name in made.models:  # before pictures are made that nobody could be asked about
        try:
            card_of(PROTOCOLS[made.protocol], examination, made, name)
        except SnellenError as error:
            begun = _troubled(begun, name, _sentence(error))
    return report.model_copy(update={"experiments": [*report.experiments, begun], "again": None, "notes": notes})


async def build_benchmark(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Make the next pictures of the experiment under way, as many of each answer."""
    context = await context_of(runtime, state)
    report = report_of(state)
    number = report.number
    experiment = report.experiments[number]
    rounds = range(experiment.rounds, experiment.rounds + next_rounds(report))
    rejected, done, trouble = experiment.rejected, experiment.rounds, ""
    while done < rounds.stop and not trouble:
        left = range(done, rounds.stop)
        made = await asyncio.to_thread(make_rounds, sample_set_of(state), report, number, left, context.examiner())
        rejected += made.rejected
        trouble = "" if made.trouble is None else _sentence(made.trouble)
        for done in left[: made.count]:
            runtime.stream_writer({"investigating": {"phase": "build", "done": done + 1, "of": rounds.stop}})
        done = left.start + made.count
    experiment = experiment.model_copy(update={"rounds": done, "rejected": rejected, "stopped": trouble})
    if trouble and not done:
        findings = [one.model_copy(update={"trouble": trouble}) for one in experiment.findings]
        experiment = experiment.model_copy(update={"findings": findings})
    return written(state, replaced(report, number, experiment))


async def measure(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Ask the models about the pictures, as far as claims about them are open, and weigh the answers."""
    context = await context_of(runtime, state)
    report = report_of(state)
    number = report.number
    began, examination = time.monotonic(), context.examiner()
    samples = await asyncio.to_thread(examination.samples.of, sample_set_of(state), number)
    experiment = report.experiments[number]
    pending, troubles = asked_now(experiment), dict[str, SnellenError]()
    shards = []
    for name in pending:  # one after the other: models are read here, which is not done by two threads at a time
        try:
            shards.append(await asyncio.to_thread(_shards_of, name, experiment.design, samples, examination))
        except MemoryTrouble:
            raise
        except SnellenError as error:
            troubles[name] = error
    of = {one.model: sum(map(len, one.shards)) for one in shards}

    def tell(name: str, done: int) -> None:
        progress = {"phase": "measure", "model": name, "done": done, "of": of[name]}
        runtime.stream_writer({"investigating": progress})

    async with drawing_ahead(sample_set_of(state), report, examination) as ahead:
        asked = await ask_side_by_side(examination.runner, shards, tell)
        troubles |= asked.troubles
        for name in pending:
            experiment = _troubled(experiment, name, _sentence(troubles[name])) if name in troubles else experiment
        report = replaced(report, number, experiment)
        report = await asyncio.to_thread(weighed, report, number, samples, examination)
        spent = {"trials": report.trials + asked.trials, "seconds": report.seconds + time.monotonic() - began}
        report = report.model_copy(update=spent)
        await ahead.keep(next_rounds(report))
    return written(state, report)


def enough(state: InvestigateState) -> Literal["build_benchmark", "discuss"]:
    """Go on with the experiment while claims are open and the budget lasts."""
    return "discuss" if next_rounds(report_of(state)) == 0 else "build_benchmark"


async def discuss(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner say what the experiment shows."""
    context = await context_of(runtime, state)
    investigator = investigator_of(state, context)
    before = investigator.usage
    report = report_of(state)
    number = report.number
    experiment = report.experiments[number]
    discussion = await investigator.discuss(report, experiment)
    experiment = experiment.model_copy(
        update={"recap": discussion.recap, "interpretation": discussion.interpretation, "stopped": why_stopped(report)}
    )
    return written(state, replaced(report, number, experiment)) | {
        "usage": usage_with(state.usage, before, investigator.usage)
    }


def _refused(state: InvestigateState, report: Report, objection: str) -> Command[Next]:
    """Send a design back; after so many tries, begin afresh; after so many of those, leave it at what there is."""
    refusals = [*state.refusals, objection]
    if len(refusals) < MAX_HEALING:
        return Command(goto="design", update={"refusals": refusals, "design": None})
    if state.designs + 1 < MAX_DESIGNS:
        return Command(goto="design", update={"refusals": [], "designs": state.designs + 1, "design": None})
    return Command(goto="conclude", update=_given_up(state, report, [objection]) | {"design": None})


def _given_up(state: InvestigateState, report: Report, objections: Sequence[str]) -> Json:
    """Say in the report why there is no further experiment, where there is a reason."""
    ended = "".join(f"no further experiment could be made: {one}"[:400].removesuffix(".") for one in objections[-1:])
    pending = {one.claim.about for each in report.experiments for one in each.pending}
    return written(state, with_unspent_told(report, pending).model_copy(update={"ended": ended}))


async def _reviewed(made: Design, report: Report, examination: Examination) -> tuple[Design | None, str]:
    """Ask a person about a design: approved, edited, or refused with a reason; an edited one must be feasible too."""
    preview = await asyncio.to_thread(previewed, made, report, examination)
    description = (
        f"Experiment {preview.number}: {made.purpose} “{made.question}” Models: {', '.join(preview.models)}. It takes "
        f"{expected_in_words(preview)}."
    )
    proposal = description, made.model_dump(mode="json")
    asked = approval_request(ACTION, [proposal], _DECISIONS, previews=[preview.model_dump(mode="json")])
    request = asked
    while True:
        reviewed = None
        try:
            reviewed, objection = _decision(interrupt(request), made, report)
            if reviewed is not None and reviewed != made:
                await asyncio.to_thread(tried, reviewed, report, examination)
            return reviewed, objection
        except (BadInput, ValidationError) as error:
            request = asked | {"error": _sentence(error)}
            if reviewed is not None:  # it is a design, so whoever made it need not begin anew
                request["edited"] = reviewed.model_dump(mode="json")


def _decision(answer: Any, made: Design, report: Report) -> tuple[Design | None, str]:  # noqa: ANN401 - of whoever answers
    (decision,) = decisions_in(answer, 1, _DECISIONS)
    if decision["type"] == "approve":
        return made, ""
    if decision["type"] == "reject":
        reason = " ".join(str(decision.get("message") or "").split())[:300]
        return None, f"A person refused it: {reason or 'no reason was given'}"
    edited = decision.get("edited_action")
    arguments = edited.get("args") if isinstance(edited, dict) else None
    if not isinstance(arguments, dict):
        msg = (
            'The edit has no "edited_action" with "args": give the whole design there, as it was asked about, changed.'
        )
        raise BadInput(msg)
    return checked(Design.model_validate(arguments), report.models), ""


def _shards_of(name: str, design: Design, samples: Sequence[Sample], examination: Examination) -> ModelShards:
    shards = unmeasured(PROTOCOLS[design.protocol], examination, design, samples, name)
    return ModelShards(name, shards, examination.executor.at_once(name) if shards else 1)


def _troubled(experiment: Experiment, name: str, trouble: str) -> Experiment:
    of_two = f"{name} {trouble.removeprefix('it ')}" if trouble.startswith("it ") else trouble
    findings = [
        one.model_copy(update={"trouble": of_two if one.claim.other else trouble})
        if name in {one.claim.model, one.claim.other}
        else one
        for one in experiment.findings
    ]
    return experiment.model_copy(update={"findings": findings})


def _sentence(error: Exception) -> str:
    """Put an error on one line, short enough for a checkpoint and for a language model."""
    if isinstance(error, ValidationError):
        problems = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
        return "; ".join(problems)[:600]
    return " ".join(str(error).split())[:600]
