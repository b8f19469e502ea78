"""Threads followed at the terminal: shown while they run, decided about, written to files, and printed as JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from snellen.cli.display import agrees, clean, console, print_hint, print_json, print_line
from snellen.cli.outputs import print_written
from snellen.errors import BadInput, SnellenError
from snellen.memory.artifacts import home_pictures
from snellen.memory.home import home_to_read
from snellen.runtime.running import BEGINNING, SignOfLife, resumable, run
from snellen.summaries.experiment_previews import preview_lines
from snellen.summaries.learning import Line, phase_in_words
from snellen.threads.events import Decide, Finished, InvestigationProgress, LearningProgress, Started, State, Waits
from snellen.threads.listing import read_listed
from snellen.threads.meaning_choices import choosing, how_to_choose, is_choice
from snellen.threads.thread_type import ThreadType

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from snellen.graphs.states import Json


@dataclass
class ThreadDisplay(ABC, Generic[State]):
    """A kind of thread at the terminal: what is shown of it, and what is written and printed at its end.

    Subclasses show the events of their kind in ``show_event``.
    """

    screen: Console = field(default_factory=console)
    _bar: Progress | None = None
    _task: TaskID | None = None

    @property
    @abstractmethod
    def kind(self) -> ThreadType[State]:
        """The kind of thread."""

    @abstractmethod
    def show_event(self, event: Any) -> None:  # noqa: ANN401 - the events of its own kind of thread
        """Show an event of this kind of thread; requests for a decision are shown already."""

    @abstractmethod
    def to_json(self, thread: str, state: State, request: Json | None) -> Json:
        """Return everything about the thread as plain JSON, with the request that it waits with, if it does."""

    def write(self, _thread: str, _state: State, _options: argparse.Namespace) -> list[Path | str]:
        """Write the files that the options ask for, and return their paths."""
        return []

    def failure(self, _state: State) -> str | None:
        """Return why an ended thread has failed; None where it has not."""
        return None

    def doing(self, event: Any) -> str:  # noqa: ANN401 - see show_event
        """Return in words what takes its time after an event."""
        match event:
            case InvestigationProgress(told=progress):
                from snellen.summaries.investigations import doing

                return doing(progress)
            case LearningProgress(told=progress):
                # Without counts: a sign of life is given once for each phase.
                return phase_in_words({name: progress[name] for name in ("need", "phase") if name in progress})
            case Waits():
                return "waiting for a decision"
            case _:
                return "going on"

    def show(self, event: Any) -> None:  # noqa: ANN401 - see show_event
        """Show what has just happened."""
        if isinstance(event, Started):
            self.line("thread  ", event.thread, "dim")
        if isinstance(event, Waits):
            for action in event.request["action_requests"]:
                self.line("  ? ", action["description"], "yellow")
        self.show_event(event)

    def show_previews(self, request: Json) -> None:
        """Show what a person needs to decide about a request, beside its description."""
        if request.get("error"):
            self.line("  ! ", f"Your last answer could not be used: {request['error']}", "red")
        from snellen.experiments.preview import preview_in

        pictures = home_pictures(home_to_read())
        for preview in filter(None, map(preview_in, request["action_requests"])):
            for line in preview_lines(preview, pictures.place):
                print_line(self.screen, line)

    def line(self, lead: str, text: str, style: str = "") -> None:
        """Print a line."""
        print_line(self.screen, Line(lead, text, style))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Show a bar under what is printed, on a terminal only."""
        if not self.screen.is_terminal:
            yield
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
        with Progress(*columns, console=self.screen, transient=True) as bar:
            self._bar, self._task = bar, bar.add_task("beginning", total=None)
            try:
                yield
            finally:
                self._bar = self._task = None

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Take the bar away while a person is asked."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()

    def move(self, text: str, done: int = 0, total: int | None = None) -> bool:
        """Move the bar; return whether there is one."""
        if self._bar is None or self._task is None:
            return False
        self._bar.update(self._task, description=clean(text), completed=done, total=total)
        return True


