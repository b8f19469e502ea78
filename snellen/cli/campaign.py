"""``snellen campaign``."""

from __future__ import annotations

import argparse
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from snellen.cli.display import console, print_json, print_table, progress
from snellen.cli.options import EXECUTOR, HTML, JSON, MODELS, OUT, PROFILE, SEED, command, counting, option
from snellen.cli.outputs import print_written, write_results
from snellen.errors import SnellenError
from snellen.runtime.running import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.evaluation.campaigns import Campaign, CellResult


@command(
    "campaign",
    option(
        "file", nargs="?", metavar="FILE", help="a TOML file, or the name of a shipped campaign (default: list them)"
    ),
    MODELS.but(help="examine this model; repeat for more (default: the campaign's)"),
    option("--images", type=int, metavar="N", help="use at most N pictures for each cell (default: the campaign's)"),
    SEED.but(default=None, help="choose other pictures, for each cell its own (default: the campaign's)"),
    option(
        "--alpha-over",
        choices=("cell", "table"),
        help="bound the error rate in each cell, or in the whole table, which takes more pictures (default: the "
        "campaign's)",
    ),
    option(
        "--at-once",
        type=counting,
        default=1,
        metavar="N",
        help="answer N cells at a time, which keeps many servers or actors busy (default: 1)",
    ),
    PROFILE.but(default=None, help="checkpoints, Reasoner and limits (default: the campaign's)"),
    EXECUTOR,
    OUT.but(help="write campaign.html (heat maps), campaign.md and campaign.json into this folder"),
    HTML,
    JSON,
    examples="""
        snellen campaign                               # lists the shipped ones
        snellen campaign classes --out out/classes     # run it again to continue
        snellen campaign mine.toml --models clip --json
    """,
)
def campaign(options: argparse.Namespace) -> int:
    """Ask one question of many things: the tables and figures of APEX, or your own."""
    from snellen.evaluation.campaigns import load_campaign, names
    from snellen.reports.campaigns import to_json, write_campaign

    if options.file is None:
        rows = [(name, load_campaign(name).title) for name in names()]
        if options.json:
            print_json([{"name": name, "title": title} for name, title in rows])
        else:
            print_table(("campaign", "title"), rows)
        return 0
    changes = {name: getattr(options, name) for name in ("profile", "models", "seed", "images", "alpha_over")}
    chosen = load_campaign(options.file, **{key: value for key, value in changes.items() if value is not None})
    results = run(_run(chosen, options.at_once, quiet=options.json))
    written = write_results(partial(write_campaign, chosen, results), options)
    if options.json:
        print_json(to_json(chosen, results))
    else:
        _show(chosen, results)
        print_written(written)
    if results and all(one.trouble for one in results):
        raise SnellenError(results[0].trouble)
    return 0


async def _run(chosen: Campaign, at_once: int, *, quiet: bool) -> list[CellResult]:
    from snellen.evaluation.campaigns import run_campaign
    from snellen.reports.campaigns import cell_text, label_of

    results: list[CellResult] = []
    with progress(len(chosen.cells), chosen.title) as advance:
        async with aclosing(run_campaign(chosen, at_once=at_once)) as cells:
            async for one in cells:
                results.append(one)
                advance(len(results))
                figures = ", ".join(f"{name} {cell_text(one, name)}" for name in one.accuracies)
                if not quiet:
                    text = one.trouble or f"{figures} ({one.images} pictures)"
                    console().print(f"{label_of(one)}: {text}", soft_wrap=True)
    return results


def _show(chosen: Campaign, results: Sequence[CellResult]) -> None:
    from snellen.evaluation.campaigns import ranked_groups
    from snellen.reports.campaigns import cell_text, label_of, models_of, told_order

    models = models_of(results)
    rows = [(label_of(one), *(cell_text(one, name) for name in models), one.images) for one in results]
    print_table(("", *models, "pictures"), rows, title=chosen.title)
    console().print(chosen.guarantee, style="dim")
    if ranking := ranked_groups(chosen, results):
        groups = [
            (rank, name, f"{mean:.2f}", chosen.paper.get(name, "")) for rank, (name, mean) in enumerate(ranking, 1)
        ]
        print_table(("rank", "group", "accuracy", "in the paper"), groups)
    if order := told_order(chosen, results):
        console().print(order)
