"""Investigations at the terminal: experiments and figures while they come in, the answers, and the report's files."""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.cli.display import print_line
from snellen.cli.following import ThreadDisplay
from snellen.experiments.follow_up import ModelCorrection
from snellen.experiments.report import Report, verdict_of
from snellen.experiments.verdicts import VERDICTS
from snellen.memory.home import home_to_read
from snellen.reports import investigation_files, investigation_page, investigation_text
from snellen.reports.runs import write_text
from snellen.summaries.investigations import doing, figures, guarantee, intervals
from snellen.summaries.learning import Line
from snellen.threads.events import Finished, InvestigationProgress, NodeFinished, Started
from snellen.threads.investigate import INVESTIGATE, InvestigationEvent, InvestigationResult, found_in

if TYPE_CHECKING:
    from snellen.experiments.report import Experiment
    from snellen.graphs.states import InvestigateState, Json
    from snellen.threads.thread_type import ThreadType

_COLOURS: Final = {"yes": "green", "no": "red", "open": "yellow"}
_EVERY: Final = 15.0
"""Seconds between two lines about measuring, where no terminal shows a bar."""


def state_json(thread: str, state: InvestigateState, *, waits: Json | None = None) -> Json:
    """Return everything about an investigation as plain JSON; reports of earlier versions in the form of today's."""
    status = "waiting" if waits else "finished"
    kept = dataclasses.asdict(state)
    reports = {
        name: Report.model_validate(kept[name]).model_dump(mode="json") for name in ("report", "after") if kept[name]
    }
    # A query may be about fewer models than there were to choose from.
    examined = {"models": reports["report"]["models"]} if "report" in reports else {}
    said = {"understood": understanding_of(state)}
    return {"thread": thread, "status": status, "waiting": waits, **said, **kept, **examined, **reports}


def understanding_of(state: InvestigateState) -> str:
    """Return the query as it was understood; empty where only a chat model read it, and of older versions."""
    return str(state.report.get("understood") or (state.opening.get("said") or {}).get("understood") or "")


def write_report(state: InvestigateState, options: argparse.Namespace) -> list[Path | str]:
    """Write the files of a report that the options ask for; none where the report is not opened yet."""
    result = found_in(state)
    if result is None:
        return []
    folder = home_to_read()
    written: list[Path | str] = []
    if options.html:
        write_text(Path(options.html), investigation_page.render(result, folder))
        written.append(options.html)
    if markdown := getattr(options, "markdown", None):
        write_text(Path(markdown), investigation_text.markdown(result) + "\n")
        written.append(markdown)
    if trials := getattr(options, "trials", None):
        written.append(investigation_files.write_trials(result, folder, Path(trials)))
    if options.out:
        written += investigation_files.write_all(result, folder, Path(options.out))
    return written


def answer_lines(result: InvestigationResult) -> Iterator[Line]:
    """Return the answers, how sure they are, what was not examined, and what was corrected."""
    yield from _answers(result.report)
    if result.correct and not result.corrections:
        yield Line("", "Nothing was corrected: no claim was decided against a model.", "yellow")
    for correction in result.corrections:
        yield Line("", str(correction), f"bold {'green' if correction.called else 'yellow'}")
    if result.after is not None:
        yield from _answers(result.after)


def _answers(report: Report) -> Iterator[Line]:
    if report.headline:
        yield Line("", report.headline, "bold")
    for answer in report.answers:
        yield Line("", answer.sentence, f"bold {_COLOURS[verdict_of(answer)]}")
    for pattern in report.patterns if report.answers else ():
        yield Line("", pattern.sentence, "magenta")
    if not report.answers:
        yield Line("", report.conclusion, "yellow")
    if report.findings:
        yield Line("", guarantee(report), "dim")
    for note in report.open_ends:
        yield Line("  ! ", note, "yellow")


