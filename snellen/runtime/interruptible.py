"""Long work on a worker thread, which tells how far it is and stops when its node is cancelled."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph.runtime import Runtime

    from snellen.graphs.states import Json
    from snellen.runtime.settings import Given

Result = TypeVar("Result")


async def interruptible(
    work: Callable[[Callable[[Json], None], threading.Event], Result], channel: str, runtime: Runtime[Given]
) -> Result:
    """Do work on a worker thread.

    Args:
        work: Given what it tells its progress to, and an event that is set when it shall stop.
        channel: The key under which the progress is streamed.
        runtime: Of the node.

    Returns:
        What the work does.
    """
    loop, stop = asyncio.get_running_loop(), threading.Event()

    def tell(progress: Json) -> None:
        loop.call_soon_threadsafe(runtime.stream_writer, {channel: progress})

    try:
        return await asyncio.to_thread(work, tell, stop)
    finally:
        stop.set()
