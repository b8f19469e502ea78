"""Jobs of a server: threads that it runs, each in a task of its own, with any number of observers.

The work goes on when observers leave. A user sees the jobs of their own home only. A job
that is stopped, by its user, by its time limit or because the server ends, has saved every finished step: its thread
is resumed like any other.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import BadInput, SnellenError, out_of_memory
from snellen.memory.home import using_home
from snellen.profiles.exclusive_loading import is_loading
from snellen.threads.events import Finished, ModelsLoading, Started, Waits

if TYPE_CHECKING:
    from snellen.graphs.states import Json

Events = AsyncGenerator[Any]
"""The events of a thread."""

Status = Literal["queued", "running", "waiting", "finished", "stopped", "failed"]

MAX_EVENTS: Final = 500
"""Events of a job that are kept for those who come later; the thread itself keeps what matters."""

_LOOK_SECONDS: Final = 0.25
"""Between two looks whether models are being loaded."""

_log = logging.getLogger("snellen.jobs")


class Busy(SnellenError):  # noqa: N818 - what the server is, not an error of it
    """The server, or the user, has too many jobs.

    Attributes:
        own: True where it is the user's own jobs.
    """

    def __init__(self, message: str, *, own: bool = False) -> None:
        super().__init__(message)
        self.own = own


@dataclass(frozen=True)
class JobLimits:
    """The limits of jobs.

    Attributes:
        running: Jobs that are worked on at the same time; more wait their turn.
        waiting: Jobs that wait; more are refused.
        each: Jobs of one user, running and waiting.
        seconds: How long a job may take; then it is stopped.
        kept: Jobs that have ended and are still remembered.
    """

    running: int = 4
    waiting: int = 100
    each: int = 4
    seconds: float = 3_600
    kept: int = 100


@dataclass(eq=False)
class Job:
    """One thread that is, or was, worked on.

    Attributes:
        home: The memory's home of the user that it belongs to.
        thread: The thread's id; empty until it has begun.
        status: How far it is; ``waiting`` for a person's decision.
        request: What it waits with.
        error: Why it failed or was stopped, in a sentence.
        state: What the thread had saved at its beginning or its end.
        began: When, in seconds of ``time.monotonic``.
        news: The condition that signals events and changes of status.
        task: What works on it.
        refused: Why its thread could not be begun.
    """

    home: Path
    thread: str = ""
    status: Status = "queued"
    request: Json | None = None
    error: str = ""
    state: Any = None
    began: float = field(default_factory=time.monotonic)
    _events: deque[Any] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    _seen: int = 0
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None
    refused: SnellenError | None = None

    @property
    def is_over(self) -> bool:
        """True where nothing more happens until the thread is resumed."""
        return self.status not in {"queued", "running"}

    @property
    def asks(self) -> str:
        """The decisions that it waits for, in sentences; empty where there are none."""
        return " ".join(one["description"] for one in (self.request or {}).get("action_requests", []))

    async def events(self, *, since: int | None = 0) -> AsyncGenerator[tuple[int, Any]]:
        """Yield its events with their numbers: those so far, as far as they are kept, and those to come.

        Args:
            since: The first number of interest; None for what comes from now on.
        """
        place = self._seen if since is None else since
        while True:
            async with self.news:
                while self._seen <= place and not self.is_over:
                    await self.news.wait()
                first = self._seen - len(self._events)
                new = [(number, event) for number, event in enumerate(self._events, first) if number >= place]
                over = self.is_over
            for number, event in new:
                yield number, event
            place = max(place, new[-1][0] + 1) if new else place
            if over and place >= self._seen:
                return

    async def over(self) -> None:
        """Wait until it is."""
        async with self.news:
            await self.news.wait_for(lambda: self.is_over)

    async def tell(self, event: Any) -> None:  # noqa: ANN401 - the events of its kind of thread
        """Add an event."""
        async with self.news:
            self._events.append(event)
            self._seen += 1
            if isinstance(event, Started):
                self.thread, self.state = event.thread, event.state
            self.request = event.request if isinstance(event, Waits) else None
            if isinstance(event, Finished):
                self.state = event.state
            self.news.notify_all()

    async def become(self, status: Status, error: str = "") -> None:
        """Change how far it is."""
        async with self.news:
            self.status, self.error = status, error
            self.news.notify_all()


class Jobs:
    """The jobs of one server."""

    def __init__(self, limits: JobLimits = JobLimits()) -> None:
        self.limits = limits
        self._jobs: list[Job] = []
        self._turn = asyncio.Semaphore(limits.running)
        self._closing = False

    async def begin(self, home: Path, make: Callable[[], Events]) -> Job:
        """Take on a job, and return it once its thread is begun.

        Args:
            home: The home of its user.
            make: Begins or resumes a thread, e.g. ``lambda: CHAT.resume(name)``; called when it is the job's turn.

        Raises:
            Busy: There are too many, or the server is ending.
            SnellenError: The thread could not be begun; see what is made.
        """
        self._refuse(home)
        job = Job(home)
        self._jobs.append(job)
        job.task = asyncio.create_task(self._work(job, make))
        try:
            async with job.news:
                await job.news.wait_for(lambda: job.thread or job.is_over)
        except asyncio.CancelledError:
            # Nobody learns of its thread: nobody could ever stop it.
            job.task.cancel("The client left.")
            raise
        if not job.thread:
            self._jobs.remove(job)
            raise job.refused or Busy("The server is stopping; try again in a moment.")
        self._forget_old()
        return job

    def of(self, home: Path) -> list[Job]:
        """Return the jobs of a user, the latest first."""
        return [job for job in reversed(self._jobs) if job.home == home]

    def find(self, home: Path, thread: str) -> Job | None:
        """Return a user's latest job on a thread; None where there is none, or it is another user's."""
        return next((job for job in self.of(home) if job.thread == thread), None)

    async def stop(self, job: Job) -> None:
        """Stop a job after the last finished step; its thread can be resumed."""
        if job.task is not None and not job.is_over:
            job.task.cancel("Stopped.")
            await job.over()

    async def close(self, seconds: float = 10.0) -> int:
        """Take on nothing more and stop what is under way; every finished step is saved.

        Args:
            seconds: How long that may take.

        Returns:
            How many jobs were stopped.
        """
        self._closing = True
        tasks = [job.task for job in self._jobs if job.task is not None and not job.is_over]
        for task in tasks:
            task.cancel("The server stopped.")
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        return len(tasks)

    def counts(self) -> dict[Status, int]:
        """Count the jobs by status."""
        return Counter(job.status for job in self._jobs)

    async def _work(self, job: Job, make: Callable[[], Events]) -> None:
        try:
            async with self._turn, asyncio.timeout(self.limits.seconds):
                with using_home(job.home):
                    await self._follow(job, make)
        except TimeoutError:
            msg = f"Stopped after {self.limits.seconds:.0f} seconds, the time limit; resume it to continue."
            await job.become("stopped", msg)
        except asyncio.CancelledError as error:
            await job.become("stopped", str(error) or "Stopped.")
        except Exception as error:  # noqa: BLE001 - nobody awaits this task: the job itself tells
            job.refused = _shown(error)
            await job.become("failed", str(job.refused))

    async def _follow(self, job: Job, make: Callable[[], Events]) -> None:
        await job.become("running")
        looking = asyncio.create_task(_tell_of_loading(job))
        try:
            async with aclosing(make()) as events:
                async for event in events:
                    await job.tell(event)
        finally:
            looking.cancel()
        await job.become("finished" if job.request is None else "waiting")

    def _refuse(self, home: Path) -> None:
        """Refuse a job that would be one too many.

        Raises:
            Busy: It would.
        """
        open_ones = [job for job in self._jobs if not job.is_over]
        if self._closing:
            msg = "The server is stopping; try again in a moment."
            raise Busy(msg)
        if sum(job.home == home for job in open_ones) >= self.limits.each:
            msg = f"Too many of your jobs are under way (limit: {self.limits.each}): wait for one, or stop it."
            raise Busy(msg, own=True)
        if len(open_ones) >= self.limits.running + self.limits.waiting:
            msg = "The server is busy; try again in a moment."
            raise Busy(msg)

    def _forget_old(self) -> None:
        over = [job for job in self._jobs if job.is_over]
        for job in over[: max(len(over) - self.limits.kept, 0)]:
            self._jobs.remove(job)


def _shown(error: Exception) -> SnellenError:
    """Return the error to show; an unexpected one goes to the log only: it may hold paths and contents."""
    shown = out_of_memory(error) or error
    if isinstance(shown, SnellenError):
        return shown
    _log.error("A job failed.", exc_info=error)
    return SnellenError("An unexpected error stopped this; the server's log has the reason.")


async def _tell_of_loading(job: Job) -> None:
    """Add an event, once, where a job that has begun waits for models."""
    while not (job.thread and is_loading()):  # noqa: ASYNC110 - other threads load, and wake nobody
        await asyncio.sleep(_LOOK_SECONDS)
    _log.info("a question waits for models that are being loaded")
    await job.tell(ModelsLoading())


def decisions(chosen: Sequence[Any]) -> Callable[[Json], Sequence[Json] | None]:
    """Return a function that answers one request with a person's decisions; later requests stay open.

    Raises:
        BadInput: They are no decisions.
    """
    if not all(isinstance(one, dict) and one.get("type") in {"approve", "reject", "edit"} for one in chosen):
        msg = 'A decision is {"type": "approve"}, {"type": "reject", "message": …} or {"type": "edit", …}.'
        raise BadInput(msg)
    left = [list(chosen)]
    return lambda _: left.pop() if left else None
