"""How an investigation is shown: its experiments and figures while they come in, and the answers."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from snellen.cli.display import print_line
from snellen.cli.progress_bar import BarDisplay
from snellen.experiments.report import VERDICTS as VERDICTS
from snellen.experiments.report import verdict_of
from snellen.summaries.investigations import doing, figures, guarantee
from snellen.summaries.learning import Line
from snellen.threads.events import Finished, InvestigationProgress, NodeFinished, Started, Waits
from snellen.threads.investigate import InvestigationEvent, InvestigationResult, found_in

if TYPE_CHECKING:
    from snellen.experiments.report import Experiment, Report
    from snellen.graphs.states import InvestigateState, Json

_COLOURS: Final = {"yes": "green", "no": "red", "open": "yellow"}
_EVERY: Final = 15.0
"""Seconds between two lines about measuring, where no terminal shows a bar."""


def state_json(thread: str, state: InvestigateState, *, waits: Json | None = None) -> Json:
    """Return everything about an investigation as plain JSON; reports of earlier versions in the form of today's."""
    from snellen.experiments.report import Report

    status = "waiting" if waits else "finished"
    kept = dataclasses.asdict(state)
    reports = {
        name: Report.model_validate(kept[name]).model_dump(mode="json") for name in ("report", "after") if kept[name]
    }
    # A query may be about fewer models than there were to choose from.
    examined = {"models": reports["report"]["models"]} if "report" in reports else {}
    return {"thread": thread, "status": status, "waiting": waits, **kept, **examined, **reports}


def answer_lines(found: InvestigationResult) -> Iterator[Line]:
    """Tell the answers, how sure they are, what was not examined, and what was corrected."""
    yield from _answers(found.report)
    if found.correct and not found.corrections:
        yield Line("", "Nothing was corrected: no claim was decided against a model.", "yellow")
    for correction in found.corrections:
        yield Line("", str(correction), f"bold {'green' if correction.called else 'yellow'}")
    if found.after is not None:
        yield from _answers(found.after)


def _answers(report: Report) -> Iterator[Line]:
    for answer in report.answers:
        yield Line("", answer.sentence, f"bold {_COLOURS[verdict_of(answer)]}")
    if not report.answers:
        yield Line("", report.conclusion, "yellow")
    if report.findings:
        yield Line("", guarantee(report), "dim")
    for note in [*report.notes, *report.questions]:
        yield Line("  ! ", note, "yellow")


@dataclass
class InvestigationDisplay(BarDisplay):
    """Shows an investigation: a bar on a terminal, lines when piped."""

    _report: Report | None = None
    _began: float = field(default_factory=time.monotonic)
    _said: float = 0.0

    def show(self, event: InvestigationEvent) -> None:
        """Show what has just happened."""
        match event:
            case Started(thread=thread, state=state):
                self._line(Line("thread  ", thread, "dim"))
                self._line(Line("", state.query, "bold cyan"))
                found = found_in(state)
                self._report = None if found is None else found.report
            case NodeFinished(node=node, update=update):
                self._take(node, update)
            case InvestigationProgress(told=told):
                self.tell(told)
            case Waits(request=request):
                for one in request["action_requests"]:
                    self._line(Line("  ? ", one["description"], "yellow"))
            case Finished(state=state):
                found = found_in(state)
                if found is not None:
                    self._line(Line("", "answer", "bold cyan"))
                    for line in answer_lines(found):
                        self._line(line)

    def tell(self, told: Json) -> None:
        """Show how far measuring is; when piped, only every now and then."""
        said = self.progress(told)
        if not self._moved(said) and time.monotonic() - self._said > _EVERY:
            self._said = time.monotonic()
            self._line(Line("    ", said, "dim"))

    def progress(self, told: Json) -> str:
        """Say what is being done, and how long it may go on."""
        if told.get("phase") == "teach":
            return f"{doing(told)}: step {told['done']} of {told['of']}"
        if told.get("phase") == "lessons":
            return doing(told)
        if self._report is None or not self._report.images or not self._report.seconds:
            return doing(told)
        budget, last = self._report.budget, self._report.under_way.images
        left = min(budget.images - self._report.images, budget.each - last if budget.each else budget.images)
        rate = (time.monotonic() - self._began) / self._report.images
        unclear = sum(len(one.pending) for one in self._report.experiments)
        return (
            f"{doing(told)} · {self._report.images} pictures, {unclear} claims open · at most {left} more pictures "
            f"({left * rate / 60:.0f} min)"
        )

    def _take(self, node: str, update: Json) -> None:
        from snellen.experiments.report import Report

        for one in update.get("corrections", ()) if node == "teach" else ():
            self._show_correction(one)
        written = update.get("after") or update.get("report")
        if not written:
            return
        if node == "teach":
            self._began = time.monotonic()
        self._report = Report.model_validate(written)
        if node == "open_report":
            self._line(Line("models  ", ", ".join(self._report.models), "dim"))
        elif node == "check_design" and self._report.experiments:
            self._show_design(len(self._report.experiments), self._report.experiments[-1])
        elif node == "judge_sufficiency" and self._report.taken_up:
            self._line(
                Line(f"experiment {self._report.number + 1}  ", "again, with what is left of the budget", "bold")
            )
        elif node == "discuss":
            self._show_findings(self._report.under_way)

    def _show_design(self, number: int, experiment: Experiment) -> None:
        design = experiment.design
        self._line(Line(f"experiment {number}  ", f"“{design.question}” {' / '.join(design.choices)}", "bold"))
        self._line(Line("    ", design.purpose, "dim"))

    def _show_correction(self, told: Json) -> None:
        from snellen.experiments.follow_up import ModelCorrection

        one = ModelCorrection.model_validate(told)
        self._line(Line("correction  ", str(one), "bold" if one.called else "yellow"))
        if one.held_out:
            before, after = one.held_out
            said = (
                f"{one.taught} pictures, {one.steps} steps in {one.seconds:.0f} s; held out {before:.2f} → {after:.2f}"
            )
            self._line(Line("    ", said, "dim"))

    def _show_findings(self, experiment: Experiment) -> None:
        for finding in experiment.findings:
            stated = finding.claim.stated(experiment.design)
            if finding.trouble:
                self._line(Line("    ! ", f"{finding.claim.about}: {finding.trouble}", "yellow"))
                continue
            said = f"{stated}? {VERDICTS[finding.verdict]}: {figures(finding, experiment.design)}"
            self._line(Line("    ", said, _COLOURS[finding.verdict]))
        rejected = (
            f"; {experiment.rejected} rejected, which did not show what they should or could not be changed so"
            if experiment.rejected
            else ""
        )
        self._line(Line("    ", f"{experiment.images} pictures{rejected}; {experiment.stopped}", "dim"))

    def _line(self, line: Line) -> None:
        print_line(self.screen, line)
