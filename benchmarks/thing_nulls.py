"""How often are verdicts about where things are, how many and of which color wrong, where there is nothing to find?

    python -m benchmarks.thing_nulls --json > docs/results/nulls/things.json

What a model makes of a picture depends on the things in it, on the pair of them, or on the pair of colors. A claim's
threshold is its mean over all that could be drawn, so that any verdict is wrong. Compared are designs in which each
picture has others (`snellen.experiments.drawn_names`), and a few that are drawn once for the whole experiment, as
versions before did; pictures that count only where a model recognizes the things (`closed_up` in
`snellen.experiments.protocols.protocol`), all of them, and those that are recognized without regard to how many each
answer has. `wrong` is the share of reports with a verdict, which shall be at most alpha; `interval` is Wilson's, 95 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_command import null_parser, print_rows
from benchmarks.nulls import measured_on, told
from snellen.experiments.decisions import decided, judged
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.protocols.protocol import RoundPart, closed_up, observed
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.experiments.template_parts import select
from snellen.scoring import Observations, wilson_interval

THINGS: Final = 204
"""Those of the embedded profile that can be counted, placed and painted."""
COLORS: Final = 5
_MODELS: Final = ("one", "another")
_GUESSED: Final = 1 / 8
"""How often a model recognizes by chance what it does not know."""
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
How = Literal[
    "drawn for each picture", "few for all pictures", "recognized", "recognized or not", "recognized, unbalanced"
]


@dataclass(frozen=True)
class ThingScenario:
    """What a model makes of pictures.

    Attributes:
        name: For people.
        kinds: The number of things or colors that are drawn from.
        drawn: How many of them a picture has.
        few: How many pictures' worth of them a whole experiment had before.
        accuracy: How often the answer is right, by what was drawn: (..., drawn) to (...).
        recognition: How often all of it is recognized, by what was drawn and by the arm.
        hows: The designs that are compared.
    """

    name: str
    kinds: int
    drawn: int
    few: int
    accuracy: Callable[[NDArray[np.int64]], Values]
    hows: tuple[How, ...] = ("drawn for each picture", "few for all pictures")
    recognition: Callable[[NDArray[np.int64], NDArray[np.int64]], Values] | None = None

    def threshold(self, arms: int) -> float:
        """Return the mean accuracy over all that could be drawn and is recognized, arms alike."""
        grid = np.stack(np.meshgrid(*[np.arange(self.kinds)] * self.drawn, indexing="ij"), axis=-1)
        grid = grid.reshape(-1, self.drawn)
        grid = grid[[len(set(row)) == self.drawn for row in grid.tolist()]]
        right = self.accuracy(grid)
        if self.recognition is None:
            return float(right.mean())
        by_arm = []
        for arm in range(arms):
            known = self.recognition(grid, np.full(len(grid), arm))
            by_arm.append(float((self.of_arm(right, np.full(len(grid), arm)) * known).sum() / known.sum()))
        return float(np.mean(by_arm))

    def of_arm(self, right: Values, arm: NDArray[np.int64]) -> Values:
        """Return the accuracy in an arm: who always says the same is right in every other one."""
        return np.where(np.isnan(right), (arm % 2 == 0).astype(float), right)


def _both(known: float) -> Callable[[NDArray[np.int64]], Values]:
    """Return an accuracy: right where all that was drawn is known, guessed elsewhere."""
    return lambda drawn: np.where((drawn < known * THINGS).all(axis=-1), 1.0, 0.5)


def _knows(known: float) -> Callable[[NDArray[np.int64], NDArray[np.int64]], Values]:
    """Return how often all that was drawn is recognized, where a part of it is known."""
    return lambda drawn, _: np.where(drawn < known * THINGS, 1.0, _GUESSED).prod(axis=-1)


_CONDITIONED: Final[tuple[How, ...]] = ("recognized", "recognized or not")
SCENARIOS: Final = (
    ThingScenario("places: told of half of the things", THINGS, 2, 3, _both(0.5)),
    ThingScenario(
        "numbers: one in ten things never counted", THINGS, 1, 3,
        lambda drawn: np.where(drawn[..., 0] < THINGS // 10, 0.0, 1.0),
    ),
    ThingScenario(
        "colors: two of five taken for each other", COLORS, 2, 1,
        lambda drawn: np.where((drawn < 2).all(axis=-1), 0.5, 1.0),  # noqa: PLR2004 - two of the five
    ),
    ThingScenario(
        "places: told of known things, of which there are half", THINGS, 2, 0, _both(0.5), _CONDITIONED, _knows(0.5)
    ),
    ThingScenario(
        "places: told of known things, of which there are a quarter", THINGS, 2, 0, _both(0.25), _CONDITIONED,
        _knows(0.25),
    ),
    ThingScenario(
        "places: always yes, things recognized more often where it is right", THINGS, 2, 0,
        lambda drawn: np.full(drawn.shape[:-1], np.nan), ("recognized", "recognized, unbalanced"),
        lambda drawn, arm: np.where(arm % 2 == 0, 0.9, 0.4) * np.ones(drawn.shape[:-1]),
    ),
)  # fmt: skip


class ThingDraws:
    """What two models say of pictures of things (`snellen.experiments.protocols.protocol.Evaluated`).

    Args:
        scenario: What they make of them.
        design: The experiment.
        rounds: Rounds that are drawn at most.
        how: Which design is simulated.
        dice: Draws.
    """

    def __init__(
        self, scenario: ThingScenario, design: Design, rounds: int, *, how: How, dice: np.random.Generator
    ) -> None:
        self._design, self._how = design, how
        shape = (len(design.arms), rounds)
        drawn = dice.random((*shape, scenario.kinds)).argpartition(scenario.drawn - 1)[..., : scenario.drawn]
        if how == "few for all pictures":
            drawn = np.broadcast_to(drawn[:, :1][np.arange(shape[0]) % scenario.few], drawn.shape)
        arm = np.broadcast_to(np.arange(shape[0])[:, None], shape)
        often = scenario.of_arm(scenario.accuracy(drawn), arm)
        self._right = dice.random((len(_MODELS), *shape)) < often
        known = np.ones(shape) if scenario.recognition is None else scenario.recognition(drawn, arm)
        self._recognized = dice.random((len(_MODELS), *shape)) < known
        self._rounds: dict[str, int] = {}

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        self._rounds |= dict.fromkeys(models, rounds)

    def observations(self, claim: Claim) -> Observations:
        """Return the values of the rounds about which a model was asked."""
        model, rounds = _MODELS.index(claim.model), self._rounds.get(claim.model, 0)
        right, recognized = self._right[model, :, :rounds].T, self._recognized[model, :, :rounds].T
        if not self._how.startswith("recognized") or self._how == "recognized or not":
            return Observations.independent(right.astype(float).ravel().tolist())
        if self._how == "recognized, unbalanced":
            return Observations.independent(right[recognized].astype(float).tolist())
        parts = {RoundPart(number, arm): bool(one) for (number, arm), one in np.ndenumerate(recognized)}
        places = closed_up(parts, parts=len(self._design.arms))
        values = {place: float(right[part.round, int(part.name)]) for part, place in places.items()}
        return observed(self._design, values, parts=len(self._design.arms))

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - nobody reads any
        """Return nothing: verdicts do not depend on it."""
        return []


def report_of(scenario: ThingScenario, *, how: How, alpha: float, dice: np.random.Generator) -> Report:
    """Run one investigation of a scenario."""
    budget = Budget()
    arms = [Arm(answer=answer, select=select("things")) for answer in ("yes", "no")]
    threshold = scenario.threshold(len(arms))
    claims = [Claim(kind="ability", model=name, threshold=threshold) for name in _MODELS]
    design = Design(
        difficulty=1, purpose="A null.", skill="telling", question="Is it …?", arms=arms, claims=claims,
        least=0 if scenario.recognition is None else 96,
    )  # fmt: skip
    draws = ThingDraws(scenario, design, budget.images // len(arms), how=how, dice=dice)
    begun = Experiment(design=design, findings=[Finding(claim=claim) for claim in claims])
    report = Report(query="", models=list(_MODELS), alpha=alpha, seed=0, budget=budget, experiments=[begun])
    return decided(judged(measured_on(report, [draws]), 0, draws))


def measured(scenario: ThingScenario, *, how: How, runs: int, alpha: float, seed: int) -> dict[str, Any]:
    """Run a scenario so often, and return how often its verdicts were wrong."""
    dice = np.random.default_rng([seed, *how.encode(), *scenario.name.encode()])
    wrong, verdicts, images = 0, 0, 0
    for _ in range(runs):
        report = report_of(scenario, how=how, alpha=alpha, dice=dice)
        ruled = [one for one in report.findings if one.verdict != "open"]
        wrong += bool(ruled)
        verdicts += len(ruled)
        images += report.images
    return {
        "name": scenario.name, "design": how, "wrong": wrong / runs, "interval": asdict(wilson_interval(wrong, runs)),
        "decided": verdicts / runs / len(_MODELS), "images": images / runs,
    }  # fmt: skip


def main() -> None:
    """Measure, and print."""
    options = null_parser(__doc__, runs=1_000).parse_args()
    rows = (
        measured(scenario, how=how, runs=options.runs, alpha=options.alpha, seed=options.seed)
        for scenario in SCENARIOS
        for how in scenario.hows
    )
    print_rows(rows, options, _line, things=THINGS)


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['name']:68} {row['design']:24} {told(row)}"


if __name__ == "__main__":
    main()
