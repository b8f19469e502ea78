"""Results of benchmarks, of free answers and of judges of pairs, as something to export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from snellen.datasets.benchmark_folders import read_rows
from snellen.errors import BadInput
from snellen.exports.schema import AskedQuestion, ExportSource, ExportTable, Kind, ModelRun, line, slug, span
from snellen.scoring.pairs import Condition

if TYPE_CHECKING:
    from snellen.datasets.pairs import Pair, PairBenchmark
    from snellen.datasets.prove import ProveBenchmark

ANSWERS: Final = "answers.jsonl"
"""What ``snellen prove run --out`` writes of each answer."""
SCORES: Final = "scores.jsonl"
"""What ``snellen pairs run --out`` writes of each pair that a judge has scored."""
_ALIKE: Final = 1.0
"""What a score may differ by from the right one."""
_ANSWERED: Final[Mapping[str, Kind]] = {
    "model": "text", "id": "text", "kind": "text", "question": "text", "right": "text", "answer": "text",
    "tuples": "texts", "hscore": "number", "tscore": "number",
}  # fmt: skip
_SCORED: Final[Mapping[str, Kind]] = {
    "model": "text", "encoder": "flag", "pair": "text", "split": "text", "condition": "text", "right": "number",
    "forward": "number", "backward": "number",
}  # fmt: skip
_FIGURES: Final[Mapping[str, Kind]] = {
    "model": "text", "baseline": "flag", "n": "whole", "hscore": "number", "hscore_low": "number",
    "hscore_high": "number", "tscore": "number", "tscore_low": "number", "tscore_high": "number", "average": "number",
    "silent": "number",
}  # fmt: skip

_Name = Annotated[str, StringConstraints(min_length=1, max_length=120)]
_Text = Annotated[str, StringConstraints(max_length=100_000)]
_Ends = tuple[float, float]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class _Answer(_Record):
    """A line of the answers' file."""

    model: _Name
    id: _Name
    kind: _Name
    question: _Text
    right: _Text
    answer: _Text
    tuples: list[_Text] = Field(max_length=10_000)
    hscore: float | None
    tscore: float | None


class _Scored(_Record):
    """A line of the scores' file."""

    model: _Name
    encoder: bool
    pair: _Name
    split: _Name
    condition: Condition
    right: float
    forward: float | None
    backward: float | None


class _Figures(_Record):
    """The figures of one of those who answered."""

    n: int
    hscore: float | None
    tscore: float | None
    average: float | None
    silent: float
    intervals: dict[str, _Ends | None]


class _Prove(_Record):
    """What is read of ``prove.json``."""

    metric: _Name
    bench: _Text
    models: dict[_Name, _Figures]
    baselines: dict[_Name, _Figures]
    notes: list[_Text] = []


class _Measure(_Record):
    value: float | None
    interval: _Ends | None = None


class _Judge(_Record):
    """The figures of one judge, by split."""

    relaxsym: dict[str, dict[str, _Measure]]
    mmscore: dict[str, dict[str, dict[str, _Measure]]]
    smoothness: dict[str, _Measure]
    controllability: dict[str, _Measure]
    invalid: dict[str, _Measure]
    verdict: _Text


class _Pairs(_Record):
    """What is read of ``pairs.json``."""

    bench: _Text
    models: dict[_Name, _Judge]
    notes: list[_Text] = []


_Read = TypeVar("_Read", bound=BaseModel)


def answers_source(folder: Path, place: Path | None) -> ExportSource:
    """Return the answers that `snellen prove run` wrote, with their benchmark where it is known."""
    results = _read(folder / "prove.json", _Prove)
    rows, left_out = _rows(folder / ANSWERS, _Answer)
    bench = None if place is None else _questions_of(place, rows)
    return ExportSource(
        name=folder.resolve().name,
        title=f"Free answers: {line(results.bench)}",
        about=f"Free answers, scored for helpfulness and truthfulness with the {results.metric} metric.",
        tables=[
            ExportTable("answers", _ANSWERED, lambda: (one.model_dump() for one in rows), "an answer with its scores"),
            ExportTable("models", _FIGURES, lambda: _figure_rows(results), "how helpful and truthful each one is"),
        ],
        picture=_no_picture if bench is None else lambda name: bench.picture(name).read_bytes(),
        runs=[] if bench is None else list(_answer_runs(results, rows, bench)),
        no_runs=_wanted(folder, "prove"),
        notes=[*results.notes, *left_out],
    )


