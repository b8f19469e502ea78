"""The page of an investigation: one self-contained HTML file with its answer, claims, pictures and trials.

Whatever the report says (the query, what a chat model wrote, labels) is escaped. The one script on the page is ours; it
filters the table of trials, and the page loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.experiments.findings import sample_size, scored
from snellen.experiments.follow_up import points
from snellen.experiments.report import VERDICTS, verdict_of
from snellen.reports.investigation_text import again
from snellen.reports.pictures import EmbeddedPictures
from snellen.reports.templating import rendered
from snellen.reports.trial_rows import trial_rows
from snellen.summaries.investigations import figures, guarantee, intervals

if TYPE_CHECKING:
    from snellen.experiments.follow_up import ModelCorrection
    from snellen.experiments.report import Experiment, Finding
    from snellen.threads.investigate import InvestigationResult

_SHOWN: Final = 3
"""Right and wrong pictures of each answer that are shown for each model."""
_PIXELS: Final = 128
"""The longer side of a picture on the page."""
_THUMB: Final = 48
"""That of a picture in the table of trials."""
_ROWS: Final = 120
"""Trials in the table, of all experiments together; the file of trials has all of them."""


@dataclass(frozen=True)
class Bar:
    """An interval to be drawn: in percent of the width, from the left."""

    low: float
    high: float
    mean: float
    threshold: float
    stated: str
    figures: str
    verdict: str


def render(result: InvestigationResult, folder: Path) -> str:
    """Write the page.

    Args:
        result: The result so far.
        folder: The memory's home, where pictures and trials are.
    """
    from snellen.memory.artifacts import FOLDER, ArtifactStore

    store = ArtifactStore(folder / FOLDER)
    pictures, thumbs = EmbeddedPictures(store), EmbeddedPictures(store, prefix="t")
    report, after = result.report, result.after
    rows = list(trial_rows(result, folder))
    experiments = [*report.experiments, *([] if after is None else after.experiments)]
    shown = [
        _shown(number, experiment, [row for row in rows if row["experiment"] == number], pictures)
        for number, experiment in enumerate(experiments, 1)
    ]
    trials = [_trial(row, thumbs) for row in _first(rows, len(experiments))]
    return rendered(
        "report",
        investigation=result.investigation,
        report=report,
        conclusion=result.conclusion,
        answers=[(one, verdict_of(one)) for one in report.answers],
        guarantee=guarantee(report) if report.findings else "",
        verdicts=VERDICTS,
        experiments=shown[: len(report.experiments)],
        corrections=[_corrected(one) for one in result.corrections],
        after=after,
        after_guarantee=guarantee(after) if after is not None and after.findings else "",
        again_measured=shown[len(report.experiments) :],
        models=result.models,
        trials=trials,
        thumbs=thumbs.all(),
        measured=len(rows),
        again=again(result),
    )


def _first(rows: Sequence[dict[str, Any]], experiments: int) -> list[dict[str, Any]]:
    """Return the first trials of each experiment, those about one picture side by side."""
    each = max(_ROWS // max(experiments, 1), 1)
    first = []
    for number in range(1, experiments + 1):
        ours = [row for row in rows if row["experiment"] == number]
        ours.sort(key=lambda row: (row["round"], row["arm"], not row["plain"]))
        first += ours[:each]
    return first


def _shown(
    number: int, experiment: Experiment, rows: list[dict[str, Any]], pictures: EmbeddedPictures
) -> dict[str, Any]:
    design = experiment.design
    examples = []
    for answer in design.classes:
        for right in (True, False):
            candidates = [row for row in rows if design.arms[row["arm"]].answer == answer and not row["plain"]]
            chosen = {row["picture"]: row for row in candidates if row["right"] == right}
            figures_shown = [
                {"uris": uris, "label": row["label"], "answer": row["said"] or "no answer", "model": row["model"]}
                for row in list(chosen.values())[:_SHOWN]
                if (uris := _uris(row["pictures"], pictures))
            ]
            if figures_shown:
                examples.append({"answer": answer, "right": right, "pictures": figures_shown})
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


def _uris(picture_ids: Sequence[str], pictures: EmbeddedPictures) -> list[str]:
    """Return the pictures of a trial for the page; none where one is gone."""
    embedded = [pictures.find(one, _PIXELS) for one in picture_ids]
    return [one.uri for one in embedded if one] if all(embedded) else []


def _corrected(correction: ModelCorrection) -> dict[str, Any]:
    """Return a correction with its two changes as bars on one scale, in points."""
    changes = [("where it was weak", correction.gain), ("elsewhere", correction.elsewhere)]
    bars = [
        _placed(
            change.interval, change.mean, 0.0, low=-1.0, stated=where, figures=points(change),
            verdict="yes" if change.interval[0] > 0 else "no" if change.interval[1] < 0 else "open",
        )
        for where, change in changes
        if change is not None
    ]  # fmt: skip
    return {"correction": correction, "bars": bars}


def bar(finding: Finding, experiment: Experiment) -> Bar:
    """Return a finding as a bar on the scale of what its mean can be."""
    design = experiment.design
    return _placed(
        finding.interval, finding.mean, finding.claim.threshold, low=finding.claim.low, high=finding.claim.high,
        stated=finding.claim.stated(design), figures=figures(finding, design), verdict=finding.verdict,
    )  # fmt: skip


def _placed(
    interval: tuple[float, float],
    mean: float,
    threshold: float,
    *,
    low: float,
    high: float = 1.0,
    stated: str,
    figures: str,
    verdict: str,
) -> Bar:
    """Return a bar on a scale from `low` to `high`."""

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    return Bar(place(interval[0]), place(interval[1]), place(mean), place(threshold), stated, figures, verdict)


def _trial(row: dict[str, Any], thumbs: EmbeddedPictures) -> dict[str, Any]:
    scores = ", ".join(f"{choice} {mean:.2f}" for choice, mean in zip(row["choices"], row["mean"], strict=True))
    return {
        **row,
        "scores": scores,
        "thumbs": [thumb.anchor for one in row["pictures"] if (thumb := thumbs.find(one, _THUMB))],
    }
