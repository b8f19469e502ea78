"""Campaigns as a table in Markdown, heat maps on a page, and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.evaluation.campaigns import Campaign, CellResult, rank_correlation, ranked_groups, row_means
from snellen.reports.runs import write_text
from snellen.reports.templating import rendered

if TYPE_CHECKING:
    from snellen.graphs.states import Json


def models_of(results: Sequence[CellResult]) -> list[str]:
    """Return the models of a campaign, in the order in which they come up."""
    return list(dict.fromkeys(name for one in results for name in one.accuracies))


def to_json(chosen: Campaign, results: Sequence[CellResult]) -> Json:
    """Return a campaign with its results as plain JSON."""
    order = rank_correlation(chosen, results)
    return {
        "campaign": chosen.model_dump(mode="json"),
        "guarantee": chosen.guarantee,
        "cells": [
            {
                "row": one.cell.row,
                "column": one.cell.column,
                "query": one.cell.query,
                "thread": one.cell.thread,
                "models": {
                    name: {"accuracy": round(mean, 4), "n": count, **_answer(one, name)}
                    for name, (mean, count) in one.accuracies.items()
                },
                "images": one.images,
                "trouble": one.trouble,
            }
            for one in results
        ],
        "groups": [{"group": name, "accuracy": round(mean, 4), "paper": chosen.paper.get(name)} for name, mean in
                   ranked_groups(chosen, results)],
        "rows": [{"row": row, "accuracy": round(mean, 4), "paper": chosen.paper_rows[row]} for row, mean in
                 row_means(results).items() if row in chosen.paper_rows],
        "rank_correlation": None if order is None else dict(zip(("value", "p", "rows"), order, strict=True)),
    }  # fmt: skip


def _answer(one: CellResult, model: str) -> Json:
    """Return the answer about a model: to the query as it was asked, and of what was examined."""
    answer = one.answers.get(model)
    if answer is None:
        return {"answer": None, "property": "", "holds": None}
    return {"answer": answer.answer, "property": answer.property, "holds": answer.holds}


def markdown(chosen: Campaign, results: Sequence[CellResult]) -> str:
    """Write the table in Markdown: accuracies, with marks where an answer is decided."""
    models = models_of(results)
    lines = [
        f"# {chosen.title}",
        "",
        f"“{chosen.query}” Mean accuracy over a cell's experiments. ✓ decided: good at it, or robust;",
    ]
    lines += [f"✗ decided: not; no mark: not decided. {chosen.guarantee}", ""]
    lines += [f"| | {' | '.join(models)} | pictures |", "|---" * (len(models) + 2) + "|"]
    for one in results:
        cells = [cell_text(one, name) for name in models]
        lines.append(f"| {label_of(one)} | {' | '.join(cells)} | {one.images} {one.trouble} |")
    ranking = ranked_groups(chosen, results)
    if ranking:
        lines += ["", "| rank | group | accuracy | in the paper |", "|---|---|---|---|"]
        for rank, (name, mean) in enumerate(ranking, 1):
            lines.append(f"| {rank} | {name} | {mean:.2f} | {chosen.paper.get(name, '')} |")
    lines += _beside_the_paper(chosen, results)
    return "\n".join(lines) + "\n"


def _beside_the_paper(chosen: Campaign, results: Sequence[CellResult]) -> list[str]:
    """Write the rows that the paper has a figure for, those that it found easiest first."""
    means = {row: mean for row, mean in row_means(results).items() if row in chosen.paper_rows}
    if not means:
        return []
    easiest_first = sorted(means, key=lambda row: -chosen.paper_rows[row])
    rows = [f"| {row} | {means[row]:.2f} | {chosen.paper_rows[row]:.2f} |" for row in easiest_first]
    return [
        "",
        "| | accuracy over all models | in the paper |",
        "|---|---|---|",
        *rows,
        "",
        told_order(chosen, results),
    ]


def told_order(chosen: Campaign, results: Sequence[CellResult]) -> str:
    """Say how far the order of rows is that of the paper; empty where that cannot be said."""
    order = rank_correlation(chosen, results)
    if order is None:
        return ""
    value, p, rows = order
    return f"Rank correlation with the paper over {rows} rows: {value:+.2f} (p = {p:.2g}, permutation test)."


def write_campaign(chosen: Campaign, results: Sequence[CellResult], folder: Path) -> list[Path]:
    """Write a campaign's page, table and JSON.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    write_text(folder / "campaign.md", markdown(chosen, results))
    write_text(folder / "campaign.json", json.dumps(to_json(chosen, results), indent=2, ensure_ascii=False) + "\n")
    write_text(folder / "campaign.html", page(chosen, results))
    return [folder / name for name in ("campaign.html", "campaign.md", "campaign.json")]


def page(chosen: Campaign, results: Sequence[CellResult]) -> str:
    """Write the page: heat maps of the accuracies, one self-contained file."""
    models = models_of(results)
    by_place = {(one.cell.row, one.cell.column): one for one in results}
    maps = []
    if chosen.columns:
        for name in models:
            rows = [(row, [by_place.get((row, column)) for column in chosen.columns]) for row in chosen.rows]
            shown = [(row, [_shade(one, name) for one in ones]) for row, ones in rows]
            maps.append({"title": name, "columns": chosen.columns, "rows": shown})
    else:
        shown = [(one.cell.row, [_shade(one, name) for name in models]) for one in results]
        maps.append({"title": "", "columns": models, "rows": shown})
    return rendered(
        "campaign",
        campaign=chosen,
        maps=maps,
        ranking=[(name, mean, chosen.paper.get(name)) for name, mean in ranked_groups(chosen, results)],
        beside=[(row, mean, chosen.paper_rows[row]) for row, mean in row_means(results).items()
                if row in chosen.paper_rows],
        order=told_order(chosen, results),
        images=sum(one.images for one in results),
        troubles=[f"{label_of(one)}: {one.trouble}" for one in results if one.trouble],
    )  # fmt: skip


def _shade(one: CellResult | None, model: str) -> Json:
    if one is None or model not in one.accuracies:
        return {"text": "–", "hue": 0, "strength": 0, "title": one.trouble if one else ""}
    mean, count = one.accuracies[model]
    # From red over yellow to green; half is what guessing among two gives.
    return {"text": cell_text(one, model), "hue": round(120 * max(mean - 0.25, 0) / 0.75), "strength": 45,
            "title": f"{one.cell.query} n = {count}"}  # fmt: skip


def label_of(one: CellResult) -> str:
    """Return the row and the column of a cell."""
    return f"{one.cell.row}, {one.cell.column}" if one.cell.column else one.cell.row


def cell_text(one: CellResult, model: str) -> str:
    """Return a model's accuracy, with a tick where the examined property holds, a cross where it does not."""
    if model not in one.accuracies:
        return "–"
    answer = one.answers.get(model)
    mark = "" if answer is None or answer.holds is None else " ✓" if answer.holds else " ✗"
    return f"{one.accuracies[model][0]:.2f}{mark}"
