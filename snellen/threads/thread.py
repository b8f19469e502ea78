"""Threads of every type: their names, the graphs that they run, their copies, and how far they are.

A thread says in the metadata of its checkpoints which graph it belongs to; those of earlier versions, which say
nothing, are of ask.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from snellen.errors import BadInput
from snellen.memory.checkpoints import checkpoints, thread_graph
from snellen.memory.home import home_to_read
from snellen.threads.events import State, request_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import StateSnapshot

    from snellen.graphs.states import Json
    from snellen.graphs.wiring import Wired

    Graph = CompiledStateGraph[Any, Any, Any, Any]

GraphName = Literal["ask", "learn", "investigate", "chat"]
GRAPHS: Final[tuple[GraphName, ...]] = get_args(GraphName)

WAITING: Final = "waiting for approval"
"""The status of a thread that a person must decide about."""
FAILED: Final = "failed"
"""How the status of a thread begins that came to no answer, or that an error stopped."""

_THREAD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class ThreadSummary:
    """One line of ``snellen threads``."""

    thread: str
    instruction: str = ""
    """What was asked for; of a thread that learns, what it learns."""
    status: str = ""
    """``finished``, ``failed`` (it ended without a result), ``running NODE`` (in some process, at this moment),
    ``waiting for approval``, ``stopped before NODE`` (or ``after``, if its result is saved), ``failed before NODE``
    where an error stopped it there (``snellen resume`` tries again), or ``damaged``."""
    updated: str = ""
    """ISO 8601, UTC."""
    verdict: str = ""
    answer: object = None
    """The answer in JSON form, None where there is none (yet)."""
    graph: str = "ask"
    """``ask``, ``learn``, ``investigate`` or ``chat``."""
    outcome: str = ""
    """The result of learning, of an investigation or of a conversation, in words."""
    reason: str = ""
    """Why it failed, in a sentence; empty where it did not."""


def checked_name(thread: str) -> str:
    """Return a new thread's name.

    Raises:
        BadInput: it cannot name one.
    """
    if not _THREAD.fullmatch(thread):
        msg = f"{thread[:80]!r} cannot name a thread; use up to 64 letters, digits, dots, dashes and underscores."
        raise BadInput(msg)
    return thread


def new_name() -> str:
    """Make up a thread's name: when it was begun, and four digits."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


async def known_thread(thread: str, folder: Path) -> str:
    """Return a thread's name.

    Raises:
        BadInput: the home has no such thread.
    """
    if await asyncio.to_thread(thread_graph, thread, folder) is None:
        # Where the memory lies is nobody's business who asks over a network.
        msg = f"There is no thread {thread[:80]!r} in this memory; `snellen threads` lists them."
        raise BadInput(msg)
    return thread


async def graph_of(thread: str) -> GraphName:
    """Return the name of the graph that a thread belongs to.

    Raises:
        BadInput: there is no such thread.
        MemoryTrouble: the home cannot be used.
    """
    folder = await asyncio.to_thread(home_to_read)
    graph = await asyncio.to_thread(thread_graph, await known_thread(thread, folder), folder)
    return known_graph(graph or "")


def known_graph(name: str) -> GraphName:
    """Return the graph of that name; threads of earlier versions, which name none, are of ask."""
    return next((graph for graph in GRAPHS if graph == name), "ask")


def wired(name: GraphName) -> Wired[Any]:
    """Return the graph of a name, without a saver."""
    # Each takes its libraries' time, and chat that of all others.
    match name:
        case "ask":
            from snellen.graphs.ask import graph as ask

            return ask
        case "learn":
            from snellen.graphs.learn import graph as learn

            return learn
        case "investigate":
            from snellen.graphs.investigate import graph as investigate

            return investigate
        case "chat":
            from snellen.graphs.chat import graph as chat

            return chat


@asynccontextmanager
async def reading(graph: GraphName, folder: Path) -> AsyncIterator[Graph]:
    """Open a graph on the home's checkpoints."""
    from snellen.graphs.states import STATE_TYPES

    async with checkpoints(folder, state_types=STATE_TYPES) as saver:
        yield wired(graph).copy({"checkpointer": saver, "name": graph})


@asynccontextmanager
async def reading_all(folder: Path, names: Iterable[GraphName] = GRAPHS) -> AsyncIterator[dict[GraphName, Graph]]:
    """Open several graphs, or all, on the home's checkpoints."""
    from snellen.graphs.states import STATE_TYPES

    async with checkpoints(folder, state_types=STATE_TYPES) as saver:
        yield {name: wired(name).copy({"checkpointer": saver, "name": name}) for name in names}