def _questions_of(place: Path, rows: Sequence[_Answer]) -> ProveBenchmark:
    from snellen.datasets.prove import read_benchmark

    bench = read_benchmark(place)
    _check_belongs(place, {one.id for one in rows}, {one.id for one in bench.items})
    return bench


def _figure_rows(results: _Prove) -> Iterator[dict[str, Any]]:
    for baseline, group in ((False, results.models), (True, results.baselines)):
        for name, one in group.items():
            figures = _of_answers(one)
            yield {"model": name, "baseline": baseline, "n": one.n, "average": one.average, "silent": one.silent} | {
                column: figures[column.partition("_")[0]].get(column) for column in _FIGURES if "score" in column
            }


def _of_answers(one: _Figures) -> dict[str, dict[str, float]]:
    return {name: span(name, getattr(one, name), one.intervals.get(name)) for name in ("hscore", "tscore")}


def _answer_runs(results: _Prove, rows: Sequence[_Answer], bench: ProveBenchmark) -> Iterator[ModelRun]:
    scenes = {one.id: one.scene for one in bench.items}
    for number, (name, one) in enumerate([*results.models.items(), *results.baselines.items()], 1):
        figures = _of_answers(one)
        figures["hscore"] |= {"average": one.average} if one.average is not None else {}
        yield ModelRun(
            name=f"{number:02}-{slug(name)}",
            task="free-answers",
            about=f"Free answers scored for helpfulness and truthfulness with the {results.metric} metric.",
            model=name,
            data=line(results.bench),
            asked=partial(_answered, [row for row in rows if row.model == name], scenes),
            figures=figures,
            settings={"metric": results.metric},
            facts={"baseline": name in results.baselines, "nothing_read": one.silent},
        )


def _answered(rows: Sequence[_Answer], scenes: Mapping[str, str]) -> Iterator[AskedQuestion]:
    for one in rows:
        scores = {name: value for name in ("hscore", "tscore") if (value := getattr(one, name)) is not None}
        about = {"kind": one.kind, "scene": scenes[one.id], "tuples": one.tuples}
        yield AskedQuestion(one.id, [scenes[one.id]], one.question, [], one.right, one.answer, scores, about)


def scores_source(folder: Path, place: Path | None) -> ExportSource:
    """Return the scores that `snellen pairs run` wrote, with their benchmark where it is known."""
    results = _read(folder / "pairs.json", _Pairs)
    rows, left_out = _rows(folder / SCORES, _Scored)
    bench = None if place is None else _pairs_of(place, rows)
    return ExportSource(
        name=folder.resolve().name,
        title=f"Judges of pairs: {line(results.bench)}",
        about="Scores that judges gave to pairs, in both orders, where the change counts and where it does not.",
        tables=[ExportTable("scores", _SCORED, lambda: (one.model_dump() for one in rows), "the scores of a pair")],
        picture=_no_picture if bench is None else lambda name: bench.picture(name).read_bytes(),
        runs=[] if bench is None else list(_judge_runs(results, rows, bench)),
        no_runs=_wanted(folder, "pairs")
        if bench is None
        else "Encoders are asked nothing: Inspect has no log of them.",
        notes=[*results.notes, *left_out],
    )


def _pairs_of(place: Path, rows: Sequence[_Scored]) -> PairBenchmark:
    from snellen.datasets.pairs import read_benchmark

    bench = read_benchmark(place)
    _check_belongs(place, {one.pair for one in rows}, {one.id for one in bench.pairs})
    return bench


