"""What ``snellen campaign`` does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import console, print_json, print_table, progress
from snellen.errors import SnellenError
from snellen.evaluation.campaigns import Campaign, CellResult, load_campaign, names, ranked_groups, run_campaign
from snellen.reports.evaluations import check_folder
from snellen.reports.runs import write_text
from snellen.reports.templating import rendered
from snellen.runtime.running import run

if TYPE_CHECKING:
    from snellen.graphs.states import Json


def campaign(options: argparse.Namespace) -> int:
    """Ask one query of many things; what was answered before is not asked again."""
    if options.file is None:
        for name in names():
            console().print(f"{name:18} {load_campaign(name).title}")
        return 0
    wanted = {name: getattr(options, name) for name in ("profile", "models", "seed", "images", "alpha_over")}
    chosen = load_campaign(options.file, **{key: value for key, value in wanted.items() if value is not None})
    if options.out:
        check_folder(Path(options.out))
    results = run(_run(chosen, options))
    if options.out:
        for path in write_campaign(chosen, results, Path(options.out)):
            if not options.json:
                console().print(f"wrote   {path}", style="dim")
    if options.json:
        print_json(to_json(chosen, results))
    else:
        _show(chosen, results)
    if results and all(one.trouble for one in results):
        raise SnellenError(results[0].trouble)
    return 0


async def _run(chosen: Campaign, options: argparse.Namespace) -> list[CellResult]:
    results: list[CellResult] = []
    with progress(len(chosen.cells), chosen.title) as advance:
        async with aclosing(run_campaign(chosen)) as cells:
            async for result in cells:
                results.append(result)
                advance(len(results))
                if not options.json:
                    console().print(_told(result), soft_wrap=True)
    return results


def models_of(results: Sequence[CellResult]) -> list[str]:
    """Return the models of a campaign, in the order in which they come up."""
    return list(dict.fromkeys(name for one in results for name in one.accuracies))


def to_json(chosen: Campaign, results: Sequence[CellResult]) -> Json:
    """Return a campaign with its results as plain JSON."""
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
    }  # fmt: skip


def _answer(one: CellResult, model: str) -> Json:
    """Return what is answered about a model: to the query as it was asked, and of what was examined."""
    found = one.answers.get(model)
    if found is None:
        return {"answer": None, "property": "", "holds": None}
    return {"answer": found.answer, "property": found.property, "holds": found.holds}


def _mark(one: CellResult, model: str) -> str:
    """Return a tick where what was examined holds of a model, a cross where it does not, nothing while it is open."""
    found = one.answers.get(model)
    return "" if found is None or found.holds is None else " ✓" if found.holds else " ✗"


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
        cells = [_cell(one, name) for name in models]
        lines.append(f"| {_label(one)} | {' | '.join(cells)} | {one.images} {one.trouble} |")
    ranking = ranked_groups(chosen, results)
    if ranking:
        lines += ["", "| rank | group | accuracy | in the paper |", "|---|---|---|---|"]
        for rank, (name, mean) in enumerate(ranking, 1):
            lines.append(f"| {rank} | {name} | {mean:.2f} | {chosen.paper.get(name, '')} |")
    return "\n".join(lines) + "\n"


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
        images=sum(one.images for one in results),
        troubles=[f"{_label(one)}: {one.trouble}" for one in results if one.trouble],
    )


def _shade(one: CellResult | None, model: str) -> Json:
    if one is None or model not in one.accuracies:
        return {"text": "–", "hue": 0, "strength": 0, "title": one.trouble if one else ""}
    mean, count = one.accuracies[model]
    # From red over yellow to green; half is what guessing among two gives.
    return {"text": f"{mean:.2f}{_mark(one, model)}", "hue": round(120 * max(mean - 0.25, 0) / 0.75), "strength": 45,
            "title": f"{one.cell.query} n = {count}"}  # fmt: skip


def _label(one: CellResult) -> str:
    return f"{one.cell.row}, {one.cell.column}" if one.cell.column else one.cell.row


def _cell(one: CellResult, model: str) -> str:
    if model not in one.accuracies:
        return "–"
    return f"{one.accuracies[model][0]:.2f}{_mark(one, model)}"


def _told(one: CellResult) -> str:
    if one.trouble:
        return f"{_label(one)}: {one.trouble}"
    figures = ", ".join(f"{name} {_cell(one, name)}" for name in one.accuracies)
    return f"{_label(one)}: {figures} ({one.images} pictures)"


def _show(chosen: Campaign, results: Sequence[CellResult]) -> None:
    models = models_of(results)
    rows = [(_label(one), *(_cell(one, name) for name in models), one.images) for one in results]
    print_table(("", *models, "pictures"), rows, title=chosen.title)
    console().print(chosen.guarantee, style="dim")
    ranking = ranked_groups(chosen, results)
    if ranking:
        told = [(rank, name, f"{mean:.2f}", chosen.paper.get(name, "")) for rank, (name, mean) in enumerate(ranking, 1)]
        print_table(("rank", "group", "accuracy", "in the paper"), told)
