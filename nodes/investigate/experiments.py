"""Experiments: designed, checked, made into pictures, measured and discussed (APEX, section 3.2).

open_report → design → check_design → build_benchmark → measure → discuss. Each node is a function of the state, and may
run twice without harm: a picture follows from the seed and its place, and a trial is measured once.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command, interrupt
from pydantic import ValidationError

from snellen.errors import BadInput, SnellenError
from snellen.experiments.decisions import asked_now, judged, next_rounds, why_stopped, with_intervals
from snellen.experiments.follow_up import FollowUp, album
from snellen.experiments.protocols.protocol import RoundPlace
from snellen.experiments.schema import Budget, Design, Experiment, Finding, Opening, Report, checked
from snellen.experiments.trials import replaced
from snellen.memory.home import MemoryTrouble
from snellen.memory.samples import Sample
from snellen.nodes.ask.inference import used
from snellen.nodes.learn.approval import decisions_in
from snellen.runtime import picture_allotment
from snellen.runtime.context import Context, given_of, thread_name
from snellen.runtime.requests import ordered_by
from snellen.runtime.resources import context_of

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.experiments.examiners.examiner import Investigator
    from snellen.experiments.resources import Examination

    # Types only: at run time the graphs know the nodes, never the other way round.
    from snellen.graphs.states import InvestigateState, Json
    from snellen.memory.samples import SampleTable
    from snellen.runtime.settings import Given

MAX_HEALING: Final = 3
"""Times that a design goes back with what is wrong with it, before another one is made (APEX, section 3.4)."""
MAX_DESIGNS: Final = 2
"""Designs that are made from scratch for one experiment."""
_ACTION: Final = "experiment"
"""What the requested action is called."""
_DECISIONS: Final = ("approve", "edit", "reject")
"""What may be decided about it."""

Next = Literal["design", "build_benchmark", "conclude"]


def report_of(state: InvestigateState) -> Report:
    """Return the report that is being written: once models were corrected, the one about that."""
    return Report.model_validate(state.after or state.report)


def written(state: InvestigateState, report: Report) -> Json:
    """Return that report as it goes into a state."""
    return {"after" if state.after else "report": report.model_dump(mode="json")}


def album_of(state: InvestigateState) -> str:
    """Return the name under which the pictures of that report are kept."""
    return album(state.investigation) if state.after else state.investigation


def free_album(state: InvestigateState, number: int, samples: SampleTable) -> str:
    """Return the name under which pictures are kept from an experiment on that is about to begin.

    Where the experiment has pictures already, somebody went back in the thread and lets it go another way: this way
    gets an album of its own, with the pictures of the experiments before.

    Args:
        state: Of the investigation.
        number: Of the experiment, from 0.
        samples: The table of pictures.
    """
    if not samples.of(album_of(state), number):
        return state.investigation
    thread = state.investigation.partition(picture_allotment.WAY)[0]
    ways = (f"{thread}{picture_allotment.WAY}{way}" for way in itertools.count(1))
    name = next(one for one in ways if not samples.of(one, 0) and not samples.of(album(one), 0))
    samples.copy(state.investigation, name, **({} if state.after else {"before": number}))
    if state.after:
        samples.copy(album(state.investigation), album(name), before=number)
    return name


def investigator_of(state: InvestigateState, context: Context) -> Investigator:
    """Return who designs the experiments of that report, and reads them."""
    if state.after:
        return FollowUp([Design.model_validate(one) for one in state.plan])
    examination = context.examiner()
    return examination.investigators.get(state.protocol or "choice", examination.investigator)


async def open_report(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Begin the report: the query, the models that are examined, and what cannot be.

    What was begun without an interface that checks orders is checked here.
    """
    context = await context_of(runtime, state)
    ordered = await asyncio.to_thread(ordered_by, state, given_of(runtime), thread_name())
    state = replace(state, **ordered)
    state = await opened(state, investigator_of(state, context))
    opening, alpha = Opening.model_validate(state.opening["said"]), float(ordered["alpha"])
    allotment = await asyncio.to_thread(picture_allotment.allot, state, opening.models, context.examiner())
    about = picture_allotment.notes_of(allotment, chosen=state.seed is not None, folder=bool(state.folder), alpha=alpha)
    report = Report(
        query=state.query,
        models=opening.models,
        alpha=alpha,
        seed=allotment.seed,
        budget=Budget.model_validate(state.budget),
        notes=[*opening.notes, *about],
    )
    return ordered | written(state, report) | {"opening": state.opening, "usage": state.usage}


