"""Following a thread of any graph: what happens in it, one event after the other, past questions to a person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import StateSnapshot

    from snellen.graphs.states import Json
    from snellen.runtime.context import Context

    Graph = CompiledStateGraph[Any, Any, Any, Any]

State = TypeVar("State")
"""The state of a graph: ``AskState`` or ``LearnState``."""

Decide = Callable[[dict[str, Any]], Sequence[dict[str, Any]] | None]
"""Decides about a request of ``snellen.runtime.approval``: one decision for each of its actions; None leaves it
open."""


@dataclass(frozen=True)
class Started(Generic[State]):
    """The thread exists and what it begins with is stored; from now on it can be resumed."""

    thread: str
    state: State
    resumed: bool = False


@dataclass(frozen=True)
class Finished(Generic[State]):
    """The thread reached its end."""

    thread: str
    state: State


@dataclass(frozen=True)
class NodeFinished:
    """A node of the graph, or of a graph inside it, finished."""

    node: str
    update: Json
    """The state fields that changed, e.g. ``{"plan": [...]}``."""


@dataclass(frozen=True)
class StepFinished:
    """One step of the program was executed (sent while the node ``run`` is at work)."""

    record: Json
    """The step in full: a ``StepRecord`` in JSON form."""


@dataclass(frozen=True)
class LearningProgress:
    """The progress of a need: ``need``, ``phase``, and as the phase knows ``done``, ``of``, ``step``, ``kept``."""

    told: Json


@dataclass(frozen=True)
class InvestigationProgress:
    """The progress of an experiment: ``phase``, ``done``, ``of``, and the ``model`` that is asked."""

    told: Json


@dataclass(frozen=True)
class Waits:
    """A person must decide whether something may be done: learned, or an experiment run."""

    thread: str
    request: Json
    """``action_requests`` and ``review_configs``, as ``snellen.runtime.approval`` makes them."""


@dataclass(frozen=True)
class ModelsLoading:
    """The work waits for models that are being loaded; told by servers, once."""


Event = NodeFinished | StepFinished | LearningProgress | InvestigationProgress | Waits


async def followed(
    graph: Graph, address: RunnableConfig, context: Context, decide: Decide | None
) -> AsyncGenerator[Event]:
    """Follow a thread from where it stands to its end, past its questions as far as they are decided.

    Args:
        graph: The graph with a saver.
        address: The thread.
        context: What its nodes work with.
        decide: Decides about a request, on a worker thread; without it, or when it leaves one open, following ends.

    Yields:
        What happens, in order; where a request was left open, ``Waits`` comes last.
    """
    thread = address["configurable"]["thread_id"]
    request = await request_of(graph, address)
    while True:
        answer = None
        if request is not None:
            yield Waits(thread=thread, request=request)
            answer = await asyncio.to_thread(decide, request) if decide is not None else None
            if answer is None:
                return
        async for event in _streamed(graph, address, context, answer):
            yield event
        request = await request_of(graph, address)
        if request is None:
            return


async def request_of(graph: Graph, address: RunnableConfig) -> Json | None:
    """Return the request that a thread waits with; None where it waits for nobody."""
    return next(requests_in(await graph.aget_state(address, subgraphs=True)), None)


def requests_in(snapshot: StateSnapshot) -> Iterator[Json]:
    """Yield the requests that nobody has decided yet, of a snapshot with its subgraphs.

    A node that runs a graph keeps the request of that graph until it has ended itself, also when it was decided, and
    the process then stopped. The graph inside knows better.
    """
    for task in snapshot.tasks:
        # Of a graph that has not begun there is only its address, and of a node that runs none, nothing.
        if task.state is not None and not isinstance(task.state, dict):
            yield from requests_in(task.state)
        else:
            yield from (cast("Json", one.value) for one in task.interrupts)


async def _streamed(
    graph: Graph, address: RunnableConfig, context: Context, answer: Sequence[Json] | None
) -> AsyncIterator[Event]:
    from langgraph.types import Command

    stream = graph.astream(
        None if answer is None else Command(resume={"decisions": list(answer)}),
        address,
        context=context,
        stream_mode=["updates", "custom"],
        durability="sync",
        subgraphs=True,
    )
    async for _, mode, chunk in cast("AsyncIterator[tuple[tuple[str, ...], str, Json]]", stream):
        if mode == "custom" and "step" in chunk:
            yield StepFinished(record=chunk["step"])
        elif mode == "custom" and "learning" in chunk:
            yield LearningProgress(told=chunk["learning"])
        elif mode == "custom" and "investigating" in chunk:
            yield InvestigationProgress(told=chunk["investigating"])
        elif mode == "updates":
            for node, update in chunk.items():
                if node != "__interrupt__":
                    yield NodeFinished(node=node, update=update or {})
