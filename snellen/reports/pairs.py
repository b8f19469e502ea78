"""Results of judges of pairs as tables, plots, pages and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.evaluation.pairs import EPSILONS, METRICS, ORDERS, POOLED
from snellen.reports.charts import below, figure_of, saved
from snellen.reports.investigation_text import not_understood_lines
from snellen.reports.pictures import data_uri
from snellen.reports.runs import write_text
from snellen.reports.templating import rendered
from snellen.scoring.pairs import CONDITIONS

if TYPE_CHECKING:
    from snellen.datasets.pairs import PairBenchmark
    from snellen.evaluation.pairs import Judge, PairBenchmarkResult
    from snellen.graphs.states import Json
    from snellen.scoring.measure import Measure

_SHOWN: Final = 30
"""Pairs on the page."""
_KINDS: Final = ("identical", "transformed", "irrelevant")
_COLOURS: Final = ("#2f6db5", "#a5844f", "#0b6e6e", "#b3402a", "#7a5aa6", "#5d6b7a", "#c98b2b")

Compared = Mapping[str, Mapping[str, "Measure"]]


def rows_of(outcome: PairBenchmarkResult) -> list[tuple[str, ...]]:
    """Return the table by judge, all splits together."""
    return [
        (
            judge.name, _cell(judge.figure("mmscore", split, interval=True)), _cell(judge.symmetry(split, 1)),
            _cell(judge.spread(split)), _cell(judge.control(split)), _cell(judge.invalid(split)),
        )
        for judge in outcome.judges
        for split in judge.splits[:1]
    ]  # fmt: skip


def to_json(outcome: PairBenchmarkResult, compared: Compared) -> Json:
    """Return the figures as plain JSON."""
    return {
        "bench": outcome.benchmark.source,
        "pairs": len(outcome.benchmark.pairs),
        "models": {judge.name: _figures(judge) for judge in outcome.judges},
        "correlations": {
            metric: {name: _value(one) for name, one in columns.items()} for metric, columns in compared.items()
        },
        "notes": list(outcome.notes),
        "left_out": list(outcome.benchmark.left_out),
    }


def markdown(outcome: PairBenchmarkResult, compared: Compared) -> str:
    """Write the tables in Markdown."""
    lines = [f"# Judges of pairs: {outcome.benchmark.source}, {len(outcome.benchmark.pairs)} pairs", ""]
    lines += ["| | MMScore | RelaxSym (ε = 1) | smoothness | controllability | invalid |", "|---" * 6 + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows_of(outcome)]
    lines += ["", *(f"- **{judge.name}**: {judge.verdict}" for judge in outcome.judges), ""]
    lines += [line for judge in outcome.judges for line in not_understood_lines(judge.name, judge.not_understood)]
    lines += ["## By split", ""]
    lines += ["MMScore where changes count / where they should be ignored.", ""]
    splits = list(dict.fromkeys(split for judge in outcome.judges for split in judge.judged))
    lines += [f"| | {' | '.join(splits)} |", "|---" * (len(splits) + 1) + "|"]
    for judge in outcome.judges:
        cells = [
            " / ".join(_short(judge.agreement(split, name, interval=False)) for name in CONDITIONS)
            if split in judge.judged else "–"
            for split in splits
        ]  # fmt: skip
        lines.append(f"| {judge.name} | {' | '.join(cells)} |")
    lines += ["", "## By wording", "", "Mean score (standard deviation) where changes count.", ""]
    lines += [f"| | wording | {' | '.join(_KINDS)} |", "|---|---|---|---|---|"]
    for judge in outcome.judges:
        for one in judge.templates:
            cells = [
                _deviation(one.means.get((kind, "sensitive"))) for kind in ("identical", "transformed", "irrelevant")
            ]
            lines.append(f"| {judge.name} | {one.number + 1} | {' | '.join(cells)} |")
    for metric, columns in compared.items():
        lines += [
            "",
            *(f"{metric} and {name}: {_short(one)} {one.undefined}".rstrip() for name, one in columns.items()),
        ]
    lines += ["", *outcome.notes, *outcome.benchmark.left_out]
    return "\n".join(lines).rstrip() + "\n"


def write_results(outcome: PairBenchmarkResult, compared: Compared, folder: Path) -> list[Path]:
    """Write the page, the tables, the plots (figures 4 and 7), JSON, and every score.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    write_text(folder / "pairs.md", markdown(outcome, compared))
    write_text(folder / "pairs.json", json.dumps(to_json(outcome, compared), indent=2, ensure_ascii=False) + "\n")
    rows = (json.dumps(row, ensure_ascii=False) for row in _rows(outcome))
    write_text(folder / "scores.jsonl", "".join(f"{row}\n" for row in rows))
    plots = [saved(_metrics(outcome), folder / "metrics.png"), saved(_scores(outcome), folder / "scores.png")]
    by_judge = {judge.name: _scores_of(judge) for judge in outcome.judges}
    text = rendered(
        "pairs", outcome=outcome, rows=rows_of(outcome), plots=[data_uri(plot.read_bytes()) for plot in plots],
        examples=[
            {**one, "scores": [(name, scores.get(one["pair"].id, "")) for name, scores in by_judge.items()]}
            for one in _examples(outcome.benchmark)
        ],
    )  # fmt: skip
    write_text(folder / "pairs.html", text)
    return [folder / "pairs.html", folder / "pairs.md", folder / "pairs.json", folder / "scores.jsonl", *plots]


