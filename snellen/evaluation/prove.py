"""Free answers to a benchmark's questions, asked for, read and scored (PROVE, section 3.2 and table 1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.evaluation.stage_calls import StageCalls
from snellen.experiments.protocols.free_answers import question_key, refuse_mute
from snellen.scoring.freeform import AnswerScores, AnswerTuples, Embed, Entails, Metric, score_answers
from snellen.scoring.measure import Interval, Measure
from snellen.scoring.scene_graph import Fact, SceneGraph, numbered
from snellen.scoring.verification import Verifier

if TYPE_CHECKING:
    from snellen.datasets.prove import ProveBenchmark
    from snellen.datasets.prove.building import Reader
    from snellen.experiments.trial_runner import StageProgress, TrialRunner
    from snellen.memory.trials import TrialKey
    from snellen.models.under_test import Card

REFUSAL: Final = "I cannot answer that."
BASELINES: Final = ("oracle", "blind", "copies the question", "refuses", "says everything")
"""Who answers beside the models: the program, on what can be read of the caption; a model that sees a gray picture; the
question itself; nobody; and the whole caption."""
_READING_RIGHT: Final = "reading right answers"
_READING: Final = "reading answers"
_SCORING: Final = "scoring"
_READ_TOGETHER: Final = 200
"""Answers between two words about how far reading is; a chat model reads as many at once as its profile allows."""
_RESAMPLES: Final = 1_000
_EXAMPLES: Final = 3
_SHOWN: Final = 60
"""Characters of what was not read that are shown."""
_GRAY: Final = (128, 128, 128)


@dataclass(frozen=True)
class ScoredAnswers:
    """The answers of a model or a baseline to all questions, with their scores.

    Attributes:
        name: Of the model or the baseline.
        answers: To each question, as written.
        said: The tuples of each answer.
        scores: Of each answer.
    """

    name: str
    answers: Sequence[str]
    said: Sequence[Sequence[Fact]]
    scores: Sequence[AnswerScores]


@dataclass(frozen=True)
class ProveScores:
    """The figures of a model or a baseline.

    Attributes:
        hscore: The mean helpfulness where it is defined (equation 1), in [0, 1].
        tscore: The mean truthfulness (equation 2) of the answers that say something.
        n: Questions.
        silent: The share of answers that say nothing.
    """

    hscore: Measure
    tscore: Measure
    n: int
    silent: float

    @property
    def average(self) -> Measure:
        """The mean of both (table 1)."""
        for name, one in (("hscore", self.hscore), ("tscore", self.tscore)):
            if one.value is None:
                return Measure(None, one.n, f"{name} is undefined: {one.undefined}")
        return Measure(((self.hscore.value or 0) + (self.tscore.value or 0)) / 2, self.n)


@dataclass(frozen=True)
class ProveResult:
    """The result of a benchmark of free answers.

    Attributes:
        benchmark: The benchmark.
        metric: How alike tuples were taken to be.
        models: Answers of the models that were examined.
        baselines: Answers of the baselines beside them.
        notes: Models that could not be examined, in sentences.
    """

    benchmark: ProveBenchmark
    metric: Metric
    models: Sequence[ScoredAnswers]
    baselines: Sequence[ScoredAnswers]
    notes: Sequence[str] = field(default_factory=list)

    def scores(self, answers: ScoredAnswers, kind: str = "") -> ProveScores:
        """Return the figures of a model or a baseline, for questions of one kind or for all."""
        places = [place for place, item in enumerate(self.benchmark.items) if kind in {"", item.kind}]
        scenes = [self.benchmark.items[place].scene for place in places]
        scores = [answers.scores[place] for place in places]
        return ProveScores(
            hscore=_mean([one.hscore for one in scores], scenes),
            tscore=_mean([one.tscore for one in scores], scenes),
            n=len(places),
            silent=sum(not answers.said[place] for place in places) / max(len(places), 1),
        )

    @property
    def kinds(self) -> list[str]:
        """The kinds of questions, the most frequent first."""
        counts: dict[str, int] = {}
        for item in self.benchmark.items:
            counts[item.kind] = counts.get(item.kind, 0) + 1
        return sorted(counts, key=lambda kind: (-counts[kind], kind))

    @property
    def correlation(self) -> Measure:
        """The linear correlation of hscore and tscore over models (figure 4)."""
        pairs = [
            (row.hscore.value, row.tscore.value)
            for row in map(self.scores, self.models)
            if row.hscore.value is not None and row.tscore.value is not None
        ]
        if len(pairs) < 3:  # noqa: PLR2004 - any two points are on a line
            return Measure(None, len(pairs), "a correlation over models needs three of them at least")
        one, other = np.asarray(pairs, dtype=float).T
        if one.std() == 0 or other.std() == 0:
            return Measure(None, len(pairs), "all models have the same score")
        return Measure(float(np.corrcoef(one, other)[0, 1]), len(pairs))


async def examine(
    benchmark: ProveBenchmark,
    runner: TrialRunner,
    models: Sequence[str],
    *,
    reader: Reader,
    embed: Embed,
    entails: Callable[[Mapping[str, str]], Entails] | None = None,
    metric: Metric = "paper",
    stages: StageCalls = StageCalls(),  # noqa: B008 - it is frozen
) -> ProveResult:
    """Ask models the questions of a benchmark, and score what they and the baselines say.

    Args:
        benchmark: The questions.
        runner: Asks models.
        models: By their names in the profile; what cannot answer freely is told, not scored.
        reader: Reads the tuples of answers.
        embed: Of texts.
        entails: Makes what judges entailment from the ids of pictures by their scenes' names; None leaves it out.
        metric: How alike tuples are.
        stages: Are told of each stage.

    Raises:
        SnellenError: No model could be asked.
    """
    progress, expect = stages.tell, stages.expect
    items = benchmark.items
    questions = [item.question for item in items]
    silent = _silent(benchmark)
    right = [item.answer for item in items]
    known, reading = (_Reading(name, reader, questions, progress) for name in (_READING_RIGHT, _READING))
    known.expect(right)
    reading.expect(*silent.values())
    expect(known.name, known.total, "")
    # How much models will say is not known; captions, which are long, take most of the time.
    expect(reading.name, reading.total, known.name)
    for name in models:
        expect(name, len(items), models[0])
    answering = list[str]()
    references = await known.of(right)
    files = {scene: benchmark.picture(scene) for scene in benchmark.scenes}
    ids = await asyncio.to_thread(runner.store, files)

    def keys(card: Card) -> list[TrialKey]:
        expect(card.name, 0, "")
        refuse_mute(card)
        answering.append(card.name)
        expect(card.name, len(items), answering[0])
        expect(_blind(answering[0]), len(items), answering[0])
        return [question_key(card.fingerprint, ids[item.scene], item.question) for item in items]

    trials, notes = await runner.run_each(models, keys, progress=progress)
    answers = {name: [trial.said for trial in row] for name, row in trials.items()}
    oracle, blind = await _baselines(benchmark, runner, next(iter(trials)), reader, progress)
    reading.expect(*answers.values(), *oracle.values(), *blind.values())
    answers |= oracle | blind | silent
    facts = {name: await reading.of(texts) for name, texts in answers.items()}
    premises = await reader.premises(questions)
    graphs = {name: scene.graph.facts for name, scene in benchmark.scenes.items()}
    await asyncio.to_thread(embed, questions[:1])  # the encoder is read, which says nothing about the pace of scoring
    expect(_SCORING, len(answers), "")
    progress(_SCORING, 0, len(answers))
    scored: list[ScoredAnswers] = []
    for name, texts in answers.items():
        said = facts[name]
        rows = [
            AnswerTuples(
                said=said[place], reference=references[place], premise=premises[place], scene=graphs[item.scene],
                picture=item.scene,
            )
            for place, item in enumerate(items)
        ]  # fmt: skip
        judge = None if entails is None else entails(ids)
        scores = await asyncio.to_thread(score_answers, rows, embed, judge, metric=metric)
        notes += unread_notes(name, reader, texts, questions) if name in trials else []
        scored.append(ScoredAnswers(name, texts, said, scores))
        progress(_SCORING, len(scored), len(answers))
    return ProveResult(benchmark, metric, scored[: len(trials)], scored[len(trials) :], notes)


@dataclass
class _Reading:
    """Reading of answers, told as it goes, by characters; a text that comes again costs little, and counts once.

    Attributes:
        name: Of the stage.
        reader: Reads their tuples.
        questions: What they answer, one each.
        progress: Is told.
        expected: Texts that there will be.
        read: Texts that were read.
    """

    name: str
    reader: Reader
    questions: Sequence[str]
    progress: StageProgress
    expected: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    def expect(self, *answers: Sequence[str]) -> None:
        """Count in what will be read."""
        self.expected.update(*answers)

    @property
    def total(self) -> int:
        """Characters that there will be."""
        return sum(map(len, self.expected))

    def _tell(self) -> None:
        self.progress(self.name, sum(map(len, self.read)), self.total)

    async def of(self, answers: Sequence[str]) -> list[list[Fact]]:
        """Return the tuples of an answer to each question."""
        self._tell()
        texts = list(zip(answers, self.questions, strict=True))
        facts: list[list[Fact]] = []
        for begun in range(0, len(texts), _READ_TOGETHER):
            part = texts[begun : begun + _READ_TOGETHER]
            facts += await self.reader.read_all(part)
            self.read.update(text for text, _ in part)
            self._tell()
        return facts


def unread_notes(model: str, reader: Reader, answers: Sequence[str], questions: Sequence[str]) -> list[str]:
    """Say in how many answers of a model words were not read, and which; nothing where all were.

    Such words are neither true nor false: an answer is scored by what was read of it.
    """
    unread = [words for pair in zip(answers, questions, strict=True) if (words := reader.unread(*pair))]
    if not unread:
        return []
    examples = ", ".join(repr(" ".join(words)[:_SHOWN]) for words in unread[:_EXAMPLES])
    return [
        f"In {len(unread)} of {len(answers)} answers of {model} words were not read and count for nothing: {examples}."
    ]


async def _baselines(
    benchmark: ProveBenchmark, runner: TrialRunner, model: str, reader: Reader, progress: StageProgress
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return what the oracle says, if there is one, and the blind one, which is a model that sees only gray."""
    from PIL import Image

    gray = runner.pictures.put(Image.new("RGB", (128, 128), _GRAY)).id
    fingerprint = runner.executor.card(model).fingerprint
    keys = [question_key(fingerprint, gray, item.question) for item in benchmark.items]
    blind = await asyncio.to_thread(runner.run, model, keys, progress=partial(progress, _blind(model)))
    oracle = {BASELINES[0]: await _oracle(benchmark, reader)} if Verifier.available() else {}
    return oracle, {f"{BASELINES[1]} ({model})": [trial.said for trial in blind]}


