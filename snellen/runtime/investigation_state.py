"""Readings of an investigation's state: its report, its opening, and the names that its pictures are kept by."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from snellen.experiments.design import Design
from snellen.experiments.follow_up import FollowUp, corrected_sample_set
from snellen.experiments.report import Opening, Report
from snellen.runtime.context import Context, usage_with
from snellen.runtime.picture_allotment import WAY

if TYPE_CHECKING:
    from snellen.experiments.examiners.examiner import Examiner
    from snellen.graphs.states import InvestigateState, Json
    from snellen.memory.samples import SampleTable


def report_of(state: InvestigateState) -> Report:
    """Return the report that is being written: once models were corrected, the one about that."""
    return Report.model_validate(state.after or state.report)


def written(state: InvestigateState, report: Report) -> Json:
    """Return that report as it goes into a state."""
    return {"after" if state.after else "report": report.model_dump(mode="json")}


def sample_set_of(state: InvestigateState) -> str:
    """Return the name under which the pictures of that report are kept."""
    return corrected_sample_set(state.investigation) if state.after else state.investigation


def free_sample_set(state: InvestigateState, number: int, samples: SampleTable) -> str:
    """Return the name under which pictures are kept from an experiment on that is about to begin.

    Where the experiment has pictures already, somebody went back in the thread and lets it go another way: this way
    gets a sample set of its own, with the pictures of the experiments before.

    Args:
        state: Of the investigation.
        number: Of the experiment, from 0.
        samples: The table of pictures.
    """
    if not samples.of(sample_set_of(state), number):
        return state.investigation
    thread = state.investigation.partition(WAY)[0]
    ways = (f"{thread}{WAY}{way}" for way in itertools.count(1))
    name = next(one for one in ways if not samples.of(one, 0) and not samples.of(corrected_sample_set(one), 0))
    samples.copy(state.investigation, name, **({} if state.after else {"before": number}))
    if state.after:
        samples.copy(corrected_sample_set(state.investigation), corrected_sample_set(name), before=number)
    return name


def investigator_of(state: InvestigateState, context: Context) -> Examiner:
    """Return who designs the experiments of that report, and reads them."""
    if state.after:
        return FollowUp([Design.model_validate(one) for one in state.plan])
    examination = context.examiner()
    return examination.investigators.get(state.protocol or "choice", examination.investigator)


async def opened(state: InvestigateState, investigator: Examiner) -> InvestigateState:
    """Return the state with the opening of its report; the Reasoner is asked once, before the thread begins or in it.

    Raises:
        BadInput: The query cannot be examined.
    """
    request: Json = {"query": state.query, "protocol": state.protocol, "models": list(state.models)}
    known = _opening_of(state)
    # Somebody may have changed what is asked, or the opening itself.
    if known is not None and state.opening.get("asked") == request and set(known.models) <= set(state.models):
        return state
    before = investigator.usage
    reply = await investigator.open_report(state.query, state.models)
    opening: Json = {"asked": request, "said": reply.model_dump(mode="json")}
    return replace(state, opening=opening, usage=usage_with(state.usage, before, investigator.usage))


def _opening_of(state: InvestigateState) -> Opening | None:
    try:
        return Opening.model_validate(state.opening.get("said"))
    except ValidationError:
        return None
