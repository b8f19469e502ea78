"""Investigations: begin, follow, approve and resume threads of the investigate graph (``snellen investigate``)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from interfaces import threads
from interfaces.following import Decide, Event, Finished, Started, followed, request_of
from interfaces.threads import ThreadSummary
from nodes.orders import Order as Order
from nodes.orders import beginning
from nodes.resources import examining as examining
from profiles.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from langgraph.graph.state import CompiledStateGraph

    from graphs.states import InvestigateState, Json
    from nodes.context import Context
    from nodes.reasoning.follow_up import Correction
    from nodes.reasoning.inquiry import Report

    Graph = CompiledStateGraph[Any, Any, Any, Any]

InvestigationEvent = Started["InvestigateState"] | Event | Finished["InvestigateState"]


@dataclass(frozen=True)
class Found:
    """What an investigation found.

    Attributes:
        investigation: Its thread.
        report: What it found.
        corrections: What was done about weaknesses, where that was wanted.
        after: What was measured of corrected models.
        profile: Name or path of the profile.
        pictures: The folder of the user's own that samples were drawn from; empty where they were not.
        correct: Whether corrections were wanted, and the report is done.
    """

    investigation: str
    report: Report
    corrections: Sequence[Correction] = ()
    after: Report | None = None
    profile: str = "embedded"
    pictures: str = ""
    correct: bool = False

    @property
    def parts(self) -> list[tuple[str, Report]]:
        """The reports, each with the name under which its pictures are kept."""
        from nodes.reasoning.follow_up import album

        later = [] if self.after is None else [(album(self.investigation), self.after)]
        return [(self.investigation, self.report), *later]


async def stream_investigate(
    order: Order, *, thread: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Begin an investigation, and follow it to its end.

    Args:
        order: What is to be investigated.
        thread: The new thread's id; made up when None.
        decide: Decides about a design; without it, or when it leaves one open, the thread stops there.

    Yields:
        ``Started``, nodes and progress in the order of events, ``Waits`` where a decision is asked for,
        and ``Finished``, unless the thread is left waiting.

    Raises:
        BadInput: something of the order or the thread cannot be used; nothing was begun.
        SnellenError: the run failed; ``resume_investigation`` takes it up.
    """
    from graphs.states import InvestigateState
    from memory.home import home
    from nodes.experiments import investigator_of

    if order.correct:
        await asyncio.to_thread(_check_library)
    name = threads.checked_name(thread) if thread is not None else threads.new_name()
    state = InvestigateState(**await asyncio.to_thread(beginning, name, order))
    folder = await asyncio.to_thread(home)
    context = await asyncio.to_thread(examining, order.profile, folder, state.folder)
    # What cannot be examined is said before there is a thread that nobody can bring to an end.
    await investigator_of(state, context).open_report(state.query, state.models)
    async with threads.opened(name, "investigate", folder) as graph:
        await threads.begin(graph, asdict(state), _config(name))
        yield Started(thread=name, state=state)
        async for event in _followed(graph, name, context, decide):
            yield event


