"""What ``snellen prove`` does: build a benchmark of free answers, and run models on it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import console, print_json, print_table, stages
from snellen.errors import BadInput
from snellen.evaluation import resources
from snellen.reports.evaluations import check_folder
from snellen.runtime.running import run

if TYPE_CHECKING:
    from snellen.evaluation.prove import ProveResult


def prove(options: argparse.Namespace) -> int:
    """Build a benchmark of questions with verified answers, or ask models its questions."""
    return _build(options) if options.action == "build" else _run(options)


def _build(options: argparse.Namespace) -> int:
    from snellen.datasets.prove import read_benchmark
    from snellen.datasets.prove.building import Workshop, build
    from snellen.reports.prove import funnel_rows, write_sample
    from snellen.scoring.verification import Verifier

    if not options.out:
        msg = "Name a folder for the benchmark: snellen prove build --out DIR."
        raise BadInput(msg)
    folder = Path(options.out)
    check_folder(folder)
    verifier = Verifier()
    bench = resources.opened(options.profile)
    scenes = resources.scenes_of(bench.profile, options.data)
    with verifier, told() as progress:
        workshop = Workshop(bench.writer, bench.reader, verifier, bench.embed, bench.judging())

        def done(number: int) -> None:
            progress("questions about pictures", number, options.n)

        run(build(scenes, folder, workshop, count=options.n, seed=options.seed, progress=done))
    found = read_benchmark(folder)
    files = write_sample(found)
    if options.json:
        print_json(
            {
                "folder": str(folder),
                "pictures": len(found.scenes),
                "questions": len(found.items),
                "funnel": found.funnel,
                "unreadable_tuples": found.unreadable_tuples,
                "left_out": [*scenes.left_out, *found.left_out],
            }
        )
        return 0
    print_table(("", "questions", "share", "in the paper"), funnel_rows(found.funnel))
    for path in files:
        console().print(f"wrote   {path}", style="dim", soft_wrap=True)
    if found.unreadable_tuples:
        console().print(f"{found.unreadable_tuples} tuples could not be read and are left out.", style="yellow")
    tell_left_out([*scenes.left_out, *found.left_out])
    console().print(f"\nNow: snellen prove run --bench {folder}", soft_wrap=True)
    return 0


def _run(options: argparse.Namespace) -> int:
    from snellen.datasets.prove import read_benchmark
    from snellen.evaluation.prove import examine
    from snellen.reports.prove import rows_of, to_json, write_results
    from snellen.runtime.investigation_requests import examined

    if not options.bench:
        msg = "Name a benchmark: snellen prove run --bench DIR (`snellen prove build --out DIR` makes one)."
        raise BadInput(msg)
    found = read_benchmark(Path(options.bench))
    if options.out:
        check_folder(Path(options.out))
    bench = resources.opened(options.profile)
    models = examined(bench.profile, options.models or ())
    with told() as progress:
        entails = None if options.no_entailment else bench.entails(lambda done, of: progress("entailment", done, of))
        outcome = run(
            examine(
                found, bench.runner, models, reader=bench.reader, embed=bench.embed, entails=entails,
                metric=options.metric, progress=progress,
            )
        )  # fmt: skip
    files = write_results(outcome, Path(options.out)) if options.out else []
    if options.json:
        print_json(to_json(outcome))
        return 0
    print_table(("", "hscore", "tscore", "average", "nothing read", "n"), rows_of(outcome))
    _tell(outcome)
    for path in files:
        console().print(f"wrote   {path}", style="dim", soft_wrap=True)
    return 0


def _tell(outcome: ProveResult) -> None:
    correlation = outcome.correlation
    said = f"There is no correlation of hscore and tscore: {correlation.undefined}."
    if correlation.value is not None:
        said = (
            f"hscore and tscore correlate by {correlation.value:+.2f} over {correlation.n} models (in the paper 0.03)."
        )
    console().print(said, soft_wrap=True)
    if outcome.metric == "paper":
        hint = "Tuples of like words are nearly the same to the paper's metric: compare --metric calibrated."
        console().print(hint, soft_wrap=True)
    for note in outcome.notes:
        console().print(note, style="yellow", soft_wrap=True)
    tell_left_out(outcome.benchmark.left_out)


def tell_left_out(sentences: Sequence[str], most: int = 10) -> None:
    """Say what was left out, as far as anybody reads."""
    for one in sentences[:most]:
        console().print(one, style="yellow", soft_wrap=True)
    if len(sentences) > most:
        console().print(f"… and {len(sentences) - most} more.", style="yellow")


@contextmanager
def told() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far each stage is."""
    with stages() as show:
        yield lambda name, done, total: show(name, done, total, "")
