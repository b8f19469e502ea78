"""The page of an investigation: one self-contained HTML file with its answer, claims and an explorer of the evidence.

Whatever the report says (the query, what a chat model wrote, labels) is escaped. The one script on the page is ours; it
shows the trials and their pictures, and the page loads nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.experiments.findings import sample_size, scored
from snellen.experiments.follow_up import points
from snellen.experiments.report import verdict_of
from snellen.experiments.verdicts import VERDICTS
from snellen.reports.explorer import ExplorerData, TrialRow, explorer_data
from snellen.reports.investigation_text import again
from snellen.reports.templating import rendered
from snellen.reports.trial_rows import trial_rows
from snellen.summaries.investigations import figures, guarantee, intervals, pattern_in_words

if TYPE_CHECKING:
    from snellen.experiments.follow_up import ModelCorrection
    from snellen.experiments.report import Experiment, Finding, Pattern
    from snellen.threads.investigate import InvestigationResult

_SHOWN: Final = 3
"""Right and wrong pictures of each answer that are shown for each model."""


@dataclass(frozen=True)
class Bar:
    """An interval to be drawn: in percent of the width, from the left; `ticks` label both ends and the threshold."""

    low: float
    high: float
    mean: float
    threshold: float
    stated: str
    figures: str
    verdict: str
    ticks: tuple[str, str, str]


def render(result: InvestigationResult, folder: Path) -> str:
    """Write the page.

    Args:
        result: The result so far.
        folder: The memory's home, where pictures and trials are.
    """
    report, after = result.report, result.after
    rows, explorer = _evidence(result, folder)
    rows_of: dict[int, list[TrialRow]] = defaultdict(list)
    for row in rows:
        rows_of[row["experiment"]].append(row)
    shown = [_shown(number, one, rows_of[number], explorer) for number, one in enumerate(_experiments(result), 1)]
    return rendered(
        "report",
        investigation=result.investigation,
        report=report,
        conclusion=result.conclusion,
        answers=[(one, verdict_of(one)) for one in report.answers],
        patterns=[_pattern(one, explorer) for one in report.patterns],
        guarantee=guarantee(report) if report.findings else "",
        verdicts=VERDICTS,
        experiments=shown[: len(report.experiments)],
        corrections=[_corrected(one) for one in result.corrections],
        after=after,
        after_guarantee=guarantee(after) if after is not None and after.findings else "",
        again_measured=shown[len(report.experiments) :],
        models=result.models,
        explorer=explorer,
        measured=len(rows),
        again=again(result),
    )


def render_explorer(result: InvestigationResult, folder: Path) -> str:
    """Write a page of the explorer alone, for a frame in another page that shows the report in its own way.

    Args:
        result: The result so far.
        folder: The memory's home.
    """
    rows, explorer = _evidence(result, folder)
    return rendered(
        "evidence",
        query=result.report.query,
        investigation=result.investigation,
        explorer=explorer,
        measured=len(rows),
    )


def _evidence(result: InvestigationResult, folder: Path) -> tuple[list[TrialRow], ExplorerData]:
    from snellen.memory.artifacts import home_pictures

    rows = list(trial_rows(result, folder))
    models = [name for name, _ in result.models]
    return rows, explorer_data(_experiments(result), rows, models, home_pictures(folder))


def _experiments(result: InvestigationResult) -> list[Experiment]:
    return [experiment for _, report in result.parts for experiment in report.experiments]


def _shown(number: int, experiment: Experiment, rows: Sequence[TrialRow], explorer: ExplorerData) -> dict[str, Any]:
    design = experiment.design
    examples = []
    for answer in design.classes:
        for right in (True, False):
            candidates = [row for row in rows if design.arms[row["arm"]].answer == answer and not row["plain"]]
            chosen = {row["picture"]: row for row in candidates if row["right"] == right}
            pictures = [_example(row, explorer) for row in chosen.values() if all(map(explorer.has, row["pictures"]))]
            if pictures:
                examples.append({"answer": answer, "right": right, "pictures": pictures[:_SHOWN]})
    return {
        "number": number,
        "design": design,
        "experiment": experiment,
        "results": [(one, scored(one, design)) for one in experiment.results],
        "bars": [bar(finding, experiment) for finding in experiment.findings if not finding.trouble],
        "intervals": intervals(experiment.results),
        "counts": [sample_size(one, design).removeprefix("n = ") for one in experiment.results],
        "troubles": [f"{one.claim.about}: {one.trouble}" for one in experiment.findings if one.trouble],
        "examples": examples,
    }


def _example(row: TrialRow, explorer: ExplorerData) -> dict[str, Any]:
    return {
        "numbers": [explorer.numbers[one] for one in row["pictures"]],
        "sample": row["sample"],
        "label": row["label"],
        "answer": row["said"] or "no answer",
        "model": row["model"],
    }


def _pattern(pattern: Pattern, explorer: ExplorerData) -> dict[str, Any]:
    """Return a pattern of failure with pictures that show it, those before a change beside those after it."""
    examples = [
        {
            "numbers": [explorer.numbers[each] for each in filter(None, [one.before, one.picture])],
            "label": one.label,
            "right": one.right,
            "said": one.said or "no answer",
        }
        for one in pattern.examples
        if all(map(explorer.has, filter(None, [one.before, one.picture])))
    ]
    return {"sentence": pattern_in_words(pattern), "examples": examples}


def _corrected(correction: ModelCorrection) -> dict[str, Any]:
    """Return a correction with its two changes as bars on one scale, in points."""
    changes = [("where it was weak", correction.gain), ("elsewhere", correction.elsewhere)]
    bars = [
        _placed(
            change.interval, change.mean, 0.0, ends=(-1.0, 1.0), stated=where, figures=points(change),
            verdict="yes" if change.interval[0] > 0 else "no" if change.interval[1] < 0 else "open",
            label=_points,
        )
        for where, change in changes
        if change is not None
    ]  # fmt: skip
    return {"correction": correction, "bars": bars}


def bar(finding: Finding, experiment: Experiment) -> Bar:
    """Return a finding as a bar on the scale of what its mean can be."""
    design = experiment.design
    return _placed(
        finding.interval, finding.mean, finding.claim.threshold, ends=(finding.claim.low, finding.claim.high),
        stated=finding.claim.stated(design), figures=figures(finding, design), verdict=finding.verdict,
        label="{:g}".format if finding.claim.measure == "order" else _percent if finding.claim.low == 0 else _points,
    )  # fmt: skip


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _points(value: float) -> str:
    return f"{100 * value:+.0f}" if value else "0"


def _placed(
    interval: tuple[float, float], mean: float, threshold: float, *, ends: tuple[float, float], stated: str,
    figures: str, verdict: str, label: Callable[[float], str],
) -> Bar:  # fmt: skip
    """Return a bar on a scale whose ends and threshold are labelled."""
    low, high = ends

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    return Bar(
        place(interval[0]), place(interval[1]), place(mean), place(threshold), stated, figures, verdict,
        (label(low), label(threshold), label(high)),
    )  # fmt: skip
