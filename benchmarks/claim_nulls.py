"""How often are verdicts wrong about conditions, losses, equality, mistakes and limits, where there is nothing to find?

    python -m benchmarks.claim_nulls --json > docs/results/nulls/claims.json

Every picture shows a class that is drawn for it, and classes differ in how well they are recognized: what is claimed is
about all of them. A mean is at its claim's threshold, so that any verdict about it is wrong:

- two conditions cost the same on average, other classes each;
- a model is as good at one task as at another, in which other classes are hard;
- two models lose the same on average, one a little of everything, the other all of a few classes;
- two models differ by exactly the margin within which they would be alike, or as good;
- an answer is given the margin more often than it is right, of a few classes always;
- one class is a little worse than all others, or hardly, and another one is named as the worst;
- as many classes are recognized as are claimed but one, and the others exactly as often as is asked for;
- things are taken for one kind exactly the margin more often than for another, a few classes always;
- at one severity, or at all, a model is right exactly as often as is asked for, and a search chooses what is examined;
- a model loses exactly the share of its accuracy beyond guessing that is asked for;
- of five models, whose abilities are exactly what is asked for, none is above it, and it is asked whether any is.

All that follows is the product's own code: when more is drawn, when a claim is given up, what e-BH decides, which
severity comes next, and what is said in the end. `wrong` is the mean share of wrong verdicts among a report's verdicts,
`said wrong` the share of reports that say something wrong in the end; both shall be at most alpha. `interval` is
Wilson's, 95 %, of the larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_command import null_parser, print_rows
from benchmarks.nulls import measured_on
from snellen.experiments.contrast_templates import contrasting
from snellen.experiments.decisions import decided, judged
from snellen.experiments.design import BY_CLASS, EXTREMES, MARGIN, PLACES, Arm, Claim, Design
from snellen.experiments.examination_plan import ExaminedQuestion
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.experiments.standings import ModelStanding, next_of, standings
from snellen.experiments.template_parts import select
from snellen.experiments.templates import changed, compared
from snellen.reasoning.queries.abilities import CountThings, Favour, Kind, Mistake
from snellen.reasoning.queries.conditions import conditions_of
from snellen.reasoning.queries.model_query import Comparison, Contrast, ModelQuestion, Threshold
from snellen.reasoning.queries.quantifiers import Quantifier
from snellen.scoring import Observations, wilson_interval

CLASSES: Final = 227
"""Those of the embedded profile."""
CHANGE: Final = "defocus blur"
BAR: Final = 0.75
_ARMS: Final = 2
_ONE, _OTHER = "one", "other"
Values = NDArray[np.float64]


def _right(shares: Sequence[tuple[float, float]], classes: NDArray[np.int64], dice: np.random.Generator) -> Values:
    """Draw who is right about pictures of classes, of which each share is recognized with a probability."""
    by_class = np.repeat([rate for _, rate in shares], [round(share * CLASSES) for share, _ in shares])
    rates = np.resize(by_class, CLASSES)[classes]
    return (dice.random(classes.shape) < rates).astype(float)


def _classes(rounds: int, dice: np.random.Generator) -> NDArray[np.int64]:
    return dice.integers(CLASSES, size=(rounds, _ARMS))


class DrawnValues:
    """Values of claims, as far as models were asked (`snellen.experiments.protocols.protocol.Evaluated`).

    Args:
        values: By claim, shape (rounds, arms); of classes that are compared (rounds, arms, 2): the class, and whether
            it was recognized.
    """

    def __init__(self, values: Mapping[Claim, Values]) -> None:
        self._values = values
        self._rounds: dict[str, int] = {}

    def measure(self, models: Sequence[str], rounds: int) -> None:
        """Let models be asked about all rounds so far."""
        self._rounds |= dict.fromkeys(models, rounds)

    def observations(self, claim: Claim) -> Observations:
        """Return the values of the rounds about which all models of a claim were asked."""
        rounds = min(self._rounds.get(name, 0) for name in claim.models)
        if claim.kind in BY_CLASS:
            rows = self._values[claim][:rounds].reshape(-1, 2)
            return Observations({(f"class {which:.0f}", number): right for number, (which, right) in enumerate(rows)})
        return Observations.independent(self._values[claim][:rounds].ravel().tolist())

    def results(self, *, alpha: float) -> list[Result]:  # noqa: ARG002 - nobody reads any
        """Return nothing: verdicts do not depend on it."""
        return []


@dataclass(frozen=True)
class ClaimScenario:
    """A question about models of which nothing is so, or not so, by more than its bound.

    Attributes:
        name: For people.
        part: The question with its experiments.
        draw: Draws the values of a claim of an experiment, which is given by its condition.
        truth: The mean of a claim under a condition.
        models: Those that it is about.
    """

    name: str
    part: ExaminedQuestion
    draw: Callable[[Design, int, np.random.Generator], Mapping[Claim, Values]]
    truth: Callable[[Claim, str], float]
    models: Sequence[str] = (_ONE, _OTHER)

    def is_wrong(self, finding: Finding, condition: str) -> bool:
        """Tell whether a verdict is wrong: any is about a mean that is at the threshold."""
        if finding.claim.kind in EXTREMES:
            return finding.verdict == "yes" and finding.likeliest != "class 0"
        if finding.claim.kind == "classes":  # one class too few is recognized
            return finding.verdict == "yes"
        gap = self.truth(finding.claim, condition) - finding.claim.threshold
        if finding.verdict == "open":
            return False
        return abs(gap) < 1e-9 or (finding.verdict == "yes") != (gap > 0)  # noqa: PLR2004 - rounding


def _plain() -> Design:
    return Design(
        difficulty=1, purpose="A null.", skill="recognizing things", question="Is it …?",
        arms=[Arm(answer=place, select=select("things")) for place in PLACES[:_ARMS]],
        claims=[Claim(kind="ability", model=_ONE, threshold=BAR)],
    )  # fmt: skip


def _two_conditions() -> ClaimScenario:
    milder, heavier = conditions_of(CHANGE)[:2]
    question = ModelQuestion(models=(_ONE,), condition=heavier, robust=True, than=Contrast(condition=milder))
    claims = [Claim(kind="drop", model=_ONE, threshold=0)]
    design = compared(_plain(), heavier, milder).model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        other, one = ((0.5, 0.9), (0.5, 0.5)), ((0.5, 0.5), (0.5, 0.9))
        return {claim: _right(other, classes, dice) - _right(one, classes, dice) for claim in design.claims}

    classes = np.arange(CLASSES)
    gap = _mean(((0.5, 0.9), (0.5, 0.5)), classes) - _mean(((0.5, 0.5), (0.5, 0.9)), classes)
    return ClaimScenario("two conditions cost the same", _at(question, [design], gap), draw, lambda *_: gap)


def _two_tasks() -> ClaimScenario:
    some, others = ((0.5, 0.95), (0.5, 0.55)), ((0.75, 0.75), (0.25, 0.75))
    question = ModelQuestion(models=(_ONE,), than=Contrast(ability=CountThings()))
    claims = [Claim(kind="contrast", model=_ONE, threshold=0)]
    design = contrasting(_plain(), _plain(), None).model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        pairs = _right(some, _classes(rounds, dice), dice) - _right(others, _classes(rounds, dice), dice)
        return dict.fromkeys(design.claims, pairs)

    gap = _mean(some, np.arange(CLASSES)) - _mean(others, np.arange(CLASSES))
    return ClaimScenario("two tasks are as easy", _at(question, [design], gap), draw, lambda *_: gap)


def _two_losses() -> ClaimScenario:
    condition = conditions_of(CHANGE)[0]
    few, little = ((0.1, 0.0), (0.9, 1.0)), ((1.0, 1.0),)
    gap = 1 - _mean(few, np.arange(CLASSES))  # the one loses all of some classes, the other so much of each
    question = ModelQuestion(
        models=(_ONE, _OTHER), condition=condition, robust=True, comparison=Comparison(how="better")
    )
    claims = [Claim(kind="steadier", model=_ONE, other=_OTHER, threshold=0)]
    design = changed(_plain(), condition, robust=True).model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        lost = 1 - _right(few, classes, dice)
        other = _right(little, classes, dice) - _right(((1.0, 1 - gap),), classes, dice)
        return dict.fromkeys(design.claims, other - lost)

    return ClaimScenario("two models lose the same", ExaminedQuestion(question, (design,)), draw, lambda *_: 0.0)


def _equals(how: str) -> ClaimScenario:
    weak, strong = ((0.25, 0.0), (0.75, 1.0)), 0.1
    rate = _mean(weak, np.arange(CLASSES)) + strong
    comparison = Comparison.model_validate({"how": how})
    question = ModelQuestion(models=(_ONE, _OTHER), comparison=comparison)
    pairs = [(_OTHER, _ONE), (_ONE, _OTHER)] if how == "alike" else [(_OTHER, _ONE)]
    claims = [Claim(kind="better", model=one, other=other, threshold=MARGIN) for one, other in pairs]
    design = _plain().model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        more = _right(((1.0, rate),), classes, dice) - _right(weak, classes, dice)
        return {claim: more if claim.model == _OTHER else -more for claim in design.claims}

    def truth(claim: Claim, _: str) -> float:
        return strong if claim.model == _OTHER else -strong

    return ClaimScenario(f"two models differ by the margin: {how}", ExaminedQuestion(question, (design,)), draw, truth)


def _favored() -> ClaimScenario:
    question = ModelQuestion(models=(_ONE,), ability=Favour(answer="first"))
    claims = [Claim(kind="favor", model=_ONE, answer=PLACES[0], threshold=MARGIN)]
    always = round(0.25 * CLASSES) / CLASSES
    often = 1 - (always - 2 * MARGIN)  # where it is right, so that the mean of both arms is the margin
    design = _plain().model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        right, wrong = dice.random(rounds) < often, classes[:, 1] < round(0.25 * CLASSES)
        return dict.fromkeys(design.claims, np.stack([right - 1.0, wrong.astype(float)], axis=-1))

    return ClaimScenario("an answer is favored by the margin", ExaminedQuestion(question, (design,)), draw,
                         lambda *_: MARGIN)  # fmt: skip


def _worst_class(number: int, gap: float) -> ClaimScenario:
    """Classes that are recognized alike, but for the first."""
    claims = [Claim(kind="worst", model=_ONE, threshold=0)]
    compared = {f"class {which}": [f"class {which}"] for which in range(number)}
    pools = {"classes": list(compared)}
    design = _plain().model_copy(update={"claims": claims, "compared": compared, "pools": pools, "least": 6 * number})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = dice.integers(number, size=(rounds, _ARMS))
        right = dice.random(classes.shape) < np.where(classes == 0, 0.8 - gap, 0.8)
        return dict.fromkeys(design.claims, np.stack([classes, right], axis=-1).astype(float))

    question = ModelQuestion(models=(_ONE,), asks="which classes", sense="fails")
    name = f"one of {number} classes is worse by {100 * gap:.0f} points"
    return ClaimScenario(name, ExaminedQuestion(question, (design,)), draw, lambda *_: 0.0)


def _mistakes() -> ClaimScenario:
    question = ModelQuestion(models=(_ONE,), ability=Mistake(things=Kind(names=("dog",)), other=Kind(names=("cat",))))
    always = round(0.2 * CLASSES) / CLASSES
    third = always - MARGIN  # of the others so many are taken for a third thing
    claims = [Claim(kind="mistake", model=_ONE, answer="cats", threshold=MARGIN)]
    design = _plain().model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        taken = classes < round(0.2 * CLASSES)
        elsewhere = ~taken & (dice.random(classes.shape) < third / (1 - always))
        return {claim: taken.astype(float) - elsewhere for claim in design.claims}

    return ClaimScenario(
        "mistakes at the margin, a few classes always", ExaminedQuestion(question, (design,)), draw,
        lambda *_: MARGIN,
    )  # fmt: skip


def _limit(name: str, accuracies: Sequence[float]) -> ClaimScenario:
    """A search over severities; the first accuracy is that of pictures as they are."""
    levels = conditions_of(CHANGE)
    condition = levels[0].model_copy(update={"change": levels[0].change and levels[0].change.model_copy(
        update={"amount": None}
    )})  # fmt: skip
    bound = Threshold(how="more than", share=BAR)
    question = ModelQuestion(models=(_ONE,), condition=condition).model_copy(
        update={"asks": "limit", "threshold": bound}
    )
    designs = (_plain(), *(changed(_plain(), level, robust=False) for level in levels))
    of_condition = {design.condition: rate for design, rate in zip(designs, accuracies, strict=True)}

    def known(condition: str) -> Sequence[tuple[float, float]]:
        """Some classes are known, the others guessed, so that the accuracy is as it should be."""
        count = round(2 * (of_condition[condition] - 0.5) * CLASSES)
        rest = 0.5 + (2 * (of_condition[condition] - 0.5) * CLASSES - count) / (2 * (CLASSES - count) or 1)
        return ((count / CLASSES, 1.0), (1 - count / CLASSES, rest))

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        return dict.fromkeys(design.claims, _right(known(design.condition), classes, dice))

    return ClaimScenario(name, ExaminedQuestion(question, designs), draw, lambda _, where: of_condition[where])


def _share() -> ClaimScenario:
    """Half of what is right beyond guessing is lost of every class, and half is asked for; classes differ."""
    condition, before, after = conditions_of(CHANGE)[0], ((0.5, 1.0), (0.5, 0.6)), ((0.5, 0.75), (0.5, 0.55))
    bound = Threshold(how="at least", share=0.5, relative=True)
    question = ModelQuestion(models=(_ONE,), condition=condition, robust=True, threshold=bound)
    claims = [Claim(kind="drop", model=_ONE, threshold=0, share=bound.share)]
    design = changed(_plain(), condition, robust=True).model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        kept = (1 - bound.share) * _right(before, classes, dice) + bound.share / _ARMS
        return dict.fromkeys(design.claims, kept - _right(after, classes, dice))

    return ClaimScenario("half of the accuracy is lost", ExaminedQuestion(question, (design,)), draw, lambda *_: 0.0)


def _any_of(number: int) -> ClaimScenario:
    """Models are right exactly as often as is asked for, so that none is right more often."""
    names = tuple(f"{_ONE} {place}" for place in range(number))
    shares = ((0.5, 1.0), (0.5, 0.5))
    rate = _mean(shares, np.arange(CLASSES))
    question = ModelQuestion(models=names, quantifier=Quantifier(how="at least", count=1))
    claims = [Claim(kind="ability", model=name, threshold=rate, one_of=number) for name in names]
    design = _plain().model_copy(update={"claims": claims})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = _classes(rounds, dice)
        return {claim: _right(shares, classes, dice) for claim in design.claims}

    part = ExaminedQuestion(question, (design,))
    return ClaimScenario(f"any of {number} models, each just not", part, draw, lambda *_: rate, names)


def _mean(shares: Sequence[tuple[float, float]], classes: NDArray[np.int64]) -> float:
    by_class = np.repeat([rate for _, rate in shares], [round(share * CLASSES) for share, _ in shares])
    return float(np.resize(by_class, CLASSES)[classes].mean())


def _at(question: ModelQuestion, designs: Sequence[Design], threshold: float) -> ExaminedQuestion:
    """Put the threshold of all claims where the mean is: 227 classes have no halves."""
    moved = [
        one.model_copy(update={"claims": [claim.model_copy(update={"threshold": threshold}) for claim in one.claims]})
        for one in designs
    ]
    return ExaminedQuestion(question, tuple(moved))


def _so_many_classes(number: int, count: int) -> ClaimScenario:
    """Classes of which one too few is always recognized; the model is right about the others at the threshold."""
    claims = [Claim(kind="classes", model=_ONE, threshold=0.625, count=count)]
    compared = {f"class {which}": [f"class {which}"] for which in range(number)}
    pools = {"classes": list(compared)}
    design = _plain().model_copy(update={"claims": claims, "compared": compared, "pools": pools, "least": 6 * number})

    def draw(design: Design, rounds: int, dice: np.random.Generator) -> Mapping[Claim, Values]:
        classes = dice.integers(number, size=(rounds, _ARMS))
        right = dice.random(classes.shape) < np.where(classes < count - 1, 1.0, 0.625)
        return dict.fromkeys(design.claims, np.stack([classes, right], axis=-1).astype(float))

    question = ModelQuestion(models=(_ONE,), classes=Quantifier(how="at least", count=count))
    name = f"{count - 1} of {number} classes are recognized, and no more"
    return ClaimScenario(name, ExaminedQuestion(question, (design,)), draw, lambda *_: 0.0)


SCENARIOS: Final = (
    _two_conditions(),
    _two_tasks(),
    _two_losses(),
    _equals("alike"),
    _equals("as good"),
    _favored(),
    _worst_class(4, 0.01),
    _worst_class(15, 0.1),
    _worst_class(4, 0.6),
    _so_many_classes(4, 4),
    _so_many_classes(15, 8),
    _mistakes(),
    _limit("limit: right just as often at one severity", (0.95, 0.92, 0.85, 0.75, 0.6, 0.5)),
    _limit("limit: right just as often at every severity", (0.75,) * 6),
    _limit("limit: close to it at three", (0.95, 0.78, 0.76, 0.75, 0.74, 0.72)),
    _share(),
    _any_of(5),
)


def report_of(scenario: ClaimScenario, *, alpha: float, dice: np.random.Generator) -> Report:
    """Run one investigation: design after design as the question asks for them, until none would say more."""
    report = Report(query="", models=list(scenario.models), alpha=alpha, seed=0, budget=Budget())
    drawn: list[DrawnValues] = []
    while len(report.experiments) < report.budget.experiments:
        design = next_of(scenario.part, report.experiments)
        if design is None:
            break
        drawn.append(DrawnValues(scenario.draw(design, report.budget.images // len(design.arms), dice)))
        begun = Experiment(design=design, findings=[Finding(claim=claim) for claim in design.claims])
        report = measured_on(report.model_copy(update={"experiments": [*report.experiments, begun]}), drawn)
    for number, one in enumerate(drawn):
        report = judged(report, number, one)
    return decided(report)


def measured(scenario: ClaimScenario, *, runs: int, alpha: float, seed: int) -> dict[str, Any]:
    """Run a scenario so often, and return how often its verdicts, and what it said in the end, were wrong."""
    dice = np.random.default_rng([seed, *scenario.name.encode()])
    wrong, said, verdicts, claims, images = 0.0, 0, 0, 0, 0
    for _ in range(runs):
        report = report_of(scenario, alpha=alpha, dice=dice)
        ruled = [(one, each.design.condition) for each in report.experiments for one in each.findings]
        claims += len(ruled)
        ruled = [pair for pair in ruled if pair[0].verdict != "open"]
        false = [one for one, condition in ruled if scenario.is_wrong(one, condition)]
        wrong += len(false) / len(ruled) if ruled else 0.0
        answers = standings(scenario.part, report.experiments)
        said += bool(false) and _is_said(scenario.part.question.quantifier, answers)
        verdicts += len(ruled)
        images += report.images
    worst = min(math.ceil(max(wrong, said)), runs)
    return {
        "name": scenario.name, "wrong": wrong / runs, "said wrong": said / runs,
        "interval": asdict(wilson_interval(worst, runs)), "decided": verdicts / claims, "images": images / runs,
    }  # fmt: skip


def _is_said(quantifier: Quantifier | None, answers: Sequence[ModelStanding]) -> bool:
    """Tell whether anything is said in the end: of any of several models, that it holds."""
    if quantifier is not None:
        return quantifier.holds(sum(one.says == "yes" for one in answers), len(answers))
    return any(one.says != "open" or one.moot for one in answers)


def main() -> None:
    """Measure, and print."""
    options = null_parser(__doc__, runs=1_000).parse_args()
    rows = (measured(scenario, runs=options.runs, alpha=options.alpha, seed=options.seed) for scenario in SCENARIOS)
    print_rows(rows, options, _line, classes=CLASSES)


def _line(row: Mapping[str, Any]) -> str:
    return (
        f"{row['name']:48} wrong {100 * row['wrong']:5.2f} %, said wrong {100 * row['said wrong']:5.2f} %, "
        f"decided {row['decided']:.3f}, {row['images']:.0f} pictures"
    )


if __name__ == "__main__":
    main()