async def opened(state: InvestigateState, investigator: Investigator) -> InvestigateState:
    """Return the state with the opening of its report; the Reasoner is asked once, before the thread begins or in it.

    Raises:
        BadInput: The query cannot be examined.
    """
    asked: Json = {"query": state.query, "protocol": state.protocol, "models": list(state.models)}
    known = _opening_of(state)
    # Somebody may have changed what is asked, or the opening itself.
    if known is not None and state.opening.get("asked") == asked and set(known.models) <= set(state.models):
        return state
    before = investigator.usage
    said = await investigator.open_report(state.query, state.models)
    opening: Json = {"asked": asked, "said": said.model_dump(mode="json")}
    return replace(state, opening=opening, usage=used(state.usage, before, investigator.usage))


def _opening_of(state: InvestigateState) -> Opening | None:
    try:
        return Opening.model_validate(state.opening.get("said"))
    except ValidationError:
        return None


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
        "usage": used(state.usage, before, investigator.usage),
    }


async def check_design(state: InvestigateState, runtime: Runtime[Given]) -> Command[Next]:
    """See whether the design can be run, and ask whoever wants to be asked; a bad one goes back with the reason."""
    context = await context_of(runtime, state)
    report = report_of(state)
    if state.design is None:
        return Command(goto="conclude", update=_given_up(state, report, state.refusals[-1:]))
    try:
        made = checked(Design.model_validate(state.design), report.models)
        await asyncio.to_thread(tried, made, report, context.examiner())
    except (BadInput, ValidationError) as error:
        return _refused(state, report, _sentence(error))
    if state.approve and not state.after:
        reviewed, objection = await _reviewed(made, report, context.examiner())
        if reviewed is None:
            return _refused(state, report, objection)
        made = reviewed
    album = await asyncio.to_thread(free_album, state, len(report.experiments), context.examiner().samples)
    report = await asyncio.to_thread(_begun, state, report, made, context.examiner())
    update = written(state, report) | {"design": None, "refusals": [], "investigation": album}
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
    findings = [Finding(claim=claim, interval=(claim.low, 1.0)) for claim in made.claims]
    begun = Experiment(design=made, findings=findings, seed=None if seed == report.seed else seed)
    return report.model_copy(update={"experiments": [*report.experiments, begun], "again": None, "notes": notes})


