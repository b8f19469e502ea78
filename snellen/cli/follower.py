"""Following a thread at the terminal: it is shown while it happens, and a person is asked about what may be learned."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol

from snellen.cli.confirmation import decide
from snellen.runtime.running import BEGINNING, SignOfLife
from snellen.threads.events import Finished, Started, State, Waits

if TYPE_CHECKING:
    from rich.console import Console

    from snellen.graphs.states import Json


class Display(Protocol):
    """What shows the events of a thread."""

    @property
    def screen(self) -> Console:
        """Where it shows them."""
        ...

    def show(self, event: Any) -> None:  # noqa: ANN401 - the events of its own kind of thread
        """Show what has just happened."""
        ...

    def watching(self) -> AbstractContextManager[None]:
        """Show a sign of life under what is printed."""
        ...

    def silent(self) -> AbstractContextManager[None]:
        """Take it away while a person is asked."""
        ...


@dataclass
class Follower(Generic[State]):
    """Follows a thread, shows it, and asks about what may be learned."""

    display: Display
    doing: Callable[[Any], str]
    """Says what takes its time after an event."""
    quiet: bool
    """Whether only the JSON at the end is wanted."""
    decision: str = ""
    """A decision that was given beforehand: ``approve`` or ``reject``."""
    thread: str = ""
    finished: Finished[State] | None = None
    """How the thread ended; None while it waits."""
    request: Json | None = None
    """What the thread waits with for a decision; None where it does not."""

    def asked(self, request: Json) -> Sequence[Json] | None:
        """Decide about each action; None where nobody is there to be asked."""
        with self.display.silent():
            return decide(request, beforehand=self.decision, alone=self.quiet)

    async def follow(self, events: AsyncGenerator[Any]) -> None:
        """Follow the events to their end."""
        watched = not self.quiet and self.display.screen.is_terminal
        showing = self.display.watching() if watched else nullcontext()
        with SignOfLife(BEGINNING).watching(quiet=watched) as sign, showing:
            # Closed before the event loop ends: the run lets go of its databases and its thread, whatever happens here.
            async with aclosing(events):
                async for event in events:
                    self._take(event)
                    sign.tell(self.doing(event))

    def _take(self, event: Any) -> None:  # noqa: ANN401 - see Display
        self.request = event.request if isinstance(event, Waits) else None
        if isinstance(event, Started):
            self.thread = event.thread
        if isinstance(event, Finished):
            self.finished = event
        if not self.quiet:
            self.display.show(event)
