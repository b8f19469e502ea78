"""Runs of ``ask`` at the terminal: plan, program, steps, answer, faults, and what was learned from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import print_line
from snellen.cli.following import ThreadDisplay
from snellen.learning.records import LearningOutcome
from snellen.memory.home import home
from snellen.reasoning.critique import Critique
from snellen.reasoning.reading.reading_record import ReadingRecord
from snellen.reports.run_page import render
from snellen.reports.runs import ANSWER_FILE, AskRun, write_run, write_text
from snellen.runtime.resources import open_pictures
from snellen.summaries.learning import hint_lines, meaning_in_words, outcome_lines, phase_in_words
from snellen.summaries.runs import (
    answer_with_confidence,
    attempt_in_words,
    caveat_in_words,
    fault_in_words,
    feedback_in_words,
    notices_of,
    outcome,
    remedy_in_words,
    steps_of,
    understood_in_words,
    verdict_in_words,
    way_in_words,
)
from snellen.threads.ask import ASK, SessionEvent
from snellen.threads.events import Finished, LearningProgress, NodeFinished, Started, StepFinished
from snellen.threads.progress import doing_after
from snellen.threads.thread import FAILED
from snellen.tools.program import StepRecord
from snellen.values import Picture

if TYPE_CHECKING:
    from snellen.graphs.states import AskState, Json
    from snellen.threads.thread_type import ThreadType


def _steps_come_first(state: AskState) -> bool:
    """Tell whether the steps are still those of the last wrong answer: its critique comes after them."""
    return bool(state.attempts) and state.verdict == "wrong" and state.attempts[-1]["answer"] == state.answer


@dataclass
class AskDisplay(ThreadDisplay["AskState"]):
    """Shows a run while it happens."""

    _thread: str = ""
    """The thread's name, until it is shown: after what was understood."""
    _steps: int = 0
    _shown: bool = False
    _program: str = ""
    _running: bool = False
    """True where the last thing shown was a step."""
    _state: AskState | None = None
    """The state that the run began with."""
    _learned: int = 0
    """Needs whose outcome was shown."""
    _helped: int = 0
    """Needs of which was shown whether they helped."""

    @property
    def kind(self) -> ThreadType[AskState]:
        """Threads that answer."""
        return ASK

    def doing(self, event: SessionEvent) -> str:
        """Return in words what takes its time after an event."""
        return doing_after(event)

    def to_json(self, thread: str, state: AskState, request: Json | None) -> Json:
        """Return the run, its status, and the request that it waits with."""
        status = "waiting" if request is not None else "finished" if state.error is None else FAILED
        return {**AskRun(thread, state).to_json(), "status": status, "waiting": request}

    def failure(self, state: AskState) -> str | None:
        """Return the error that the run ended with."""
        return state.error

    def write(self, thread: str, state: AskState, options: argparse.Namespace) -> list[Path | str]:
        """Write the pictures and ``run.json``, and the page; say where a picture lies that is not among them."""
        result = AskRun(thread, state)
        written: list[Path | str] = []
        if options.out:
            written += write_run(result, Path(options.out), open_pictures(home()))
        if options.html:
            write_text(Path(options.html), render(result, open_pictures(home())))
            written.append(options.html)
        if (
            isinstance(result.answer, Picture)
            and not options.json
            and not any(Path(one).name == ANSWER_FILE for one in written)
        ):
            self.line("picture ", open_pictures(home()).place(result.answer.id), "dim")
        return written

    def show(self, event: SessionEvent) -> None:
        """Show what has just happened; of a new run first how its instruction is understood."""
        if isinstance(event, Started) and not event.resumed:
            self._thread = event.thread
            self.show_event(event)
            return
        if isinstance(event, Started):
            self._show_reading(event.state.reading)
        if isinstance(event, NodeFinished) and event.node == "read":
            self._show_reading(event.update["reading"])
        if self._thread:
            self.line("thread  ", self._thread, "dim")
            self._thread = ""
        super().show(event)

    def _show_reading(self, reading: Json) -> None:
        understood = understood_in_words(ReadingRecord.from_json(reading))
        if understood:
            self.line("understood  ", understood)

    def show_event(self, event: SessionEvent) -> None:
        """Show an event of a run."""
        self._running = self._running and isinstance(event, StepFinished)
        match event:
            case Started():
                self._show_start(event)
            case NodeFinished(node=node, update=update):
                self._show_node(node, update)
            case StepFinished(record=record):
                self._show_step(StepRecord.from_json(record))
            case LearningProgress(told=progress):
                self.move(phase_in_words(progress))
                return
            case Finished():
                self._show_end(AskRun(event.thread, event.state))
        self.move(f"step {self._steps + 1}" if isinstance(event, StepFinished) else doing_after(event))

    def _show_node(self, node: str, update: Json) -> None:
        match node:
            case "plan":
                self._show_plan(update.get("plan") or [])
            case "write":
                self._show_program(update.get("program") or "")
            case "run" if update.get("revisions"):
                self._show_outcome_of_revision(update["revisions"][-1])
            case "revise":
                self._show_revision(update)
            case "judge":
                self._show_helped(update.get("learned") or [])
                if update.get("attempts"):
                    self._show_attempt(update["attempts"][-1])
            case "reflect_globally" | "reflect_locally":
                self._show_critique(Critique.from_json(update["critiques"][-1]))
            case "correct" if update.get("program") not in {None, self._program}:
                self._show_program(update["program"], heading="corrected program")
            case "store":
                self._show_learned(update.get("learned") or [])

    def _show_start(self, event: Started[AskState]) -> None:
        self._state = event.state
        self._learned = len(event.state.learned)
        self._helped = sum(one.get("helped") is not None for one in event.state.learned)
        if event.resumed:
            self._show_so_far(event.state)

    def _show_so_far(self, state: AskState) -> None:
        """Show what was done before the interruption, so that the whole run stands on the screen."""
        steps_first = _steps_come_first(state)
        if not steps_first:
            self._show_attempts(state)
        if state.plan:
            self._show_plan(state.plan)
        for revision in state.revisions:
            self._show_trouble(revision)
            self._show_outcome_of_revision(revision)
        if state.program:
            self._show_program(state.program)
        # The steps of a run that is about to be bettered are not those of the program above.
        for step in [] if state.best_run else steps_of(state):
            self._show_step(step)
        self._running = False
        if steps_first:
            self._show_attempts(state)

    def _show_attempts(self, state: AskState) -> None:
        """Show the wrong answers, what was wrong with them, and what was learned from that."""
        if not state.attempts:
            return
        for attempt in state.attempts:
            self._show_attempt(attempt)
        for critique in state.critiques:
            self._show_critique(Critique.from_json(critique))
        if state.learned:
            self._learned = 0
            self._show_learned(state.learned)

    def _show_plan(self, plan: Sequence[str]) -> None:
        self._shown = True
        self._heading("plan")
        for number, step in enumerate(plan, start=1):
            self.line(f"  {number}. ", step)

    def _show_program(self, program: str, *, heading: str = "program") -> None:
        self._program = program
        self._heading(heading)
        for line in program.strip().splitlines():
            self.line("  ", line, "green")

    def _show_step(self, step: StepRecord) -> None:
        if not self._running:
            self._heading("steps, once more" if self._steps else "steps")
        self._running = True
        self._steps += 1
        self.line(f"  {step.address:6} ", step.source, "green")
        self.line("         → ", f"{outcome(step)}  ({step.seconds:.2f} s)", "red" if step.error else "")
        for warning in step.warnings:
            self.line("         ! ", warning, "yellow")

    def _show_revision(self, update: Json) -> None:
        """Show why the program is revised, and the new one; or that none is known."""
        if not update.get("revisions"):
            self._heading("revision")
            self.line("  ", "no better program is known: the answer stands")
            return
        self._show_trouble(update["revisions"][-1])
        self._show_program(update["program"], heading="revised program")

    def _show_trouble(self, revision: Json) -> None:
        self._heading("revision")
        self.line("  ", revision["trouble"], "yellow")
        self.line("  ", revision["change"])

    def _show_outcome_of_revision(self, revision: Json) -> None:
        if revision["helped"] is not None:
            helped = revision["helped"]
            words = "the revision helped" if helped else "the revision did not help: the run before is kept"
            self.line("  ", words, "bold green" if helped else "yellow")

    def _show_attempt(self, attempt: Json) -> None:
        self._show_caveat(attempt.get("caveat"))
        self.line("answer  ", attempt_in_words(attempt), "bold")
        feedback = feedback_in_words(self._state) if self._state else ""
        self.line("judged  ", f"wrong ({feedback})", "bold red")

    def _show_critique(self, critique: Critique) -> None:
        self._heading(f"what went wrong ({way_in_words(critique)})")
        if not critique.faults:
            self.line("  ", "no step could be found at fault", "yellow")
        for fault in critique.faults:
            self.line("  ", fault_in_words(fault, critique), "yellow")
            for text in filter(None, (fault.reason, remedy_in_words(fault))):
                self.line("    ", text)

    def _show_learned(self, learned: Sequence[Json]) -> None:
        new = [LearningOutcome.from_json(one) for one in learned[self._learned :]]
        self._learned = len(learned)
        self._heading("learned")
        for line in outcome_lines(new):
            print_line(self.screen, line)

    def _show_helped(self, learned: Sequence[Json]) -> None:
        """Show what the next attempt says about what was learned."""
        tried = [LearningOutcome.from_json(one) for one in learned if one.get("helped") is not None]
        for one in tried[self._helped :]:
            self.line(f"  {one.need}  ", meaning_in_words(one), "bold green" if one.helped else "yellow")
        self._helped = len(tried)

    def _show_end(self, result: AskRun) -> None:
        state = result.state
        if not self._shown:
            self._show_so_far(state)
        for notice in notices_of(state):
            self.line("! ", notice, "yellow")
        self._show_caveat(state.caveat)
        if state.error is None:
            self.line("answer  ", answer_with_confidence(result.answer_text, state), "bold")
        if state.verdict != "unjudged":
            self.line("judged  ", verdict_in_words(state), "bold green" if state.verdict == "right" else "bold red")
        for line in hint_lines([LearningOutcome.from_json(one) for one in state.learned]):
            print_line(self.screen, line)

    def _show_caveat(self, caveat: str | None) -> None:
        if caveat is not None:
            self.line("! ", caveat_in_words(caveat), "bold yellow")

    def _heading(self, text: str) -> None:
        self.line("", text, "bold cyan")