async def build_benchmark(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Make the next pictures of the experiment under way, as many of each answer."""
    context = await context_of(runtime, state)
    report = report_of(state)
    number = report.number
    experiment = report.experiments[number]
    rounds = range(experiment.rounds, experiment.rounds + next_rounds(report))
    rejected, done, trouble = experiment.rejected, experiment.rounds, ""
    for place in rounds:
        try:
            made = await asyncio.to_thread(_round, album_of(state), report, place, context.examiner())
        except MemoryTrouble:
            raise
        except SnellenError as error:
            trouble = _sentence(error)
            break
        done = place + 1
        rejected += sum(sample.rejected for sample in made)
        runtime.stream_writer({"investigating": {"phase": "build", "done": place + 1, "of": rounds.stop}})
    experiment = experiment.model_copy(update={"rounds": done, "rejected": rejected, "stopped": trouble})
    if not done:
        findings = [one.model_copy(update={"trouble": trouble}) for one in experiment.findings]
        experiment = experiment.model_copy(update={"findings": findings})
    return written(state, replaced(report, number, experiment))


async def measure(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Ask the models about the pictures, as far as claims about them are open, and weigh the answers."""
    context = await context_of(runtime, state)
    report = report_of(state)
    number = report.number
    began, asked, examination = time.monotonic(), 0, context.examiner()
    samples = await asyncio.to_thread(examination.samples.of, album_of(state), number)
    experiment = report.experiments[number]
    for name in asked_now(experiment):
        try:
            shards = await asyncio.to_thread(examination.shards, experiment.design, samples, name)
            for shard in shards:
                await asyncio.to_thread(examination.ask, name, shard)
                asked += len(shard)
                told = {"phase": "measure", "model": name, "done": len(shard), "of": sum(map(len, shards))}
                runtime.stream_writer({"investigating": told})
        except MemoryTrouble:
            raise
        except SnellenError as error:
            experiment = _troubled(experiment, name, _sentence(error))
    report = replaced(report, number, experiment)
    report = await asyncio.to_thread(weighed, report, number, samples, examination)
    spent = {"trials": report.trials + asked, "seconds": report.seconds + time.monotonic() - began}
    return written(state, report.model_copy(update=spent))


def weighed(report: Report, number: int, samples: Sequence[Sample], examination: Examination) -> Report:
    """Return the report with the findings and results of one experiment as its trials have them now."""
    experiment = report.experiments[number]
    fingerprints = examination.fingerprints(report.models)
    protocol = examination.protocols[experiment.design.protocol]
    evaluated = protocol.evaluated(examination, experiment.design, samples, fingerprints)
    known = report.model_copy(update={"fingerprints": fingerprints})
    return with_intervals(judged(known, number, evaluated), number, evaluated)


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
    said = await investigator.discuss(report, experiment)
    experiment = experiment.model_copy(
        update={"recap": said.recap, "interpretation": said.interpretation, "stopped": why_stopped(report)}
    )
    return written(state, replaced(report, number, experiment)) | {
        "usage": used(state.usage, before, investigator.usage)
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
    notes = [*report.notes, *(f"No further experiment could be made: {one}"[:400] for one in objections)]
    return written(state, report.model_copy(update={"notes": notes}))


async def _reviewed(made: Design, report: Report, examination: Examination) -> tuple[Design | None, str]:
    """Ask a person about a design: approved, edited, or refused with a reason; an edited one must be feasible too."""
    asking: dict[str, Any] = {
        "action_requests": [
            {
                "name": _ACTION,
                "args": made.model_dump(mode="json"),
                "description": f"Experiment {len(report.experiments) + 1}: {made.purpose} “{made.question}”",
            }
        ],
        "review_configs": [{"action_name": _ACTION, "allowed_decisions": list(_DECISIONS)}],
    }
    while True:
        try:
            reviewed, objection = _decision(interrupt(asking), made, report)
            if reviewed is not None and reviewed != made:
                await asyncio.to_thread(tried, reviewed, report, examination)
            return reviewed, objection
        except (BadInput, ValidationError) as error:
            asking = {**asking, "error": _sentence(error)}


def _decision(answer: Any, made: Design, report: Report) -> tuple[Design | None, str]:  # noqa: ANN401 - of whoever answers
    (decision,) = decisions_in(answer, 1, _DECISIONS)
    if decision["type"] == "approve":
        return made, ""
    if decision["type"] == "reject":
        said = " ".join(str(decision.get("message") or "").split())[:300]
        return None, f"A person refused it: {said or 'no reason was given'}"
    edited = decision.get("edited_action")
    arguments = edited.get("args") if isinstance(edited, dict) else None
    if not isinstance(arguments, dict):
        msg = (
            'The edit has no "edited_action" with "args": give the whole design there, as it was asked about, changed.'
        )
        raise BadInput(msg)
    return checked(Design.model_validate(arguments), report.models), ""


def tried(made: Design, report: Report, examination: Examination) -> None:
    """Make one picture of each arm, to see that it can be made.

    Raises:
        BadInput: It cannot.
    """
    examination.protocols[made.protocol].check(examination, made, report.seed)


def _round(investigation: str, report: Report, number: int, examination: Examination) -> list[Sample]:
    """Make and store one round of the experiment under way."""
    made = made_round(investigation, report, report.number, number, examination)
    examination.samples.add(made)
    return made


def made_round(
    investigation: str, report: Report, experiment: int, number: int, examination: Examination
) -> list[Sample]:
    """Make one round of an experiment; the same round of the same report has the same pictures.

    Args:
        investigation: The name that its samples are kept by.
        report: What the experiment belongs to.
        experiment: Its number, from 0.
        number: That of the round, from 0.
        examination: Keeps the pictures.

    Raises:
        SnellenError: A picture cannot be made.
    """
    design = report.experiments[experiment].design
    place = RoundPlace(investigation, experiment, number, report.seed_of(experiment))
    return examination.protocols[design.protocol].make(examination, design, place)


def _troubled(experiment: Experiment, name: str, trouble: str) -> Experiment:
    findings = [
        one.model_copy(update={"trouble": trouble}) if name in {one.claim.model, one.claim.other} else one
        for one in experiment.findings
    ]
    return experiment.model_copy(update={"findings": findings})


def _sentence(error: Exception) -> str:
    """Put an error on one line, short enough for a checkpoint and for a language model."""
    if isinstance(error, ValidationError):
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
        return "; ".join(told)[:600]
    return " ".join(str(error).split())[:600]
