"""What results are drawn and written with: plots without a window, templates without surprises."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.reports.runs import writing

if TYPE_CHECKING:
    import jinja2


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


def template(name: str) -> jinja2.Template:
    """Return a page's template; whatever is put into it is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(name)


def inline(path: Path) -> str:
    """Return a PNG file as the address of a picture that is in the page itself."""
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
