"""Benchmarks of free answers and of pairs as something to export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.evaluation.resources import WORLD
from snellen.exports.benchmark_results import ANSWERS, SCORES, answers_source, scores_source
from snellen.exports.schema import LICENCE, ExportSource, ExportTable, Kind, line

if TYPE_CHECKING:
    from snellen.datasets.pairs import PairBenchmark
    from snellen.datasets.prove import ProveBenchmark

_NOBODY: Final = (
    "{folder} is a benchmark, of which nobody was asked anything yet: "
    "`snellen {command} run --bench {folder} --out RESULTS`, then export RESULTS with --bench {folder}."
)
_QUESTIONS: Final[Mapping[str, Kind]] = {
    "id": "text", "picture": "picture", "question": "text", "answer": "text", "kind": "text", "scene": "text",
    "program": "text",
}  # fmt: skip
_SCENES: Final[Mapping[str, Kind]] = {"scene": "text", "picture": "picture", "caption": "text", "tuples": "texts"}
_PAIRS: Final[Mapping[str, Kind]] = {
    "id": "text", "first": "picture", "second": "picture", "text": "text", "kind": "text", "split": "text",
    "original": "text", "sensitive": "number", "invariant": "number", "asked_sensitive": "text",
    "asked_invariant": "text",
}  # fmt: skip


def known(folder: Path) -> bool:
    """Tell whether a folder is a benchmark, or has the results of one."""
    return any((folder / name).is_file() for name in ("benchmark.json", ANSWERS, SCORES))


def source_of(folder: Path, bench: Path | None) -> ExportSource:
    """Return a benchmark, or the results of one, as something to export.

    Args:
        folder: It.
        bench: The benchmark that the results are of: it has the pictures and the questions.

    Raises:
        BadInput: One of the folders is not what it should be.
    """
    from snellen.datasets.pairs.benchmark import PAIRS

    if (folder / ANSWERS).is_file():
        return answers_source(folder, bench)
    if (folder / SCORES).is_file():
        return scores_source(folder, bench)
    return _pairs(folder) if (folder / PAIRS).is_file() else _questions(folder)


def _questions(folder: Path) -> ExportSource:
    from snellen.datasets.prove import read_benchmark

    bench = read_benchmark(folder)
    about = f"Questions about pictures for free answers; a program has verified each answer.{_of(bench.source)}"
    return ExportSource(
        name=folder.resolve().name,
        title=f"Questions with verified answers: {line(bench.source)}",
        about=about,
        tables=[
            ExportTable(
                "questions", _QUESTIONS, lambda: _question_rows(bench), "a question with its picture and its answer"
            ),
            ExportTable("scenes", _SCENES, lambda: _scene_rows(bench), "a picture and all that is known of it"),
        ],
        picture=lambda name: bench.picture(name).read_bytes(),
        no_runs=_NOBODY.format(folder=folder, command="prove"),
        notes=bench.left_out,
    )


def _question_rows(bench: ProveBenchmark) -> Iterator[dict[str, Any]]:
    for one in bench.items:
        yield {**one.model_dump(include=_QUESTIONS.keys() - {"picture"}), "picture": one.scene}


def _scene_rows(bench: ProveBenchmark) -> Iterator[dict[str, Any]]:
    for name, one in bench.scenes.items():
        tuples = [each.fact.text for each in one.tuples]
        yield {"scene": name, "picture": name, "caption": one.caption, "tuples": tuples}


def _pairs(folder: Path) -> ExportSource:
    from snellen.datasets.pairs import read_benchmark

    bench = read_benchmark(folder)
    about = f"Pairs of things for judges of similarity, with the scores that they should have.{_of(bench.source)}"
    return ExportSource(
        name=folder.resolve().name,
        title=f"Pairs with their right scores: {line(bench.source)}",
        about=about,
        tables=[
            ExportTable(
                "pairs", _PAIRS, lambda: _pair_rows(bench),
                "a pair; `sensitive` and `invariant` are the right scores where its change counts, and where it does "
                "not, `asked_…` are the words",
            )
        ],
        picture=lambda name: bench.picture(name).read_bytes(),
        no_runs=_NOBODY.format(folder=folder, command="pairs"),
        notes=bench.left_out,
    )  # fmt: skip


def _pair_rows(bench: PairBenchmark) -> Iterator[dict[str, Any]]:
    from snellen.datasets.pairs import asked
    from snellen.datasets.pairs.benchmark import truth

    for one in bench.pairs:
        yield {
            **one.model_dump(include={"id", "text", "kind", "split", "original"}),
            "first": one.first, "second": one.second or None,
            "sensitive": truth(one.kind, "sensitive"), "invariant": truth(one.kind, "invariant"),
            "asked_sensitive": asked(one, "sensitive").text, "asked_invariant": asked(one, "invariant").text,
        }  # fmt: skip


def _of(source: str) -> str:
    origin = line(source)
    return f" Made of {origin}." + (f" {LICENCE}" if origin == WORLD else "")
