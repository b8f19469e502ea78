"""Text, tables and progress of the command line: drawn on a terminal, plain lines when piped."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from snellen.cli.options import lines_of
from snellen.summaries.learning import Line

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from snellen.cli.remaining_time import RemainingTime

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_EVERY: Final = 20
"""Tasks between two lines about an evaluation, where no terminal shows a bar."""


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


def print_line(screen: Console, line: Line) -> None:
    """Print a line; no text from a file or a model commands the terminal."""
    from rich.text import Text

    text: Any = Text.assemble(clean(line.lead), (clean(line.text), line.style))
    screen.print(text, soft_wrap=not screen.is_terminal)


def print_notes(sentences: Sequence[str], most: int = 10) -> None:
    """Print notes about results, and how many more there are."""
    for one in sentences[:most]:
        console().print(one, style="yellow", soft_wrap=True)
    if len(sentences) > most:
        console().print(f"… and {len(sentences) - most} more.", style="yellow")


def print_left(shown: int, options: argparse.Namespace, of: int) -> None:
    """Say which part of a list was shown, where it was not all."""
    lines = lines_of(options)
    if lines is not None and shown < of:
        first = (options.page - 1) * lines
        rows = f"{first + 1:,} to {first + shown:,}" if shown else "none"
        print_hint(f"{rows} of {of:,}; --page N shows others.")


def print_hint(sentence: str) -> None:
    """Print a hint on standard error: standard output may be read by a program."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def one_line(text: str, most: int = 100) -> str:
    """Return a text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def minute(timestamp: str) -> str:
    """Return an ISO timestamp without its fractions and zone."""
    return timestamp[:19].replace("T", " ")


def clean(text: str) -> str:
    """Replace characters that control, so that no text from a file or a model commands the terminal or reorders it."""
    printable = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
    return printable.encode(errors="replace").decode()


def agrees(question: str) -> bool:
    """Ask on the terminal; anything but a yes is a no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


class ShowStage(Protocol):
    """Shows how far a stage is."""

    def __call__(self, name: str, done: int, total: int, note: str = "") -> None:
        """Show how many are done in a stage, of how many, and what came of them so far."""


@contextmanager
def progress(total: int, doing: str) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error while ``total`` things are done; nothing where no terminal shows it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def stages(left: RemainingTime | None = None) -> Iterator[ShowStage]:
    """Show one bar after the other on standard error, a line for each where no terminal shows them.

    Args:
        left: Estimates how long all of them will still take, which is then shown instead of what one of them will.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    note_column = TextColumn("{task.fields[note]}", style="dim")
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    columns += [note_column] if left else [TimeRemainingColumn(), note_column]
    tasks: dict[str, Any] = {}
    printed: dict[str, int] = {}
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bar:

        def show(name: str, done: int, total: int, note: str = "") -> None:
            if left is not None:
                left.tell(name, done, total)
                note = left.text()
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total, note=note)
            for one in tasks.values() if left is not None else ():
                bar.update(one, note="")
            bar.update(tasks[name], completed=done, total=total, note=note)
            news = printed.get(name) != done and (done == total or done % _EVERY == 0)
            if not screen.is_terminal and news:
                printed[name] = done
                sys.stderr.write(f"{name}: {done} of {total}{f' ({note})' if note else ''}\n")

        yield show
