"""How often is a verdict wrong where experiments are made one after the other, until one decides, and none can rightly?

    python -m benchmarks.sequence_nulls --json > docs/results/nulls/sequences.json

Two models are equally good at each of several tasks. A claim says which is better at the first one; only where that is
not decided, the next task is tried, as `snellen.experiments.standings` has it. Each further claim shares the error
rate, and comes too late for what was decided before it: by proof all k experiments together may err at up to
1 + 1/2 + … + 1/k of the rate of verdicts, which is four fifths of alpha. `wrong` is the share of runs with any verdict;
`interval` is Wilson's, 95 %. `fixed` is the same where all experiments are begun at once and share the rate from the
beginning.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np

from benchmarks.null_command import Row, null_parser, print_rows
from benchmarks.nulls import measured_on
from snellen.experiments.decisions import decided
from snellen.experiments.design import PLACES, Arm, Claim, Design
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.experiments.template_parts import select
from snellen.scoring import Observations, wilson_interval

_ACCURACY: Final = 0.75
_CLAIM: Final = Claim(kind="better", model="one", other="another", threshold=0)


class EqualModels:
    """What two models that are equally good say in one experiment (`snellen.experiments.protocols.protocol.Evaluated`).

    Args:
        pictures: Those that are drawn at most.
        dice: Draws.
    """

    def __init__(self, pictures: int, dice: np.random.Generator) -> None:
        right = dice.random((2, pictures)) < _ACCURACY
        self._values = right[0].astype(float) - right[1]
        self._seen = 0

    def measure(self, models: list[str], rounds: int) -> None:
        """Let both be asked about all rounds so far."""
        self._seen = rounds * len(PLACES[:2]) if models else self._seen

    def observations(self, claim: Claim) -> Observations:  # noqa: ARG002 - there is one
        """Return the differences of the pictures so far."""
        return Observations.independent(self._values[: self._seen].tolist())

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - nobody reads any
        """Return nothing: verdicts do not depend on it."""
        return []


def experiment_number(number: int) -> Experiment:
    """Return one of the experiments, with nothing measured."""
    arms = [Arm(answer=place, select=select("things")) for place in PLACES[:2]]
    design = Design(
        difficulty=1, purpose=f"Null {number}.", skill="recognizing things", question="Is it …?", arms=arms,
        claims=[_CLAIM],
    )  # fmt: skip
    return Experiment(design=design, findings=[Finding(claim=_CLAIM)])


def report_of(experiments: int, *, fixed: bool, alpha: float, dice: np.random.Generator) -> Report:
    """Run one investigation.

    Args:
        experiments: How many there are at most.
        fixed: Whether all are begun at once, each with as many pictures, and share the error rate from the beginning.
        alpha: The error rate of the report.
        dice: Draws.
    """
    budget = Budget(images=2_000 * experiments, each=2_000, experiments=experiments)
    report = Report(query="", models=["one", "another"], alpha=alpha, seed=0, budget=budget)
    drawn: list[Any] = [EqualModels(2 * budget.each, dice) for _ in range(experiments)]
    if fixed:
        begun = [experiment_number(number) for number in range(experiments)]
        report = report.model_copy(update={"experiments": begun})
        for number in range(experiments):
            report = measured_on(report.model_copy(update={"again": number}), drawn)
        return decided(report)
    for number in range(experiments):
        report = report.model_copy(update={"experiments": [*report.experiments, experiment_number(number)]})
        report = measured_on(report, drawn)
        if any(one.verdict != "open" for one in report.findings):
            break
    return decided(report)


def measured(experiments: int, *, fixed: bool, runs: int, alpha: float, seed: int) -> dict[str, Any]:
    """Return how often any verdict is given, which is wrong."""
    dice = np.random.default_rng([seed, experiments, fixed])
    reports = [report_of(experiments, fixed=fixed, alpha=alpha, dice=dice) for _ in range(runs)]
    wrong = sum(any(one.verdict != "open" for one in report.findings) for report in reports)
    images = sum(report.images for report in reports)
    return {
        "experiments": experiments, "fixed": fixed, "wrong": wrong / runs,
        "interval": asdict(wilson_interval(wrong, runs)), "images": images / runs,
    }  # fmt: skip


def main() -> None:
    """Simulate."""
    options = null_parser(__doc__, runs=2_000).parse_args()
    rows = (
        measured(number, fixed=fixed, runs=options.runs, alpha=options.alpha, seed=options.seed)
        for number in (1, 2, 3, 5)
        for fixed in ((False,) if number == 1 else (False, True))
    )
    print_rows(rows, options, _line)


def _line(row: Row) -> str:
    how = "begun at once" if row["fixed"] else "one after the other"
    span = f"{row['interval']['low']:.3f} to {row['interval']['high']:.3f}"
    return f"{row['experiments']} {how:20} wrong {row['wrong']:.4f} ({span}) {row['images']:.0f} pictures"


if __name__ == "__main__":
    main()