@asynccontextmanager
async def opened(thread: str, graph: GraphName, folder: Path) -> AsyncIterator[Graph]:
    """Open a graph with the thread held for this process."""
    from snellen.memory.thread_locks import running

    async with running(thread, folder), reading(graph, folder) as open_graph:
        yield open_graph


def state_from(values: Json, kind: type[State]) -> State:
    """Make a state of saved values; fields that a newer version wrote are left alone."""
    known = {one.name for one in fields(cast("Any", kind))}
    return kind(**{name: value for name, value in values.items() if name in known})


async def waiting(thread: str) -> Json | None:
    """Return the request that a thread waits with; None where it waits for nobody.

    Raises:
        BadInput: there is no such thread.
    """
    kind = await graph_of(thread)
    async with reading(kind, await asyncio.to_thread(home_to_read)) as graph:
        return await request_of(graph, {"configurable": {"thread_id": thread}})


def address_of(thread: str, graph: GraphName) -> RunnableConfig:
    """Address a thread; the graph's name is saved with each of its checkpoints."""
    limit = (wired(graph).config or {})["recursion_limit"]
    return {"configurable": {"thread_id": thread}, "metadata": {"graph": graph}, "recursion_limit": limit}


async def refuse_known(graph: Graph, address: RunnableConfig) -> None:
    """Refuse the name of a thread that exists.

    Raises:
        BadInput: There is such a thread already.
    """
    thread = address["configurable"]["thread_id"]
    before = await graph.aget_state(address)
    if before.created_at:
        status = (
            "is a finished run" if has_ended(before) else f"has not finished: `snellen resume {thread}` takes it up"
        )
        msg = f"There is a thread {thread!r} already, which {status}; name another one."
        raise BadInput(msg)


async def copied(graph: Graph, snapshot: StateSnapshot, address: RunnableConfig, values: Json) -> None:
    """Save what a thread was at a checkpoint as the beginning of another thread, which goes on from there.

    ``update_state`` would not do: after a node that chose by itself what follows, it does not know what does.

    Args:
        graph: With a saver.
        snapshot: The checkpoint.
        address: The other thread, which has nothing yet.
        values: Fields of the state that are changed, checked (``checked_values``).

    Raises:
        BadInput: There is such a thread already.
    """
    from langgraph.checkpoint.base import BaseCheckpointSaver, copy_checkpoint
    from langgraph.checkpoint.base.id import uuid6

    await refuse_known(graph, address)
    saver = cast("BaseCheckpointSaver[Any]", graph.checkpointer)
    saved = await saver.aget_tuple(snapshot.config)
    if saved is None:
        msg = f"The checkpoint of {snapshot.config['configurable']['thread_id']!r} is gone; choose another one."
        raise BadInput(msg)
    checkpoint = copy_checkpoint(saved.checkpoint)
    checkpoint["id"], checkpoint["ts"] = str(uuid6(clock_seq=-2)), datetime.now(UTC).isoformat()
    checkpoint["channel_values"] = {**checkpoint["channel_values"], **values}
    begun = {"configurable": {**address["configurable"], "checkpoint_ns": ""}, "metadata": address["metadata"]}
    metadata = {**saved.metadata, "source": "fork", "parents": {}}
    await saver.aput(cast("Any", begun), checkpoint, cast("Any", metadata), checkpoint["channel_versions"])


def checked_values(values: Json, kind: type[Any], *, whole: str = "state") -> Json:
    """Return fields of a state as their types want them.

    Args:
        values: Some of its fields.
        kind: Its class.
        whole: What it is called in errors, if it is no state.

    Raises:
        BadInput: There is no such field, or a value is of another type.
    """
    from pydantic import TypeAdapter, ValidationError

    known = {one.name for one in fields(kind)}
    strange = [name for name in values if name not in known]
    if strange:
        msg = f"The {whole} has no field {strange[0][:40]!r}: it has {', '.join(sorted(known))}."
        raise BadInput(msg)
    try:
        made = TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        # What our own checks say is quoted as it is; what pydantic says begins like a sentence.
        reason = wrong["ctx"]["error"] if wrong["type"] == "value_error" else wrong["msg"].lower()
        msg = f"The field {'.'.join(map(str, wrong['loc']))!r} cannot be set so: {reason}."
        raise BadInput(msg) from error
    return {name: getattr(made, name) for name in values}


def has_ended(snapshot: StateSnapshot) -> bool:
    """Tell whether nothing of a thread is left to do.

    ``snapshot.next`` alone does not tell: a node stands there no more as soon as its result is saved, and a process may
    be killed before it saves the state that follows from it.
    """
    return not snapshot.tasks
