"""Results of an evaluation as files that people and papers use: JSON, a Markdown table, plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.reports.charts import below, figure_of, saved
from snellen.reports.pictures import data_uri
from snellen.reports.runs import write_text, writing
from snellen.reports.templating import rendered

if TYPE_CHECKING:
    from snellen.evaluation.learning import Figures, Gain, LearningEvaluation
    from snellen.evaluation.tasks import Evaluation, TypeResult

Table = tuple[Sequence[str], Sequence[Sequence[object]]]
"""The names of columns, and rows."""
LEARNING_COLUMNS: Final = ("", "score", "95 % interval", "n", "gain (paired, 95 % interval)")
FAILURE_COLUMNS: Final = ("what went wrong", "tasks")

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
    """Write the report of learning: ``report.json``, ``table.md``, the plots, and all of them on ``report.html``.

    Returns:
        The written files.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    # Where the memory lies is of this machine; the report goes elsewhere.
    shown = {name: value for name, value in evaluation.to_json().items() if name != "memory"}
    plots = [saved(_bars(evaluation), folder / "learning.png")]
    if evaluation.request.setting == "online":
        plots.append(saved(_curve(evaluation), folder / "curve.png"))
    return _written(folder, learning_title(evaluation), shown, [(LEARNING_COLUMNS, learning_rows(evaluation))], plots)


def write_tasks(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write the report of tasks: ``report.json``, ``table.md`` and ``report.html``.

    Returns:
        The written files.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    tables: list[Table] = [(task_columns(evaluation), task_rows(evaluation))]
    if evaluation.failures:
        tables.append((FAILURE_COLUMNS, list(evaluation.failures.items())))
    return _written(folder, task_title(evaluation), evaluation.to_json(), tables, [])


def _written(
    folder: Path, title: str, report: Mapping[str, object], tables: Sequence[Table], plots: Sequence[Path]
) -> list[Path]:
    """Write a report as JSON, Markdown and a page; return these files and the plots."""
    write_text(folder / "report.json", json.dumps(report, indent=2) + "\n")
    write_text(folder / "table.md", "\n".join(map(_markdown, tables)))
    page = rendered(
        "evaluation",
        title=title,
        # The first cell of a row is its heading.
        tables=[(columns[1:], rows) for columns, rows in tables],
        plots=[data_uri(plot.read_bytes()) for plot in plots],
    )
    write_text(folder / "report.html", page)
    return [folder / "report.html", folder / "report.json", folder / "table.md", *plots]


def _markdown(table: Table) -> str:
    columns, rows = table
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines)


def task_title(evaluation: Evaluation) -> str:
    """Return what was evaluated, in a line."""
    request = evaluation.request
    return f"{request.family}, {request.split} split, {request.share} concepts, seed {request.seed}, {request.profile}"


def task_columns(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the names of the columns of ``task_rows``."""
    return "type", "F1" if evaluation.request.family == "tag" else "accuracy", "95 % interval", "n"


def task_rows(evaluation: Evaluation) -> list[tuple[object, ...]]:
    """Return the figures of each type of task, of all, and of answers from the text alone."""
    count = len(evaluation.results)
    return [
        *(_task_row(name, one, one.n) for name, one in evaluation.by_type.items()),
        _task_row("all", evaluation, count),
        ("all, blind", f"{evaluation.blind:.3f}", "", count),
    ]


def _task_row(name: str, one: Evaluation | TypeResult, count: int) -> tuple[object, ...]:
    return name, f"{one.accuracy:.3f}", f"{one.interval.low:.3f} to {one.interval.high:.3f}", count


def learning_rows(evaluation: LearningEvaluation) -> list[tuple[object, ...]]:
    """Return the figures before and after learning, for ``LEARNING_COLUMNS``."""
    gains = evaluation.gains
    return [
        ("before learning", *cells_of(evaluation.before)),
        ("programs learned", *cells_of(evaluation.after_programs, gains["programs"])),
        ("programs and tools learned", *cells_of(evaluation.after_tools, gains["all"])),
        ("known concepts, before", *cells_of(evaluation.known_before)),
        ("known concepts, after", *cells_of(evaluation.known_after, gains["known"])),
    ]


def cells_of(figures: Figures, gain: Gain | None = None) -> tuple[str, str, str, str]:
    """Write score, interval, number of tasks and, where there is one, the gain with its interval."""
    low, high = figures.interval.low, figures.interval.high
    gained = "" if gain is None else f"{gain.gain:+.3f} [{gain.interval.low:+.3f}, {gain.interval.high:+.3f}]"
    return f"{figures.accuracy:.3f}", f"{low:.3f} to {high:.3f}", str(len(figures.values)), gained


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
    axes.set_title(learning_title(evaluation), fontsize=10)
    return figure


def _curve(evaluation: LearningEvaluation) -> Any:  # noqa: ANN401 - a matplotlib Figure
    figure, axes = figure_of(6.4, 3.6)
    axes.set_ylim(0, 1)
    for (name, values), colour in zip(evaluation.curve.items(), (_COLOURS[0], _COLOURS[2]), strict=True):
        axes.plot(range(1, len(values) + 1), values, label=f"{name} learning", color=colour)
    axes.set_xlabel("tasks of the stream")
    axes.set_ylabel("mean score so far")
    below(figure, axes, columns=2)
    axes.set_title(learning_title(evaluation), fontsize=10)
    return figure


def learning_title(evaluation: LearningEvaluation) -> str:
    """Return what was evaluated, in a line."""
    request = evaluation.request
    left_out = f", without {', '.join(request.without)}" if request.without else ""
    return f"{request.family}, {request.share} concepts, {request.setting}{left_out} (seed {request.seed})"
