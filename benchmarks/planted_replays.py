"""The planted queries answered over and over, from trials that are drawn again: policies are compared in minutes.

    python -m benchmarks.planted_replays --json > docs/results/planted/replays.json

`trials.json` (`benchmarks.planted_trials`) has what models said in every experiment that a query may lead to. Its
pictures are drawn again with replacement, arm by arm, and each query is answered `--runs` times in the three ways of
`benchmarks.planted`; all that decides is the product's own code. What is true is known here: the trials are the
population, so their mean is the mean. A query whose means are too near to their thresholds to be settled by 5,000
pictures is left out, as it is there.

`right`, `wrong`, `undecided`: means over the runs of how many queries were; `images`: of their pictures together.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.nulls import SimulatedTrials, measured_on
from benchmarks.planted import SETTLED, PlantedBench, PlantedOutcome, PlantedQuery
from benchmarks.planted_trials import NONE, SIGNS, TRIALS, name_of, question_of
from snellen.errors import BadInput
from snellen.experiments.decisions import decided, next_rounds, taken_up, with_intervals
from snellen.experiments.design import Claim, Design
from snellen.experiments.examination_plan import ExaminedQuestion
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.experiments.standings import ModelStanding, next_of, standings
from snellen.experiments.verdicts import Verdict
from snellen.memory.samples import Sample
from snellen.profiles import load_profile
from snellen.scoring import Observations

_TRUTH: Final = 5_000
"""Pictures that would settle a query of `benchmarks.planted`."""
Population = Mapping[tuple[str, bool], Sequence[str]]
"""By model and condition (plain or not) the choices of each arm, a sign for each round."""


class Replayed:
    """Trials of an experiment that are drawn again, arm by arm (`benchmarks.nulls.SimulatedTrials`).

    Args:
        design: The experiment.
        population: What models said.
        rounds: Rounds that are drawn at most.
        dice: Draws them; None takes every round of the population once.
    """

    def __init__(self, design: Design, population: Population, rounds: int, dice: np.random.Generator | None) -> None:
        self._design, self._population, self._rounds = design, population, dict[str, int]()
        signs = next(iter(population.values()))
        self._drawn = [
            list(range(len(one))) if dice is None else dice.integers(len(one), size=rounds).tolist() for one in signs
        ]

    @property
    def most(self) -> int:
        """Rounds that were drawn."""
        return len(self._drawn[0])

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        self._rounds |= dict.fromkeys(models, rounds)
        self.__dict__.pop("choices", None)

    @cached_property
    def choices(self) -> EvaluatedChoices:
        """The choices so far."""
        options = [*self._design.choices]
        samples = [
            Sample("", 0, place, arm, "", "", "", "", 0)
            for place in range(max(self._rounds.values(), default=0))
            for arm in range(len(self._drawn))
        ]
        made: dict[tuple[str, bool], dict[Sample, str | None]] = {}
        for (model, plain), signs in self._population.items():
            most, row = self._rounds.get(model, 0), made.setdefault((model, plain), {})
            for sample in samples[: most * len(self._drawn)]:
                sign = signs[sample.arm][self._drawn[sample.arm][sample.round]]
                row[sample] = None if sign == NONE else options[SIGNS.index(sign)]
        return EvaluatedChoices(self._design, samples, made)

    def observations(self, claim: Claim) -> Observations:
        """Return the values of the rounds about which all models of a claim were asked."""
        return self.choices.observations(claim)

    def results(self, *, alpha: float) -> list[Result]:
        """Return the results of all models so far."""
        return self.choices.results(alpha=alpha)


@dataclass(frozen=True)
class OneQuestion:
    """Goes through the experiments of one question, as the case-based examiner does (`CaseExaminer`).

    Attributes:
        part: The question.
    """

    part: ExaminedQuestion

    def next_design(self, report: Report) -> Design | None:
        """Return the next experiment."""
        return next_of(self.part, report.experiments)

    def standings(self, report: Report) -> list[ModelStanding]:
        """Return where every model stands."""
        return standings(self.part, report.experiments)


class PlantedReplayBench(PlantedBench):
    """Answers a query in each of the ways, from trials that are drawn again.

    Args:
        row: The query's trials, as collected.
        part: Its question.
        options: Of the command line.
        dice: Draws.
    """

    def __init__(
        self, row: Mapping[str, Any], part: ExaminedQuestion, options: argparse.Namespace, dice: np.random.Generator
    ) -> None:
        self.options, self.dice, self.examiner = options, dice, OneQuestion(part)  # type: ignore[assignment]
        self._populations: dict[str, Population] = {
            one["name"]: {
                (model, plain == "plain"): signs
                for model, each in one["choices"].items()
                for plain, signs in each.items()
            }
            for one in row["experiments"]
        }

    def drawn(self, design: Design, rounds: int, *, all_once: bool = False) -> Replayed:
        """Return trials of an experiment.

        Raises:
            BadInput: None were collected.
        """
        population = self._populations.get(name_of(design))
        if population is None:
            msg = f"No trials of “{design.question}” ({design.skill}) were collected: benchmarks.planted_trials does."
            raise BadInput(msg)
        return Replayed(design, population, rounds, None if all_once else self.dice)

    def evaluated(
        self,
        design: Design,
        number: int,  # noqa: ARG002 - the trials do not depend on it
        rounds: int,
        seed: int,  # noqa: ARG002 - `dice` draws
        models: Sequence[str],
    ) -> EvaluatedChoices:
        """Draw the rounds of an experiment; all of the population once where the truth is wanted."""
        drawn = self.drawn(design, rounds, all_once=rounds > _TRUTH)
        drawn.measure(models, drawn.most)
        return drawn.choices

    def truth(self, query: PlantedQuery) -> Verdict:
        """Return the answer that the means of the population give; "open" where they are too close."""

        def weigh(claim: Claim, seen: Sequence[float], _: int) -> Verdict:
            error = max(float(np.std(seen)), 1e-9) / math.sqrt(_TRUTH)
            far = (sum(seen) / len(seen) - claim.threshold) / error
            return "open" if abs(far) < SETTLED else "yes" if far > 0 else "no"

        return self._climbed(query, weigh, lambda _: _TRUTH + 1, seed=0).says

    async def ours(self, query: PlantedQuery) -> PlantedOutcome:
        """Investigate as the graph does: design, build_benchmark, measure, judge_sufficiency."""
        budget = Budget(images=self.options.images)
        report = Report(query=query.text, models=list(query.models), alpha=self.options.alpha, seed=0, budget=budget)
        drawn: list[SimulatedTrials] = []
        while len(report.experiments) < budget.experiments and report.images < budget.images:
            design = self.examiner.next_design(report)
            if design is None:
                unsettled = [name for one in self.examiner.standings(report) if _open(one) for name in one.claimed]
                report = taken_up(report, unsettled)
                if not next_rounds(report):
                    break
            else:
                drawn.append(self.drawn(design, budget.images // len(design.arms)))
                begun = Experiment(design=design, findings=[Finding(claim=claim) for claim in design.claims])
                changed = {"experiments": [*report.experiments, begun], "again": None}
                report = report.model_copy(update=changed)
            report = measured_on(report, drawn)
            report = with_intervals(report, report.number, drawn[report.number])  # with its results
        says = self.examiner.standings(decided(report))[0].says
        return PlantedOutcome(says, report.images)


def _open(standing: ModelStanding) -> bool:
    return standing.says == "open" and not standing.moot


async def replayed(row: Mapping[str, Any], part: ExaminedQuestion, options: argparse.Namespace) -> dict[str, Any]:
    """Answer one query so often, and return what it was answered in each way.

    Args:
        row: Its trials, as collected.
        part: Its question.
        options: Of the command line.
    """
    dice = np.random.default_rng([options.seed, *row["query"].encode()])
    bench, query = PlantedReplayBench(row, part, options, dice), PlantedQuery(row["query"], tuple(row["models"]))
    true = bench.truth(query)
    found: dict[str, Any] = {"query": query.text, "true": true}
    if true == "open":
        return found
    for name in options.ways:
        outcomes = [await getattr(bench, name)(query) for _ in range(options.runs)]
        says = [one.says for one in outcomes]
        found[name] = {
            "right": says.count(true) / len(says),
            "undecided": says.count("open") / len(says),
            "wrong": 1 - (says.count(true) + says.count("open")) / len(says),
            "images": round(sum(one.images for one in outcomes) / len(says), 1),
        }
    return found


def main() -> None:
    """Replay all queries, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--trials", type=Path, default=TRIALS, help="the file of `benchmarks.planted_trials`")
    parser.add_argument("--runs", type=int, default=100, help="of each query (%(default)s)")
    parser.add_argument("--ways", nargs="+", default=["ours", "fixed", "apex"])
    parser.add_argument("--images", type=int, default=1_000, help="the most that ours may use on a query (%(default)s)")
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--margin", type=float, default=0.1, help="what the fixed design can tell (%(default)s)")
    parser.add_argument("--power", type=float, default=0.9, help="how surely it does (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the draws (%(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    profile, began, each = load_profile(options.profile), time.monotonic(), []
    for row in json.loads(options.trials.read_text(encoding="utf-8"))["each"]:
        part = question_of(PlantedQuery(row["query"], tuple(row["models"])), profile)
        each.append(asyncio.run(replayed(row, part, options)))
        print(_line(each[-1]), file=sys.stderr, flush=True)
    settled = [one for one in each if one["true"] != "open"]
    totals = {
        name: {
            key: round(sum(one[name][key] for one in settled), 2) for key in ("right", "wrong", "undecided", "images")
        }
        for name in options.ways
    }
    given = {"runs": options.runs, "seed": options.seed, "alpha": options.alpha, "images": options.images}
    report = {"queries": len(settled), "unsettled": len(each) - len(settled), **totals, **given}
    print(json.dumps({**report, "each": each}, indent=1) if options.json else json.dumps(report))
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


def _line(found: Mapping[str, Any]) -> str:
    ways = [name for name in ("ours", "fixed", "apex") if name in found]
    told = "; ".join(
        f"{name} right {found[name]['right']:.2f} wrong {found[name]['wrong']:.2f} {found[name]['images']:.0f}"
        for name in ways
    )
    return f"{found['query']} {found['true']}: {told}"


if __name__ == "__main__":
    main()
