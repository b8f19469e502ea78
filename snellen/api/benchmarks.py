"""Benchmarks of free answers and of judges of pairs, built and run: ``snellen.prove`` and ``snellen.pairs``."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen.api.following import Displayed, Progress, Tell, on_one_loop, synchronous
from snellen.datasets import pairs as pair_data
from snellen.datasets import prove as prove_data
from snellen.datasets.benchmark_folders import HEAD
from snellen.datasets.prove.building import BenchmarkWriter, build
from snellen.evaluation import pairs as pair_runs
from snellen.evaluation import prove as prove_runs
from snellen.evaluation import resources
from snellen.evaluation.stage_calls import StageCalls
from snellen.graphs.states import Json
from snellen.profiles import load_profile
from snellen.reports import pairs as pair_reports
from snellen.reports import prove as prove_reports
from snellen.reports.evaluations import check_folder
from snellen.runtime.investigation_requests import examined
from snellen.scoring.freeform import Metric
from snellen.scoring.verification import Verifier
from snellen.user_paths import user_path

PROVE_PICTURES = 200
"""Pictures of a benchmark of free answers, unless the caller says otherwise."""
PAIRS_ORIGINALS = 34
"""Originals of a benchmark of pairs, unless the caller says otherwise."""


@dataclass(frozen=True, repr=False)
class BenchmarkResult(Displayed):
    """Results of models in a benchmark.

    Attributes:
        folder: The benchmark: pictures and questions or pairs, for later runs too.
        scores: The figures of each model by their names; empty where no model was run.
        outcome: All that was measured: answers, scores, intervals.
        caveats: What could not be examined or was left out, in sentences.
        page: The page with tables, plots and examples.
        tables: The tables in Markdown.
    """

    folder: Path
    scores: dict[str, Any]
    outcome: prove_runs.ProveResult | pair_runs.PairBenchmarkResult | None
    caveats: list[str]
    page: str
    tables: str

    def html(self) -> str:
        """Return the page with tables, plots and examples."""
        return self.page

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        return self.tables

    def __repr__(self) -> str:
        return f"BenchmarkResult({str(self.folder)!r}, models={sorted(self.scores)})"


@on_one_loop
async def prove_async(  # noqa: PLR0913 - one for each thing that a caller may say
    folder: str | Path,
    *,
    models: Sequence[str] | None = None,
    count: int = PROVE_PICTURES,
    data: str | Path = resources.WORLD,
    metric: Metric = "paper",
    entailment: bool = True,
    seed: int = 0,
    profile: str | Path = "embedded",
    progress: Tell | None = None,
) -> BenchmarkResult:
    """Have models answer a benchmark of questions with verified answers, which is built where the folder has none.

    Args:
        folder: The benchmark's; one that was interrupted while it was built goes on.
        models: By their names in the profile; None for all, none at all only builds.
        count: Pictures, where it is built.
        data: Where pictures come from, where it is built: ``microworld``, or a folder with ``descriptions.jsonl``.
        metric: How alike tuples are taken to be: ``paper`` or ``calibrated``.
        entailment: Whether what pictures show beyond their descriptions counts, where the profile has a judge.
        seed: Chooses the pictures and what is asked, where it is built.
        profile: Name or path of a profile.
        progress: Called with a ``Progress``; ``print`` shows it.

    Raises:
        BadInput: The folder, a model or another argument cannot be used.
        SnellenError: No model could be asked, or the folder cannot be written.
    """
    place, tell = user_path(folder, "folder"), _stage(progress)
    bench = await asyncio.to_thread(resources.opened, str(profile))
    tested = [] if models is not None and not models else examined(bench.profile, models or ())
    if not (place / HEAD).is_file():
        check_folder(place)
        scenes = resources.scenes_of(bench.profile, str(data))
        with Verifier() as verifier:
            workshop = BenchmarkWriter(bench.writer, bench.reader, verifier, bench.embed, bench.judging())
            done = partial(_done, tell, "questions about pictures", count)
            await build(scenes, place, workshop, count=count, seed=seed, progress=done)
    benchmark = await asyncio.to_thread(prove_data.read_benchmark, place)
    if not tested:
        (page, *_) = await asyncio.to_thread(prove_reports.write_sample, benchmark)
        return _built(place, page, benchmark.left_out, f"{len(benchmark.items)} questions: {benchmark.source}")
    judge = bench.entails(lambda done, of: tell("entailment", done, of)) if entailment else None
    outcome = await prove_runs.examine(
        benchmark, bench.runner, tested, reader=bench.reader, embed=bench.embed, entails=judge, metric=metric,
        stages=StageCalls(tell),
    )  # fmt: skip
    text = await asyncio.to_thread(_page_of, partial(prove_reports.write_results, outcome))
    figures = prove_reports.to_json(outcome)
    return _ran(place, figures, outcome, text, prove_reports.markdown(outcome))


prove = synchronous(prove_async)


@on_one_loop
async def pairs_async(  # noqa: PLR0913 - as above
    folder: str | Path,
    *,
    models: Sequence[str] | None = None,
    count: int = PAIRS_ORIGINALS,
    kind: Literal["pictures", "positions", "captions"] = "pictures",
    data: str | Path = resources.WORLD,
    compatible: bool = False,
    seed: int = 0,
    profile: str | Path = "embedded",
    progress: Tell | None = None,
) -> BenchmarkResult:
    """Have models judge how alike pairs are, of a benchmark that is built where the folder has none.

    Args:
        folder: The benchmark's; one that was interrupted while it was built goes on.
        models: By their names in the profile; None for all, none at all only builds.
        count: Originals, where it is built.
        kind: The pairs, where it is built.
        data: Where originals come from, where it is built: ``microworld``, or a folder of pictures.
        compatible: Take two invalid answers for symmetric, as the paper's release does.
        seed: Chooses originals, transforms and wordings, where it is built.
        profile: Name or path of a profile.
        progress: Called with a ``Progress``; ``print`` shows it.

    Raises:
        BadInput: The folder, a model or another argument cannot be used.
        SnellenError: No model could judge any pair, or the folder cannot be written.
    """
    place, tell = user_path(folder, "folder"), _stage(progress)
    chosen = await asyncio.to_thread(load_profile, str(profile))
    tested = [] if models is not None and not models else examined(chosen, models or (), judges=True)
    if not (place / HEAD).is_file():
        check_folder(place)
        originals = resources.originals_of(chosen, str(data), kind)
        done = partial(_done, tell, "pairs of pictures", count)
        make = partial(pair_data.build, originals, place, kind=kind, count=count, seed=seed, progress=done)
        await asyncio.to_thread(make)
    benchmark = await asyncio.to_thread(pair_data.read_benchmark, place)
    if not tested:
        page = await asyncio.to_thread(pair_reports.write_sample, benchmark)
        return _built(place, page, benchmark.left_out, f"{len(benchmark.pairs)} pairs: {benchmark.source}")
    bench = await asyncio.to_thread(resources.opened, str(profile))
    outcome = await pair_runs.examine(benchmark, bench.runner, tested, compatible=compatible, stages=StageCalls(tell))
    text = await asyncio.to_thread(_page_of, partial(pair_reports.write_results, outcome, {}))
    figures = pair_reports.to_json(outcome, {})
    return _ran(place, figures, outcome, text, pair_reports.markdown(outcome, {}))


pairs = synchronous(pairs_async)


def _built(folder: Path, page: Path, left_out: Sequence[str], summary: str) -> BenchmarkResult:
    return BenchmarkResult(folder, {}, None, [*left_out], page.read_text("utf-8"), summary)


def _ran(
    folder: Path, figures: Json, outcome: prove_runs.ProveResult | pair_runs.PairBenchmarkResult, page: str, tables: str
) -> BenchmarkResult:
    caveats = [*outcome.notes, *outcome.benchmark.left_out]
    return BenchmarkResult(folder, figures["models"], outcome, caveats, page, tables)


def _page_of(write: Callable[[Path], list[Path]]) -> str:
    """Return the page among the files of results."""
    with tempfile.TemporaryDirectory() as folder:
        return next(one for one in write(Path(folder)) if one.suffix == ".html").read_text("utf-8")


def _stage(progress: Tell | None) -> Callable[[str, int, int], None]:
    def tell(stage: str, done: int, of: int) -> None:
        if progress is not None:
            progress(Progress(f"{stage}: {done} of {of}", (float(done), float(of))))

    return tell


def _done(tell: Callable[[str, int, int], None], stage: str, of: int, done: int) -> None:
    tell(stage, done, of)
