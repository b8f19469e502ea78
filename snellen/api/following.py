"""Threads followed to their end for a program: awaited or not, with callbacks for progress and for decisions."""

from __future__ import annotations

import asyncio
import functools
import html
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, ParamSpec, TypeVar, overload

import PIL.Image
from langchain_core.runnables.config import var_child_runnable_config

from snellen.errors import out_of_memory
from snellen.graphs.states import Json
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.background_loop import blocking, submit
from snellen.threads.events import Decide, Finished, Started, State, Waits
from snellen.threads.meaning_choices import choosing, is_choice
from snellen.threads.progress import ProgressLine
from snellen.threads.thread_type import ThreadType

Parameters = ParamSpec("Parameters")
Came = TypeVar("Came")

Status = Literal["finished", "waiting", "failed"]
"""How a run ended; ``waiting`` for a decision of a person."""
Confirm = Callable[[str], bool]
"""Answers a question of a thread, such as "Learn LOC: wave from 8 pictures?"."""

_HEIGHT: Final = 560
"""Pixels of a page inside a notebook."""


@dataclass(frozen=True)
class Progress:
    """The work at hand of a run.

    Attributes:
        line: In a line: ``asking clip: 32 of 96``.
        share: How much of the phase is done, and of how much, where that is known.
        event: What happened, one of ``snellen.threads.events``; None in benchmarks.
    """

    line: str
    share: tuple[float, float] | None = None
    event: Any = None

    def __str__(self) -> str:
        return self.line


Tell = Callable[[Progress], object]
"""Takes progress; ``print`` shows it."""


def on_one_loop(
    work: Callable[Parameters, Coroutine[Any, Any, Came]],
) -> Callable[Parameters, Coroutine[Any, Any, Came]]:
    """Have an asynchronous function run on the background loop, as a task of its own, whichever loop awaits it.

    Clients of models and databases belong to the loop that opened them, and are kept from one call to the next.
    """

    @functools.wraps(work)
    async def elsewhere(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Came:
        return await asyncio.wrap_future(submit(work(*args, **kwargs)))

    return elsewhere


def synchronous(work: Callable[Parameters, Coroutine[Any, Any, Came]]) -> Callable[Parameters, Came]:
    """Return a function that does the same without ``await``, also where an event loop is running."""

    @functools.wraps(work)
    def wait(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Came:
        return blocking(work(*args, **kwargs))

    wait.__name__ = wait.__qualname__ = work.__name__.removesuffix("_async")
    return wait


@dataclass(frozen=True)
class Followed(Generic[State]):
    """A thread that ended, or waits for a decision.

    Attributes:
        thread: Its id.
        state: Its latest saved state.
        request: What it waits with; None where it ended.
    """

    thread: str
    state: State
    request: Json | None = None


async def follow(kind: ThreadType[State], events: AsyncGenerator[Any], progress: Tell | None) -> Followed[State]:
    """Follow a thread to its end, or to a decision that nobody makes.

    Raises:
        SnellenError: The run failed. Where it can be resumed, a note of the error says how.
    """
    # No part of the caller's run: inside a graph or an agent it would inherit its saver.
    var_child_runnable_config.set(None)
    line, thread, request = ProgressLine(), "", None
    try:
        async with aclosing(events):
            async for event in events:
                request = event.request if isinstance(event, Waits) else None
                if isinstance(event, Started):
                    thread = event.thread
                if isinstance(event, Finished):
                    return Followed(thread, event.state)
                if line.take(event) and progress is not None:
                    progress(Progress(line.line, line.share, event))
    except Exception as error:
        known = out_of_memory(error) or error
        if thread:
            known.add_note(f"snellen.resume({thread!r}) goes on after the last finished step.")
        if known is error:
            raise
        raise known from error
    return Followed(thread, await kind.read(thread), request)


def deciding(confirm: Confirm | None) -> Decide | None:
    """Return what decides about the requests of a thread; None leaves them open."""
    if confirm is None:
        return None

    def decide(request: Json) -> Sequence[Json]:
        actions = request["action_requests"]
        if is_choice(request):
            number = next((n for n, one in enumerate(actions, 1) if confirm(str(one["description"]))), None)
            return choosing(request, number) if number else [{"type": "reject"} for _ in actions]
        questions = [f"{'Learn ' * (one['name'] == 'learn')}{one['description'].rstrip('.')}?" for one in actions]
        return [{"type": "approve" if confirm(one) else "reject"} for one in questions]

    return decide


@dataclass(frozen=True)
class StoredPictures(Sequence[PIL.Image.Image]):
    """Pictures of a memory, read when they are looked at.

    Attributes:
        ids: Their ids.
        store: Where they are.
    """

    ids: tuple[str, ...]
    store: ArtifactStore

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> PIL.Image.Image: ...
    @overload
    def __getitem__(self, place: slice) -> StoredPictures: ...
    def __getitem__(self, place: int | slice) -> PIL.Image.Image | StoredPictures:
        if isinstance(place, slice):
            return StoredPictures(self.ids[place], self.store)
        return self.store.get(self.ids[place])


class Displayed(ABC):
    """A result that a notebook shows as its page, and a console in a line."""

    @abstractmethod
    def html(self) -> str:
        """Return the page that ``--html`` writes: one file with its pictures, which loads nothing."""

    @abstractmethod
    def markdown(self) -> str:
        """Return the result in Markdown."""

    def _repr_html_(self) -> str:
        # A frame keeps the page's style from the notebook's; `srcdoc` takes it whole, escaped.
        page = html.escape(self.html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:{_HEIGHT}px;border:0"></iframe>'
        )

    def _repr_markdown_(self) -> str:
        return self.markdown()
