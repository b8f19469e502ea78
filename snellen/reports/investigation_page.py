"""The page of an investigation: one self-contained HTML file with its answer, claims, pictures and trials.

Whatever the report says (the query, what a chat model wrote, labels) is escaped. The one script on the page is ours; it
filters the table of trials, and the page loads nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.experiments.findings import sample_size, scored
from snellen.experiments.follow_up import points
from snellen.experiments.schema import VERDICTS, verdict_of
from snellen.reports.investigation_text import again
from snellen.reports.trial_rows import trial_rows
from snellen.summaries.investigations import figures, guarantee, intervals

if TYPE_CHECKING:
    from snellen.experiments.follow_up import ModelCorrection
    from snellen.experiments.schema import Experiment, Finding
    from snellen.memory.artifacts import ArtifactStore
    from snellen.threads.investigate import InvestigationResult

_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"
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
    told: str
    verdict: str


def render(found: InvestigationResult, folder: Path) -> str:
    """Write the page.

    Args:
        found: What is known.
        folder: The memory's home, where pictures and trials are.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from snellen.memory.artifacts import FOLDER, ArtifactStore

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    album = _ReportAlbum(ArtifactStore(folder / FOLDER))
    thumbs = _Thumbs(album)
    report, after = found.report, found.after
    rows = list(trial_rows(found, folder))
    experiments = [*report.experiments, *([] if after is None else after.experiments)]
    shown = [
        _shown(number, experiment, [row for row in rows if row["experiment"] == number], album)
        for number, experiment in enumerate(experiments, 1)
    ]
    trials = [_trial(row, thumbs) for row in _first(rows, len(experiments))]
    return environment.get_template("report.html.j2").render(
        investigation=found.investigation,
        report=report,
        conclusion=found.conclusion,
        answers=[(one, verdict_of(one)) for one in report.answers],
        guarantee=guarantee(report) if report.findings else "",
        verdicts=VERDICTS,
        experiments=shown[: len(report.experiments)],
        corrections=[_corrected(one) for one in found.corrections],
        after=after,
        after_guarantee=guarantee(after) if after is not None and after.findings else "",
        again_measured=shown[len(report.experiments) :],
        models=found.models,
        trials=trials,
        thumbs=thumbs.uris,
        measured=len(rows),
        again=again(found),
    )


@dataclass
class _ReportAlbum:
    """Pictures as small data URIs; one that is gone is left out, which the report itself survives."""

    store: ArtifactStore

    def uri(self, picture_id: str, pixels: int = _PIXELS) -> str:
        """Return a picture as a data URI of so many pixels on its longer side, or nothing."""
        try:
            picture = self.store.get(picture_id)
        except SnellenError:
            return ""
        picture.thumbnail((pixels, pixels))
        held = BytesIO()
        picture.convert("RGB").save(held, "PNG", optimize=True)
        return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


@dataclass
class _Thumbs:
    """Small pictures for the rows of a table; the page has each once, however many models were asked about it."""

    album: _ReportAlbum
    uris: dict[str, str] = field(default_factory=dict)
    """By the name of their style."""
    _names: dict[str, str] = field(default_factory=dict)

    def name(self, picture_id: str) -> str:
        """Return the style that shows a picture; nothing for one that is gone."""
        if picture_id not in self._names:
            uri = self.album.uri(picture_id, _THUMB)
            self._names[picture_id] = f"t{len(self.uris)}" if uri else ""
            if uri:
                self.uris[self._names[picture_id]] = uri
        return self._names[picture_id]


def _first(rows: Sequence[dict[str, Any]], experiments: int) -> list[dict[str, Any]]:
    """Return the first trials of each experiment, all that were asked about one picture beside each other."""
    each = max(_ROWS // max(experiments, 1), 1)
    found = []
    for number in range(1, experiments + 1):
        ours = [row for row in rows if row["experiment"] == number]
        ours.sort(key=lambda row: (row["round"], row["arm"], not row["plain"]))
        found += ours[:each]
    return found


def _shown(number: int, experiment: Experiment, rows: list[dict[str, Any]], album: _ReportAlbum) -> dict[str, Any]:
    design = experiment.design
    examples = []
    for answer in design.classes:
        for right in (True, False):
            asked = [row for row in rows if row["truth"] == answer and not row["plain"]]
            chosen = {row["picture"]: row for row in asked if row["right"] == right}
            pictures = [
                {"uris": uris, "label": row["label"], "said": row["said"] or "no answer", "model": row["model"]}
                for row in list(chosen.values())[:_SHOWN]
                if all(uris := [album.uri(one) for one in row["pictures"]])
            ]
            if pictures:
                examples.append({"answer": answer, "right": right, "pictures": pictures})
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


def _corrected(correction: ModelCorrection) -> dict[str, Any]:
    """Return a correction with its two changes as bars on one scale, in points."""
    changes = [("where it was weak", correction.gain), ("elsewhere", correction.elsewhere)]
    bars = [
        _placed(
            change.interval, change.mean, 0.0, low=-1.0, stated=where, told=points(change),
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
        finding.interval, finding.mean, finding.claim.threshold, low=finding.claim.low,
        stated=finding.claim.stated(design), told=figures(finding, design), verdict=finding.verdict,
    )  # fmt: skip


def _placed(
    interval: tuple[float, float], mean: float, threshold: float, *, low: float, stated: str, told: str, verdict: str
) -> Bar:
    """Return a bar on a scale from `low` to 1."""

    def place(value: float) -> float:
        return round(100 * (value - low) / (1 - low), 2)

    return Bar(place(interval[0]), place(interval[1]), place(mean), place(threshold), stated, told, verdict)


def _trial(row: dict[str, Any], thumbs: _Thumbs) -> dict[str, Any]:
    scores = ", ".join(f"{choice} {mean:.2f}" for choice, mean in zip(row["choices"], row["mean"], strict=True))
    return {**row, "scores": scores, "thumbs": [name for one in row["pictures"] if (name := thumbs.name(one))]}
