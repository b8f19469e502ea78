"""Results of an evaluation as files that people and papers use: JSON, a Markdown table, plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.reports.charts import below, figure_of, saved
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


def write_results(evaluation: LearningEvaluation, folder: Path) -> list[Path]:
    """Write the report of learning: ``report.json``, ``table.md``, ``learning.png`` and, online, ``curve.png``.

    Returns:
        The written files.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    report, table = folder / "report.json", folder / "table.md"
    # Where the memory lies is of this machine; the report goes elsewhere.
    shown = {name: value for name, value in evaluation.to_json().items() if name != "memory"}
    write_text(report, json.dumps(shown, indent=2) + "\n")
    write_text(table, table_of(evaluation))
    written = [report, table, saved(_bars(evaluation), folder / "learning.png")]
    if evaluation.request.setting == "online":
        written.append(saved(_curve(evaluation), folder / "curve.png"))
    return written


def table_of(evaluation: LearningEvaluation) -> str:
    """Return the figures as a Markdown table."""
    gains = evaluation.gains
    rows = [
        _row("before learning", evaluation.before),
        _row("programs learned", evaluation.after_programs, gains["programs"]),
        _row("programs and tools learned", evaluation.after_tools, gains["all"]),
        _row("known concepts, before", evaluation.known_before),
        _row("known concepts, after", evaluation.known_after, gains["known"]),
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


def _bars(evaluation: LearningEvaluation) -> Any:  # noqa: ANN401 - a matplotlib Figure
    figure, axes = figure_of(6.4, 3.6)
    axes.set_ylim(0, 1)
    shown = (
        evaluation.before,
        evaluation.after_programs,
        evaluation.after_tools,
        evaluation.known_before,
        evaluation.known_after,
    )
    heights = [one.accuracy for one in shown]
    errors = [
        [max(one.accuracy - one.interval.low, 0) for one in shown],
        [max(one.interval.high - one.accuracy, 0) for one in shown],
    ]
    bars = axes.bar(range(len(shown)), heights, yerr=errors, color=_COLOURS, capsize=4, ecolor="#444")
    axes.bar_label(bars, [f"{height:.2f}" for height in heights], label_type="center", color="white")
    axes.set_xticks(range(len(shown)), _BARS)
    axes.set_ylabel("F1" if evaluation.request.family == "tag" else "accuracy")
    axes.set_title(_title(evaluation), fontsize=10)
    return figure


def _curve(evaluation: LearningEvaluation) -> Any:  # noqa: ANN401 - a matplotlib Figure
    figure, axes = figure_of(6.4, 3.6)
    axes.set_ylim(0, 1)
    for (name, values), colour in zip(evaluation.curve.items(), (_COLOURS[0], _COLOURS[2]), strict=True):
        axes.plot(range(1, len(values) + 1), values, label=f"{name} learning", color=colour)
    axes.set_xlabel("tasks of the stream")
    axes.set_ylabel("mean score so far")
    below(figure, axes, columns=2)
    axes.set_title(_title(evaluation), fontsize=10)
    return figure


def _title(evaluation: LearningEvaluation) -> str:
    request = evaluation.request
    left_out = f", without {', '.join(request.without)}" if request.without else ""
    return f"{request.family}, {request.share} concepts, {request.setting}{left_out} (seed {request.seed})"
