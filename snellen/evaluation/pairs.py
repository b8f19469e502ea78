"""Models as judges of pairs: asked in both orders under both conditions, and measured (PairBench, section 2)."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from snellen.datasets.pairs import TEMPLATES, Pair, PairBenchmark, asked, truth
from snellen.errors import SnellenError
from snellen.scoring.judge_replies import not_understood, parsed_score
from snellen.scoring.measure import Measure
from snellen.scoring.pairs import (
    Condition,
    Judged,
    Order,
    controllability,
    discounted_gain,
    flaws,
    invalid_rate,
    mmscore,
    mutual_information,
    relaxed_symmetry,
    smoothness,
    spearman,
    with_interval,
)

if TYPE_CHECKING:
    from snellen.experiments.interviews import Interviews, Spoken

POOLED: Final = "pooled"
"""The name of all splits together."""
CONDITIONS: Final[tuple[Condition, ...]] = ("sensitive", "invariant")
ORDERS: Final[tuple[Order, ...]] = ("forward", "backward", "both")
EPSILONS: Final = (0, 1, 2)
METRICS: Final = ("mmscore", "relaxsym", "smoothness", "controllability")
"""The metrics that other benchmarks are compared with (table 2): MMScore is the mean of both conditions there."""
_RESAMPLES: Final = 200
_FEW: Final = 5
"""Originals below which there is no verdict."""
_WELL: Final = 0.7
_ROUGHLY: Final = 0.4
_Metric = Callable[[Sequence[Judged]], Measure]


@dataclass(frozen=True)
class Template:
    """What a judge makes of one wording (appendix C.6, table 8).

    Attributes:
        number: Of the wording.
        means: The mean score of each kind of pair under each condition, with the standard deviation, where any is
            valid.
    """

    number: int
    means: Mapping[tuple[str, Condition], tuple[float, float]]


@dataclass(frozen=True)
class Judge:
    """A judge with its scores.

    Attributes:
        name: The model.
        judged: Its scores by split.
        one_way: Splits in which a picture is compared with a text: there is no other order.
        encoder: Whether it compares vectors instead of being asked.
        compatible: Whether two invalid answers count as symmetric, as in the paper's release.
        templates: What it makes of the wordings.
        samples: A few answers as written, with the ids of their pairs.
        not_understood: A few answers without a score, quoted.
    """

    name: str
    judged: Mapping[str, Sequence[Judged]]
    one_way: frozenset[str] = frozenset()
    encoder: bool = False
    compatible: bool = False
    templates: Sequence[Template] = ()
    samples: Sequence[tuple[str, str]] = ()
    not_understood: Sequence[str] = ()

    @property
    def splits(self) -> list[str]:
        """All splits together, then each."""
        return [POOLED, *self.judged] if len(self.judged) > 1 else list(self.judged)

    def of(self, split: str) -> list[Judged]:
        """Return the scores of a split, or of all."""
        return [one for name, rows in self.judged.items() if split in {name, POOLED} for one in rows]

    def agreement(self, split: str, condition: Condition, order: Order = "both", *, interval: bool = True) -> Measure:
        """Return MMScore in a split."""
        rows = [one for one in self.of(split) if one.condition == condition]
        return _measured(partial(mmscore, order=order), rows, interval=interval)

    def symmetry(self, split: str, epsilon: float, *, interval: bool = True) -> Measure:
        """Return ε-RelaxSym in a split; a text and a picture have one order only."""
        rows = [
            one
            for name, found in self.judged.items()
            if split in {name, POOLED} and name not in self.one_way
            for one in found
        ]
        if not rows:
            return Measure(None, 0, "a picture and a text have one order only")
        metric = partial(relaxed_symmetry, epsilon=epsilon, compatible=self.compatible)
        return _measured(metric, rows, interval=interval)

    def spread(self, split: str, *, interval: bool = True) -> Measure:
        """Return smoothness in a split."""
        if self.encoder:
            return Measure(None, 0, "cosines are no scores")
        return _measured(smoothness, self.of(split), interval=interval)

    def control(self, split: str, *, interval: bool = True) -> Measure:
        """Return controllability in a split."""
        if self.encoder:
            return Measure(None, 0, "an encoder cannot be told what counts")
        return _measured(controllability, self.of(split), interval=interval)

    def invalid(self, split: str, *, interval: bool = True) -> Measure:
        """Return the share of answers without a score."""
        if self.encoder:
            return Measure(None, 0, "cosines are no answers")
        return _measured(invalid_rate, self.of(split), interval=interval)

    def variants(self, split: str, condition: Condition) -> dict[str, Measure]:
        """Return what MMScore might be instead (appendix C.2)."""
        rows = [one for one in self.of(split) if one.condition == condition]
        return {"nmi": mutual_information(rows), "spearman": spearman(rows), "ndcg": discounted_gain(rows)}

    def figure(self, metric: str, split: str = POOLED, *, interval: bool = False) -> Measure:
        """Return one of `METRICS`."""
        split = split if split in self.judged or len(self.judged) != 1 else next(iter(self.judged))
        if metric == "mmscore":
            return _measured(_both, self.of(split), interval=interval)
        if metric == "relaxsym":
            return self.symmetry(split, 1, interval=interval)
        return (self.spread if metric == "smoothness" else self.control)(split, interval=interval)

    @property
    def verdict(self) -> str:
        """What it can be trusted with, in plain words."""
        found = self.figure("mmscore").value
        originals = len({one.cluster for one in self.of(POOLED)})
        if originals < _FEW:
            return f"Of {originals} originals nothing can be said about it."
        troubles = flaws(self.of(POOLED))
        if self.encoder:
            troubles = [one for one in troubles if "heed" not in one]
            troubles.append("it cannot be told what counts")
        if found is None or found < 1 - _WELL:
            return (
                "It cannot be trusted to order pairs: " + "; ".join(troubles or ["it orders them hardly or not"]) + "."
            )
        well = "well" if found >= _WELL else "roughly" if found >= _ROUGHLY else "hardly"
        return f"It orders pairs {well}" + (f", but {'; '.join(troubles)}." if troubles else ".")


@dataclass(frozen=True)
class PairJudgement:
    """What came of a benchmark.

    Attributes:
        benchmark: It.
        judges: Those that were examined.
        notes: What could not be, in sentences.
    """

    benchmark: PairBenchmark
    judges: Sequence[Judge]
    notes: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Request:
    pair: Pair
    condition: Condition
    backward: bool


Progress = Callable[[str, int, int], None]


async def examine(
    benchmark: PairBenchmark,
    interviews: Interviews,
    models: Sequence[str],
    *,
    compatible: bool = False,
    progress: Progress = lambda _, __, ___: None,
) -> PairJudgement:
    """Have models judge the pairs of a benchmark; what was judged before is not asked again.

    Args:
        benchmark: The pairs.
        interviews: Puts requests to models.
        models: By their names in the profile; what they cannot compare is told, not scored.
        compatible: Take two invalid answers for symmetric, as the paper's release does.
        progress: Called with what is done, how much of it, and of how much.

    Raises:
        SnellenError: No model could judge any pair.
    """
    places = {name: benchmark.picture(name) for pair in benchmark.pairs for name in pair.files}
    stored = await asyncio.to_thread(interviews.stored, places.values())
    ids = {name: stored[place] for name, place in places.items()}
    judges: list[Judge] = []
    notes: list[str] = []
    for name in dict.fromkeys(models):
        try:
            card = await asyncio.to_thread(interviews.card, name)
            told = partial(progress, name)
            if card.answers:
                pairs, note = _readable(name, card.pictures, benchmark.pairs)
                notes += [note] if note else []
                judge = await asyncio.to_thread(_asked, name, pairs, ids, interviews, told) if pairs else None
            else:
                judge = await asyncio.to_thread(_compared, name, benchmark.pairs, ids, interviews, told)
        except SnellenError as error:
            notes.append(f"{name} is left out: {str(error).rstrip('.')}.")
            continue
        if judge is not None:
            judges.append(replace(judge, compatible=compatible))
    if not judges:
        raise SnellenError(" ".join(notes) or "There is no model to ask.")
    return PairJudgement(benchmark, judges, notes)


def _readable(name: str, pictures: int, pairs: Sequence[Pair]) -> tuple[list[Pair], str]:
    """Return the pairs that a model can read, and say which it cannot."""
    found = [pair for pair in pairs if len(pair.files) <= pictures]
    if len(found) == len(pairs):
        return found, ""
    return found, f"{name} reads one picture at once: it cannot compare two" + ("." if not found else ", only texts.")


def _asked(
    name: str,
    pairs: Sequence[Pair],
    ids: Mapping[str, str],
    interviews: Interviews,
    progress: Callable[[int, int], None],
) -> Judge:
    """Ask a model for a score of each pair, in both orders under both conditions."""
    rows = [
        _Request(pair, condition, backward)
        for pair in pairs
        for condition in CONDITIONS
        for backward in ((False,) if pair.text else (False, True))
    ]
    spoken: list[Spoken] = []
    for row in rows:
        request = asked(row.pair, row.condition, backward=row.backward)
        spoken.append((tuple(ids[file] for file in request.files), request.text))
    said = interviews.answers(name, spoken, progress=lambda done: progress(done, len(set(spoken))))
    scores = {
        (row.pair.id, row.condition, row.backward): parsed_score(text) for row, text in zip(rows, said, strict=True)
    }
    judged = {
        split: [
            _judged(pair, condition, scores[pair.id, condition, False], scores[pair.id, condition, not pair.text])
            for pair in pairs
            if pair.split == split
            for condition in CONDITIONS
        ]
        for split in dict.fromkeys(pair.split for pair in pairs)
    }
    samples = [(row.pair.id, text[:200]) for row, text in list(zip(rows, said, strict=True))[:: max(len(rows) // 6, 1)]]
    return Judge(
        name, judged, _one_way(pairs), templates=_templates(pairs, scores), samples=samples,
        not_understood=not_understood(said),
    )  # fmt: skip


def _compared(
    name: str,
    pairs: Sequence[Pair],
    ids: Mapping[str, str],
    interviews: Interviews,
    progress: Callable[[int, int], None],
) -> Judge:
    """Have an encoder compare the two things of each pair (appendix C.5): it knows neither orders nor conditions."""
    spoken = [(tuple(ids[file] for file in pair.files), pair.text) for pair in pairs]
    cosines = interviews.likenesses(name, spoken, progress=lambda done: progress(done, len(set(spoken))))
    judged = {
        split: [
            _judged(pair, condition, cosine, cosine)
            for pair, cosine in zip(pairs, cosines, strict=True)
            if pair.split == split
            for condition in CONDITIONS
        ]
        for split in dict.fromkeys(pair.split for pair in pairs)
    }
    return Judge(name, judged, _one_way(pairs), encoder=True)


def _judged(pair: Pair, condition: Condition, forward: float | None, backward: float | None) -> Judged:
    return Judged(pair.id, condition, truth(pair.kind, condition), forward, backward, pair.original)


def _one_way(pairs: Sequence[Pair]) -> frozenset[str]:
    return frozenset(pair.split for pair in pairs if pair.text)


def _templates(pairs: Sequence[Pair], scores: Mapping[tuple[str, Condition, bool], float | None]) -> list[Template]:
    """Return the means and deviations of the valid scores by wording."""
    found = []
    for number in range(TEMPLATES):
        groups: dict[tuple[str, Condition], list[float]] = {}
        for pair in pairs:
            for condition in CONDITIONS:
                for backward in (False, True):
                    score = scores.get((pair.id, condition, backward))
                    if pair.template == number and score is not None:
                        groups.setdefault((pair.kind, condition), []).append(score)
        found.append(
            Template(number, {key: (statistics.fmean(row), statistics.pstdev(row)) for key, row in groups.items()})
        )
    return found


def _both(judged: Sequence[Judged]) -> Measure:
    """Return the mean of MMScore where changes count and where they do not."""
    sides = [mmscore([one for one in judged if one.condition == name]) for name in CONDITIONS]
    undefined = next((side.undefined for side in sides if side.value is None), "")
    if undefined:
        return Measure(None, sides[0].n, undefined)
    return Measure(statistics.fmean(side.value or 0.0 for side in sides), sum(side.n for side in sides))


def _measured(metric: _Metric, rows: Sequence[Judged], *, interval: bool) -> Measure:
    return with_interval(metric, rows, resamples=_RESAMPLES) if interval else metric(rows)


def correlations(judges: Sequence[Judge], table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Measure]]:
    """Return Spearman's correlation of each metric with each other benchmark, over models that have both (table 2).

    Args:
        judges: With their pooled metrics.
        table: For each other benchmark, the score of each model.
    """
    from scipy.stats import spearmanr

    found: dict[str, dict[str, Measure]] = {}
    for metric in METRICS:
        values = {judge.name: judge.figure(metric).value for judge in judges}
        found[metric] = {}
        for name, scores in table.items():
            pairs = [(value, scores[model]) for model, value in values.items() if value is not None and model in scores]
            if len(pairs) < 3:  # noqa: PLR2004 - any two ranks agree or disagree wholly
                trouble = "a rank correlation needs three models at least that have both"
            elif any(len(set(side)) == 1 for side in zip(*pairs, strict=True)):
                trouble = "all models have the same score"
            else:
                found[metric][name] = Measure(float(spearmanr(*zip(*pairs, strict=True)).statistic), len(pairs))
                continue
            found[metric][name] = Measure(None, len(pairs), trouble)
    return found