@dataclass
class _Follower(Generic[State]):
    """Follows a thread, shows it, and asks about what needs a decision."""

    display: ThreadDisplay[State]
    quiet: bool
    """True where only the JSON at the end is wanted."""
    decision: str = ""
    """A decision about all actions that was given beforehand: ``approve`` or ``reject``."""
    meaning: int | None = None
    """The number of the meaning to take, where an instruction has several."""
    thread: str = ""
    finished: Finished[State] | None = None
    """The end of the thread; None while it waits."""
    request: Json | None = None
    """The request that the thread waits with; None where it waits for no decision."""

    def decide(self, request: Json) -> Sequence[Json] | None:
        """Decide about each action of a request; None where nobody is there to be asked."""
        actions = request["action_requests"]
        if is_choice(request) and self.decision != "reject":
            return self._choose(request)
        if self.decision:
            return [{"type": self.decision} for _ in actions]
        if self.quiet or not sys.stdin.isatty():
            return None
        from snellen.cli.design_editing import decided_by_person, editor

        editable = {
            one["action_name"] for one in request["review_configs"] if "edit" in one["allowed_decisions"] and editor()
        }
        with self.display.silent():
            return [
                decided_by_person(one, _question(one), request.get("edited"))
                if one["name"] in editable
                else _agreement(_question(one))
                for one in actions
            ]

    def _choose(self, request: Json) -> Sequence[Json] | None:
        """Choose the meaning that was given, or ask about one after the other.

        Raises:
            BadInput: There is no meaning of this number.
        """
        if self.meaning is not None:
            return choosing(request, self.meaning)
        if self.quiet or self.decision or not sys.stdin.isatty():
            return None
        with self.display.silent():
            actions = request["action_requests"]
            numbers = (number for number, one in enumerate(actions, 1) if agrees(str(one["description"])))
            number = next(numbers, None)
        return choosing(request, number) if number else [{"type": "reject"} for _ in actions]

    async def follow(self, events: AsyncGenerator[Any]) -> None:
        """Follow the events to their end."""
        watched = not self.quiet and self.display.screen.is_terminal
        showing = self.display.watching() if watched else nullcontext()
        with SignOfLife(BEGINNING).watching(quiet=watched) as sign, showing:
            # Closed before the event loop ends: the run lets go of its databases and its thread, whatever happens here.
            async with aclosing(events):
                async for event in events:
                    self.request = event.request if isinstance(event, Waits) else None
                    if isinstance(event, Started):
                        self.thread = event.thread
                    if isinstance(event, Finished):
                        self.finished = event
                    if not self.quiet:
                        self.display.show(event)
                        if self.request is not None and not self.decision:
                            self.display.show_previews(self.request)
                    sign.tell(self.display.doing(event))


def follow(
    display: ThreadDisplay[State],
    begin: Callable[[Decide], AsyncGenerator[Any]],
    options: argparse.Namespace,
    *,
    decision: str = "",
) -> int:
    """Follow a thread to its end, or until it waits; write and print its results.

    Args:
        display: Shows this kind of thread.
        begin: Begins or resumes the thread, and returns its events.
        options: Those of the command: ``json`` and the files that are written.
        decision: A decision that was given beforehand, ``approve`` or ``reject``.

    Raises:
        BadInput: The thread waits for a choice among the meanings of its instruction.
        SnellenError: The thread has failed.
    """
    follower = _Follower(display, options.json, decision, getattr(options, "meaning", None))
    with resumable(lambda: follower.thread):
        run(follower.follow(begin(follower.decide)))
    ended = follower.finished
    state = asyncio.run(read_listed(display.kind, follower.thread))
    written = display.write(follower.thread, state, options)
    if options.json:
        print_json(display.to_json(follower.thread, state, follower.request))
    else:
        print_written(written)
    if ended is None and is_choice(follower.request):
        raise BadInput(how_to_choose(follower.thread, follower.request or {}))
    if ended is None:
        print_hint(f"snellen: Waiting for your decision: `snellen resume {follower.thread} --approve` or `--reject`.")
        return 0
    if failure := display.failure(state):
        raise SnellenError(failure)
    return 0


def _agreement(question: str) -> Json:
    return {"type": "approve" if agrees(question) else "reject"}


def _question(action: Json) -> str:
    """Return the question that is put to a person about an action."""
    from snellen.experiments.preview import preview_in

    if (preview := preview_in(action)) is not None:
        return f"Run experiment {preview.number}?"
    verb = {"learn": "Learn ", "teach": "Teach ", "forget": ""}.get(action["name"], "Run ")
    return f"{verb}{action['description'].rstrip('.')}?"
