"""Pictures that follow from a seed, drawn again: those of experiments, and those that a concept was learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nodes.experiments import made_round
from nodes.gathering import gather_for
from nodes.lessons import Need
from nodes.reasoning.follow_up import album
from nodes.reasoning.inquiry import Report
from profiles.errors import SnellenError

if TYPE_CHECKING:
    from graphs.states import InvestigateState, LearnState
    from memory.artifacts import ArtifactStore
    from memory.samples import SampleTable
    from nodes.context import Context
    from nodes.examination import Examination


def draw_samples(state: InvestigateState, context: Context, store: ArtifactStore, wanted: AbstractSet[str]) -> None:
    """Draw again those rounds of an investigation's experiments that have one of some pictures.

    Args:
        state: Of the investigation.
        context: What it works with; its sources draw.
        store: Takes what is drawn.
        wanted: The ids of the pictures.
    """
    examination = replace(context.examiner(), pictures=store)
    for name, report in _reports(state):
        for number in range(len(report.experiments)):
            _draw_experiment(name, report, number, examination, wanted)


def _reports(state: InvestigateState) -> Iterator[tuple[str, Report]]:
    """Yield the reports of an investigation, each with the name that its samples are kept by."""
    for name, told in ((state.investigation, state.report), (album(state.investigation), state.after)):
        if told:
            yield name, Report.model_validate(told)


def _draw_experiment(
    name: str, report: Report, number: int, examination: Examination, wanted: AbstractSet[str]
) -> None:
    samples = examination.samples.of(name, number)
    for place in sorted({one.round for one in samples if wanted & {one.picture, one.plain}}):
        try:
            made_round(name, report, number, place, examination)
        except SnellenError:  # its source is gone, such as a folder: what it had cannot be drawn
            return


async def draw_lessons(state: LearnState, context: Context, store: ArtifactStore) -> None:
    """Gather again what a thread learned from, as far as its sources draw it.

    Args:
        state: Of a thread that learns, or one with fields of the same names.
        context: What it works with.
        store: Takes what is drawn.
    """
    for need in state.needs:
        await gather_for(Need.from_json(need), replace(context, pictures=store), seed=state.seed)


@dataclass(frozen=True)
class Gap:
    """Rounds of an experiment that have samples missing.

    Attributes:
        name: The name that its samples are kept by.
        report: What it belongs to.
        experiment: Its number, from 0.
        rounds: Their numbers, from 0.
    """

    name: str
    report: Report
    experiment: int
    rounds: tuple[int, ...]

    def __str__(self) -> str:
        return f"experiment {self.experiment + 1} of {self.name}"


def gaps(state: InvestigateState, samples: SampleTable) -> list[Gap]:
    """Return what an investigation's reports say was drawn, and the table of samples does not have."""
    found = []
    for name, report in _reports(state):
        for number, experiment in enumerate(report.experiments):
            there = Counter(one.round for one in samples.of(name, number))
            arms = len(experiment.design.arms)
            missing = tuple(place for place in range(experiment.rounds) if there[place] < arms)
            found += [Gap(name, report, number, missing)] if missing else []
    return found


def fill(gap: Gap, context: Context) -> bool:
    """Draw the rounds of a gap again and store their samples; tell whether that could be done."""
    examination = context.examiner()
    try:
        for number in gap.rounds:
            examination.samples.add(made_round(gap.name, gap.report, gap.experiment, number, examination))
    except SnellenError:  # its source is gone, such as a folder
        return False
    return True
