"""What all parts of the page work with: the server's jobs, whoever asks, and how a thread stands."""

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
from snellen.page.story import Story, story_of
from snellen.serving.jobs import Events, Job, Jobs
from snellen.serving.settings import ServerSettings
from snellen.threads import directory
from snellen.threads import thread as threads
from snellen.threads.thread import GraphName, ThreadSummary

Json = dict[str, Any]
Updates = dict[Any, Any]
"""What a handler changes: components and their new values."""

Mood = Literal["running", "waiting", "stopped", "failed", "finished", "missing"]

_EVERY: Final = 0.4
"""Seconds between two pictures of a thread at work."""
_MOST_TABS: Final = 10_000
_SHOWN_SECONDS: Final = 20
_UNKNOWN: Final = "There is no such thread here: it may be another user's, or its memory was deleted."


@dataclass(frozen=True)
class ThreadStanding:
    """How a thread stands.

    Attributes:
        thread: Its id.
        mood: How far it is; ``missing`` where the user has no such thread.
        summary: Its line in the list of threads; None where there is no such thread.
        state: What it has saved.
        request: What it waits with.
        trouble: Why it stopped or failed, in a sentence.
        story: What it has done.
    """

    thread: str
    mood: Mood = "missing"
    summary: ThreadSummary | None = None
    state: Any = None
    request: Json | None = None
    trouble: str = ""
    story: Story = field(default_factory=Story)

    @property
    def graph(self) -> GraphName | None:
        """Which graph it belongs to."""
        return None if self.summary is None else threads.known_graph(self.summary.graph)

    @property
    def is_running(self) -> bool:
        """Whether something happens in it, here or in another process."""
        return self.mood == "running"

    @property
    def can_resume(self) -> bool:
        """Whether it stands still in the middle."""
        return self.mood in {"stopped", "failed"} and not self.has_ended

    @property
    def has_ended(self) -> bool:
        """Whether it came to its end, with a result or without one."""
        return self.summary is not None and self.summary.status in {"finished", threads.FAILED}


@dataclass
class Turns:
    """Which thread a tab of a browser shows: whoever follows another one there has been overtaken."""

    _latest: OrderedDict[tuple[str, str], int] = field(default_factory=OrderedDict)
    _count: int = 0

    def begin(self, request: gr.Request, tab: str) -> Callable[[], bool]:
        """Have a tab show something else from now on; returns what tells whether it still does."""
        place = (str(request.session_hash), tab)
        self._count += 1
        turn = self._latest[place] = self._count
        self._latest.move_to_end(place)
        while len(self._latest) > _MOST_TABS:
            self._latest.popitem(last=False)
        return lambda: self._latest.get(place) == turn


@dataclass(frozen=True)
class Desk:
    """What all parts of the page work with.

    Attributes:
        jobs: The threads that the server works on.
        profile: Name or path of the profile that new threads are begun with.
        settings: How large and how many pictures may be.
        turns: What each tab shows.
    """

    jobs: Jobs
    profile: str
    settings: ServerSettings
    turns: Turns = field(default_factory=Turns)

    def home(self, request: gr.Request) -> Path:
        """Return the home of whoever asks: what the guard knows; without a guard, the owner's."""
        asked = request.request
        user = asked.scope.get("state", {}).get("user") if asked is not None else None
        return Path(user.home) if user is not None else home_folder()

    async def begin(self, home: Path, make: Callable[[], Events]) -> Job:
        """Have a thread worked on.

        Raises:
            gr.Error: It cannot be begun; the page tells why.
        """
        with telling():
            return await self.jobs.begin(home, make)

    async def resume(self, home: Path, thread: str) -> None:
        """Have a thread taken up again.

        Raises:
            gr.Error: It cannot be.
        """
        job = self.jobs.find(home, thread)
        if job is not None and not job.is_over:
            return  # another window of the page took it up: here it is only followed
        await self.begin(home, lambda: directory.resume(thread))

    async def stop(self, home: Path, thread: str) -> None:
        """Stop the work on a thread, if this server does any."""
        job = self.jobs.find(home, thread)
        if job is not None:
            await self.jobs.stop(job)

    async def followed(self, thread: str, request: gr.Request, tab: str) -> AsyncGenerator[ThreadStanding]:
        """Yield how a thread stands, again and again while it is worked on here, and a last time then.

        Args:
            thread: Its id.
            request: Of whoever looks at it.
            tab: Where it is shown; it is followed until the same tab shows another one.
        """
        is_shown = self.turns.begin(request, tab)
        home = self.home(request)
        async for standing in self._standings(home, thread):
            if not is_shown():
                return
            yield standing

    async def _standings(self, home: Path, thread: str) -> AsyncGenerator[ThreadStanding]:
        job = self.jobs.find(home, thread)
        if job is not None and not job.is_over:
            base = await self.standing(home, thread)
            async with aclosing(_told(job)) as stories:
                async for story in stories:
                    yield replace(base, mood="running", story=story, request=None, trouble="")
        yield await self.standing(home, thread)

    async def standing(self, home: Path, thread: str) -> ThreadStanding:
        """Return how a thread of a user stands now."""
        if not thread:
            return ThreadStanding(thread)
        with using_home(home):
            try:
                summary = await directory.read_summary(thread)
                _, state = await directory.read_thread(thread)
                request = await threads.waiting(thread)
            except BadInput:
                return ThreadStanding(thread, trouble=_UNKNOWN)
            except SnellenError as error:
                return ThreadStanding(thread, trouble=str(error))
        job = self.jobs.find(home, thread)
        mood = _mood(summary, job)
        trouble = (job.error if job is not None else "") or summary.reason if mood in {"stopped", "failed"} else ""
        story = story_of(state)
        if job is not None and summary.graph == "chat" and mood in {"waiting", "stopped", "failed"}:
            # A conversation saves what a task inside it did only when that has ended.
            story = replace(await _so_far(job), doing="")
        return ThreadStanding(thread, mood, summary, state, request, trouble, story)


def _mood(summary: ThreadSummary, job: Job | None) -> Mood:
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


async def _told(job: Job) -> AsyncGenerator[Story]:
    """Yield a job's story as it grows, no more often than anybody can read."""
    story, news = story_of(job.state), asyncio.Event()

    async def read() -> None:
        nonlocal story
        async with aclosing(job.events()) as events:
            async for _, event in events:
                story = story.told(event)
                news.set()

    reader = asyncio.create_task(read())
    reader.add_done_callback(lambda _: news.set())
    try:
        while not reader.done():
            await news.wait()
            news.clear()
            yield story
            await asyncio.sleep(_EVERY)
    finally:
        reader.cancel()


async def _so_far(job: Job) -> Story:
    """Return the story of a job that is over."""
    story = story_of(job.state)
    async with aclosing(job.events()) as events:
        async for _, event in events:
            story = story.told(event)
    return story


@contextmanager
def telling() -> Iterator[None]:
    """Turn errors inside the block into notices on the page.

    Raises:
        gr.Error: What the user did cannot be done.
    """
    try:
        yield
    except SnellenError as error:
        raise notice(str(error)) from None


def notice(said: str) -> gr.Error:
    """Return an error that the page shows; whatever it says is escaped."""
    return gr.Error(plain(said), duration=_SHOWN_SECONDS, title="That cannot be done", print_exception=False)


def told(said: str) -> None:
    """Show a notice; whatever it says is escaped."""
    gr.Info(plain(said), duration=_SHOWN_SECONDS / 2, title="Done")


def when(moment: str) -> str:
    """Write a moment (ISO 8601) for people: ``2026-11-21 13:00``."""
    return moment[:16].replace("T", " ")