def _silent(benchmark: ProveBenchmark) -> dict[str, list[str]]:
    """Return what those say who look at nothing."""
    items = benchmark.items
    copies, refuses, everything = BASELINES[2:]
    return {
        copies: [item.question for item in items],
        refuses: [REFUSAL for _ in items],
        everything: [benchmark.scenes[item.scene].caption for item in items],
    }


def _blind(model: str) -> str:
    """Return the name of the stage in which a model sees gray."""
    return f"{model}, blind"


async def _oracle(benchmark: ProveBenchmark, reader: Reader) -> list[str]:
    """Answer by the programs, on the graphs of what the captions are read to say."""
    captions = {name: scene.caption for name, scene in benchmark.scenes.items()}
    read = await reader.read_all([(caption, "") for caption in captions.values()])
    graphs = {
        name: SceneGraph(_numbered(facts), caption=captions[name]) for name, facts in zip(captions, read, strict=True)
    }
    with Verifier() as verifier:
        verified = verifier.run_all((item.program, graphs[item.scene]) for item in benchmark.items)
        return [one.answer or "" for one in verified]


def _numbered(facts: Sequence[Fact]) -> list[Fact]:
    """Return facts in which "two dogs" are two: programs count entities."""
    many = [(fact.entity, int(fact.attribute)) for fact in facts if fact.kind == "count" and fact.attribute.isdigit()]
    return [*facts, *(Fact(numbered(name, place)) for name, number in many for place in range(2, min(number, 50) + 1))]


def _mean(measures: Iterable[Measure], clusters: Sequence[str]) -> Measure:
    """Return the mean of those that are defined, with its interval by bootstrap over clusters."""
    groups: dict[str, list[float]] = {}
    missing = ""
    for one, cluster in zip(measures, clusters, strict=True):
        if one.value is None:
            missing = one.undefined
        else:
            groups.setdefault(cluster, []).append(one.value)
    if not groups:
        return Measure(None, 0, missing or "there are no answers")
    sums = np.array([(sum(values), len(values)) for values in groups.values()], dtype=float)
    drawn = np.random.default_rng(0).integers(len(sums), size=(_RESAMPLES, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975])
    total = sums.sum(axis=0)
    return Measure(float(total[0] / total[1]), int(total[1]), interval=Interval(float(low), float(high)))