def write_sample(benchmark: PairBenchmark) -> Path:
    """Write a page to look through a benchmark's pairs, beside them.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    page = benchmark.folder / "sample.html"
    examples = [{**one, "scores": []} for one in _examples(benchmark)]
    write_text(page, rendered("pairs-sample", benchmark=benchmark, examples=examples))
    return page


def _rows(outcome: PairBenchmarkResult) -> Iterator[Json]:
    for judge in outcome.judges:
        for split, rows in judge.judged.items():
            for one in rows:
                yield {
                    "model": judge.name, "encoder": judge.encoder, "pair": one.pair, "split": split,
                    "condition": one.condition, "right": one.truth, "forward": one.forward, "backward": one.backward,
                }  # fmt: skip


def _figures(judge: Judge) -> Json:
    splits = judge.splits
    figures: Json = {
        "mmscore": {
            split: {
                name: {order: _value(judge.agreement(split, name, order, interval=order == "both")) for order in ORDERS}
                for name in CONDITIONS
            }
            for split in splits
        },
        "relaxsym": {
            split: {str(epsilon): _value(judge.symmetry(split, epsilon, interval=epsilon == 1)) for epsilon in EPSILONS}
            for split in splits
        },
        "smoothness": {split: _value(judge.spread(split)) for split in splits},
        "controllability": {split: _value(judge.control(split)) for split in splits},
        "invalid": {split: _value(judge.invalid(split)) for split in splits},
        "variants": {
            split: {
                name: {each: _value(one) for each, one in judge.variants(split, name).items()} for name in CONDITIONS
            }
            for split in splits
        },
        "verdict": judge.verdict,
        "templates": [
            {
                "wording": one.number + 1,
                "means": {f"{kind}, {name}": list(row) for (kind, name), row in one.means.items()},
            }
            for one in judge.templates
        ],
        "not_understood": list(judge.not_understood),
        "samples": [{"pair": pair, "answer": text} for pair, text in judge.samples],
    }
    if POOLED not in splits:
        for metric in (*METRICS, "invalid"):
            figures[metric][POOLED] = figures[metric][splits[0]]
    return figures


def _value(one: Measure) -> Json:
    ends = None if one.interval is None else [one.interval.low, one.interval.high]
    return {"value": one.value, "n": one.n, "interval": ends, "undefined": one.undefined}


def _cell(one: Measure) -> str:
    if one.value is None:
        return f"undefined: {one.undefined}"
    ends = "" if one.interval is None else f" [{one.interval.low:.2f}, {one.interval.high:.2f}]"
    return f"{one.value:.2f}{ends}"


def _short(one: Measure) -> str:
    return "–" if one.value is None else f"{one.value:.2f}"


def _deviation(row: tuple[float, float] | None) -> str:
    return "–" if row is None else f"{row[0]:.1f} ({row[1]:.1f})"


def _scores_of(judge: Judge) -> dict[str, str]:
    """Return what a judge gave each pair, in both orders under both conditions."""
    rows: dict[str, list[str]] = {}
    for one in judge.of(POOLED):
        scores = [one.forward] if judge.encoder else [one.forward, one.backward]
        texts = ("–" if score is None else f"{score:.2f}" if judge.encoder else f"{score:g}" for score in scores)
        rows.setdefault(one.pair, []).append(" / ".join(texts))
    return {pair: row[0] if judge.encoder else ", ".join(row) for pair, row in rows.items()}


def _examples(benchmark: PairBenchmark) -> list[dict[str, Any]]:
    """Return pairs from all over the benchmark, with their pictures."""
    step = max(len(benchmark.pairs) // _SHOWN, 1)
    return [
        {"pair": pair, "pictures": [data_uri(benchmark.picture(name).read_bytes()) for name in pair.files]}
        for pair in benchmark.pairs[::step][:_SHOWN]
    ]


def _metrics(outcome: PairBenchmarkResult) -> Any:  # noqa: ANN401 - a matplotlib Figure
    """Draw the metrics of every judge beside each other (figure 4)."""
    figure, axes = figure_of(7.0, 3.8)
    names = ("MMScore", "RelaxSym", "smoothness / 3.32", "controllability")
    width = 0.8 / max(len(outcome.judges), 1)
    for number, judge in enumerate(outcome.judges):
        values = [judge.figure(metric).value for metric in METRICS]
        # Ten scores have at most log2(10) bits.
        heights = [None if one is None else one / 3.32 if place == 2 else one for place, one in enumerate(values)]  # noqa: PLR2004
        for place, one in enumerate(heights):
            if one is None:
                axes.text(place + number * width, 0.02, "undefined", rotation=90, fontsize=6, ha="center", color="#777")
        places = [place + number * width for place, one in enumerate(heights) if one is not None]
        axes.bar(places, [one for one in heights if one is not None], width, label=judge.name,
                 color=_COLOURS[number % len(_COLOURS)])  # fmt: skip
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(names))], names)
    axes.axhline(0, color="#444", linewidth=0.8)
    below(figure, axes, columns=3)
    axes.set_title(f"{outcome.benchmark.source}, {len(outcome.benchmark.pairs)} pairs, all splits", fontsize=10)
    return figure


def _scores(outcome: PairBenchmarkResult) -> Any:  # noqa: ANN401 - a matplotlib Figure
    """Draw which scores every judge gives to which pairs (figure 7)."""
    from matplotlib.figure import Figure

    judges = [judge for judge in outcome.judges if not judge.encoder] or list(outcome.judges)
    figure = Figure(figsize=(3.0 * len(judges), 3.4), layout="constrained")
    for place, judge in enumerate(judges):
        axes = figure.add_subplot(1, len(judges), place + 1)
        _histogram(axes, judge)
        axes.set_title(judge.name, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        if place == 0:
            below(figure, axes, columns=3)
    return figure


def _histogram(axes: Any, judge: Judge) -> None:  # noqa: ANN401 - matplotlib Axes
    rows = [one for one in judge.of(POOLED) if one.condition == "sensitive"]
    for colour, truth in zip(_COLOURS, (10, 6, 1), strict=False):
        scores: Sequence[float] = [
            score for one in rows if one.truth == truth for score in (one.forward, one.backward) if score is not None
        ]
        axes.hist(scores, bins=[edge + 0.5 for edge in range(11)], alpha=0.6, color=colour, label=f"right: {truth}")
    axes.set_xlabel("score, where changes count")
