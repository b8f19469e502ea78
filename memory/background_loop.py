"""An event loop on a thread of its own, for callers that cannot await: synchronous runs of graphs, and their saver.

There is one for the whole process, so that clients which belong to a loop (connections to models and databases) are
used by the loop that opened them. It works also where the caller's own thread has a running loop, as in a notebook.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")

_STOP_SECONDS: Final = 2.0


class _Background:
    """Starts the loop when it is first needed; a forked child starts one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="snellen-background", daemon=True)
                self._thread.start()
            return self._loop

    def is_here(self) -> bool:
        return threading.current_thread() is self._thread

    def forget(self) -> None:
        self._lock, self._loop, self._thread = threading.Lock(), None, None

    def stop(self) -> None:
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_STOP_SECONDS)
        if not loop.is_running():
            loop.close()
        self.forget()


_BACKGROUND: Final = _Background()
os.register_at_fork(after_in_child=_BACKGROUND.forget)
atexit.register(_BACKGROUND.stop)


def submit(work: Coroutine[Any, Any, Result]) -> Future[Result]:
    """Begin work on the background loop, with the caller's context variables."""
    return asyncio.run_coroutine_threadsafe(work, _BACKGROUND.loop())


async def on_own_thread(work: Callable[[], Result]) -> Result:
    """Do long work on a thread of its own, with the caller's context variables.

    Not on the loop's pool (``asyncio.to_thread``): work that waits for other work on that pool could fill it.
    """
    done: Future[Result] = Future()
    variables = copy_context()

    def do() -> None:
        try:
            done.set_result(variables.run(work))
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            done.set_exception(error)

    threading.Thread(target=do, name="snellen-run", daemon=True).start()
    # Whoever gives up waiting leaves the work to its end: a thread cannot be stopped.
    return await asyncio.shield(asyncio.wrap_future(done))


def blocking(work: Coroutine[Any, Any, Result]) -> Result:
    """Do work on the background loop and wait for it; whoever interrupts the wait cancels the work.

    Raises:
        RuntimeError: The caller is on the background loop itself, which would wait for itself for ever.
    """
    if _BACKGROUND.is_here():
        work.close()
        msg = "A synchronous call inside asynchronous work would wait for itself: await the asynchronous one."
        raise RuntimeError(msg)
    begun = submit(work)
    try:
        return begun.result()
    except BaseException:
        begun.cancel()
        raise
