"""How often are verdicts about all classes wrong, where classes differ and there is nothing to find?

    python -m benchmarks.class_nulls --json > docs/results/nulls/classes.json

Each class has an accuracy of its own, or a loss of its own under a change. A claim's threshold is the mean over all
classes: a hair above it every "yes" about "things" is wrong, a hair below it every "no". Two designs are compared by
the product's own code: classes that are drawn anew for each picture (`snellen.experiments.drawn_answers`), and a few
classes that are drawn once for the whole experiment, as versions before did. `wrong` is the share of reports with a
verdict that is wrong on that of the two sides where it is larger, which shall be at most alpha; `interval` is Wilson's,
95 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_command import null_parser, print_rows
from benchmarks.nulls import measured_on, told
from snellen.experiments.decisions import decided, judged
from snellen.experiments.design import PLACES, Arm, Claim, Design
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.experiments.template_parts import select
from snellen.scoring import Observations, wilson_interval

CLASSES: Final = 227
"""Those of the embedded profile."""
_MODELS: Final = ("one", "another")
Values = NDArray[np.float64]


@dataclass(frozen=True)
class ClassScenario:
    """Accuracies of classes.

    Attributes:
        name: For people.
        shares: For each sort of classes its share of all, the accuracy in plain pictures, and that in changed ones.
        kind: The kind of claims: ``ability`` or ``drop``.
    """

    name: str
    shares: tuple[tuple[float, float, float], ...]
    kind: Literal["ability", "drop"]

    def accuracies(self) -> Values:
        """Return the accuracy of each class before and after a change: (classes, 2)."""
        rows = [(plain, changed) for share, plain, changed in self.shares for _ in range(round(share * CLASSES))]
        return np.array((rows * 2)[:CLASSES])


SCENARIOS: Final = (
    ClassScenario("ability: classes alike", ((1, 0.75, 0.75),), "ability"),
    ClassScenario("ability: half known, half guessed", ((0.5, 1, 1), (0.5, 0.5, 0.5)), "ability"),
    ClassScenario("ability: three of four known, one never", ((0.75, 1, 1), (0.25, 0, 0)), "ability"),
    ClassScenario("drop: classes alike", ((1, 0.95, 0.85),), "drop"),
    ClassScenario("drop: one in five lost, the others not", ((0.8, 0.95, 0.95), (0.2, 0.95, 0.45)), "drop"),
    ClassScenario("drop: one in ten lost wholly", ((0.9, 1, 1), (0.1, 1, 0)), "drop"),
)


class ClassDraws:
    """What two models say of pictures of classes (`snellen.experiments.protocols.protocol.Evaluated`).

    Args:
        accuracies: Of each class before and after a change.
        arms: The number of pictures in a round.
        rounds: Rounds that are drawn at most.
        fixed: The number of classes that the whole experiment has; 0 where each picture has its own.
        kind: The kind of claims.
        dice: Draws.
    """

    def __init__(
        self, accuracies: Values, arms: int, rounds: int, *, fixed: int, kind: str, dice: np.random.Generator
    ) -> None:
        classes = dice.integers(len(accuracies), size=(arms, rounds))
        if fixed:
            few = dice.choice(len(accuracies), size=fixed, replace=False)
            classes = np.broadcast_to(few[np.arange(arms) % fixed][:, None], (arms, rounds))
        of_each = accuracies[classes]
        right = dice.random((len(_MODELS), arms, rounds, 2)) < of_each
        self._values = right[..., 0].astype(float) - right[..., 1] if kind == "drop" else right[..., 1].astype(float)
        self._rounds: dict[str, int] = {}

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        self._rounds |= dict.fromkeys(models, rounds)

    def observations(self, claim: Claim) -> Observations:
        """Return the values of the rounds about which a model was asked."""
        values = self._values[_MODELS.index(claim.model), :, : self._rounds.get(claim.model, 0)]
        return Observations.independent(values.T.ravel().tolist())

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - nobody reads any
        """Return nothing: verdicts do not depend on it."""
        return []


def report_of(scenario: ClassScenario, *, fixed: int, alpha: float, dice: np.random.Generator) -> Report:
    """Run one investigation of a scenario."""
    accuracies, budget = scenario.accuracies(), Budget()
    plain, changed = accuracies.mean(axis=0)
    threshold = float(plain - changed if scenario.kind == "drop" else changed)
    claims = [Claim(kind=scenario.kind, model=name, threshold=threshold) for name in _MODELS]
    arms = [Arm(answer=place, select=select("things")) for place in PLACES[: max(fixed, 2)]]
    design = Design(
        difficulty=1, purpose="A null.", skill="recognizing things", question="Is it …?", arms=arms, claims=claims,
        paired=scenario.kind == "drop",
    )  # fmt: skip
    rounds = budget.images // len(arms)
    draws = ClassDraws(accuracies, len(arms), rounds, fixed=fixed, kind=scenario.kind, dice=dice)
    begun = Experiment(design=design, findings=[Finding(claim=claim) for claim in claims])
    report = Report(query="", models=list(_MODELS), alpha=alpha, seed=0, budget=budget, experiments=[begun])
    return decided(judged(measured_on(report, [draws]), 0, draws))


def measured(scenario: ClassScenario, *, fixed: int, runs: int, alpha: float, seed: int) -> dict[str, Any]:
    """Run a scenario so often, and return how often its verdicts were wrong."""
    dice = np.random.default_rng([seed, fixed, *scenario.name.encode()])
    wrong, verdicts, images = {"yes": 0, "no": 0}, 0, 0
    for _ in range(runs):
        report = report_of(scenario, fixed=fixed, alpha=alpha, dice=dice)
        ruled = [one for one in report.findings if one.verdict != "open"]
        for side in wrong:
            wrong[side] += any(one.verdict == side for one in ruled)
        verdicts += len(ruled)
        images += report.images
    return {
        "name": scenario.name, "classes": fixed or "drawn for each picture", "wrong": max(wrong.values()) / runs,
        "interval": asdict(wilson_interval(max(wrong.values()), runs)),
        "decided": verdicts / runs / len(_MODELS), "images": images / runs,
    }  # fmt: skip


def main() -> None:
    """Measure, and print."""
    options = null_parser(__doc__, runs=1_000).parse_args()
    rows = (
        measured(scenario, fixed=fixed, runs=options.runs, alpha=options.alpha, seed=options.seed)
        for scenario in SCENARIOS
        for fixed in (0, 2, 4)
    )
    print_rows(rows, options, _line, classes=CLASSES)


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['name']:42} {row['classes']!s:24} {told(row)}"


if __name__ == "__main__":
    main()