async def resume_investigation(
    thread: str, *, profile: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Take up an investigation where it stopped; no trial is measured twice. A finished one only yields its end.

    Args:
        thread: The id of an existing thread.
        profile: A profile to go on with; None takes the one the thread was begun with.
        decide: Decides about a design that the thread waits with, or comes to.

    Yields:
        ``Started`` with ``resumed``, then what is left of the run.

    Raises:
        BadInput: no such thread, or another process is running it.
        SnellenError: the run failed again; the thread can still be resumed.
    """
    from memory.home import home

    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    async with threads.opened(name, "investigate", folder) as graph:
        state = await _state(graph, name)
        yield Started(thread=name, state=state, resumed=True)
        if threads.has_ended(await graph.aget_state(_config(name))):
            yield Finished(thread=name, state=state)
            return
        context = await asyncio.to_thread(examining, profile or state.profile, folder, state.folder)
        async for event in _followed(graph, name, context, decide):
            yield event


async def correct_investigation(
    thread: str, *, approve: bool = False, profile: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Teach models what a finished investigation found that they cannot do, and measure them again.

    Args:
        thread: The id of an existing thread.
        approve: Whether a person is asked which models are taught.
        profile: A profile to go on with; None takes the one the thread was begun with.
        decide: Decides about that.

    Yields:
        ``Started`` with ``resumed``, then what happens.

    Raises:
        BadInput: no such thread, it has not ended, it found no weakness, or its models were corrected.
        SnellenError: the run failed; ``resume_investigation`` takes it up.
    """
    from memory.home import home

    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    async with threads.opened(name, "investigate", folder) as graph:
        state = await _state(graph, name)
        if not threads.has_ended(await graph.aget_state(_config(name))):
            msg = f"The investigation {name!r} has not ended: `snellen resume {name}` takes it up."
            raise BadInput(msg)
        _check_correctable(state)
        await asyncio.to_thread(_check_library)
        context = await asyncio.to_thread(examining, profile or state.profile, folder, state.folder)
        told = {"correct": True, "approve": approve, "corrections": []}
        await graph.aupdate_state(_config(name), told, as_node="conclude")
        yield Started(thread=name, state=state, resumed=True)
        async for event in _followed(graph, name, context, decide):
            yield event


def _check_correctable(state: InvestigateState) -> None:
    from nodes.reasoning.follow_up import weaknesses

    found = found_in(state)
    if state.after:
        msg = f"The models of {state.investigation!r} were corrected: `snellen report {state.investigation}` shows it."
        raise BadInput(msg)
    if found is None or not weaknesses(found.report):
        msg = (
            f"The investigation {state.investigation!r} found nothing that a model cannot do, so there is nothing to "
            "correct: `snellen report` shows what it found."
        )
        raise BadInput(msg)


async def read_thread(thread: str) -> InvestigateState:
    """Return the latest saved state of an investigation.

    Raises:
        BadInput: no such thread.
    """
    from memory.home import home

    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    async with threads.reading("investigate", folder) as graph:
        return await _state(graph, name)


def found_in(state: InvestigateState) -> Found | None:
    """Return what an investigation has found so far; None before its report is opened."""
    from nodes.reasoning.follow_up import Correction
    from nodes.reasoning.inquiry import Report

    if not state.report:
        return None
    corrections = [Correction.model_validate(one) for one in state.corrections]
    after = Report.model_validate(state.after) if state.after else None
    report = Report.model_validate(state.report)
    return Found(
        state.investigation,
        report,
        corrections,
        after,
        state.profile,
        state.folder,
        state.correct and bool(report.answers),
    )


async def summary(graph: Graph, thread: str) -> ThreadSummary:
    """Return the line of an investigation, in the list of threads."""
    from graphs.states import InvestigateState

    snapshot = await graph.aget_state(_config(thread))
    state = threads.state_from(cast("Json", snapshot.values), InvestigateState)
    return ThreadSummary(
        thread=thread,
        instruction=state.query,
        status=await threads.status(snapshot, thread),
        updated=snapshot.created_at or "",
        verdict="",
        answer=None,
        graph="investigate",
        outcome=str(state.report.get("conclusion", "")),
    )


async def _followed(
    graph: Graph, thread: str, context: Context, decide: Decide | None
) -> AsyncIterator[InvestigationEvent]:
    async for event in followed(graph, _config(thread), context, decide):
        yield event
    if await request_of(graph, _config(thread)) is None:
        yield Finished(thread=thread, state=await _state(graph, thread))


async def _state(graph: Graph, thread: str) -> InvestigateState:
    from graphs.states import InvestigateState

    return await threads.state_of(graph, _config(thread), InvestigateState)


def _config(thread: str) -> Any:  # noqa: ANN401 - a RunnableConfig; naming it would import langchain for the help
    from graphs.investigate import RECURSION_LIMIT

    return threads.config(thread, "investigate", limit=RECURSION_LIMIT)


def _check_library() -> None:
    from tools.models import check_library

    check_library()
