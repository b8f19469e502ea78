"""How often is a pattern of failure told, or a verdict wrong, where there is nothing to find?

    python -m benchmarks.pattern_nulls --seed 20261127 --json > docs/results/nulls/patterns.json

Two models answer by chance, each as near to every pattern as is possible without having it: means are at the bars of
`snellen.experiments.failure_patterns`, and thresholds of claims at the means. What follows is the product's own code:
looks after every few rounds, giving up, verdicts, patterns. In scenarios "beside a constant answer" the first model
gives one answer to everything, and only what is told of the second one is wrong.

    end       reports that tell a wrong pattern
    ever      runs that would have told one at any look, pictures being made after every look until there are none left
    together  the mean share of what is wrong among a report's verdicts and patterns, which shall be at most alpha
    found     reports that tell the constant answer

Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from benchmarks.null_command import null_parser
from benchmarks.nulls import measured_on
from snellen.experiments.decisions import decided, judged
from snellen.experiments.design import PLACES, Arm, Claim, Design
from snellen.experiments.failure_patterns import PATTERNS_SHARE, hypotheses, patterns_of
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.report import Budget, Experiment, Finding, Pattern, Report, Result
from snellen.experiments.template_parts import select
from snellen.memory.samples import Sample
from snellen.scoring import Observations, wilson_interval
from snellen.tools.calls import ToolCall

MODELS: Final = ("one", "another")
_IMAGES: Final = 320
"""Pictures of an investigation."""
_LOOK: Final = 40
"""Pictures from one look to the next."""
_BIRDS: Final = [f"bird {number}" for number in range(15)]
_OTHERS: Final = [f"thing {number}" for number in range(30)]
_TURNS: Final = tuple(ToolCall(name="RotateImage", arguments={"angle": angle}) for angle in (-90, 90))

Answering = Callable[[Design, Sample, np.random.Generator], tuple[str, str]]
"""Returns what a model says of a sample's picture, and of the same one before it was transformed."""


def _guess(design: Design, _: Sample, dice: np.random.Generator) -> tuple[str, str]:
    said = str(dice.choice(design.choices))
    return said, said


def _by_arm(design: Design, sample: Sample, _: np.random.Generator) -> tuple[str, str]:
    """Be right about the first half of an answer's arms, and wrong about the others."""
    answer = design.arms[sample.arm].answer
    place = [number for number, arm in enumerate(design.arms) if arm.answer == answer].index(sample.arm)
    said = answer if place % 2 == 0 else next(one for one in design.classes if one != answer)
    return said, said


def _flip(design: Design, sample: Sample, dice: np.random.Generator) -> tuple[str, str]:
    """Go over to the next answer in ten of a hundred pictures."""
    answer = design.arms[sample.arm].answer
    following = design.classes[(design.classes.index(answer) + 1) % len(design.classes)]
    return (following if dice.random() < 0.1 else answer), answer  # noqa: PLR2004 - the bar of flips


def _by_class(design: Design, sample: Sample, _: np.random.Generator) -> tuple[str, str]:
    """Take the first name for half of the classes, and the second one for the others."""
    said = design.classes[int(sample.label.split()[-1]) % 2]
    return said, said


def _constant(design: Design, _: Sample, __: np.random.Generator) -> tuple[str, str]:
    return design.classes[0], design.classes[0]


@dataclass(frozen=True)
class PatternScenario:
    """Models that answer by chance.

    Attributes:
        name: For people.
        arms: Of the experiment.
        answering: For each model how it answers.
        mean: What claims are about, in truth.
        pools: Classes that are drawn for each picture.
        paired: Whether the same is asked about the pictures before they were transformed.
    """

    name: str
    arms: tuple[Arm, ...]
    answering: tuple[Answering, Answering]
    mean: float
    pools: Mapping[str, list[str]] = field(default_factory=dict)
    paired: bool = False

    @property
    def design(self) -> Design:
        """The experiment, with claims whose thresholds are the means."""
        kind = "drop" if self.paired else "ability"
        claims = [Claim(kind=kind, model=name, threshold=self.mean) for name in MODELS]
        return Design(
            difficulty=1, purpose="A null.", skill="recognizing things", question="Is it …?", arms=list(self.arms),
            claims=claims, pools=dict(self.pools), paired=self.paired,
        )  # fmt: skip

    @property
    def is_clear(self) -> bool:
        """True where the first model gives one answer to everything."""
        return self.answering[0] is _constant


