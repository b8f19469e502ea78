"""Judges of pairs on a benchmark: asked in both orders under both conditions, and measured (PairBench, section 2)."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from snellen.datasets.pairs import TEMPLATES, Pair, PairBenchmark
from snellen.errors import SnellenError
from snellen.evaluation.stage_calls import StageCalls
from snellen.experiments.protocols.pair_scoring import pair_keys, pair_scores
from snellen.memory.trials import Trial, TrialKey
from snellen.scoring.judge_replies import not_understood, parsed_score
from snellen.scoring.measure import Measure
from snellen.scoring.pairs import (
    CONDITIONS,
    Condition,
    PairOrder,
    PairScores,
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
    from snellen.experiments.trial_runner import TrialRunner
    from snellen.models.under_test import Card

POOLED: Final = "pooled"
"""The name of all splits together."""
ORDERS: Final[tuple[PairOrder, ...]] = ("forward", "backward", "both")
EPSILONS: Final = (0, 1, 2)
METRICS: Final = ("mmscore", "relaxsym", "smoothness", "controllability")
"""The metrics that other benchmarks are compared with (table 2): MMScore is the mean of both conditions there."""
_RESAMPLES: Final = 200
_FEW: Final = 5
"""Originals below which there is no verdict."""
_WELL: Final = 0.7
_ROUGHLY: Final = 0.4
_Metric = Callable[[Sequence[PairScores]], Measure]


@dataclass(frozen=True)
class Template:
    """Scores of a judge with one wording (appendix C.6, table 8).

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
    judged: Mapping[str, Sequence[PairScores]]
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

    def of(self, split: str) -> list[PairScores]:
        """Return the scores of a split, or of all."""
        return [one for name, rows in self.judged.items() if split in {name, POOLED} for one in rows]

    def agreement(
        self, split: str, condition: Condition, order: PairOrder = "both", *, interval: bool = True
    ) -> Measure:
        """Return MMScore in a split."""
        rows = [one for one in self.of(split) if one.condition == condition]
        return _measured(partial(mmscore, order=order), rows, interval=interval)

    def symmetry(self, split: str, epsilon: float, *, interval: bool = True) -> Measure:
        """Return ε-RelaxSym in a split; a text and a picture have one order only."""
        rows = [
            one
            for name, scored in self.judged.items()
            if split in {name, POOLED} and name not in self.one_way
            for one in scored
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
        """The verdict on what it can be trusted with, in plain words."""
        score = self.figure("mmscore").value
        originals = len({one.cluster for one in self.of(POOLED)})
        if originals < _FEW:
            return f"Of {originals} originals nothing can be said about it."
        troubles = flaws(self.of(POOLED))
        if self.encoder:
            troubles = [one for one in troubles if "criterion" not in one]
            troubles.append("it cannot be told what counts")
        if score is None or score < 1 - _WELL:
            return (
                "It cannot be trusted to order pairs: " + "; ".join(troubles or ["it orders them hardly or not"]) + "."
            )
        well = "well" if score >= _WELL else "roughly" if score >= _ROUGHLY else "hardly"
        return f"It orders pairs {well}" + (f", but {'; '.join(troubles)}." if troubles else ".")


@dataclass(frozen=True)
class PairBenchmarkResult:
    """The result of a benchmark of pairs.

    Attributes:
        benchmark: It.
        judges: Those that were examined.
        notes: What could not be, in sentences.
    """

    benchmark: PairBenchmark
    judges: Sequence[Judge]
    notes: Sequence[str] = field(default_factory=list)


async def examine(
    benchmark: PairBenchmark,
    runner: TrialRunner,
    models: Sequence[str],
    *,
    compatible: bool = False,
    stages: StageCalls = StageCalls(),  # noqa: B008 - it is frozen
) -> PairBenchmarkResult:
    """Have models judge the pairs of a benchmark; what was judged before is not asked again.

    An encoder compares the two things of each pair (appendix C.5): it knows neither orders nor conditions.

    Args:
        benchmark: The pairs.
        runner: Asks models.
        models: By their names in the profile; what they cannot compare is told, not scored.
        compatible: Take two invalid answers for symmetric, as the paper's release does.
        stages: Are told of each model before it is asked, and of its trials.

    Raises:
        SnellenError: No model could judge any pair.
    """
    files = {name: benchmark.picture(name) for pair in benchmark.pairs for name in pair.files}
    ids = await asyncio.to_thread(runner.store, files)

    def keys(card: Card) -> list[TrialKey]:
        stages.expect(card.name, 0, "")
        named = [key for pair in _readable(card, benchmark.pairs) for key in _keys(card, pair, ids)]
        stages.expect(card.name, len(set(named)), "")
        return named

    for name in models:
        stages.expect(name, len(benchmark.pairs), "")
    trials, notes = await runner.run_each(models, keys, progress=stages.tell)
    judges = []
    for name, answers in trials.items():
        card = runner.executor.card(name)
        pairs = _readable(card, benchmark.pairs)
        if len(pairs) < len(benchmark.pairs):
            notes.append(f"{name} reads one picture at once: it cannot compare two, only texts.")
        judges.append(_judge(card, name, pairs, answers, compatible=compatible))
    return PairBenchmarkResult(benchmark, judges, notes)


def _readable(card: Card, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that a model can read.

    Raises:
        SnellenError: There is none.
    """
    readable = [pair for pair in pairs if not card.answers or len(pair.files) <= card.pictures]
    if not readable:
        msg = "it reads one picture at once, and cannot compare two"
        raise SnellenError(msg)
    return readable


def _keys(card: Card, pair: Pair, ids: Mapping[str, str]) -> list[TrialKey]:
    if card.answers:
        return pair_keys(pair, card.fingerprint, ids)
    return [TrialKey(card.fingerprint, tuple(ids[file] for file in pair.files), pair.text, ())]


def _judge(card: Card, name: str, pairs: Sequence[Pair], trials: Sequence[Trial], *, compatible: bool) -> Judge:
    """Read the trials of a model, those of one pair after those of the other."""
    one_way = frozenset(pair.split for pair in pairs if pair.text)
    answers, samples, scores = iter(trials), [], {}
    for pair in pairs:
        ways = 2 if pair.text else 4
        if card.answers:
            about = list(islice(answers, ways))
            samples += [(pair.id, trial.said[:200]) for trial in about]
            scores[pair.id] = pair_scores(pair, [parsed_score(trial.said) for trial in about])
        else:
            scores[pair.id] = pair_scores(pair, [next(answers).scores[0][0]] * ways)
    by_split = {
        split: [one for pair in pairs if pair.split == split for one in scores[pair.id]]
        for split in dict.fromkeys(pair.split for pair in pairs)
    }
    if not card.answers:
        return Judge(name, by_split, one_way, encoder=True, compatible=compatible)
    return Judge(
        name, by_split, one_way, compatible=compatible, templates=_templates(pairs, scores),
        samples=samples[:: max(len(samples) // 6, 1)], not_understood=not_understood(one.said for one in trials),
    )  # fmt: skip


def _templates(pairs: Sequence[Pair], scores: Mapping[str, Sequence[PairScores]]) -> list[Template]:
    """Return the means and deviations of the valid scores by wording."""
    templates = []
    for number in range(TEMPLATES):
        groups: dict[tuple[str, Condition], list[float]] = {}
        for pair in pairs:
            for one in scores[pair.id] if pair.template == number else ():
                valid = [score for score in (one.forward, one.backward) if score is not None]
                if valid:
                    groups.setdefault((pair.kind, one.condition), []).extend(valid)
        means = {key: (statistics.fmean(row), statistics.pstdev(row)) for key, row in groups.items()}
        templates.append(Template(number, means))
    return templates


def _both(judged: Sequence[PairScores]) -> Measure:
    """Return the mean of MMScore where changes count and where they do not."""
    sides = [mmscore([one for one in judged if one.condition == name]) for name in CONDITIONS]
    undefined = next((side.undefined for side in sides if side.value is None), "")
    if undefined:
        return Measure(None, sides[0].n, undefined)
    return Measure(statistics.fmean(side.value or 0.0 for side in sides), sum(side.n for side in sides))


def _measured(metric: _Metric, rows: Sequence[PairScores], *, interval: bool) -> Measure:
    return with_interval(metric, rows, resamples=_RESAMPLES) if interval else metric(rows)


def correlations(judges: Sequence[Judge], table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Measure]]:
    """Return Spearman's correlation of each metric with each other benchmark, over models that have both (table 2).

    Args:
        judges: With their pooled metrics.
        table: For each other benchmark, the score of each model.
    """
    from scipy.stats import spearmanr

    by_metric: dict[str, dict[str, Measure]] = {}
    for metric in METRICS:
        values = {judge.name: judge.figure(metric).value for judge in judges}
        by_metric[metric] = {}
        for name, scores in table.items():
            pairs = [(value, scores[model]) for model, value in values.items() if value is not None and model in scores]
            if len(pairs) < 3:  # noqa: PLR2004 - any two ranks agree or disagree wholly
                trouble = "a rank correlation needs three models at least that have both"
            elif any(len(set(side)) == 1 for side in zip(*pairs, strict=True)):
                trouble = "all models have the same score"
            else:
                by_metric[metric][name] = Measure(float(spearmanr(*zip(*pairs, strict=True)).statistic), len(pairs))
                continue
            by_metric[metric][name] = Measure(None, len(pairs), trouble)
    return by_metric
