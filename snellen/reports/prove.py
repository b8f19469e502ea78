"""Results of free answers as tables, plots, pages and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.datasets.prove.benchmark import REJECTED, Item
from snellen.datasets.prove.building import ASKED, KEPT, REASONS
from snellen.reports.charts import figure_of, saved
from snellen.reports.pictures import data_uri
from snellen.reports.runs import write_text
from snellen.reports.templating import rendered

if TYPE_CHECKING:
    from snellen.datasets.prove import ProveBenchmark
    from snellen.evaluation.prove import ProveResult, ProveScores, ScoredAnswers
    from snellen.graphs.states import Json
    from snellen.scoring.measure import Measure

_PAPER: Final = {"program fails": 0.183, "program disagrees": 0.098}
"""The shares of questions that the first filter rejects in the paper (section 3.1)."""
_SHOWN: Final = 40
"""Questions on the sample page."""
_EXAMPLES: Final = 30
"""Answers on the page of results."""


def funnel_rows(funnel: Mapping[str, int]) -> list[tuple[str, int, str, str]]:
    """Return the rows of the funnel: what was rejected, how often, and how often in the paper."""
    total = max(funnel.get(ASKED, 0), 1)
    names = [ASKED, *REASONS, KEPT]
    return [
        (name, funnel.get(name, 0), f"{100 * funnel.get(name, 0) / total:.1f} %",
         f"{100 * _PAPER[name]:.1f} %" if name in _PAPER else "")
        for name in names
    ]  # fmt: skip


def write_sample(benchmark: ProveBenchmark) -> list[Path]:
    """Write a benchmark's funnel and a page to look through its questions, beside them.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    page, plot = benchmark.folder / "sample.html", benchmark.folder / "funnel.png"
    lines = (
        (benchmark.folder / REJECTED).read_text("utf-8").splitlines() if (benchmark.folder / REJECTED).is_file() else []
    )
    rejected = [Item.model_validate_json(line) for line in lines]
    scenes: dict[str, list[Item]] = {}
    for item in [*benchmark.items, *rejected]:
        if item.scene in benchmark.scenes:
            scenes.setdefault(item.scene, []).append(item)
    shown: list[dict[str, Any]] = []
    for name, items in scenes.items():
        if sum(len(one["items"]) for one in shown) >= _SHOWN:
            break
        shown.append(
            {"scene": benchmark.scenes[name], "picture": data_uri(benchmark.picture(name).read_bytes()), "items": items}
        )
    text = rendered("prove-sample", benchmark=benchmark, funnel=funnel_rows(benchmark.funnel), scenes=shown)
    write_text(page, text)
    return [page, saved(_funnel(benchmark.funnel), plot)]


def rows_of(outcome: ProveResult) -> list[tuple[str, str, str, str, str, int]]:
    """Return the table by model (table 1)."""
    return [
        (
            one.name,
            _cell(row.hscore),
            _cell(row.tscore),
            _cell(row.average, brief=True),
            f"{100 * row.silent:.0f} %",
            row.n,
        )
        for one in (*outcome.models, *outcome.baselines)
        for row in [outcome.scores(one)]
    ]


def to_json(outcome: ProveResult) -> Json:
    """Return the figures as plain JSON."""
    return {
        "metric": outcome.metric,
        "bench": outcome.benchmark.source,
        "models": {one.name: _figures(outcome, one) for one in outcome.models},
        "baselines": {one.name: _figures(outcome, one) for one in outcome.baselines},
        "funnel": dict(outcome.benchmark.funnel),
        "correlation": _value(outcome.correlation),
        "notes": list(outcome.notes),
        "left_out": list(outcome.benchmark.left_out),
    }


