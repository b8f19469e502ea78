"""Does the evidence hold while one looks at every step, and what does it cost?

    python -m benchmarks.coverage --json

Samples are simulated and looked at after every round. *Coverage*: how often the confidence sequence ever leaves out the
true mean, which shall be at most alpha of the runs; of made-up populations, and of the units of real trials
(`benchmarks.real_trials`) of each protocol, drawn again. No run stops early here, so it is the worst that looking can
do; what investigations make of it is in `benchmarks.nulls`. *Sizes*: how many pairs of pictures it takes to decide
the claim "worse by more than 0.1", beside the size of a sample fixed beforehand with the same guarantee.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.nulls import SCENARIOS, NullScenario
from benchmarks.real_trials import real_trials
from snellen.scoring.evidence import log_wealth
from snellen.scoring.measure import wilson_interval

CLAIM = 0.1
"""The drop of accuracy that the claim is about."""
_AT_ONCE = 5_000_000
"""Counts that are held in memory together."""


@dataclass(frozen=True)
class Population:
    """What is observed: values in [0, 1] with probabilities, one row for each class of a balanced round."""

    name: str
    values: tuple[float, ...]
    shares: tuple[tuple[float, ...], ...]

    @property
    def mean(self) -> float:
        """The mean over the classes."""
        return float(np.mean([np.dot(self.values, row) for row in self.shares]))

    def rounds(self, dice: np.random.Generator, runs: int, steps: int) -> NDArray[np.float64]:
        """Draw samples and count values after every round, shape (runs, steps, values)."""
        counts = np.zeros((runs, steps, len(self.values)))
        for row in self.shares:
            drawn = dice.choice(len(self.values), size=(runs, steps), p=row)
            counts += drawn[..., None] == np.arange(len(self.values))
        return counts.cumsum(axis=1)


def answers(name: str, *rates: float) -> Population:
    """Make a population of right and wrong answers."""
    return Population(name, (0.0, 1.0), tuple((1 - rate, rate) for rate in rates))


def pairs(name: str, *, lost: float, gained: float) -> Population:
    """Make a population of paired answers: right before and wrong after (1), the same (0.5), wrong and right (0)."""
    return Population(name, (0.0, 0.5, 1.0), ((gained, 1 - lost - gained, lost),))


COVERED = (
    answers("accuracy 0.5", 0.5),
    answers("accuracy 0.85", 0.85),
    answers("accuracy 0.99", 0.99),
    answers("four classes, 0.2 to 0.95", 0.2, 0.6, 0.9, 0.95),
    pairs("pairs, no drop", lost=0.05, gained=0.05),
    pairs("pairs, a drop of 0.1", lost=0.12, gained=0.02),
    pairs("pairs, a drop of 0.3", lost=0.32, gained=0.02),
    Population("mean of three questions a picture", (0.0, 1 / 3, 2 / 3, 1.0), ((0.1, 0.2, 0.3, 0.4),)),
)
DECIDED = (
    pairs("no drop", lost=0.05, gained=0.05),
    pairs("a drop of 0.05", lost=0.07, gained=0.02),
    pairs("a drop of 0.2", lost=0.22, gained=0.02),
    pairs("a drop of 0.3", lost=0.32, gained=0.02),
    pairs("a drop of 0.4", lost=0.42, gained=0.02),
)


def real_populations() -> list[Population]:
    """Return what the units of real trials are like, for each claim that `benchmarks.nulls` asks by itself."""
    found, trials = [], real_trials()
    for scenario in SCENARIOS:
        bench = NullScenario.of(scenario, trials)
        ((claim, drawn), *more) = bench.populations[0].items()
        if more or len(bench.designs) > 1 or scenario.splits:
            continue
        scaled = (drawn - claim.low) / (1 - claim.low)
        values, places = np.unique(scaled.round(3), return_inverse=True)
        rows = [np.bincount(row, minlength=len(values)) / drawn.shape[1] for row in places.reshape(drawn.shape)]
        found.append(Population(scenario.name, tuple(values), tuple(map(tuple, rows))))
    return found


def suffices(population: Population, counts: NDArray[np.float64], threshold: float, alpha: float) -> NDArray[np.bool_]:
    """Say whether a threshold is ruled out, shape (2, runs, steps): the mean is above, the mean is below."""
    values = np.asarray(population.values)
    enough = math.log(2 / alpha)
    above = log_wealth(values, counts, threshold) >= enough
    below = log_wealth(1 - values, counts, 1 - threshold) >= enough
    return np.stack([above, below])


def coverage(population: Population, alpha: float, runs: int, steps: int, seed: int) -> dict[str, object]:
    """Count the runs in which the true mean is ever ruled out."""
    dice, missed = np.random.default_rng(seed), 0
    chunk = max(min(250, _AT_ONCE // (steps * len(population.values))), 1)
    for begun in range(0, runs, chunk):
        counts = population.rounds(dice, min(chunk, runs - begun), steps)
        missed += int(suffices(population, counts, population.mean, alpha).any(axis=(0, 2)).sum())
    interval = wilson_interval(missed, runs)
    return {"name": population.name, "miscoverage": missed / runs, "interval": asdict(interval)}


def fixed_size(population: Population, alpha: float, margin: float, power: float) -> int:
    """Return the size of a sample fixed beforehand that tells `margin` from 0 with this error and this power.

    It is given what no design knows: how much the differences vary.
    """
    values, shares = np.asarray(population.values) * 2 - 1, np.asarray(population.shares[0])
    variance = float(shares @ values**2 - (shares @ values) ** 2)
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return math.ceil(reach**2 * variance / margin**2)


def sizes(population: Population, alpha: float, runs: int, steps: int, seed: int) -> dict[str, object]:
    """Measure how many pairs decide the claim, and how often the verdict is wrong."""
    threshold, worse = (CLAIM + 1) / 2, 2 * population.mean - 1 > CLAIM
    dice, taken, wrong, undecided, chunk = np.random.default_rng(seed), [], 0, 0, 250
    for begun in range(0, runs, chunk):
        counts = population.rounds(dice, min(chunk, runs - begun), steps)
        found = suffices(population, counts, threshold, alpha)
        decided = found.any(axis=(0, 2))
        first = np.where(decided, found.any(axis=0).argmax(axis=1), steps - 1)
        is_worse = found[0, np.arange(len(first)), first]
        wrong += int((decided & (is_worse != worse)).sum())
        undecided += int((~decided).sum())
        taken.extend((first + 1).tolist())
    return {
        "name": population.name,
        "pairs": float(np.mean(taken)),
        "pairs_p90": float(np.percentile(taken, 90)),
        "wrong": wrong / runs,
        "undecided": undecided / runs,
        "fixed": fixed_size(population, alpha, margin=CLAIM, power=0.95),
    }


def main() -> None:
    """Simulate, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, help="simulated runs of each population")
    parser.add_argument("--runs-of-real", type=int, default=2_000, help="simulated runs of each of the real trials")
    parser.add_argument("--steps", type=int, default=1_000, help="rounds of observations in each run")
    parser.add_argument("--alpha", type=float, default=0.05, help="probability of error")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    started = time.monotonic()
    about = (options.alpha, options.runs, options.steps, options.seed)
    report = {
        "alpha": options.alpha,
        "runs": options.runs,
        "steps": options.steps,
        "coverage": [coverage(population, *about) for population in COVERED],
        "real": [
            coverage(population, options.alpha, options.runs_of_real, options.steps, options.seed)
            for population in real_populations()
        ],
        "sizes": [sizes(population, *about) for population in DECIDED],
        "seconds": round(time.monotonic() - started, 1),
    }
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for row in (*report["coverage"], *report["real"]):
        print(f"{row['name']:56} miscoverage {row['miscoverage']:.4f}")
    for row in report["sizes"]:
        print(f"{row['name']:36} {row['pairs']:.0f} pairs (fixed {row['fixed']}), wrong {row['wrong']:.4f}")


if __name__ == "__main__":
    main()
