"""Plots without a window: figures, legends, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from snellen.reports.runs import writing


def figure_of(width: float, height: float) -> tuple[Any, Any]:
    """Return a matplotlib figure of so many inches, and its axes."""
    from matplotlib.figure import Figure

    # A figure of its own, not pyplot's: no window system is asked for, nothing is kept after it is written.
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def below(figure: Any, axes: Any, *, columns: int) -> None:  # noqa: ANN401 - a matplotlib Figure and its Axes
    """Draw the legend of axes below the whole figure, where nothing is drawn that it could cover."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8, ncols=columns, loc="outside lower center")


def saved(figure: Any, path: Path) -> Path:  # noqa: ANN401 - a matplotlib Figure
    """Write a figure as PNG, the same bytes every time.

    Raises:
        SnellenError: It cannot be written there.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120, metadata={"Software": None})
    return path
