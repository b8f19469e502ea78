"""The context of the page: the server's jobs, the user of a request, the state of a thread as it is shown."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import gradio as gr

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home_folder, using_home
from snellen.page.html import plain
from snellen.page.trace import ThreadTrace, trace_of
from snellen.serving.jobs import Events, Job, Jobs
from snellen.serving.settings import ServerSettings
from snellen.threads import directory
from snellen.threads import thread as threads
from snellen.threads.thread import GraphName, ThreadSummary

Json = dict[str, Any]
Updates = dict[Any, Any]
"""The changes of a handler: components and their new values."""

Phase = Literal["running", "waiting", "stopped", "failed", "finished", "missing"]

PRIVATE: Final[dict[str, Any]] = {"api_visibility": "private", "concurrency_limit": None}
"""The settings of every handler: none is an endpoint for others, and none waits for another."""

_EVERY: Final = 0.4
"""Seconds between two updates of a thread at work."""
_MOST_TABS: Final = 10_000
_SHOWN_SECONDS: Final = 20
_UNKNOWN: Final = "There is no such thread here: it may belong to another user, or was deleted."


@dataclass(frozen=True)
class ThreadView:
    """A thread as the page shows it.

    Attributes:
        thread: Its id.
        phase: Its phase; ``missing`` where the user has no such thread.
        summary: Its line in the list of threads; None where there is no such thread.
        state: Its saved state.
        request: The request for a decision that it waits with.
        trouble: The reason why it stopped or failed, in a sentence.
        trace: Its trace.
    """

    thread: str
    phase: Phase = "missing"
    summary: ThreadSummary | None = None
    state: Any = None
    request: Json | None = None
    trouble: str = ""
    trace: ThreadTrace = field(default_factory=ThreadTrace)

    @property
    def graph(self) -> GraphName | None:
        """The graph that it belongs to."""
        return None if self.summary is None else threads.known_graph(self.summary.graph)

    @property
    def is_running(self) -> bool:
        """True while something happens in it, here or in another process."""
        return self.phase == "running"

    @property
    def can_resume(self) -> bool:
        """True where it stands still in the middle."""
        return self.phase in {"stopped", "failed"} and not self.has_ended

    @property
    def has_ended(self) -> bool:
        """True where it has ended, with a result or without one."""
        return self.summary is not None and self.summary.status in {"finished", threads.FAILED}


@dataclass
class ViewGenerations:
    """Generations of what each tab of a browser shows: an update of an older one is dropped."""

    _latest: OrderedDict[tuple[str, str], int] = field(default_factory=OrderedDict)
    _count: int = 0

    def begin(self, request: gr.Request, tab: str) -> Callable[[], bool]:
        """Begin a new generation of a tab; return a function that tells whether it is still the latest."""
        place = (str(request.session_hash), tab)
        self._count += 1
        generation = self._latest[place] = self._count
        self._latest.move_to_end(place)
        while len(self._latest) > _MOST_TABS:
            self._latest.popitem(last=False)
        return lambda: self._latest.get(place) == generation


@dataclass(frozen=True)
class PageContext:
    """The context that all parts of the page share.

    Attributes:
        jobs: The server's jobs.
        profile: Name or path of the profile that new threads are begun with.
        settings: The limits of uploads.
        generations: Those of what each tab shows.
    """

    jobs: Jobs
    profile: str
    settings: ServerSettings
    generations: ViewGenerations = field(default_factory=ViewGenerations)

    def home(self, request: gr.Request) -> Path:
        """Return the home of the user that the guard let in; without a guard, the owner's."""
        http_request = request.request
        user = http_request.scope.get("state", {}).get("user") if http_request is not None else None
        return Path(user.home) if user is not None else home_folder()

    async def begin(self, home: Path, make: Callable[[], Events]) -> Job:
        """Begin a job on a thread.

        Raises:
            gr.Error: It cannot be begun.
        """
        with errors_as_notices():
            return await self.jobs.begin(home, make)

    async def resume(self, home: Path, thread: str) -> None:
        """Resume a thread.

        Raises:
            gr.Error: It cannot be.
        """
        job = self.jobs.find(home, thread)
        if job is not None and not job.is_over:
            return  # resumed in another window: here it is only followed
        await self.begin(home, lambda: directory.resume(thread))

    async def stop(self, home: Path, thread: str) -> None:
        """Stop the job on a thread, if there is one here."""
        job = self.jobs.find(home, thread)
        if job is not None:
            await self.jobs.stop(job)

    async def followed(self, thread: str, request: gr.Request, tab: str) -> AsyncGenerator[ThreadView]:
        """Yield a thread as it is now, again and again while a job works on it, and once more at the end.

        Args:
            thread: Its id.
            request: The request of the user who looks at it.
            tab: The tab that shows it; it is followed until that tab shows another one.
        """
        is_shown = self.generations.begin(request, tab)
        home = self.home(request)
        async for view in self._views(home, thread):
            if not is_shown():
                return
            yield view

    async def _views(self, home: Path, thread: str) -> AsyncGenerator[ThreadView]:
        job = self.jobs.find(home, thread)
        if job is not None and not job.is_over:
            base = await self.view(home, thread)
            async with aclosing(_traces(job)) as traces:
                async for trace in traces:
                    yield replace(base, phase="running", trace=trace, request=None, trouble="")
        yield await self.view(home, thread)

    async def view(self, home: Path, thread: str) -> ThreadView:
        """Return a user's thread as it is now."""
        if not thread:
            return ThreadView(thread)
        with using_home(home):
            try:
                summary = await directory.read_summary(thread)
                _, state = await directory.read_thread(thread)
                request = await threads.waiting(thread)
            except BadInput:
                return ThreadView(thread, trouble=_UNKNOWN)
            except SnellenError as error:
                return ThreadView(thread, trouble=str(error))
        job = self.jobs.find(home, thread)
        phase = _phase(summary, job)
        trouble = (job.error if job is not None else "") or summary.reason if phase in {"stopped", "failed"} else ""
        trace = trace_of(state)
        if job is not None and summary.graph == "chat" and phase in {"waiting", "stopped", "failed"}:
            # A conversation saves what a task inside it did only when that has ended.
            trace = replace(await _trace_so_far(job), activity="")
        return ThreadView(thread, phase, summary, state, request, trouble, trace)


