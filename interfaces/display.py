"""How the command line shows things: colours, tables and progress on a terminal, plain lines when piped."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from interfaces.runs import Run, notices_of, outcome, steps_of
from interfaces.sessions import Finished, NodeFinished, SessionEvent, Started, StepFinished
from tools.program import StepRecord

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from graphs.states import AskState

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_EVERY: Final = 20
"""Tasks between two lines about an evaluation, where no terminal shows a bar."""

_NEXT: Final = {
    "recall": "planning",
    "plan": "writing the program",
    "write": "loading the models",
    "run": "judging",
    "judge": "remembering",
}
"""What happens after each node, told while it happens."""


def doing_after(event: SessionEvent) -> str:
    """Say what takes its time after an event."""
    match event:
        case Started():
            return "recalling demonstrations"
        case NodeFinished(node=node):
            return _NEXT.get(node, "finishing")
        case StepFinished():
            return "running the program"
        case _:
            return "finishing"


def console() -> Console:
    """Return the console for standard output; lines are never wrapped where no terminal shows them."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def print_json(data: Any) -> None:  # noqa: ANN401 - any JSON
    """Print one JSON document; what cannot be encoded as UTF-8 is escaped."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    sys.stdout.write(text.encode(errors="backslashreplace").decode() + "\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> None:
    """Print a table: drawn on a terminal, tab-separated lines under a header when piped."""
    cells = [[clean("" if cell is None else str(cell)) for cell in row] for row in rows]
    screen = console()
    if not screen.is_terminal:
        for line in [list(columns), *cells]:
            sys.stdout.write("\t".join(" ".join(cell.split()) for cell in line) + "\n")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title or None, title_justify="left", header_style="bold cyan", row_styles=["", "dim"])
    for line in cells:
        table.add_row(*[Text(cell) for cell in line])
    screen.print(table)


def clean(text: str) -> str:
    """Replace control characters, so that no text from a file or a model commands the terminal."""
    printable = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
    return printable.encode(errors="replace").decode()


@dataclass
class RunDisplay:
    """Shows a run while it happens."""

    screen: Console = field(default_factory=console)
    _status: Status | None = None
    _steps: int = 0
    _shown: bool = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Show a sign of life under what is printed, on a terminal only."""
        if not self.screen.is_terminal:
            yield
            return
        with self.screen.status("reading the pictures") as status:
            self._status = status
            try:
                yield
            finally:
                self._status = None

    def show(self, event: SessionEvent) -> None:
        """Show what has just happened."""
        match event:
            case Started():
                self._show_start(event)
            case NodeFinished(node="plan", update=update):
                self._show_plan(update.get("plan") or [])
            case NodeFinished(node="write", update=update):
                self._show_program(update.get("program") or "")
            case StepFinished(record=record):
                self._show_step(StepRecord.from_json(record))
            case Finished():
                self._show_end(Run(event.thread, event.state))
            case _:
                pass
        if isinstance(event, NodeFinished):
            self._tell(_NEXT.get(event.node, "finishing"))

    def _show_start(self, event: Started) -> None:
        self._line("thread  ", event.thread, style="dim")
        self._tell("recalling demonstrations")
        if event.resumed:
            self._show_so_far(event.state)

    def _show_so_far(self, state: AskState) -> None:
        """Show what was done before the interruption, so that the whole run stands on the screen."""
        if state.plan:
            self._show_plan(state.plan)
        if state.program:
            self._show_program(state.program)
        for step in steps_of(state):
            self._show_step(step)

    def _show_plan(self, plan: Sequence[str]) -> None:
        self._shown = True
        self._heading("plan")
        for number, step in enumerate(plan, start=1):
            self._line(f"  {number}. ", step)

    def _show_program(self, program: str) -> None:
        self._heading("program")
        for line in program.strip().splitlines():
            self._line("  ", line, style="green")
        self._heading("steps")

    def _show_step(self, step: StepRecord) -> None:
        self._steps += 1
        self._line(f"  {step.address:6} ", step.source, style="green")
        self._line("         → ", f"{outcome(step)}  ({step.seconds:.2f} s)", style="red" if step.error else "")
        for warning in step.warnings:
            self._line("         ! ", warning, style="yellow")
        self._tell(f"step {self._steps + 1}")

    def _show_end(self, run: Run) -> None:
        state = run.state
        if not self._shown:
            self._show_so_far(state)
        for notice in notices_of(state):
            self._line("! ", notice, style="yellow")
        if state.error is None:
            self._line("answer  ", run.answer_text, style="bold")
        self._show_verdict(state)

    def _show_verdict(self, state: AskState) -> None:
        if state.verdict == "unjudged":
            return
        style = "bold green" if state.verdict == "right" else "bold red"
        self._line("judged  ", f"{state.verdict} (expected: {state.expected})", style=style)

    def _heading(self, text: str) -> None:
        self._line("", text, style="bold cyan")

    def _line(self, lead: str, text: str, *, style: str = "") -> None:
        from rich.text import Text

        self.screen.print(Text.assemble(lead, (clean(text), style)), soft_wrap=not self.screen.is_terminal)

    def _tell(self, doing: str) -> None:
        if self._status is not None:
            self._status.update(doing)


@contextmanager
def progress(total: int, doing: str) -> Iterator[_Advance]:
    """Show a bar on standard error while ``total`` things are done; nothing where no terminal shows it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as bar:
        yield _Advance(bar.add_task(doing, total=total), bar)


@dataclass(frozen=True)
class _Advance:
    task: Any
    bar: Any

    def __call__(self, done: int) -> None:
        """Say how many things are done by now."""
        self.bar.update(self.task, completed=done)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int, str], None]]:
    """Show one bar after the other on standard error, a line for each where no terminal shows them.

    Yields:
        A function of a stage's name, how many are done in it, of how many, and what came of them so far.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", style="dim"),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bar:

        def show(name: str, done: int, total: int, note: str) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total, note=note)
            bar.update(tasks[name], completed=done, note=note)
            if not screen.is_terminal and (done == total or done % _EVERY == 0):
                sys.stderr.write(f"{name}: {done} of {total} ({note})\n")

        yield show
