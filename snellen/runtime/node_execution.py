"""Execution of nodes: by synchronous and asynchronous runs alike, on worker threads, and by a graph inside a node."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import get_runtime

from snellen.memory.background_loop import blocking, on_own_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

    from snellen.graphs.states import Json
    from snellen.runtime.settings import Given

Result = TypeVar("Result")

_SYNCHRONOUS: Final = ContextVar("_SYNCHRONOUS", default=False)
"""Whether the node at work was called by a synchronous run, whose saver may know nothing else."""


class Step(Runnable[Any, Any]):
    """A node: an asynchronous function of a state, and of the run where it wants one, that can be waited for, too.

    Args:
        work: The function.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        self.name = work.__name__
        self._work = work
        self._wants_runtime = "runtime" in inspect.signature(work).parameters

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401, ARG002 - inherited
        """Do it on the background loop, and wait."""
        return blocking(self._marked(input))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401, ARG002 - inherited
        """Do it."""
        arguments = {"runtime": get_runtime()} if self._wants_runtime else {}
        return await self._work(input, **arguments)

    async def _marked(self, state: Any) -> Any:  # noqa: ANN401
        # Of this task alone: each task has variables of its own.
        _SYNCHRONOUS.set(True)
        return await self.ainvoke(state)


async def final_state(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    state: Any,  # noqa: ANN401 - that of the graph
    context: Given | None,
) -> dict[str, Any]:
    """Run a graph inside a node, the way that the graph around it runs; return its whole state.

    Args:
        graph: The other graph.
        state: The state that it begins with.
        context: The settings or resources of the run.
    """
    keys = graph.stream_channels_list
    if _SYNCHRONOUS.get():
        return await on_own_thread(lambda: graph.invoke(state, context=context, output_keys=keys))
    return await graph.ainvoke(state, context=context, output_keys=keys)


async def interruptible(
    work: Callable[[Callable[[Json], None], threading.Event], Result], channel: str, runtime: Runtime[Given]
) -> Result:
    """Do long work on a worker thread, which reports its progress and stops when its node is cancelled.

    Args:
        work: Called with a function that takes progress, and an event that is set when it shall stop.
        channel: The key under which the progress is streamed.
        runtime: Of the node.

    Returns:
        The result of the work.
    """
    loop, stop = asyncio.get_running_loop(), threading.Event()

    def tell(progress: Json) -> None:
        loop.call_soon_threadsafe(runtime.stream_writer, {channel: progress})

    try:
        return await asyncio.to_thread(work, tell, stop)
    finally:
        stop.set()