def _phase(summary: ThreadSummary, job: Job | None) -> Phase:
    if job is not None and not job.is_over:
        return "running"
    if summary.status.startswith("running"):
        return "running"
    if summary.status == threads.WAITING:
        return "waiting"
    if summary.status == "finished":
        return "finished"
    failed = summary.status.startswith(threads.FAILED) or (job is not None and job.status == "failed")
    return "failed" if failed else "stopped"


async def _traces(job: Job) -> AsyncGenerator[ThreadTrace]:
    """Yield a job's trace as it grows, a few times a second at most."""
    trace, news = trace_of(job.state), asyncio.Event()

    async def read() -> None:
        nonlocal trace
        async with aclosing(job.events()) as events:
            async for _, event in events:
                trace = trace.with_event(event)
                news.set()

    reader = asyncio.create_task(read())
    reader.add_done_callback(lambda _: news.set())
    try:
        while not reader.done():
            await news.wait()
            news.clear()
            yield trace
            await asyncio.sleep(_EVERY)
    finally:
        reader.cancel()


async def _trace_so_far(job: Job) -> ThreadTrace:
    """Return the trace of a job that is over."""
    trace = trace_of(job.state)
    async with aclosing(job.events()) as events:
        async for _, event in events:
            trace = trace.with_event(event)
    return trace


@contextmanager
def errors_as_notices() -> Iterator[None]:
    """Turn errors inside the block into notices on the page.

    Raises:
        gr.Error: The action cannot be done.
    """
    try:
        yield
    except SnellenError as error:
        raise error_notice(str(error)) from None


def error_notice(text: str) -> gr.Error:
    """Return an error that the page shows; its text is escaped."""
    return gr.Error(plain(text), duration=_SHOWN_SECONDS, title="Not possible", print_exception=False)


def show_notice(text: str) -> None:
    """Show a notice; its text is escaped."""
    gr.Info(plain(text), duration=_SHOWN_SECONDS / 2, title="Done")


def when(moment: str) -> str:
    """Write a moment (ISO 8601) for people: ``2026-11-21 13:00``."""
    return moment[:16].replace("T", " ")


def shortened_line(text: str, most: int) -> str:
    """Return a text as one line of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
