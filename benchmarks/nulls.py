"""How often are verdicts wrong where nothing is to be found? Nulls that resample real trials of every protocol.

    python -m benchmarks.nulls --json > docs/results/nulls/report.json

The units of `trials.json` (`benchmarks.real_trials`) are drawn again with replacement, and a claim's threshold is the
mean of what they are drawn from: a hair above it every "yes" is wrong, a hair below it every "no". All that follows is
the product's own code (`snellen.experiments.decisions`): how many rounds are made before anybody looks, who is asked,
when a claim is given up, what gets the rest of the pictures in the end, which claims e-BH decides. Models and
conditions are drawn together with their unit, so claims depend on each other as they do in an investigation.

A scenario is a report: of one claim, of several, of several of which some are clearly so ("and clear ones"), of two
experiments. `wrong` is the mean share of wrong verdicts among a report's verdicts (none, where nothing is decided), on
that of the two sides where it is larger, which shall be at most alpha; `any` is that of all verdicts about the claims
that are not clear; `interval` is Wilson's, 95 %, of `wrong`. "Each split counted" is what versions before did with
pairs: it shows that this benchmark sees the fault.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_command import null_parser
from benchmarks.real_trials import TRIALS, Trials, real_trials
from snellen.experiments.decisions import asked_now, decided, judged, next_rounds, replaced, taken_up, why_stopped
from snellen.experiments.design import Claim, Design, Measured
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.scoring import Observations, wilson_interval

CLEAR: Final = 0.25
"""How far the mean of a claim that is clearly so is above its threshold."""
_JUDGES: Final = ("llava-judge", "idefics3-judge")
_MODELS: Final = ("llava-upright", "blip2-clean", "idefics3-mirrored")

_Values = NDArray[np.float64]


class EachSplit(Design):
    """An experiment with pairs as versions before took it: whatever is a picture or a split counts."""

    @property
    def units(self) -> int:
        """The pictures of a round, by which experiments were sized."""
        return len(self.arms)


@dataclass(frozen=True)
class SimulatedClaim:
    """A claim of a scenario; its threshold follows from the trials.

    Attributes:
        kind: As in `Claim`.
        model: The model.
        other: The one that it is compared with.
        measure: As in `Claim`.
        clear: Whether it is clearly so; otherwise its threshold is the mean.
    """

    kind: Literal["ability", "plain", "drop", "better"]
    model: str
    other: str = ""
    measure: Measured = ""
    clear: bool = False


@dataclass(frozen=True)
class Scenario:
    """A report.

    Attributes:
        name: For people.
        experiments: For each its collection of trials and its claims.
        splits: Whether each split of a pair is counted, as versions before did.
        images: Pictures that it may use.
    """

    name: str
    experiments: tuple[tuple[str, tuple[SimulatedClaim, ...]], ...]
    splits: bool = False
    images: int = Budget().images


def _single(name: str, collection: str, *claims: SimulatedClaim, **more: Any) -> Scenario:  # noqa: ANN401 - fields of it
    """Return a report of one experiment."""
    return Scenario(name, ((collection, claims),), **more)


def _judges(*, clear: bool = False) -> tuple[SimulatedClaim, ...]:
    """Claims about both judges; with clear ones, order is one of them."""
    return tuple(
        SimulatedClaim("ability", model, measure=measure, clear=clear and measure == "order")
        for model in _JUDGES
        for measure in _OF_PAIRS
    )


_OF_PAIRS: Final[tuple[Measured, ...]] = ("order", "symmetry", "heed")
_OF_ANSWERS: Final[tuple[Measured, ...]] = ("truth", "help")
_DROPS: Final = tuple(SimulatedClaim("drop", model) for model in _MODELS)
_PLAIN: Final = tuple(SimulatedClaim("plain", model) for model in _MODELS)
_CLEAR: Final = tuple(SimulatedClaim("plain", model, clear=True) for model in _MODELS)
_FREE: Final = ("blip", *_MODELS)
SCENARIOS: Final = (
    *(_single(f"choice: ability, {one}", "birds", SimulatedClaim("ability", one)) for one in _MODELS),
    *(_single(f"choice: plain, {one}", "rotation", SimulatedClaim("plain", one)) for one in _MODELS),
    *(_single(f"choice: paired drop, {one}", "rotation", SimulatedClaim("drop", one)) for one in _MODELS),
    *(
        _single(f"choice: {one} better than {other}", "rotation", SimulatedClaim("better", one, other))
        for one, other in combinations(_MODELS, 2)
    ),
    _single("choice: plain and drop of three models", "rotation", *_PLAIN, *_DROPS),
    _single("choice: drop of three models, and clear ones", "rotation", *_CLEAR, *_DROPS),
    Scenario(
        "choice: two experiments",
        (("birds", tuple(SimulatedClaim("ability", one) for one in _MODELS)), ("rotation", _DROPS)),
    ),
    *(
        _single(f"freeform: {measure}, {one}", "freeform", SimulatedClaim("ability", one, measure=measure))
        for measure in _OF_ANSWERS
        for one in _FREE
    ),
    _single(
        "freeform: blip more truth than llava-upright",
        "freeform",
        SimulatedClaim("better", "blip", _MODELS[0], "truth"),
    ),
    _single(
        "freeform: truth of four models", "freeform", *(SimulatedClaim("ability", one, "", "truth") for one in _FREE)
    ),
    _single(
        "freeform: all comparisons of four models",
        "freeform",
        *(SimulatedClaim("better", one, other, "truth") for one, other in combinations(_FREE, 2)),
    ),
    _single(
        "freeform: truth of four models, and clear ones",
        "freeform",
        *(
            SimulatedClaim("ability", one, "", measure, clear=measure == "help")
            for one in _FREE
            for measure in _OF_ANSWERS
        ),
    ),
    *(
        _single(f"pairs: {measure}, {one}", "pairs", SimulatedClaim("ability", one, measure=measure))
        for one in _JUDGES
        for measure in _OF_PAIRS
    ),
    *(
        _single(f"pairs: better in {measure}", "pairs", SimulatedClaim("better", *_JUDGES, measure))
        for measure in _OF_PAIRS
    ),
    _single("pairs: three claims about two judges", "pairs", *_judges()),
    _single("pairs: claims about two judges, and clear ones", "pairs", *_judges(clear=True)),
    *(
        _single(
            f"each split counted: {measure}, {one}",
            "pairs",
            SimulatedClaim("ability", one, measure=measure),
            splits=True,
        )
        for one in _JUDGES
        for measure in _OF_PAIRS
    ),
    _single("each split counted: three claims about two judges", "pairs", *_judges(), splits=True),
)


class SimulatedTrials(Protocol):
    """What models would say: `snellen.experiments.protocols.protocol.Evaluated`, as far as they were asked."""

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        ...

    def observations(self, claim: Claim) -> Observations:
        """Return the values of the rounds about which all models of a claim were asked."""
        ...

    def results(self, *, alpha: float) -> list[Result]:
        """Return nothing: verdicts do not depend on it."""
        ...


class Resampled:
    """Trials of an experiment that are drawn again, unit by unit (`snellen.experiments.protocols.protocol.Evaluated`).

    Args:
        populations: For each claim the values that units have, shape (units of a round, rounds).
        rounds: Rounds that are drawn at most.
        dice: Draws them.
        linked: Whether what a round has was drawn together.
    """

    def __init__(
        self, populations: Mapping[Claim, _Values], rounds: int, dice: np.random.Generator, *, linked: bool
    ) -> None:
        self._populations = populations
        units, count = next(iter(populations.values())).shape
        drawn = dice.integers(count, size=(1 if linked else units, rounds))
        self._drawn = np.broadcast_to(drawn, (units, rounds))
        self._measured: dict[str, int] = {}

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        self._measured |= dict.fromkeys(models, rounds)

    def observations(self, claim: Claim) -> Observations:
        """Return the values of the rounds about which all models of a claim were asked."""
        rounds = min(self._measured.get(name, 0) for name in claim.models)
        values = np.take_along_axis(self._populations[claim], self._drawn[:, :rounds], axis=1)
        return Observations.independent(values.ravel().tolist())

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - nobody reads any
        """Return nothing: verdicts do not depend on it."""
        return []


@dataclass(frozen=True)
class NullScenario:
    """A scenario with what its units are drawn from.

    Attributes:
        scenario: The scenario.
        designs: Its experiments with their claims.
        populations: For each experiment and claim the values.
        true: For each claim that has a right verdict, whether that is yes.
    """

    scenario: Scenario
    designs: tuple[Design, ...]
    populations: tuple[Mapping[Claim, _Values], ...]
    true: frozenset[Claim]

    @classmethod
    def of(cls, scenario: Scenario, trials: Mapping[str, Trials]) -> NullScenario:
        """Put the thresholds where the means are, or well below."""
        designs, populations, true = [], [], set()
        for collection, asked in scenario.experiments:
            known, values = trials[collection], {}
            for one in asked:
                claim = Claim(kind=one.kind, model=one.model, other=one.other, measure=one.measure, threshold=0)
                drawn = known.splits(claim) if scenario.splits else known.population(claim)
                threshold = float(drawn.mean()) - (CLEAR if one.clear else 0)
                claim = claim.model_copy(update={"threshold": threshold})
                values[claim] = drawn
                if one.clear:
                    true.add(claim)
            design = known.design.model_copy(update={"claims": list(values)})
            designs.append(EachSplit(**dict(design)) if scenario.splits else design)
            populations.append(values)
        return cls(scenario, tuple(designs), tuple(populations), frozenset(true))

    def report(self, dice: np.random.Generator, alpha: float) -> Report:
        """Run one investigation: as the graph does, with draws in place of pictures and models."""
        budget = Budget(images=self.scenario.images)
        report = Report(query="", models=["any"], alpha=alpha, seed=0, budget=budget)
        drawn: list[Resampled] = []
        for design, values in zip(self.designs, self.populations, strict=True):
            most, linked = budget.images // len(design.arms), design.unit.whole_round
            drawn.append(Resampled(values, most, dice, linked=linked))
            begun = Experiment(design=design, findings=[Finding(claim=claim) for claim in design.claims])
            report = measured_on(report.model_copy(update={"experiments": [*report.experiments, begun]}), drawn)
        while next_rounds(longer := taken_up(report, [one.claim.about for one in report.findings])):
            report = measured_on(longer, drawn)
        for number, one in enumerate(drawn):
            report = judged(report, number, one)
        return decided(report)


def measured_on(report: Report, drawn: Sequence[SimulatedTrials]) -> Report:
    """Go on with the experiment under way until nothing more is to be made: build_benchmark, measure, discuss."""
    number = report.number
    while rounds := next_rounds(report):
        experiment = report.under_way
        experiment = experiment.model_copy(update={"rounds": experiment.rounds + rounds})
        drawn[number].measure(asked_now(experiment), experiment.rounds)
        report = judged(replaced(report, number, experiment), number, drawn[number])
    stopped = report.under_way.model_copy(update={"stopped": why_stopped(report)})
    return replaced(report, number, stopped)


def measured(scenario: Scenario, trials: Mapping[str, Trials], *, runs: int, alpha: float, seed: int) -> dict[str, Any]:
    """Run a scenario, and return how often its verdicts were wrong.

    Args:
        scenario: The scenario.
        trials: What is drawn from.
        runs: How often it is run.
        alpha: The error rate that its reports promise.
        seed: Of the draws.
    """
    bench, dice = NullScenario.of(scenario, trials), np.random.default_rng([seed, *scenario.name.encode()])
    wrong, verdicts, images, again = {"yes": 0.0, "no": 0.0, "any": 0.0}, 0, 0, 0
    for _ in range(runs):
        report = bench.report(dice, alpha)
        ruled = [one for one in report.findings if one.verdict != "open"]
        for side in wrong:
            false = [one for one in ruled if _is_wrong(one, side, is_clear=one.claim in bench.true)]
            wrong[side] += len(false) / len(ruled) if ruled else 0.0
        verdicts += len(ruled)
        images += report.images
        again += report.again is not None
    worst = max(wrong["yes"], wrong["no"])
    interval = wilson_interval(min(math.ceil(worst), runs), runs)
    claims = sum(len(design.claims) for design in bench.designs)
    return {
        "name": scenario.name, "claims": claims, "clear": len(bench.true), "wrong": worst / runs,
        "any": wrong["any"] / runs, "interval": asdict(interval), "decided": verdicts / runs / claims,
        "images": images / runs, "taken_up_again": again / runs,
    }  # fmt: skip


def _is_wrong(found: Finding, side: str, *, is_clear: bool) -> bool:
    """Tell whether a verdict is wrong, where one side is for claims whose threshold is the mean."""
    return found.verdict == "no" if is_clear else side == "any" or found.claim.of_gain or found.verdict == side


def main() -> None:
    """Measure, and print."""
    parser = null_parser(__doc__, runs=4_000)
    parser.add_argument("--trials", type=Path, default=TRIALS, help="the file of `benchmarks.real_trials`")
    parser.add_argument("--only", nargs="+", metavar="WORD", default=[""], help="scenarios whose names begin so")
    options = parser.parse_args()
    began, trials = time.monotonic(), real_trials(options.trials)
    chosen = [one for one in SCENARIOS if one.name.startswith(tuple(options.only))]
    rows = []
    for scenario in chosen:
        rows.append(measured(scenario, trials, runs=options.runs, alpha=options.alpha, seed=options.seed))
        print(_line(rows[-1]), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        given = {"alpha": options.alpha, "runs": options.runs, "seed": options.seed}
        print(json.dumps({**given, "scenarios": rows, "seconds": round(time.monotonic() - began, 1)}, indent=1))


def told(row: Mapping[str, Any]) -> str:
    """Tell how often verdicts were wrong."""
    low, high = (100 * end for end in row["interval"].values())
    return (
        f"wrong {100 * row['wrong']:5.2f} % ({low:.2f} to {high:.2f}), decided {row['decided']:.3f}, "
        f"{row['images']:.0f} pictures"
    )


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['name']:56} {told(row)}, taken up again {row['taken_up_again']:.2f}"


if __name__ == "__main__":
    main()
