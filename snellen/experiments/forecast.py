"""Forecast of an experiment: how many pictures and questions it will take, simulated with the rules that will end it.

How clearly the models will pass or fail is not known beforehand, and that decides how many pictures it takes. So runs
are simulated in which each model is as good as it was in the latest experiment, or, where it was not asked yet,
anything between guessing and always being right (by Jeffreys' prior: rather one of the two than halfway). One run more
has models that are as clear as can be. The forecast is the range in which all of these runs ended.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

from snellen.experiments.decisions import asked_now, decided, finding, next_rounds, replaced
from snellen.experiments.design import BY_CLASS, Design
from snellen.experiments.report import Experiment, Finding, Report
from snellen.scoring import Observations

if TYPE_CHECKING:
    from snellen.experiments.design import Claim
    from snellen.experiments.report import Result

_RUNS: Final = 20
_QUARTER: Final = 0.25
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class SimulatedRun:
    """A run that might be.

    Attributes:
        pictures: How many it took.
        asked: About how many of them each model was asked, by the model's name.
    """

    pictures: int
    asked: Mapping[str, int]


def simulated_runs(design: Design, report: Report) -> tuple[SimulatedRun, ...]:
    """Return runs of an experiment as they might be, first the clearest; the same ones for the same arguments.

    Args:
        design: The experiment.
        report: The report that it would be the next experiment of.
    """
    return _simulated(design.model_dump_json(), report.model_dump_json())


@lru_cache(maxsize=32)
def _simulated(design: str, report: str) -> tuple[SimulatedRun, ...]:
    read = Design.model_validate_json(design), Report.model_validate_json(report)
    dice = [random.Random(f"forecast/{number}") for number in range(_RUNS + 1)]
    return tuple(_run(*read, each, is_clear=not number) for number, each in enumerate(dice))


def _run(design: Design, report: Report, dice: random.Random, *, is_clear: bool) -> SimulatedRun:
    findings = list(map(Finding.unobserved, design.claims))
    experiments = [*report.experiments, Experiment(design=design, findings=findings)]
    report = report.model_copy(update={"experiments": experiments, "again": None})
    answers, number = _SimulatedAnswers(design, report, dice, is_clear), report.number
    asked: Counter[str] = Counter()
    while rounds := next_rounds(report):
        experiment, names = report.under_way, asked_now(report.under_way)
        for name in names:
            answers.ask(name, rounds * design.units)
            asked[name] += rounds * len(design.arms)
        findings = [
            finding(design, answers, one) if {one.claim.model, one.claim.other} & {*names} else one
            for one in experiment.findings
        ]
        known = experiment.model_copy(update={"rounds": experiment.rounds + rounds, "findings": findings})
        report = decided(replaced(report, number, known))
    return SimulatedRun(report.under_way.images, dict(asked))


@dataclass
class _SimulatedAnswers:
    """Answers of models that are right at random (an `Evaluated`).

    Attributes:
        design: Of the experiment.
        report: Says how good the models were before.
        dice: What decides.
        is_clear: Whether models are always right, until pictures are transformed, and then guess.
        rates: For each model that was asked how probably it is right about a picture, and about one before it was
            transformed.
        drawn: For each model, how hard each unit is for it: it is right where that is less than its rate. A unit that
            is hard for it before it was transformed is so afterwards.
    """

    design: Design
    report: Report
    dice: random.Random
    is_clear: bool
    rates: dict[str, tuple[float, float]] = field(default_factory=dict)
    drawn: dict[str, list[float]] = field(default_factory=dict)

    def ask(self, model: str, units: int) -> None:
        """Have a model answer about more units."""
        if model not in self.rates:
            guessing = 1 / len(self.design.parts[0].told_apart) if self.design.protocol == "choice" else 0.0
            best = 1.0 if self.is_clear else self._best(model, guessing)
            most = max(best - guessing, 0.0) if self.design.paired or self.design.tasks or self.design.compared else 0.0
            loss = most if self.is_clear else self.dice.uniform(0, most)
            self.rates[model] = best - loss, best
        lots = units * (len(self.design.tasks) or 1)
        self.drawn.setdefault(model, []).extend(self.dice.random() for _ in range(lots))

    def _best(self, model: str, guessing: float) -> float:
        """Return how good a model may be at pictures that are not transformed."""
        for experiment in reversed(self.report.experiments):
            for result in experiment.results:
                is_plain = result.plain or not experiment.design.paired
                if result.model == model and result.n and is_plain:
                    low, high = result.interval
                    return min(max(self.dice.uniform(low, high), 0.0), 1.0)
        return guessing + (1 - guessing) * self.dice.betavariate(0.5, 0.5)

    def observations(self, claim: Claim) -> Observations:
        """Return what a claim is about, a value for each unit."""
        if claim.kind == "better":
            return Observations.independent(
                one - other for one, other in zip(self._right(claim.model), self._right(claim.other), strict=False)
            )
        if claim.kind in BY_CLASS:  # worse at the first class, or better, than at all others
            names, best = list(self.design.compared), claim.kind == "best"
            both = zip(self._right(claim.model), self._right(claim.model, plain=True), strict=True)
            lots = enumerate((rest, one) if best else (one, rest) for one, rest in both)
            return Observations({(names[n % len(names)], n): (pair[n % len(names) > 0]) for n, pair in lots})
        if claim.kind == "contrast":  # as good at the one as at plain pictures, and worse at the other
            one, other = self._right(claim.model, plain=True)[::2], self._right(claim.model)[1::2]
            return Observations.independent(a - b for a, b in zip(one, other, strict=True))
        if claim.kind == "drop":
            return Observations.independent(self._lost(claim.model, share=claim.share))
        if claim.kind == "steadier":
            return Observations.independent(
                other - one for one, other in zip(self._lost(claim.model), self._lost(claim.other), strict=False)
            )
        right = self._right(claim.model, plain=claim.kind == "plain")
        return Observations.independent(claim.low + (1 - claim.low) * value for value in right)

    def _lost(self, model: str, *, share: float = 0) -> list[float]:
        both = zip(self._right(model, plain=True), self._right(model), strict=True)
        return self.design.lost(both, share=share)

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - no run is reported
        """Return nothing."""
        return []

    def _right(self, model: str, *, plain: bool = False) -> list[float]:
        rate = self.rates[model][plain] if model in self.rates else 0.0
        return [float(hard < rate) for hard in self.drawn.get(model, ())]


@dataclass(frozen=True)
class PaceOfModels:
    """Seconds that work takes here, as far as it was measured.

    Attributes:
        picture: Of making a picture.
        questions: Of a question to each model, one figure for each of its latest shards; nothing where it was not asked
            yet.
        each: Questions about a picture that are put to each model.
    """

    picture: float
    questions: Mapping[str, Sequence[float]]
    each: int


@dataclass(frozen=True)
class Forecast:
    """The range in which simulated runs ended.

    Attributes:
        pictures: The least, the median and the most.
        questions: The least and the most questions to models.
        seconds: The least and the most; None where nobody knows how long a model takes.
        unknown: The models of which that is not known.
    """

    pictures: tuple[int, int, int]
    questions: tuple[int, int]
    seconds: tuple[float, float] | None
    unknown: tuple[str, ...] = ()


def forecast(runs: Sequence[SimulatedRun], pace: PaceOfModels, *, most_seconds: float) -> Forecast:
    """Return what an experiment will take.

    Args:
        runs: Simulated ones, at least one.
        pace: Seconds that work takes.
        most_seconds: What the budget leaves for asking models.
    """
    names = sorted({name for run in runs for name in run.asked})
    unknown = tuple(name for name in names if not pace.questions.get(name))
    pictures = sorted(run.pictures for run in runs)
    questions = [pace.each * sum(run.asked.values()) for run in runs]
    ends = [
        [run.pictures * pace.picture + min(_asking(run, pace, share), most_seconds) for run in runs]
        for share in (_QUARTER, 1 - _QUARTER)
    ]
    return Forecast(
        pictures=(pictures[0], _at(pictures, 0.5), pictures[-1]),
        questions=(min(questions), max(questions)),
        seconds=None if unknown else (min(ends[0]), max(ends[1])),
        unknown=unknown,
    )


def _asking(run: SimulatedRun, pace: PaceOfModels, share: float) -> float:
    """Return the seconds of asking the models, each at a quantile of what it took for a question."""
    return sum(
        pictures * pace.each * _at(sorted(pace.questions[name]), share)
        for name, pictures in run.asked.items()
        if pace.questions.get(name)
    )


def _at(ordered: Sequence[Number], share: float) -> Number:
    return ordered[round(share * (len(ordered) - 1))]