def markdown(outcome: ProveResult) -> str:
    """Write the tables in Markdown."""
    head = "| | hscore | tscore | average | nothing read | n |\n|---|---|---|---|---|---|\n"
    lines = [f"# Free answers: {outcome.benchmark.source}, metric {outcome.metric}", ""]
    lines += [head + "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows_of(outcome)), ""]
    measure = outcome.correlation
    value = f"undefined: {measure.undefined}" if measure.value is None else f"{measure.value:+.2f} (paper: 0.03)"
    lines += [f"Correlation of hscore and tscore over models: {value}.", ""]
    lines += ["## By kind of question", "", f"| | {' | '.join(one.name for one in outcome.models)} |"]
    lines += ["|---" * (len(outcome.models) + 1) + "|"]
    for kind in outcome.kinds:
        rows = [outcome.scores(one, kind) for one in outcome.models]
        cells = [f"{_short(row.hscore)} / {_short(row.tscore)}" for row in rows]
        lines.append(f"| {kind} ({rows[0].n}) | {' | '.join(cells)} |")
    lines += ["", *outcome.notes, *outcome.benchmark.left_out]
    return "\n".join(lines).rstrip() + "\n"


def write_results(outcome: ProveResult, folder: Path) -> list[Path]:
    """Write the page, the tables, the plot of figure 4, JSON, and every answer with its scores.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    write_text(folder / "prove.md", markdown(outcome))
    write_text(folder / "prove.json", json.dumps(to_json(outcome), indent=2, ensure_ascii=False) + "\n")
    write_text(
        folder / "answers.jsonl", "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _answers(outcome))
    )
    plot = saved(_trade_off(outcome), folder / "prove.png")
    text = rendered(
        "prove", outcome=outcome, rows=rows_of(outcome), plot=data_uri(plot.read_bytes()), examples=_examples(outcome),
        kinds=[(kind, [outcome.scores(one, kind) for one in outcome.models]) for kind in outcome.kinds], short=_short,
    )  # fmt: skip
    write_text(folder / "prove.html", text)
    return [folder / name for name in ("prove.html", "prove.md", "prove.json", "prove.png", "answers.jsonl")]


def _figures(outcome: ProveResult, one: ScoredAnswers) -> Json:
    row = outcome.scores(one)
    return {
        "hscore": row.hscore.value, "tscore": row.tscore.value, "average": row.average.value, "n": row.n,
        "silent": row.silent, "intervals": {name: _ends(getattr(row, name)) for name in ("hscore", "tscore")},
        "undefined": {name: why for name in ("hscore", "tscore") if (why := getattr(row, name).undefined)},
        "kinds": {kind: _kind(outcome.scores(one, kind)) for kind in outcome.kinds},
    }  # fmt: skip


def _kind(row: ProveScores) -> Json:
    return {"hscore": row.hscore.value, "tscore": row.tscore.value, "n": row.n}


def _value(one: Measure) -> Json:
    return {"value": one.value, "n": one.n, "undefined": one.undefined}


def _ends(one: Measure) -> list[float] | None:
    return None if one.interval is None else [one.interval.low, one.interval.high]


def _cell(one: Measure, *, brief: bool = False) -> str:
    if one.value is None and brief:
        return "–"
    if one.value is None:
        return f"undefined: {one.undefined}"
    ends = _ends(one)
    return f"{100 * one.value:.1f}" + (f" [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]" if ends else "")


def _short(one: Measure) -> str:
    return "–" if one.value is None else f"{100 * one.value:.0f}"


def _answers(outcome: ProveResult) -> list[Json]:
    return [
        {
            "model": one.name, "id": item.id, "kind": item.kind, "question": item.question, "right": item.answer,
            "answer": one.answers[place], "tuples": [fact.text for fact in one.said[place]],
            "hscore": one.scores[place].hscore.value, "tscore": one.scores[place].tscore.value,
        }
        for one in (*outcome.models, *outcome.baselines)
        for place, item in enumerate(outcome.benchmark.items)
    ]  # fmt: skip


def _examples(outcome: ProveResult) -> list[dict[str, Any]]:
    """Return questions from all over the benchmark, with what everybody said."""
    items = outcome.benchmark.items
    step = max(len(items) // _EXAMPLES, 1)
    return [
        {
            "item": items[place],
            "picture": data_uri(outcome.benchmark.picture(items[place].scene).read_bytes()),
            "answers": [
                (one.name, one.answers[place][:300], _short(one.scores[place].hscore), _short(one.scores[place].tscore))
                for one in outcome.models
            ],
        }
        for place in range(0, len(items), step)
    ][:_EXAMPLES]


def _trade_off(outcome: ProveResult) -> Any:  # noqa: ANN401 - a matplotlib Figure
    """Draw helpfulness against truthfulness (figure 4)."""
    figure, axes = figure_of(6.0, 4.4)
    for group, colour, mark in ((outcome.models, "#2f6db5", "o"), (outcome.baselines, "#a5844f", "s")):
        for one in group:
            row = outcome.scores(one)
            if row.hscore.value is None or row.tscore.value is None:
                continue
            x, y = 100 * row.hscore.value, 100 * row.tscore.value
            errors = [[[abs(100 * end - value)] for end in _ends(measure) or (value / 100, value / 100)]
                      for measure, value in ((row.hscore, x), (row.tscore, y))]  # fmt: skip
            axes.errorbar(x, y, xerr=errors[0], yerr=errors[1], fmt=mark, color=colour, ecolor="#bbb", markersize=6)
            axes.annotate(one.name, (x, y), textcoords="offset points", xytext=(6, 5), fontsize=8)
    axes.set_xlabel("hscore: share of the right answer that is said")
    axes.set_ylabel("tscore: share of what is said that is true")
    axes.set_title(f"{outcome.benchmark.source}, {len(outcome.benchmark.items)} questions", fontsize=10)
    axes.margins(0.15)
    return figure


def _funnel(funnel: Mapping[str, int]) -> Any:  # noqa: ANN401 - a matplotlib Figure
    figure, axes = figure_of(6.4, 3.6)
    left = funnel.get(ASKED, 0)
    names, widths = [ASKED], [left]
    for reason in REASONS:
        if funnel.get(reason):
            left -= funnel[reason]
            names.append(f"− {reason}")
            widths.append(left)
    bars = axes.barh(names[::-1], widths[::-1], color="#2f6db5")
    axes.bar_label(bars, padding=3, fontsize=8)
    axes.set_xlabel("questions left")
    axes.margins(x=0.1)
    return figure
