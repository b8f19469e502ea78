"""How a run of ask is shown while it happens: plan, program, steps, answer; what went wrong, and what was learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snellen.cli.display import clean, console, print_line
from snellen.learning.records import LearningOutcome
from snellen.reasoning.critique import Critique
from snellen.reports.runs import AskRun
from snellen.summaries.learning import Line, hint_lines, meaning_in_words, outcome_lines, phase_in_words
from snellen.summaries.runs import (
    answer_and_caveat,
    attempt_in_words,
    fault_in_words,
    feedback_in_words,
    notices_of,
    outcome,
    remedy_in_words,
    steps_of,
    verdict_in_words,
    way_in_words,
)
from snellen.threads.ask import SessionEvent
from snellen.threads.events import Finished, LearningProgress, NodeFinished, Started, StepFinished, Waits
from snellen.threads.progress import doing_after
from snellen.tools.program import StepRecord

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from snellen.graphs.states import AskState, Json


def _stands(state: AskState) -> bool:
    """Tell whether the steps are still those of the last wrong answer: what was found about it comes after them."""
    return bool(state.attempts) and state.verdict == "wrong" and state.attempts[-1]["answer"] == state.answer


@dataclass
class RunDisplay:
    """Shows a run while it happens."""

    screen: Console = field(default_factory=console)
    _status: Status | None = None
    _steps: int = 0
    _shown: bool = False
    _program: str = ""
    _running: bool = False
    """Whether the last thing shown was a step."""
    _state: AskState | None = None
    """How the run began."""
    _learned: int = 0
    """Needs whose outcome was shown."""
    _ruled: int = 0
    """Needs of which was shown whether they helped."""

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

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Take the sign of life away while a person is asked."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def show(self, event: SessionEvent) -> None:
        """Show what has just happened."""
        self._running = self._running and isinstance(event, StepFinished)
        match event:
            case Started():
                self._show_start(event)
            case NodeFinished(node=node, update=update):
                self._show_node(node, update)
            case StepFinished(record=record):
                self._show_step(StepRecord.from_json(record))
            case LearningProgress(told=told):
                self._tell(phase_in_words(told))
                return
            case Waits(request=request):
                for one in request["action_requests"]:
                    self._line("  ? ", one["description"], style="yellow")
            case Finished():
                self._show_end(AskRun(event.thread, event.state))
        self._tell(f"step {self._steps + 1}" if isinstance(event, StepFinished) else doing_after(event))

    def _show_node(self, node: str, update: Json) -> None:
        match node:
            case "plan":
                self._show_plan(update.get("plan") or [])
            case "write":
                self._show_program(update.get("program") or "")
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
        self._ruled = sum(one.get("helped") is not None for one in event.state.learned)
        self._line("thread  ", event.thread, style="dim")
        if event.resumed:
            self._show_so_far(event.state)

    def _show_so_far(self, state: AskState) -> None:
        """Show what was done before the interruption, so that the whole run stands on the screen."""
        first = _stands(state)
        if not first:
            self._show_lesson(state)
        if state.plan:
            self._show_plan(state.plan)
        if state.program:
            self._show_program(state.program)
        for step in steps_of(state):
            self._show_step(step)
        self._running = False
        if first:
            self._show_lesson(state)

    def _show_lesson(self, state: AskState) -> None:
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
            self._line(f"  {number}. ", step)

    def _show_program(self, program: str, *, heading: str = "program") -> None:
        self._program = program
        self._heading(heading)
        for line in program.strip().splitlines():
            self._line("  ", line, style="green")

    def _show_step(self, step: StepRecord) -> None:
        if not self._running:
            self._heading("steps, once more" if self._steps else "steps")
        self._running = True
        self._steps += 1
        self._line(f"  {step.address:6} ", step.source, style="green")
        self._line("         → ", f"{outcome(step)}  ({step.seconds:.2f} s)", style="red" if step.error else "")
        for warning in step.warnings:
            self._line("         ! ", warning, style="yellow")

    def _show_attempt(self, attempt: Json) -> None:
        self._line("answer  ", attempt_in_words(attempt), style="bold")
        said = feedback_in_words(self._state) if self._state else ""
        self._line("judged  ", f"wrong ({said})", style="bold red")

    def _show_critique(self, critique: Critique) -> None:
        self._heading(f"what went wrong ({way_in_words(critique)})")
        if not critique.faults:
            self._line("  ", "no step could be found at fault", style="yellow")
        for fault in critique.faults:
            self._line("  ", fault_in_words(fault, critique), style="yellow")
            for said in filter(None, (fault.reason, remedy_in_words(fault))):
                self._line("    ", said)

    def _show_learned(self, learned: Sequence[Json]) -> None:
        new = [LearningOutcome.from_json(one) for one in learned[self._learned :]]
        self._learned = len(learned)
        self._heading("learned")
        for line in outcome_lines(new):
            print_line(self.screen, line)

    def _show_helped(self, learned: Sequence[Json]) -> None:
        """Show what the try that followed has shown of what was learned."""
        before, self._ruled = self._ruled, sum(one.get("helped") is not None for one in learned)
        ruled = [LearningOutcome.from_json(one) for one in learned if one.get("helped") is not None][before:]
        for one in ruled:
            self._line(f"  {one.need}  ", meaning_in_words(one), style="bold green" if one.helped else "yellow")

    def _show_end(self, run: AskRun) -> None:
        state = run.state
        if not self._shown:
            self._show_so_far(state)
        for notice in notices_of(state):
            self._line("! ", notice, style="yellow")
        if state.error is None:
            self._line("answer  ", answer_and_caveat(run.answer_text, state), style="bold")
        self._show_verdict(state)
        for line in hint_lines([LearningOutcome.from_json(one) for one in state.learned]):
            print_line(self.screen, line)

    def _show_verdict(self, state: AskState) -> None:
        if state.verdict == "unjudged":
            return
        style = "bold green" if state.verdict == "right" else "bold red"
        self._line("judged  ", verdict_in_words(state), style=style)

    def _heading(self, text: str) -> None:
        self._line("", text, style="bold cyan")

    def _line(self, lead: str, text: str, *, style: str = "") -> None:
        print_line(self.screen, Line(lead, text, style))

    def _tell(self, doing: str) -> None:
        if self._status is not None:
            self._status.update(clean(doing))