def _arms(answers: Sequence[str], each: int = 1, changes: Sequence[ToolCall] = ()) -> tuple[Arm, ...]:
    plain = tuple(Arm(answer=name, select=select(name)) for name in answers for _ in range(each))
    changed = tuple(arm.model_copy(update={"transform": call}) for call in changes for arm in plain)
    return changed or plain


def _drawn(*pools: str) -> tuple[Arm, ...]:
    return tuple(Arm(answer=place, select=select(pool)) for place in PLACES[:2] for pool in pools)


_FOUR: Final = ("a hen", "a duck", "a goose", "a swan")
_POOLS: Final = {"birds": _BIRDS, "other things": _OTHERS}
SCENARIOS: Final = (
    PatternScenario("two answers, guessed", _arms(_FOUR[:2]), (_guess, _guess), 0.5),
    PatternScenario("two answers, arms that differ", _arms(_FOUR[:2], 2), (_by_arm, _by_arm), 0.5),
    PatternScenario("four answers, guessed", _arms(_FOUR), (_guess, _guess), 0.25),
    PatternScenario("four answers, flips", _arms(_FOUR, 1, _TURNS), (_flip, _flip), 0.1, paired=True),
    PatternScenario("45 drawn classes, guessed", _drawn(*_POOLS), (_guess, _guess), 0.5, _POOLS),
    PatternScenario("45 drawn classes that differ", _drawn(*_POOLS), (_by_class, _by_class), 0.5, _POOLS),
    PatternScenario("two answers, beside a constant answer", _arms(_FOUR[:2]), (_constant, _guess), 0.5),
    PatternScenario("four answers, beside a constant answer", _arms(_FOUR), (_constant, _guess), 0.25),
    PatternScenario("45 drawn classes, beside a constant answer", _drawn(*_POOLS), (_constant, _guess), 0.5, _POOLS),
)


