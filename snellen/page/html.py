"""HTML of the page: traces of threads with their figures and reports."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.experiments.follow_up import ModelCorrection, corrected_sample_set
from snellen.experiments.report import Report, verdict_of
from snellen.learning.records import LearningOutcome
from snellen.memory.artifacts import is_picture_id
from snellen.page.trace import ThreadTrace
from snellen.reasoning.critique import Critique
from snellen.reports.investigation_page import bar
from snellen.reports.pictures import Figure, figure_of
from snellen.reports.templating import rendered
from snellen.runtime.resources import open_pictures
from snellen.summaries.investigations import guarantee
from snellen.summaries.learning import counts_in_words, meaning_in_words
from snellen.summaries.runs import fault_in_words, outcome, remedy_in_words, revision_in_words
from snellen.threads.investigate import InvestigationResult
from snellen.tools.program import StepRecord
from snellen.tools.program.check import RESULT
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from snellen.experiments.report import Experiment
    from snellen.graphs.states import Json

_LESSONS: Final = 6
"""Pictures of a lesson that are shown."""
_SAMPLES: Final = 12
"""Pictures of an experiment that are shown, the latest."""


def plain(text: str) -> str:
    """Return a text for places of Gradio that read HTML, such as notices."""
    return escape(text, quote=True)


def address(picture_id: str) -> str:
    """Return where the page finds a stored picture; nothing for what is no picture's id."""
    return f"/artifacts/{picture_id}.png" if is_picture_id(picture_id) else ""


def trace_html(trace: ThreadTrace, home: Path) -> str:
    """Write the trace of a thread.

    Args:
        trace: The trace.
        home: The memory's home, which has its pictures.
    """
    steps = [StepRecord.from_json(one) for one in trace.steps]
    critiques = [Critique.from_json(one) for one in trace.critiques]
    return rendered(
        "page/trace",
        trace=trace,
        pictures=[one for one in (figure(from_json(one), home) for one in trace.pictures) if one],
        revisions=[revision_in_words(one) for one in trace.revisions],
        steps=[(one, outcome(one), figure(one.value, home)) for one in steps if one.tool != RESULT],
        faults=[
            (fault_in_words(fault, one), fault.reason, remedy_in_words(fault))
            for one in critiques
            for fault in one.faults
        ],
        lessons=[_lesson(LearningOutcome.from_json(one), home) for one in trace.learned],
        reports=_reports(trace, home),
        corrections=[str(ModelCorrection.model_validate(one)) for one in trace.corrections],
    )


def figure(value: Any, home: Path, *, caption: str = "") -> Figure | None:  # noqa: ANN401 - any value of a program
    """Show a picture, or regions on theirs; None for a value with nothing to show, or whose picture is gone."""
    return figure_of(value, lambda picture_id: _stored(home, picture_id), caption)


@lru_cache(maxsize=4096)
def _stored(home: Path, picture_id: str) -> Figure | None:
    try:
        return Figure(address(picture_id), *open_pictures(home).get(picture_id).size) if address(picture_id) else None
    except SnellenError:
        return None


def _lesson(learned: LearningOutcome, home: Path) -> Json:
    shown = [Picture(one, 0, 0) for one in learned.pictures[:_LESSONS]]
    return {
        "what": str(learned.need),
        "answer": learned.need.answer,
        "trouble": learned.trouble,
        "counts": counts_in_words(learned),
        "reasons": learned.reasons[:_LESSONS],
        "meaning": meaning_in_words(learned),
        "pictures": [one for one in (figure(one, home) for one in shown) if one],
    }


def _reports(trace: ThreadTrace, home: Path) -> list[Json]:
    if not trace.report:
        return []
    reports = [(trace.investigation, Report.model_validate(trace.report))]
    if trace.after:
        reports.append((corrected_sample_set(trace.investigation), Report.model_validate(trace.after)))
    return [_report(name, report, trace.profile or "embedded", home) for name, report in reports]


def _report(name: str, report: Report, profile: str, home: Path) -> Json:
    return {
        "answers": [(one.sentence, verdict_of(one)) for one in report.answers],
        "conclusion": report.conclusion,
        "guarantee": guarantee(report) if report.findings else "",
        "models": InvestigationResult(name, report, profile=profile).models,
        "experiments": [_experiment(name, place, one, home) for place, one in enumerate(report.experiments)],
        "notes": report.open_ends,
        "used": f"{report.images:,} of at most {report.budget.images:,} pictures, {report.trials:,} questions",
        "share": report.images / report.budget.images,
    }


def _experiment(name: str, place: int, experiment: Experiment, home: Path) -> Json:
    design = experiment.design
    return {
        "number": place + 1,
        "purpose": design.purpose,
        "question": design.question,
        "choices": design.choices_in_words,
        "bars": [bar(one, experiment) for one in experiment.findings if one.n and not one.trouble],
        "waiting": [one.claim.stated(design) for one in experiment.findings if not one.n and not one.trouble],
        "troubles": [f"{one.claim.about}: {one.trouble}" for one in experiment.findings if one.trouble],
        "progress": f"{experiment.images} pictures{f'; {experiment.stopped}' if experiment.stopped else ' so far'}",
        "pictures": _samples(name, place, home, pairs=design.protocol == "pairs"),
    }


def _samples(name: str, place: int, home: Path, *, pairs: bool) -> list[list[Figure]]:
    """Return the latest samples, each as the picture or the two pictures that models were asked about."""
    from snellen.memory.samples import SampleTable

    if not name or not home.is_dir():
        return []
    latest = SampleTable(home).of(name, place)[-_SAMPLES:]
    shown = []
    for one in latest:
        before = [figure(Picture(one.plain, 0, 0), home)] if pairs else []
        figures = [*before, figure(Picture(one.picture, 0, 0), home, caption=one.label)]
        if all(figures):
            shown.append([each for each in figures if each])
    return shown
