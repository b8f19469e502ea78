"""The threads of a home, of every kind: listed, taken up by name, looked back into, branched."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.memory.home import home, home_to_read
from snellen.threads import thread as threads
from snellen.threads.listing import list_threads as list_threads
from snellen.threads.listing import thread_page as thread_page
from snellen.threads.thread import GraphName, ThreadSummary
from snellen.threads.thread_types import THREAD_TYPES as THREAD_TYPES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langgraph.types import StateSnapshot

    from snellen.graphs.states import InvestigateState, Json
    from snellen.threads.events import Decide

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


async def read_summary(thread: str) -> ThreadSummary:
    """Return the line of one thread in the list of threads.

    Raises:
        BadInput: There is no such thread.
    """
    of = await threads.graph_of(thread)
    async with threads.reading(of, await asyncio.to_thread(home_to_read)) as graph:
        return await THREAD_TYPES[of].summary(graph, thread)


async def read_thread(thread: str) -> tuple[GraphName, Any]:
    """Return the graph of a thread and its latest saved state.

    Raises:
        BadInput: There is no such thread.
    """
    graph = await threads.graph_of(thread)
    return graph, await THREAD_TYPES[graph].read(thread)


async def resume(thread: str, *, profile: str | None = None, decide: Decide | None = None) -> AsyncGenerator[Any]:
    """Take up a thread of any kind where it stopped; see ``ThreadType.resume``.

    Raises:
        BadInput: There is no such thread, or another process runs it.
        SnellenError: The run failed again; the thread can still be resumed.
    """
    async for event in THREAD_TYPES[await threads.graph_of(thread)].resume(thread, profile=profile, decide=decide):
        yield event


async def history(thread: str) -> list[Moment]:
    """Return the checkpoints of a thread, the latest first, at most ``MAX_HISTORY``.

    Raises:
        BadInput: There is no such thread.
    """
    of = await threads.graph_of(thread)
    async with threads.reading(of, await asyncio.to_thread(home_to_read)) as graph:
        snapshots = [one async for one in graph.aget_state_history(THREAD_TYPES[of].address(thread), limit=MAX_HISTORY)]
    return [_moment(one, before) for one, before in itertools.zip_longest(snapshots, snapshots[1:])]


async def standing(thread: str) -> str:
    """Return the id of a thread's latest checkpoint.

    Raises:
        BadInput: There is no such thread.
    """
    of = await threads.graph_of(thread)
    async with threads.reading(of, await asyncio.to_thread(home_to_read)) as graph:
        snapshot = await graph.aget_state(THREAD_TYPES[of].address(thread))
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
    folder = await asyncio.to_thread(home)
    of = await threads.graph_of(thread)
    new = threads.checked_name(name) if name is not None else threads.new_name()
    async with threads.opened(new, of, folder) as graph:
        address = THREAD_TYPES[of].address(thread)
        address["configurable"]["checkpoint_id"] = checkpoint
        snapshot = await graph.aget_state(address)
        if not snapshot.created_at:
            msg = f"The thread {thread!r} has no checkpoint {checkpoint[:40]!r}; its history lists them."
            raise BadInput(msg)
        changed = threads.checked_values(values or {}, THREAD_TYPES[of].state)
        if of == "investigate":
            changed |= await asyncio.to_thread(_own_pictures, THREAD_TYPES[of].values(snapshot.values), new, folder)
        await threads.copied(graph, snapshot, THREAD_TYPES[of].address(new), changed)
    return new


def _own_pictures(state: InvestigateState, name: str, folder: Path) -> Json:
    """Give a branch a name of its own for its pictures, with those so far: both go their own ways."""
    from snellen.experiments.follow_up import corrected_sample_set
    from snellen.memory.samples import SampleTable

    samples = SampleTable(folder)
    samples.copy(state.investigation, name, before=len(state.report.get("experiments", ())))
    samples.copy(
        corrected_sample_set(state.investigation),
        corrected_sample_set(name),
        before=len(state.after.get("experiments", ())),
    )
    return {"investigation": name}


def _moment(snapshot: StateSnapshot, before: StateSnapshot | None) -> Moment:
    return Moment(
        checkpoint=str(snapshot.config["configurable"]["checkpoint_id"]),
        step=int((snapshot.metadata or {}).get("step", 0)),
        created=snapshot.created_at or "",
        after=", ".join(before.next) if before is not None else "",
        next=tuple(snapshot.next),
    )
