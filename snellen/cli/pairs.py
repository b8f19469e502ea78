"""What ``snellen pairs`` does: build a benchmark of pairs, and have models judge them."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import console, print_json, print_table
from snellen.cli.prove import tell_left_out, told
from snellen.errors import BadInput
from snellen.evaluation import resources
from snellen.reports.evaluations import check_folder
from snellen.runtime.running import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.evaluation.pairs import PairBenchmarkResult


def pairs(options: argparse.Namespace) -> int:
    """Build a benchmark of pairs, or have models judge one."""
    return _build(options) if options.action == "build" else _run(options)


def _build(options: argparse.Namespace) -> int:
    from snellen.datasets.pairs import build, read_benchmark
    from snellen.profiles import load_profile
    from snellen.reports.pairs import write_sample

    if not options.out:
        msg = "Name a folder for the benchmark: snellen pairs build --out DIR."
        raise BadInput(msg)
    folder = Path(options.out)
    check_folder(folder)
    profile = load_profile(options.profile)
    originals = resources.originals_of(profile, options.data, options.kind)
    with told() as progress:

        def done(number: int) -> None:
            progress("pairs of pictures", number, options.n)

        build(originals, folder, kind=options.kind, count=options.n, seed=options.seed, progress=done)
    found = read_benchmark(folder)
    sample = write_sample(found)
    if options.json:
        print_json({"folder": str(folder), "pairs": len(found.pairs), "left_out": list(found.left_out)})
        return 0
    console().print(f"{len(found.pairs)} pairs of {options.n} originals ({found.source})")
    console().print(f"wrote   {sample}", style="dim", soft_wrap=True)
    tell_left_out(found.left_out)
    console().print(f"\nNow: snellen pairs run --bench {folder}", soft_wrap=True)
    return 0


def _run(options: argparse.Namespace) -> int:
    from snellen.datasets.pairs import read_benchmark
    from snellen.evaluation.pairs import correlations, examine
    from snellen.reports.pairs import rows_of, to_json, write_results
    from snellen.runtime.investigation_requests import examined

    if not options.bench:
        msg = "Name a benchmark: snellen pairs run --bench DIR (`snellen pairs build --out DIR` makes one)."
        raise BadInput(msg)
    found = read_benchmark(Path(options.bench))
    table = read_table(Path(options.table)) if options.table else {}
    if options.out:
        check_folder(Path(options.out))
    bench = resources.opened(options.profile)
    models = examined(bench.profile, options.models or (), judges=True)
    with told() as progress:
        outcome = run(examine(found, bench.runner, models, compatible=options.compat, progress=progress))
    compared = correlations(outcome.judges, table)
    files = write_results(outcome, compared, Path(options.out)) if options.out else []
    if options.json:
        print_json(to_json(outcome, compared))
        return 0
    _show(outcome, rows_of(outcome))
    for metric, columns in compared.items():
        for name, one in columns.items():
            said = one.undefined if one.value is None else f"{one.value:+.2f} over {one.n} models"
            console().print(f"{metric} and {name}: {said}", soft_wrap=True)
    for path in files:
        console().print(f"wrote   {path}", style="dim", soft_wrap=True)
    return 0


def _show(outcome: PairBenchmarkResult, rows: list[tuple[str, ...]]) -> None:
    print_table(("", "MMScore", "RelaxSym (ε = 1)", "smoothness", "controllability", "invalid"), rows)
    for judge in outcome.judges:
        console().print(f"{judge.name}: {judge.verdict}", soft_wrap=True)
        for one in judge.not_understood:
            console().print(f"  no score could be read in “{one}”", style="dim", soft_wrap=True, markup=False)
    for note in outcome.notes:
        console().print(note, style="yellow", soft_wrap=True)
    tell_left_out(outcome.benchmark.left_out)


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
        msg = (
            f"The table {path} cannot be read ({str(error)[:120]}): give a CSV file with the model in its first column."
        )
        raise BadInput(msg) from error
    found: dict[str, dict[str, float]] = {}
    for row in rows[1:]:
        for name, cell in zip(rows[0][1:], row[1:], strict=False):
            try:
                found.setdefault(name.strip(), {})[row[0].strip()] = float(cell)
            except ValueError:
                continue
    if not any(found.values()):
        msg = f"The table {path} has no numbers: its first line names benchmarks, its first column models."
        raise BadInput(msg)
    return found