@dataclass
class InvestigationDisplay(ThreadDisplay["InvestigateState"]):
    """Shows an investigation: a bar on a terminal, lines when piped."""

    _report: Report | None = None
    _began: float = field(default_factory=time.monotonic)
    _printed: float = 0.0

    @property
    def kind(self) -> ThreadType[InvestigateState]:
        """Investigations."""
        return INVESTIGATE

    def doing(self, event: InvestigationEvent) -> str:
        """Return in words what takes its time after an event."""
        return "designing an experiment" if isinstance(event, Started) else super().doing(event)

    def to_json(self, thread: str, state: InvestigateState, request: Json | None) -> Json:
        """Return the state with its reports, its status, and the request that the investigation waits with."""
        return state_json(thread, state, waits=request)

    def write(self, _thread: str, state: InvestigateState, options: argparse.Namespace) -> list[Path | str]:
        """Write the files of the report."""
        return write_report(state, options)

    def show_event(self, event: InvestigationEvent) -> None:
        """Show an event of an investigation."""
        match event:
            case Started(state=state):
                self.line("", state.query, "bold cyan")
                if understood := understanding_of(state):
                    self.line("understood  ", understood)
                result = found_in(state)
                self._report = None if result is None else result.report
            case NodeFinished(node=node, update=update):
                self._take(node, update)
            case InvestigationProgress(told=progress):
                self._show_progress(progress)
            case Finished(state=state):
                result = found_in(state)
                if result is not None:
                    self.line("", "answer", "bold cyan")
                    for line in answer_lines(result):
                        print_line(self.screen, line)

    def _show_progress(self, progress: Json) -> None:
        """Show how far measuring is; when piped, only every now and then."""
        text = self.progress(progress)
        if not self.move(text) and time.monotonic() - self._printed > _EVERY:
            self._printed = time.monotonic()
            self.line("    ", text, "dim")

    def progress(self, progress: Json) -> str:
        """Return in words what is being done, and how long it may go on."""
        if progress.get("phase") == "teach":
            return f"{doing(progress)}: step {progress['done']} of {progress['of']}"
        if progress.get("phase") == "lessons" or not (self._report and self._report.images and self._report.seconds):
            return doing(progress)
        budget, last = self._report.budget, self._report.under_way.images
        left = min(budget.images - self._report.images, budget.each - last if budget.each else budget.images)
        rate = (time.monotonic() - self._began) / self._report.images
        unclear = sum(len(one.pending) for one in self._report.experiments)
        return (
            f"{doing(progress)} · {self._report.images} pictures, {unclear} claims open · at most {left} more pictures "
            f"({left * rate / 60:.0f} min)"
        )

    def _take(self, node: str, update: Json) -> None:
        for one in update.get("corrections", ()) if node == "teach" else ():
            self._show_correction(ModelCorrection.model_validate(one))
        written = update.get("after") or update.get("report")
        if not written:
            return
        if node == "teach":
            self._began = time.monotonic()
        self._report = Report.model_validate(written)
        if node == "open_report":
            self.line("models  ", ", ".join(self._report.models), "dim")
        elif node == "check_design" and self._report.experiments:
            self._show_design(len(self._report.experiments), self._report.experiments[-1])
        elif node == "judge_sufficiency" and self._report.taken_up:
            self.line(f"experiment {self._report.number + 1}  ", "again, with what is left of the budget", "bold")
        elif node == "discuss":
            self._show_findings(self._report.under_way)

    def _show_design(self, number: int, experiment: Experiment) -> None:
        design = experiment.design
        self.line(f"experiment {number}  ", f"“{design.question}” {design.choices_in_words}", "bold")
        self.line("    ", design.purpose, "dim")

    def _show_correction(self, one: ModelCorrection) -> None:
        self.line("correction  ", str(one), "bold" if one.called else "yellow")
        if one.held_out:
            before, after = one.held_out
            training = f"{one.taught} pictures, {one.steps} steps in {one.seconds:.0f} s"
            self.line("    ", f"{training}; held out {before:.2f} → {after:.2f}", "dim")

    def _show_findings(self, experiment: Experiment) -> None:
        for finding in experiment.findings:
            stated = finding.claim.stated(experiment.design)
            if finding.trouble:
                self.line("    ! ", f"{finding.claim.about}: {finding.trouble}", "yellow")
                continue
            text = f"{stated}? {VERDICTS[finding.verdict]}: {figures(finding, experiment.design)}"
            self.line("    ", text, _COLOURS[finding.verdict])
        rejected = f"; {experiment.rejected} unsuitable ones left out" if experiment.rejected else ""
        # Their level goes with the number of verdicts, so that of the answers may be another.
        measured = [one for one in experiment.findings if one.n]
        level = f"; intervals so far: {intervals(measured)}" if measured else ""
        self.line("    ", f"{experiment.images} pictures{rejected}; {experiment.stopped}{level}", "dim")
