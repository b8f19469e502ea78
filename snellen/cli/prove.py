"""``snellen prove build`` and ``snellen prove run``."""

from __future__ import annotations

import argparse
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
from snellen.evaluation.stage_calls import StageCalls
from snellen.runtime.running import run

if TYPE_CHECKING:
    from snellen.evaluation.prove import ProveResult


@command(
    "prove build",
    DATA.but(help="microworld (default), or a folder of pictures and descriptions.jsonl in DOCCI's form"),
    COUNT.but(default=200, help="use N pictures (default: 200)"),
    OUT.but(required=True, help="the folder of the benchmark"),
    SEED,
    PROFILE,
    EXECUTOR,
    JSON,
    examples="""
        snellen prove build --out bench -n 200
        snellen prove build --data my-docci --out mine    # pictures with descriptions.jsonl
    """,
)
def build(options: argparse.Namespace) -> int:
    """Build a benchmark of questions with verified answers; run it again to continue."""
    from snellen.datasets.prove import building, read_benchmark
    from snellen.evaluation import resources
    from snellen.reports.prove import funnel_rows, write_sample
    from snellen.scoring.verification import Verifier

    folder = Path(options.out)
    verifier = Verifier()
    bench = resources.opened(options.profile)
    scenes = resources.scenes_of(bench.profile, options.data)
    with verifier, stages() as show:
        workshop = building.BenchmarkWriter(bench.writer, bench.reader, verifier, bench.embed, bench.judging())

        def done(number: int) -> None:
            show("questions about pictures", number, options.n)

        run(building.build(scenes, folder, workshop, count=options.n, seed=options.seed, progress=done))
    benchmark = read_benchmark(folder)
    files = write_sample(benchmark)
    left_out = [*scenes.left_out, *benchmark.left_out]
    if options.json:
        print_json(
            {
                "folder": str(folder),
                "pictures": len(benchmark.scenes),
                "questions": len(benchmark.items),
                "funnel": benchmark.funnel,
                "unreadable_tuples": benchmark.unreadable_tuples,
                "left_out": left_out,
            }
        )
        return 0
    print_table(("", "questions", "share", "in the paper"), funnel_rows(benchmark.funnel))
    print_written(files)
    if benchmark.unreadable_tuples:
        print_notes([f"Left out {benchmark.unreadable_tuples} tuples that could not be read."])
    print_notes(left_out)
    console().print(f"\nNext: snellen prove run --bench {folder}", soft_wrap=True)
    return 0


@command(
    "prove run",
    BENCH.but(required=True),
    MODELS,
    option(
        "--metric",
        choices=("paper", "calibrated"),
        default="paper",
        help="compare tuples by cosine as in the paper (default), or by logic and calibration",
    ),
    option("--no-entailment", action="store_true", help="compare answers with scene graphs only, not with pictures"),
    PROFILE,
    EXECUTOR,
    OUT.but(help="write page, tables, plots and every answer into this folder"),
    HTML,
    JSON,
    examples="""
        snellen prove run --bench bench --out results
        snellen prove run --bench bench --models blip --metric calibrated --json
    """,
)
def examine(options: argparse.Namespace) -> int:
    """Ask models the questions of a benchmark; score how helpful and truthful their answers are."""
    from snellen.datasets.prove import read_benchmark
    from snellen.evaluation import prove, resources
    from snellen.reports import prove as reports
    from snellen.runtime.investigation_requests import examined

    benchmark = read_benchmark(Path(options.bench))
    bench = resources.opened(options.profile)
    models = examined(bench.profile, options.models or ())
    left = RemainingTime()
    with stages(left) as show:
        entails = None if options.no_entailment else bench.entails(partial(show, "entailment"))
        outcome = run(
            prove.examine(
                benchmark, bench.runner, models, reader=bench.reader, embed=bench.embed, entails=entails,
                metric=options.metric, stages=StageCalls(show, left.expect),
            )
        )  # fmt: skip
    files = write_results(partial(reports.write_results, outcome), options)
    if options.json:
        print_json(reports.to_json(outcome))
        return 0
    print_table(("", "hscore", "tscore", "average", "nothing read", "n"), reports.rows_of(outcome))
    _print_notes(outcome)
    print_written(files)
    return 0


PROVE: Final = Group("prove", "Measure how helpful and truthful free answers are", (build, examine))


def _print_notes(outcome: ProveResult) -> None:
    correlation = outcome.correlation
    text = f"hscore and tscore have no correlation: {correlation.undefined}."
    if correlation.value is not None:
        text = f"hscore and tscore correlate by {correlation.value:+.2f} over {correlation.n} models (paper: 0.03)."
    console().print(text, soft_wrap=True)
    if outcome.metric == "paper":
        hint = "The paper's metric hardly tells tuples of similar words apart: compare --metric calibrated."
        console().print(hint, soft_wrap=True)
    print_notes(outcome.notes, most=len(outcome.notes))
    print_notes(outcome.benchmark.left_out)
