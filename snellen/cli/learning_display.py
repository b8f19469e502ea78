"""Threads that learn, at the terminal: a bar or lines while it happens, and what came of it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import print_line
from snellen.cli.following import ThreadDisplay
from snellen.learning.records import Collected
from snellen.memory.home import home
from snellen.reasoning.language.inflection import counted
from snellen.reports.run_page import render_learning
from snellen.reports.runs import write_text
from snellen.runtime.resources import open_pictures
from snellen.summaries.learning import hint_lines, outcome_lines, phase_in_words, progress_of
from snellen.threads.events import Finished, LearningProgress, NodeFinished, Started
from snellen.threads.learn import LEARN, LearningEvent, in_words, learned_of, trouble

if TYPE_CHECKING:
    from snellen.graphs.states import Json, LearnState
    from snellen.threads.thread_type import ThreadType


@dataclass
class LearningDisplay(ThreadDisplay["LearnState"]):
    """Shows a thread that learns: a bar on a terminal, lines when piped."""

    _quarter: str = ""

    @property
    def kind(self) -> ThreadType[LearnState]:
        """Threads that learn."""
        return LEARN

    def doing(self, event: LearningEvent) -> str:
        """Return in words what takes its time after an event."""
        return "collecting pictures" if isinstance(event, Started) else super().doing(event)

    def to_json(self, thread: str, state: LearnState, request: Json | None) -> Json:
        """Return the state, its status, and the request that the thread waits with."""
        status = "waiting" if request else "finished"
        return {"thread": thread, "status": status, "waiting": request, **dataclasses.asdict(state)}

    def failure(self, state: LearnState) -> str | None:
        """Return why nothing could be learned."""
        return trouble(learned_of(state))

    def write(self, thread: str, state: LearnState, options: argparse.Namespace) -> list[Path | str]:
        """Write ``learn.json`` and ``learn.html``, and the page alone."""
        files: dict[Path, str] = {}
        page = (
            render_learning(thread, in_words(state), state, open_pictures(home()))
            if options.out or options.html
            else ""
        )
        if options.out:
            text = json.dumps(self.to_json(thread, state, None), indent=2, ensure_ascii=False)
            files |= {Path(options.out) / "learn.html": page, Path(options.out) / "learn.json": f"{text}\n"}
        if options.html:
            files[Path(options.html)] = page
        for path, text in files.items():
            write_text(path, text)
        return [*files]

    def show_event(self, event: LearningEvent) -> None:
        """Show an event of a thread that learns."""
        match event:
            case Started(state=state):
                self.line("", in_words(state), "bold cyan")
            case LearningProgress(told=progress):
                self.show_progress(progress)
            case NodeFinished(node="collect", update=update):
                self._show_collected(update.get("collected") or [])
            case Finished(state=state):
                self.line("", "learned", "bold cyan")
                learned = learned_of(state)
                for line in [*outcome_lines(learned), *hint_lines(learned)]:
                    print_line(self.screen, line)

    def show_progress(self, progress: Json) -> None:
        """Show how far a need is; when piped, only where something has begun or ended."""
        text = phase_in_words(progress)
        if not self.move(text, *(progress_of(progress) or (0, None))) and self._is_news(progress):
            self.line("  ", text)

    def _is_news(self, progress: Json) -> bool:
        """Tuning reports every step; a log wants its beginning, its end, and that it goes on."""
        place = progress_of(progress)
        if place is None:
            return True
        before, self._quarter = self._quarter, f"{progress.get('need')} {4 * place[0] // max(place[1], 1)}"
        return self._quarter != before

    def _show_collected(self, collected: Sequence[Json]) -> None:
        for one in map(Collected.from_json, collected):
            if not one.trouble:
                pictures = counted(len(one.training), "picture")
                proof = f"{len(one.held_out)} to prove it on, {len(one.others)} of other things"
                self.line(f"  {one.need} · ", f"{pictures} to learn from, {proof}")