def _judge_runs(results: _Pairs, rows: Sequence[_Scored], bench: PairBenchmark) -> Iterator[ModelRun]:
    pairs = {one.id: one for one in bench.pairs}
    for number, (name, one) in enumerate(results.models.items(), 1):
        ours = [row for row in rows if row.model == name and not row.encoder]
        if not ours:
            continue
        yield ModelRun(
            name=f"{number:02}-{slug(name)}",
            task="judging-pairs",
            about=one.verdict,
            model=name,
            data=line(results.bench),
            asked=partial(_judged, ours, pairs),
            figures={"score": _of_judge(one)},
            facts={"verdict": one.verdict, "answers": "scores as they were read, not as they were worded"},
        )


def _of_judge(one: _Judge) -> dict[str, float]:
    """Return the metrics of a judge: of all splits together, or of the only one."""
    figures: dict[str, float] = {}
    for name, conditions in next(iter(one.mmscore.values()), {}).items():
        both = conditions.get("both", _Measure(value=None))
        figures |= span(f"mmscore_{name}", both.value, both.interval)
    named = {
        "relaxsym": next(iter(one.relaxsym.values()), {}).get("1"),
        "smoothness": next(iter(one.smoothness.values()), None),
        "controllability": next(iter(one.controllability.values()), None),
        "invalid": next(iter(one.invalid.values()), None),
    }
    for name, measure in named.items():
        figures |= {} if measure is None else span(name, measure.value, measure.interval)
    return figures


def _judged(rows: Sequence[_Scored], pairs: Mapping[str, Pair]) -> Iterator[AskedQuestion]:
    from snellen.datasets.pairs import asked

    for one in rows:
        pair = pairs[one.pair]
        # A text stays behind its picture: such a pair has one order only.
        for backward in (False,) if pair.text else (False, True):
            request = asked(pair, one.condition, backward=backward)
            score = one.backward if backward else one.forward
            near = score is not None and abs(score - one.right) <= _ALIKE
            yield AskedQuestion(
                id=f"{one.pair}-{one.condition}-{'backward' if backward else 'forward'}",
                pictures=request.files,
                question=request.text,
                choices=[],
                target=f"{one.right:g}",
                said="" if score is None else f"{score:g}",
                scores={"right": near, **({} if score is None else {"score": score})},
                about={"pair": one.pair, "split": one.split, "condition": one.condition, "kind": pair.kind},
            )


def _wanted(folder: Path, command: str) -> str:
    return (
        f"Inspect's logs show what was asked: name the benchmark too, snellen export {folder} --to inspect --bench DIR "
        f"(the folder of `snellen {command} build`)."
    )


def _no_picture(name: str) -> bytes:
    msg = f"The picture {name[:80]!r} is in the benchmark: name it with --bench."
    raise BadInput(msg)


def _check_belongs(place: Path, ids: set[str], there: set[str]) -> None:
    """See that results are of a benchmark.

    Raises:
        BadInput: They are of another one.
    """
    missing = ids - there
    if missing:
        msg = f"The results are not of the benchmark in {place}, which lacks {len(missing)} ({min(missing)!r} is one)."
        raise BadInput(msg)


def _read(place: Path, kind: type[_Read]) -> _Read:
    """Return a JSON file of results.

    Raises:
        BadInput: It is missing, or not what Snellen writes.
    """
    try:
        return kind.model_validate_json(place.read_bytes())
    except (OSError, ValidationError) as error:
        problem = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.strerror
        msg = f"{place} cannot be read as results of Snellen ({str(problem).lower()}): run the models again with --out."
        raise BadInput(msg) from error


def _rows(place: Path, kind: type[_Read]) -> tuple[list[_Read], list[str]]:
    """Return the lines of results, and why others cannot be read.

    Raises:
        BadInput: None can.
    """
    left_out: list[str] = []
    rows = [one for _, one in read_rows(place, kind, left_out)]
    if not rows:
        msg = (
            f"{place} has no line that can be read: run the models again with --out. {' '.join(left_out[:1])}".rstrip()
        )
        raise BadInput(msg)
    return rows, left_out
