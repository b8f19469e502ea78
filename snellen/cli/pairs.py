"""``snellen pairs build`` and ``snellen pairs run``."""

from __future__ import annotations

import argparse
import csv
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.cli.display import console, print_json, print_notes, print_table, stages
from snellen.cli.options import (
    BENCH,
    COUNT,
    DATA,
    EXECUTOR,
    HTML,
    JSON,
    MODELS,
    OUT,
    PROFILE,
    SEED,
    Group,
    command,
    option,
)
from snellen.cli.outputs import print_written, write_results
from snellen.cli.remaining_time import RemainingTime
from snellen.errors import BadInput
from snellen.evaluation.stage_calls import StageCalls
from snellen.runtime.running import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.evaluation.pairs import PairBenchmarkResult


@command(
    "pairs build",
    DATA.but(help="microworld (default), a folder of pictures, or one in the form of What's Up for --kind positions"),
    option(
        "--kind",
        choices=("pictures", "positions", "captions"),
        default="pictures",
        help="what pairs differ in: changes to the picture (default), or places of things, shown (positions) or "
        "described (captions)",
    ),
    COUNT.but(default=34, help="use N original pictures (default: 34, which make 510 pairs; the paper has 500)"),
    OUT.but(required=True, help="the folder of the benchmark"),
    SEED,
    PROFILE,
    JSON,
    examples="""
        snellen pairs build --out pairs    # 510 pairs of changed pictures
        snellen pairs build --kind captions --out texts
    """,
)
def build(options: argparse.Namespace) -> int:
    """Build a benchmark of pairs of pictures; run it again to continue."""
    from snellen.datasets import pairs
    from snellen.evaluation import resources
    from snellen.profiles import load_profile
    from snellen.reports.pairs import write_sample

    folder = Path(options.out)
    originals = resources.originals_of(load_profile(options.profile), options.data, options.kind)
    with stages() as show:

        def done(number: int) -> None:
            show("pairs of pictures", number, options.n)

        pairs.build(originals, folder, kind=options.kind, count=options.n, seed=options.seed, progress=done)
    benchmark = pairs.read_benchmark(folder)
    sample = write_sample(benchmark)
    if options.json:
        print_json({"folder": str(folder), "pairs": len(benchmark.pairs), "left_out": list(benchmark.left_out)})
        return 0
    console().print(f"{len(benchmark.pairs)} pairs of {options.n} originals ({benchmark.source})")
    print_written([sample])
    print_notes(benchmark.left_out)
    console().print(f"\nNext: snellen pairs run --bench {folder}", soft_wrap=True)
    return 0


@command(
    "pairs run",
    BENCH.but(required=True),
    MODELS,
    option("--compat", action="store_true", help="count two invalid answers as symmetric, as the paper's release does"),
    option("--table", metavar="FILE", help="correlate with other benchmarks: a CSV file with one model a row"),
    PROFILE,
    EXECUTOR,
    OUT.but(help="write page, tables, plots and every score into this folder"),
    HTML,
    JSON,
    examples="""
        snellen pairs run --bench pairs --out results
        snellen pairs run --bench pairs --models llava-judge --table others.csv --json
    """,
)
def judge(options: argparse.Namespace) -> int:
    """Have models score how alike the pairs are; measure how far they can be trusted as judges."""
    from snellen.datasets.pairs import read_benchmark
    from snellen.evaluation import resources
    from snellen.evaluation.pairs import correlations, examine
    from snellen.reports import pairs as reports
    from snellen.runtime.investigation_requests import examined

    benchmark = read_benchmark(Path(options.bench))
    table = read_table(Path(options.table)) if options.table else {}
    bench = resources.opened(options.profile)
    models = examined(bench.profile, options.models or (), judges=True)
    left = RemainingTime()
    with stages(left) as show:
        calls = StageCalls(show, left.expect)
        outcome = run(examine(benchmark, bench.runner, models, compatible=options.compat, stages=calls))
    compared = correlations(outcome.judges, table)
    files = write_results(partial(reports.write_results, outcome, compared), options)
    if options.json:
        print_json(reports.to_json(outcome, compared))
        return 0
    _show(outcome, reports.rows_of(outcome))
    for metric, columns in compared.items():
        for name, one in columns.items():
            text = one.undefined if one.value is None else f"{one.value:+.2f} over {one.n} models"
            console().print(f"{metric} and {name}: {text}", soft_wrap=True)
    print_written(files)
    return 0


PAIRS: Final = Group("pairs", "Measure which models can be trusted to judge how alike two things are", (build, judge))


def _show(outcome: PairBenchmarkResult, rows: list[tuple[str, ...]]) -> None:
    print_table(("", "MMScore", "RelaxSym (ε = 1)", "smoothness", "controllability", "invalid"), rows)
    for one in outcome.judges:
        console().print(f"{one.name}: {one.verdict}", soft_wrap=True)
        for answer in one.not_understood:
            console().print(f"  no score in “{answer}”", style="dim", soft_wrap=True, markup=False)
    print_notes(outcome.notes, most=len(outcome.notes))
    print_notes(outcome.benchmark.left_out)


def read_table(path: Path) -> Mapping[str, Mapping[str, float]]:
    """Read the scores of models in other benchmarks: a CSV file with the model in the first column.

    Returns:
        For each other column, the score of each model that has a number there.

    Raises:
        BadInput: It cannot be read, or has no numbers.
    """
    try:
        rows = list(csv.reader(path.read_text("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = f"The table {path} cannot be read ({str(error)[:120]}): give a CSV file, models in its first column."
        raise BadInput(msg) from error
    table: dict[str, dict[str, float]] = {}
    for row in rows[1:]:
        for name, cell in zip(rows[0][1:], row[1:], strict=False):
            try:
                table.setdefault(name.strip(), {})[row[0].strip()] = float(cell)
            except ValueError:
                continue
    if not any(table.values()):
        msg = f"The table {path} has no numbers: its first line names benchmarks, its first column models."
        raise BadInput(msg)
    return table
