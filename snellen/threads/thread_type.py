"""Thread types: one for each graph, with one way to begin, resume, correct, follow and read their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, cast

from snellen.errors import BadInput
from snellen.memory.checkpoints import UNREADABLE
from snellen.memory.home import home, home_to_read
from snellen.threads import thread as threads
from snellen.threads.events import Decide, Event, Finished, Started, State, followed, requests_in
from snellen.threads.saved_threads import Headline, SavedThread, damaged_summary, saved_thread, summary_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    from snellen.graphs.states import Json
    from snellen.runtime.context import Context

    Graph = CompiledStateGraph[Any, Any, Any, Any]
    Stream = AsyncGenerator[Started[State] | Event | Finished[State]]
    Opening = Callable[[Graph], Awaitable[tuple[Started[State], Context | None]]]


@dataclass(frozen=True)
class ThreadType(Generic[State]):
    """A type of thread.

    Attributes:
        graph: The name of the graph that its threads run.
        gather: Returns the resources of its nodes, for a state, a profile and a home; called on a worker thread.
        headline: Says what a state is about, and what came of it.
    """

    graph: threads.GraphName
    gather: Callable[[State, str, Path], Context]
    headline: Callable[[State], Headline]

    @property
    def state(self) -> type[State]:
        """The class of its state."""
        return cast("type[State]", threads.wired(self.graph).builder.state_schema)

    def address(self, thread: str) -> RunnableConfig:
        """Address a thread of this type."""
        return threads.address_of(thread, self.graph)

    # --- runs ------------------------------------------------------------------------------------------------

    async def begin(
        self,
        prepare: Callable[[str, Path], Awaitable[tuple[State, Context]]],
        *,
        thread: str | None = None,
        decide: Decide | None = None,
    ) -> Stream[State]:
        """Save the beginning of a new thread, and follow it to its end.

        Args:
            prepare: Returns the state that the thread begins with and the resources of its nodes, for its name and the
                home.
            thread: Its id; made up when None.
            decide: Decides about requests; without it, or when it leaves one open, the thread stops there.

        Yields:
            ``Started``, what happens in the order of events, ``Waits`` where a decision is asked for, and ``Finished``,
            unless the thread is left waiting.

        Raises:
            BadInput: There is a thread of this name, or another process runs it; nothing was begun.
            SnellenError: The run failed; ``resume`` takes it up.
        """
        name = threads.new_name() if thread is None else threads.checked_name(thread)
        folder = await asyncio.to_thread(home)
        state, context = await prepare(name, folder)

        async def save(graph: Graph) -> tuple[Started[State], Context]:
            from langgraph.graph import START

            await threads.refuse_known(graph, self.address(name))
            # From here on the thread can be resumed.
            await graph.aupdate_state(self.address(name), asdict(cast("Any", state)), as_node=START)
            return Started(thread=name, state=state), context

        async with aclosing(self.run(name, folder, save, decide=decide)) as events:
            async for event in events:
                yield event

    async def resume(self, thread: str, *, profile: str | None = None, decide: Decide | None = None) -> Stream[State]:
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
        folder = await asyncio.to_thread(home)
        name = await threads.known_thread(thread, folder)

        async def look(graph: Graph) -> tuple[Started[State], None]:
            return Started(thread=name, state=await self.state_of(graph, name), resumed=True), None

        async with aclosing(self.run(name, folder, look, profile=profile, decide=decide)) as events:
            async for event in events:
                yield event

    async def correct(
        self,
        thread: str,
        changes: Callable[[State, Context], Json],
        *,
        after: str,
        called: str = "thread",
        profile: str | None = None,
        decide: Decide | None = None,
    ) -> Stream[State]:
        """Change the state of a thread that has ended, and follow what comes of it.

        Args:
            thread: The id of the thread.
            changes: Returns the fields that are changed, or refuses; called on a worker thread.
            after: The node after which the thread goes on.
            called: The word for such a thread in errors.
            profile: A profile to go on with; None takes the one the thread was begun with.
            decide: Decides about requests.

        Yields:
            ``Started`` with ``resumed``, then as ``begin``.

        Raises:
            BadInput: No such thread, or it has not ended.
            SnellenError: The run failed; ``resume`` takes it up.
        """
        folder = await asyncio.to_thread(home)
        name = await threads.known_thread(thread, folder)
        if await threads.graph_of(name) != self.graph:
            msg = f"The thread {name!r} has no answer to be corrected: name a run of `snellen {self.graph}`."
            raise BadInput(msg)

        async def change(graph: Graph) -> tuple[Started[State], Context]:
            if not threads.has_ended(await graph.aget_state(self.address(name))):
                msg = f"The {called} {name!r} has not finished: `snellen resume {name}` first."
                raise BadInput(msg)
            state = await self.state_of(graph, name)
            context = await self.context(state, profile, folder)
            changed = await asyncio.to_thread(changes, state, context)
            await graph.aupdate_state(self.address(name), changed, as_node=after)
            return Started(thread=name, state=await self.state_of(graph, name), resumed=True), context

        async with aclosing(self.run(name, folder, change, profile=profile, decide=decide)) as events:
            async for event in events:
                yield event

    async def run(
        self, name: str, folder: Path, opening: Opening[State], *, profile: str | None = None, decide: Decide | None
    ) -> Stream[State]:
        """Hold a thread for this process, and follow it from where it stands to its end.

        Args:
            name: The thread.
            folder: The home.
            opening: Reads or changes the thread, and returns the first event, and the resources if it has them.
            profile: A profile to gather them from otherwise; None takes that of the thread.
            decide: Decides about requests.
        """
        async with threads.opened(name, self.graph, folder) as graph:
            started, context = await opening(graph)
            yield started
            if threads.has_ended(await graph.aget_state(self.address(name))):
                yield Finished(thread=name, state=started.state)
                return
            resources = context or await self.context(started.state, profile, folder)
            async with aclosing(followed(graph, self.address(name), resources, decide)) as events:
                async for event in events:
                    yield event
            ended = await graph.aget_state(self.address(name), subgraphs=True)
            if not any(requests_in(ended)):
                yield Finished(thread=name, state=self.values(ended.values))

    async def context(self, state: State, profile: str | None, folder: Path) -> Context:
        """Gather what the nodes of a thread work with."""
        chosen = profile or str(getattr(state, "profile", "")) or "embedded"
        return await asyncio.to_thread(self.gather, state, chosen, folder)

    # --- states ----------------------------------------------------------------------------------------------

    async def read(self, thread: str) -> State:
        """Return the latest saved state of a thread.

        Raises:
            BadInput: There is no such thread.
            MemoryTrouble: The home cannot be used.
        """
        folder = await asyncio.to_thread(home_to_read)
        name = await threads.known_thread(thread, folder)
        async with threads.reading(self.graph, folder) as graph:
            return await self.state_of(graph, name)

    async def state_of(self, graph: Graph, thread: str) -> State:
        """Return the latest saved state of a thread, from the graph with a saver."""
        return self.values((await graph.aget_state(self.address(thread))).values)

    def values(self, saved: Json) -> State:
        """Return the state of saved values."""
        return threads.state_from(saved, self.state)

    async def saved(self, graph: Graph, thread: str) -> SavedThread | None:
        """Return what the checkpoints of a thread tell of it; None where they cannot be read."""
        try:
            snapshot = await graph.aget_state(self.address(thread), subgraphs=True)
            return saved_thread(snapshot, self.headline(self.values(snapshot.values)))
        except UNREADABLE:
            return None

    async def summary(self, graph: Graph, thread: str) -> threads.ThreadSummary:
        """Return the line of a thread in the list; of one that cannot be read, a line that says so, and what to do."""
        from snellen.memory.thread_locks import is_running

        saved = await self.saved(graph, thread)
        if saved is None:
            return damaged_summary(thread, self.graph)
        runs = bool(saved.node) and await asyncio.to_thread(is_running, thread)
        return summary_of(thread, self.graph, saved, is_running=runs)
