"""The threads of a home, of every kind: listed, taken up by name, looked back into, branched."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.threads import ask, chat, investigate, learn
from snellen.threads import thread as threads
from snellen.threads.thread import GraphName, ThreadSummary
from snellen.threads.thread_type import Kind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langgraph.types import StateSnapshot

    from snellen.graphs.states import InvestigateState, Json
    from snellen.threads.events import Decide

KINDS: Final[dict[GraphName, Kind[Any]]] = {
    "ask": ask.ASK,
    "learn": learn.LEARN,
    "investigate": investigate.INVESTIGATE,
    "chat": chat.CHAT,
}
_SUMMARIES: Final[dict[GraphName, Callable[[Any, str], Awaitable[ThreadSummary]]]] = {
    "ask": ask.summary,
    "learn": learn.summary,
    "investigate": investigate.summary,
    "chat": chat.summary,
}
MAX_HISTORY: Final = 200
"""Checkpoints of a thread that are listed, the latest first."""


@dataclass(frozen=True)
class Moment:
    """One checkpoint of a thread: a place to look back to, and to branch from.

    Attributes:
        checkpoint: Its id.
        step: Its number in the thread.
        created: ISO 8601, UTC.
        after: What had just been done.
        next: The nodes that come then; none at an end.
    """

    checkpoint: str
    step: int
    created: str
    after: str
    next: tuple[str, ...]


async def list_threads() -> list[ThreadSummary]:
    """Return every thread of this home, the newest first.

    Raises:
        MemoryTrouble: the home cannot be used.
    """
    from snellen.memory.checkpoints import thread_graphs
    from snellen.memory.home import home_to_read

    folder = await asyncio.to_thread(home_to_read)
    found = await asyncio.to_thread(thread_graphs, folder)
    async with threads.reading_all(folder) as graphs:
        return [await summarized(graphs[of], name, of) for name, of in _by_graph(found)]


async def summarized(graph: Any, thread: str, of: GraphName) -> ThreadSummary:  # noqa: ANN401 - a compiled graph
    """Return the line of a thread, read through its graph, of the home at hand."""
    return await threads.listed(thread, of, _SUMMARIES[of](graph, thread))


def _by_graph(found: Mapping[str, str]) -> list[tuple[str, GraphName]]:
    return [(name, threads.known_graph(graph)) for name, graph in found.items()]


async def read_summary(thread: str) -> ThreadSummary:
    """Return the line of one thread in the list of threads.

    Raises:
        BadInput: There is no such thread.
    """
    from snellen.memory.home import home_to_read

    of = await threads.graph_of(thread)
    async with threads.reading(of, await asyncio.to_thread(home_to_read)) as graph:
        return await summarized(graph, thread, of)


async def read_thread(thread: str) -> tuple[GraphName, Any]:
    """Return the graph of a thread and its latest saved state.

    Raises:
        BadInput: There is no such thread.
    """
    graph = await threads.graph_of(thread)
    return graph, await KINDS[graph].read(thread)


async def resume(thread: str, *, profile: str | None = None, decide: Decide | None = None) -> AsyncGenerator[Any]:
    """Take up a thread of any kind where it stopped; see ``Kind.resume``.

    Raises:
        BadInput: There is no such thread, or another process runs it.
        SnellenError: The run failed again; the thread can still be resumed.
    """
    async for event in KINDS[await threads.graph_of(thread)].resume(thread, profile=profile, decide=decide):
        yield event


async def history(thread: str) -> list[Moment]:
    """Return the checkpoints of a thread, the latest first, at most ``MAX_HISTORY``.

    Raises:
        BadInput: There is no such thread.
    """
    from snellen.memory.home import home_to_read

    of = await threads.graph_of(thread)
    async with threads.reading(of, await asyncio.to_thread(home_to_read)) as graph:
        found = [one async for one in graph.aget_state_history(KINDS[of].address(thread), limit=MAX_HISTORY)]
    return [_moment(one, before) for one, before in itertools.zip_longest(found, found[1:])]


async def standing(thread: str) -> str:
    """Return the id of a thread's latest checkpoint.

    Raises:
        BadInput: There is no such thread.
    """
    from snellen.memory.home import home_to_read

    of = await threads.graph_of(thread)
    async with threads.reading(of, await asyncio.to_thread(home_to_read)) as graph:
        snapshot = await graph.aget_state(KINDS[of].address(thread))
    return str(snapshot.config["configurable"]["checkpoint_id"])


async def branch(thread: str, checkpoint: str, *, name: str | None = None, values: Json | None = None) -> str:
    """Begin a new thread with the state that another one had at a checkpoint; resumed, it goes on from there.

    Args:
        thread: The other thread; it stays as it is.
        checkpoint: The id of one of its checkpoints, as ``history`` has it.
        name: The new thread's id; made up when None.
        values: Fields of the state that are changed at once.

    Returns:
        The new thread's id.

    Raises:
        BadInput: There is no such thread or checkpoint, the name is taken, or a value cannot be used.
    """
    from snellen.memory.home import home

    folder = await asyncio.to_thread(home)
    of = await threads.graph_of(thread)
    new = threads.checked_name(name) if name is not None else threads.new_name()
    async with threads.opened(new, of, folder) as graph:
        address = KINDS[of].address(thread)
        address["configurable"]["checkpoint_id"] = checkpoint
        snapshot = await graph.aget_state(address)
        if not snapshot.created_at:
            msg = f"The thread {thread!r} has no checkpoint {checkpoint[:40]!r}; its history lists them."
            raise BadInput(msg)
        changed = threads.checked_values(values or {}, KINDS[of].state())
        if of == "investigate":
            changed |= await asyncio.to_thread(_own_album, KINDS[of].values(snapshot), new, folder)
        await threads.copied(graph, snapshot, KINDS[of].address(new), changed)
    return new


def _own_album(state: InvestigateState, name: str, folder: Path) -> Json:
    """Give a branch of an investigation an album of its own with the pictures so far: both go their own ways."""
    from snellen.experiments.follow_up import album
    from snellen.memory.samples import SampleTable

    samples = SampleTable(folder)
    samples.copy(state.investigation, name, before=len(state.report.get("experiments", ())))
    samples.copy(album(state.investigation), album(name), before=len(state.after.get("experiments", ())))
    return {"investigation": name}


def _moment(snapshot: StateSnapshot, before: StateSnapshot | None) -> Moment:
    return Moment(
        checkpoint=str(snapshot.config["configurable"]["checkpoint_id"]),
        step=int((snapshot.metadata or {}).get("step", 0)),
        created=snapshot.created_at or "",
        after=", ".join(before.next) if before is not None else "",
        next=tuple(snapshot.next),
    )