class SimulatedChoices:
    """Choices that models would make (`snellen.experiments.protocols.protocol.Evaluated`), as far as they were asked.

    Args:
        scenario: How they answer.
        dice: Draws.
    """

    def __init__(self, scenario: PatternScenario, dice: np.random.Generator) -> None:
        self.design, self._answering, self._dice = scenario.design, scenario.answering, dice
        self._samples: list[Sample] = []
        self._said: dict[tuple[str, bool], dict[Sample, str | None]] = {}

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        for turn in range(len(self._samples) // len(self.design.arms), rounds):
            self._samples += [self._sample(turn, place) for place in range(len(self.design.arms))]
        for name in models:
            answering = self._answering[MODELS.index(name)]
            now, before = (self._said.setdefault((name, plain), {}) for plain in (False, True))
            for sample in self._samples:
                if sample not in now:
                    now[sample], before[sample] = answering(self.design, sample, self._dice)

    def _sample(self, turn: int, place: int) -> Sample:
        pool = self.design.pools.get(str(self.design.arms[place].select.arguments["class_name"]))
        label = str(self._dice.choice(pool)) if pool else self.design.arms[place].answer
        return Sample("null", 0, turn, place, f"{turn}/{place}", f"{turn}/{place} before", label, "", 0)

    @property
    def evaluated(self) -> EvaluatedChoices:
        """The choices so far."""
        return EvaluatedChoices(self.design, self._samples, self._said)

    def observations(self, claim: Claim) -> Observations:
        """Return what a claim is about."""
        return self.evaluated.observations(claim)

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - nobody reads any
        """Return nothing: neither verdicts nor patterns depend on it."""
        return []


def opened(scenario: PatternScenario, alpha: float) -> Report:
    """Return the report of an investigation of a scenario, before it begins."""
    begun = Experiment(design=scenario.design, findings=[Finding(claim=claim) for claim in scenario.design.claims])
    return Report(
        query="", models=list(MODELS), alpha=alpha, patterns_alpha=PATTERNS_SHARE * alpha, seed=0,
        budget=Budget(images=2 * _IMAGES), experiments=[begun],  # the first experiment may have half of them
    )  # fmt: skip


def wrong_patterns(scenario: PatternScenario, patterns: Sequence[Pattern]) -> list[Pattern]:
    """Return the patterns that there are not."""
    return [one for one in patterns if not (scenario.is_clear and one.model == MODELS[0])]


def ever_told(scenario: PatternScenario, alpha: float, dice: np.random.Generator) -> bool:
    """Tell whether a wrong pattern would be told at any look."""
    draws, report = SimulatedChoices(scenario, dice), opened(scenario, alpha)
    step = max(_LOOK // len(scenario.arms), 1)
    for rounds in range(step, _IMAGES // len(scenario.arms) + 1, step):
        draws.measure(MODELS, rounds)
        if wrong_patterns(scenario, patterns_of(report, [draws.evaluated])):
            return True
    return False


def measured(scenario: PatternScenario, *, runs: int, alpha: float, seed: int) -> dict[str, Any]:
    """Run a scenario so often, and return how often it went wrong."""
    dice = np.random.default_rng([seed, *scenario.name.encode()])
    end, ever, found, images, together = 0, 0, 0, 0, 0.0
    for _ in range(runs):
        draws = SimulatedChoices(scenario, dice)
        report = decided(judged(measured_on(opened(scenario, alpha), [draws]), 0, draws))
        patterns = patterns_of(report, [draws.evaluated])
        # The threshold is the mean, so that a verdict on either side is wrong, for a constant answer, too.
        verdicts = sum(one.verdict != "open" for one in report.findings)
        wrong = wrong_patterns(scenario, patterns)
        end += bool(wrong)
        found += len(patterns) > len(wrong)
        together += (verdicts + len(wrong)) / (verdicts + len(patterns)) if verdicts or patterns else 0.0
        images += report.images
        ever += ever_told(scenario, alpha, dice)
    return {
        "name": scenario.name, "hypotheses": len(hypotheses(scenario.design)),
        "end": end / runs, "end_interval": asdict(wilson_interval(end, runs)),
        "ever": ever / runs, "ever_interval": asdict(wilson_interval(ever, runs)),
        "together": together / runs, "images": images / runs, **({"found": found / runs} if scenario.is_clear else {}),
    }  # fmt: skip


def main() -> None:
    """Measure, and print."""
    parser = null_parser(__doc__, runs=400)
    parser.add_argument("--only", nargs="+", metavar="WORD", default=[""], help="scenarios whose names begin so")
    options = parser.parse_args()
    began, rows = time.monotonic(), []
    for scenario in [one for one in SCENARIOS if one.name.startswith(tuple(options.only))]:
        rows.append(measured(scenario, runs=options.runs, alpha=options.alpha, seed=options.seed))
        print(_line(rows[-1]), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        given = {"alpha": options.alpha, "share": PATTERNS_SHARE, "runs": options.runs, "seed": options.seed}
        print(json.dumps({**given, "scenarios": rows, "seconds": round(time.monotonic() - began, 1)}, indent=1))


def _line(row: Mapping[str, Any]) -> str:
    found = f", found {row['found']:.2f}" if "found" in row else ""
    return (
        f"{row['name']:44} {row['hypotheses']:4} hypotheses: told {100 * row['end']:.2f} %, ever "
        f"{100 * row['ever']:.2f} %, wrong together {100 * row['together']:.2f} %, {row['images']:.0f} pictures{found}"
    )


if __name__ == "__main__":
    main()
