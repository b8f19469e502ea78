"""Redrawing: pictures and samples that follow from a seed, made again from what threads say (``memory verify``)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.experiments.follow_up import corrected_sample_set
from snellen.experiments.report import Report
from snellen.experiments.rounds import made_round
from snellen.learning.example_collection import gather_for
from snellen.learning.records import Need
from snellen.memory.checkpoints import UNREADABLE, thread_graphs
from snellen.memory.home import MemoryTrouble
from snellen.threads import thread
from snellen.threads.thread import GraphName
from snellen.threads.thread_types import THREAD_TYPES

if TYPE_CHECKING:
    from snellen.experiments.resources import Examination
    from snellen.graphs.states import InvestigateState, LearnState
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.samples import SampleTable
    from snellen.memory.verification import Verification
    from snellen.runtime.context import Context

_EXAMPLES: Final = files("snellen") / "page" / "examples"


@dataclass(frozen=True)
class Redrawing:
    """Draws again what the threads of a home drew.

    Attributes:
        folder: The memory's home.
    """

    folder: Path

    def draw(self, store: ArtifactStore, wanted: AbstractSet[str]) -> None:
        """Draw pictures again into a store; see ``snellen.memory.verification.pictures.Draw``."""
        for example in _EXAMPLES.iterdir():
            if example.name.endswith(".png"):
                store.ingest(Path(str(example)))
        for graph, state in self._states:
            if all(map(store.is_whole, wanted)):
                return
            context = self._context(graph, state)
            if context is None:
                continue
            if graph == "investigate":
                draw_samples(state, context, store, wanted)
            elif graph in {"ask", "learn"} and state.needs:
                asyncio.run(draw_lessons(state, context, store))

    def complete(self, found: Verification) -> None:
        """Add the samples that reports should have, and note those that cannot be had."""
        from snellen.memory.samples import SampleTable

        samples = SampleTable(self.folder)
        for graph, state in self._states:
            for gap in gaps(state, samples) if graph == "investigate" else ():
                problem = f"{len(gap.rounds)} of its rounds have samples missing"
                context = self._context(graph, state)
                if context is not None and (not found.repaired or fill(gap, context)):
                    found.note("rebuilt", gap, f"{problem}; they are drawn again, as they follow from a seed")
                else:
                    found.note("lost", gap, f"{problem}, and where they came from is gone")

    @cached_property
    def _states(self) -> list[tuple[GraphName, Any]]:
        """The latest state of every thread; investigations that a conversation made stand as they are in it."""
        try:
            return asyncio.run(self._read())
        except MemoryTrouble:  # the database of threads is damaged, which has been told: nobody knows what they drew
            return []

    async def _read(self) -> list[tuple[GraphName, Any]]:
        states: list[tuple[GraphName, Any]] = []
        async with thread.reading_all(self.folder) as graphs:
            for name, graph in thread_graphs(self.folder).items():
                of = thread.known_graph(graph)
                try:
                    states += _parts(of, await THREAD_TYPES[of].state_of(graphs[of], name))
                except UNREADABLE:
                    continue
        return states

    def _context(self, graph: GraphName, state: Any) -> Any:  # noqa: ANN401 - a state, and snellen.runtime.context.Context
        try:
            return THREAD_TYPES[graph].gather(state, str(state.profile) or "embedded", self.folder)
        except SnellenError:  # its profile or its folder is gone: what it drew cannot be drawn
            return None


def _parts(graph: GraphName, state: Any) -> Iterator[tuple[GraphName, Any]]:  # noqa: ANN401 - a state
    if graph != "chat":
        yield graph, state
        return
    of = thread.known_graph(str(state.last.get("graph", "")))
    if of != "chat" and isinstance(state.last.get("state"), dict):
        yield of, thread.state_from(state.last["state"], THREAD_TYPES[of].state)


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
    for name, stored in ((state.investigation, state.report), (corrected_sample_set(state.investigation), state.after)):
        if stored:
            yield name, Report.model_validate(stored)


def _draw_experiment(name: str, report: Report, number: int, examination: Examination, ids: AbstractSet[str]) -> None:
    samples = examination.samples.of(name, number)
    for place in sorted({one.round for one in samples if ids & {one.picture, one.plain}}):
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
    incomplete = []
    for name, report in _reports(state):
        for number, experiment in enumerate(report.experiments):
            there = Counter(one.round for one in samples.of(name, number))
            arms = len(experiment.design.arms)
            missing = tuple(place for place in range(experiment.rounds) if there[place] < arms)
            incomplete += [Gap(name, report, number, missing)] if missing else []
    return incomplete


def fill(gap: Gap, context: Context) -> bool:
    """Draw the rounds of a gap again and store their samples; tell whether that could be done."""
    examination = context.examiner()
    try:
        for number in gap.rounds:
            examination.samples.add(made_round(gap.name, gap.report, gap.experiment, number, examination))
    except SnellenError:  # its source is gone, such as a folder
        return False
    return True
