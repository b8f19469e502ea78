"""What is done alike with threads of every kind: begun, followed to their end, taken up again, read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, cast

from snellen.errors import BadInput
from snellen.threads import thread as threads
from snellen.threads.events import Decide, Event, Finished, Started, State, followed, request_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    from snellen.graphs.states import Json
    from snellen.runtime.context import Context

    Graph = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True)
class Kind(Generic[State]):
    """A kind of thread: one for each graph.

    Attributes:
        graph: The graph's name.
        state: Returns the class of its state.
        gather: Returns what its nodes work with, for a state, a profile and a home; called on a worker thread.
    """

    graph: threads.GraphName
    state: Callable[[], type[State]]
    gather: Callable[[State, str, Path], Context]

    def address(self, thread: str) -> RunnableConfig:
        """Address a thread of this kind."""
        return threads.config(thread, self.graph)

    async def read(self, thread: str) -> State:
        """Return the latest saved state of a thread.

        Raises:
            BadInput: There is no such thread.
            MemoryTrouble: The home cannot be used.
        """
        from snellen.memory.home import home_to_read

        folder = await asyncio.to_thread(home_to_read)
        name = await threads.known_thread(thread, folder)
        async with threads.reading(self.graph, folder) as graph:
            return await self.state_of(graph, name)

    async def state_of(self, graph: Graph, thread: str) -> State:
        """Return the latest saved state of a thread, from the graph with a saver."""
        return await threads.state_of(graph, self.address(thread), self.state())

    async def begin(
        self, thread: str, state: State, context: Context, folder: Path, decide: Decide | None
    ) -> AsyncGenerator[Started[State] | Event | Finished[State]]:
        """Save the beginning of a new thread, and follow it to its end.

        Yields:
            ``Started``, what happens in the order of events, ``Waits`` where a decision is asked for, and ``Finished``,
            unless the thread is left waiting.

        Raises:
            BadInput: There is a thread of this name, or another process runs it; nothing was begun.
            SnellenError: The run failed; ``resume`` takes it up.
        """
        async with threads.opened(thread, self.graph, folder) as graph:
            await threads.begin(graph, asdict(cast("Any", state)), self.address(thread))
            yield Started(thread=thread, state=state)
            async for event in self.follow(graph, thread, context, decide):
                yield event

    async def resume(
        self, thread: str, *, profile: str | None = None, decide: Decide | None = None
    ) -> AsyncGenerator[Started[State] | Event | Finished[State]]:
        """Take up a thread where it stopped; finished nodes are not repeated. A finished thread only yields its end.

        Args:
            thread: The id of an existing thread.
            profile: A profile to go on with; None takes the one the thread was begun with.
            decide: Decides about a request that the thread waits with, or comes to.

        Yields:
            ``Started`` with ``resumed``, then what is left of the run, then ``Finished``, unless it is left waiting.

        Raises:
            BadInput: No such thread, or another process is running it.
            SnellenError: The run failed again; the thread can still be resumed.
        """
        from snellen.memory.home import home

        folder = await asyncio.to_thread(home)
        name = await threads.known_thread(thread, folder)
        async with threads.opened(name, self.graph, folder) as graph:
            state = await self.state_of(graph, name)
            yield Started(thread=name, state=state, resumed=True)
            if threads.has_ended(await graph.aget_state(self.address(name))):
                yield Finished(thread=name, state=state)
                return
            context = await self.context(state, profile, folder)
            async for event in self.follow(graph, name, context, decide):
                yield event

    async def follow(
        self, graph: Graph, thread: str, context: Context, decide: Decide | None
    ) -> AsyncGenerator[Event | Finished[State]]:
        """Follow a thread that this process holds, from where it stands to its end."""
        async for event in followed(graph, self.address(thread), context, decide):
            yield event
        if await request_of(graph, self.address(thread)) is None:
            yield Finished(thread=thread, state=await self.state_of(graph, thread))

    async def context(self, state: State, profile: str | None, folder: Path) -> Context:
        """Gather what the nodes of a thread work with."""
        chosen = profile or str(getattr(state, "profile", "")) or "embedded"
        return await asyncio.to_thread(self.gather, state, chosen, folder)

    async def ended_state(self, graph: Graph, thread: str, *, first: str) -> State:
        """Return the state of a thread that has ended.

        Raises:
            BadInput: It has not; the sentence begins with ``first``.
        """
        if not threads.has_ended(await graph.aget_state(self.address(thread))):
            msg = f"{first} {thread!r} has not finished: `snellen resume {thread}` first."
            raise BadInput(msg)
        return await self.state_of(graph, thread)

    def values(self, snapshot: Any) -> State:  # noqa: ANN401 - a StateSnapshot
        """Return the state of a snapshot."""
        return threads.state_from(cast("Json", snapshot.values), self.state())
