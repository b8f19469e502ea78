"""Nodes that judge whether the evidence suffices, and conclude from it (APEX, section 3.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from langgraph.types import Command

from snellen.experiments.decisions import decided, next_rounds, taken_up, with_reopened_told, with_unspent_told
from snellen.experiments.endings import (
    designs_used_up,
    ending_told,
    not_worth_it,
    used_up,
    with_older_readings_marked,
)
from snellen.experiments.pattern_sentences import with_patterns_told
from snellen.experiments.rounds import weighed, with_patterns
from snellen.experiments.trial_runner import served
from snellen.runtime.context import Context, usage_with
from snellen.runtime.contradicting_answers import contradictions
from snellen.runtime.investigation_state import investigator_of, report_of, sample_set_of, written
from snellen.runtime.resources import context_of

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.experiments.report import Discussion, Report
    from snellen.graphs.states import InvestigateState, Json
    from snellen.runtime.settings import Given


async def judge_sufficiency(
    state: InvestigateState, runtime: Runtime[Given]
) -> Command[Literal["design", "build_benchmark", "conclude"]]:
    """Have the Reasoner say whether the report answers the query; go on while it does not and the budget lasts.

    Where no further experiment would help, or there may be none, what is left of the budget goes to those with open
    claims that still matter.
    """
    context = await context_of(runtime, state)
    investigator = investigator_of(state, context)
    before = investigator.usage
    report = report_of(state)
    judged = await investigator.judge_sufficiency(report)
    usage = usage_with(state.usage, before, investigator.usage)
    over = used_up(report, usage.get("input_tokens", 0) + usage.get("output_tokens", 0))
    undesigned = "" if judged.sufficient else over or designs_used_up(report)
    report = report.model_copy(update={"questions": list(judged.questions)})
    if not judged.sufficient and not undesigned:
        return Command(goto="design", update=written(state, report) | {"usage": usage, "designs": 0})
    longer = taken_up(report, judged.unsettled)
    if not over and next_rounds(longer):
        return Command(goto="build_benchmark", update=written(state, longer) | {"usage": usage})
    ended = undesigned or (over if judged.unsettled else "") or not_worth_it(report, judged.unsettled)
    report = with_unspent_told(report, judged.unsettled).model_copy(update={"ended": ended})
    return Command(goto="conclude", update=written(state, report) | {"usage": usage, "designs": 0})


async def conclude(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Weigh all evidence together once more, find patterns of failure, and have the Reasoner answer the query."""
    context = await context_of(runtime, state)
    investigator = investigator_of(state, context)
    before = investigator.usage
    known = report_of(state)
    report = await asyncio.to_thread(_weighed_together, known, sample_set_of(state), context)
    report = with_older_readings_marked(report, known)
    if not report.experiments:
        notes = [*report.notes, *ending_told(report, {})]
        told = f"Nothing was examined. {' '.join(notes) or 'No experiment could be designed.'}"[:2_000]
        return written(state, report.model_copy(update={"conclusion": told, "notes": notes}))
    concluded = await investigator.conclude(report)
    told = with_patterns_told(concluded.conclusion, report.patterns)
    said = {"answers": concluded.answers, "headline": concluded.headline, "conclusion": told}
    report = with_reopened_told(_discussed_anew(report, concluded.discussions)).model_copy(update=said)
    contrary = await asyncio.to_thread(contradictions, report, sample_set_of(state), context.examiner())
    servers = await asyncio.to_thread(served, context.examiner().executor, report.models)
    notes = [*report.notes, *ending_told(report, concluded.further, seed=state.seed), *contrary, *servers]
    report = report.model_copy(update={"notes": notes})
    return written(state, report) | {"usage": usage_with(state.usage, before, investigator.usage)}


def _discussed_anew(report: Report, discussions: Sequence[Discussion]) -> Report:
    """Return the report with what its experiments show in the figures of the answers, where somebody read them anew."""
    if len(discussions) != len(report.experiments):
        return report
    experiments = [
        experiment.model_copy(update={"recap": one.recap, "interpretation": one.interpretation})
        for experiment, one in zip(report.experiments, discussions, strict=True)
    ]
    return report.model_copy(update={"experiments": experiments})


def _weighed_together(report: Report, investigation: str, context: Context) -> Report:
    """Give every claim the interval that goes with all verdicts: which ones there are was not known before."""
    examination = context.examiner()
    samples = [examination.samples.of(investigation, number) for number in range(len(report.experiments))]
    for number, each in enumerate(samples):
        report = weighed(report, number, each, examination)
    return with_patterns(decided(report), samples, examination)
