"""A sign of life under what is printed, on a terminal only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snellen.cli.display import clean, console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TaskID


@dataclass
class BarDisplay:
    """Shows events, and a bar under them."""

    screen: Console = field(default_factory=console)
    _bar: Progress | None = None
    _task: TaskID | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Show a bar under what is printed, on a terminal only."""
        if not self.screen.is_terminal:
            yield
            return
        from rich.progress import Progress

        with Progress(*self._columns(), console=self.screen, transient=True) as bar:
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

    def _columns(self) -> tuple[ProgressColumn, ...]:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

        return SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()

    def _moved(self, said: str, done: int = 0, total: int | None = None) -> bool:
        """Move the bar; return whether there is one."""
        if self._bar is None or self._task is None:
            return False
        self._bar.update(self._task, description=clean(said), completed=done, total=total)
        return True
