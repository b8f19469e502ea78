"""Running asynchronous work for a user who may lose patience, and giving signs of life to one who sees nothing else."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from snellen.errors import BadInput, OutOfMemory, SnellenError, out_of_memory
from snellen.runtime.termination import INTERRUPTED

Result = TypeVar("Result")

QUIET_SECONDS: Final = 2.0
"""How long nothing may be shown before a user is told what takes so long."""


BEGINNING: Final = "loading the libraries"
"""What takes long before a run has begun."""


class Interrupted(SnellenError):  # noqa: N818 - the user's wish, not an error
    """The user pressed Ctrl-C, or the system sent SIGTERM."""

    exit_status = INTERRUPTED


@contextmanager
def resumable(thread: Callable[[], str]) -> Iterator[None]:
    """Tell how to go on with a thread whose following ends inside the block.

    Args:
        thread: Gives its name; empty where none was begun.

    Raises:
        Interrupted: The user pressed Ctrl-C.
        SnellenError: The run failed; where it can be resumed, the sentence says how.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        msg = "Interrupted before anything was begun."
        if thread():
            msg = f"Interrupted: `snellen resume {thread()}` goes on after the last finished step."
        raise Interrupted(msg) from error
    except BadInput:
        raise
    except Exception as error:
        # Libraries say in ways of their own that memory is short.
        known = out_of_memory(error) or (error if isinstance(error, SnellenError) else None)
        if known is None or not thread():
            raise
        msg = f"{str(known).rstrip('.')} (then `snellen resume {thread()}` goes on from there)."
        # What memory was too little for is told by its kind, also to who reads causes (`out_of_memory`).
        raise (OutOfMemory if isinstance(known, OutOfMemory) else SnellenError)(msg) from error


class Workers(ThreadPoolExecutor):
    """Worker threads that are not waited for once the user has lost patience.

    A thread that loads a model cannot be stopped. Nothing that it does needs an end: what is saved is saved.
    """

    abandoned = False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - inherited
        """Wait for the threads, unless they were abandoned."""
        super().shutdown(wait and not self.abandoned, cancel_futures=cancel_futures or self.abandoned)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run asynchronous work as ``asyncio.run`` does, but end at once when the user presses Ctrl-C.

    Raises:
        KeyboardInterrupt: The user pressed it; what the work holds (databases, locks) has been let go of.
    """
    workers = Workers(thread_name_prefix="snellen")
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(workers)
        try:
            return runner.run(work)
        except KeyboardInterrupt:
            workers.abandoned = True
            raise


class SignOfLife:
    """Says on standard error what is being done, when nothing has been shown for a while.

    A thread of its own does so: libraries that are being imported block everything else.
    """

    def __init__(self, doing: str) -> None:
        """Begin with what is done first."""
        self._doing, self._said = doing, ""
        self._news = threading.Condition()
        self._ended = False

    def tell(self, doing: str) -> None:
        """Something has just been shown; from now on ``doing`` is what takes long."""
        with self._news:
            self._doing = doing
            self._news.notify()

    @contextmanager
    def watching(self, *, quiet: bool = False) -> Iterator[SignOfLife]:
        """Give signs of life inside the block; none where ``quiet`` says that a terminal shows something livelier."""
        if quiet:
            yield self
            return
        watch = threading.Thread(target=self._watch, name="sign of life", daemon=True)
        watch.start()
        try:
            yield self
        finally:
            with self._news:
                self._ended = True
                self._news.notify()

    def _watch(self) -> None:
        with self._news:
            while not self._ended:
                if not self._news.wait(QUIET_SECONDS) and self._is_due():
                    self._said = self._doing
                    sys.stderr.write(f"snellen: {self._doing} …\n")
                    sys.stderr.flush()

    def _is_due(self) -> bool:
        return not self._ended and self._said != self._doing
