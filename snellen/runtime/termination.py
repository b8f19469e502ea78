"""SIGTERM ends a command as Ctrl-C does: what is under way is saved, and a sentence says how to go on.

On the standard library alone: the command line imports it before anything else.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED: Final = 130
"""The exit status that shells expect of a program that Ctrl-C stopped: 128 + SIGINT."""
TERMINATED: Final = 143
"""That of one that SIGTERM stopped: 128 + SIGTERM."""


@dataclass
class Termination:
    """A note whether SIGTERM was received."""

    received: bool = False

    def status(self, status: int) -> int:
        """Return the exit status of a command that would end with ``status``."""
        return TERMINATED if self.received and status == INTERRUPTED else status

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        self.received = True
        # asyncio's handler of Ctrl-C cancels what runs, so that it lets go of its databases and locks. Where Ctrl-C is
        # ignored, as in the background of a shell, there is no such handler, and SIGTERM still counts.
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):
            raise KeyboardInterrupt
        handler(number, frame)


@contextmanager
def sigterm_as_interrupt() -> Iterator[Termination]:
    """Have SIGTERM end what runs inside the block as Ctrl-C does; servers take the signal over while they serve.

    Yields:
        What tells whether it came. Off the main thread, and where the signal is ignored, it never does.
    """
    termination = Termination()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield termination
        return
    before = signal.signal(signal.SIGTERM, termination.receive)
    try:
        yield termination
    finally:
        signal.signal(signal.SIGTERM, before)
