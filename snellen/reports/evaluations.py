"""Results of an evaluation as files that people and papers use: JSON, a Markdown table, plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.reports.charts import below
from snellen.reports.runs import write_text, writing

if TYPE_CHECKING:
    from snellen.evaluation.learning import Figures, Gain, LearningEvaluation

_BARS: Final = ("before", "programs", "programs\nand tools", "known,\nbefore", "known,\nafter")
_COLOURS: Final = ("#9aa5b1", "#6b9bd1", "#2f6db5", "#c9b79c", "#a5844f")


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot take results, before hours are spent on making them.

    Raises:
        BadInput: it is a file.
        SnellenError: it cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        msg = f"--out {folder} is a file: name a folder for the report, the table and the plots."
        raise BadInput(msg)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def write_results(found: LearningEvaluation, folder: Path) -> list[Path]:
    """Write the report of learning: ``report.json``, ``table.md``, ``learning.png`` and, online, ``curve.png``.

    Returns:
        The written files.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    report, table = folder / "report.json", folder / "table.md"
    # Where the memory lies is of this machine; the report goes elsewhere.
    shown = {name: value for name, value in found.to_json().items() if name != "memory"}
    write_text(report, json.dumps(shown, indent=2) + "\n")
    write_text(table, table_of(found))
    written = [report, table, _plotted(_bars(found), folder / "learning.png")]
    if found.request.setting == "online":
        written.append(_plotted(_curve(found), folder / "curve.png"))
    return written


def table_of(found: LearningEvaluation) -> str:
    """Return the figures as a Markdown table."""
    gains = found.gains
    rows = [
        _row("before learning", found.before),
        _row("programs learned", found.after_programs, gains["programs"]),
        _row("programs and tools learned", found.after_tools, gains["all"]),
        _row("known concepts, before", found.known_before),
        _row("known concepts, after", found.known_after, gains["known"]),
    ]
    head = "| | score | 95 % interval | n | gain (paired, 95 % interval) |\n|---|---|---|---|---|\n"
    return head + "".join(rows)


def cells_of(figures: Figures, gain: Gain | None = None) -> tuple[str, str, str, str]:
    """Write score, interval, number of tasks and, where there is one, the gain with its interval."""
    low, high = figures.interval.low, figures.interval.high
    gained = "" if gain is None else f"{gain.gain:+.3f} [{gain.interval.low:+.3f}, {gain.interval.high:+.3f}]"
    return f"{figures.accuracy:.3f}", f"{low:.3f} to {high:.3f}", str(len(figures.values)), gained


def _row(name: str, figures: Figures, gain: Gain | None = None) -> str:
    return f"| {' | '.join((name, *cells_of(figures, gain)))} |\n"


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    # A figure of its own, not pyplot's: no window system is asked for, nothing is kept after it is written.
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(0, 1)
    return figure, axes


def _bars(found: LearningEvaluation) -> Any:  # noqa: ANN401 - a matplotlib Figure
    figure, axes = _figure(6.4, 3.6)
    shown = (found.before, found.after_programs, found.after_tools, found.known_before, found.known_after)
    heights = [one.accuracy for one in shown]
    errors = [
        [max(one.accuracy - one.interval.low, 0) for one in shown],
        [max(one.interval.high - one.accuracy, 0) for one in shown],
    ]
    bars = axes.bar(range(len(shown)), heights, yerr=errors, color=_COLOURS, capsize=4, ecolor="#444")
    axes.bar_label(bars, [f"{height:.2f}" for height in heights], label_type="center", color="white")
    axes.set_xticks(range(len(shown)), _BARS)
    axes.set_ylabel("F1" if found.request.family == "tag" else "accuracy")
    axes.set_title(_title(found), fontsize=10)
    return figure


def _curve(found: LearningEvaluation) -> Any:  # noqa: ANN401 - a matplotlib Figure
    figure, axes = _figure(6.4, 3.6)
    for (name, values), colour in zip(found.curve.items(), (_COLOURS[0], _COLOURS[2]), strict=True):
        axes.plot(range(1, len(values) + 1), values, label=f"{name} learning", color=colour)
    axes.set_xlabel("tasks of the stream")
    axes.set_ylabel("mean score so far")
    below(figure, axes, columns=2)
    axes.set_title(_title(found), fontsize=10)
    return figure


def _title(found: LearningEvaluation) -> str:
    request = found.request
    left_out = f", without {', '.join(request.without)}" if request.without else ""
    return f"{request.family}, {request.share} concepts, {request.setting}{left_out} (seed {request.seed})"


def _plotted(figure: Any, path: Path) -> Path:  # noqa: ANN401 - a matplotlib Figure
    with writing(path):
        figure.savefig(path, dpi=120, metadata={"Software": None})
    return path
