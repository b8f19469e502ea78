"""Patterns of failure: how a model fails, where it does so too regularly for chance.

Which hypotheses there are follows from the design of an experiment, before any picture is made. Each is about one model
in one condition (about pictures before they were transformed, or afterwards):

preference  of the pictures for which an answer is wrong, most get that answer
confusion   where one answer is right, another one is given more often than guessing would give it
lost class  where an answer is right, or a class is shown, the model is right less often than by guessing
flip        under a change of the pictures one right answer turns into another one, in more than ten of a hundred
            pictures, those taken off that turn the other way

Each has an e-value (`snellen.scoring.evidence`) that holds whenever one looks, and a share of the error rate that the
report keeps for patterns: the experiments that the budget allows have equal shares, in each of these the kinds of
patterns have, and in each of these the hypotheses, but that all classes of a pool share as much as the pool itself has.
The probability that any pattern is ever proved that is none is at
most that rate (Bonferroni's inequality for e-values), so any of those that are proved may be told and the others not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from snellen.experiments.design import IDENTITY, MARGIN, UNKNOWN
from snellen.experiments.drawn_answers import asked, pool_of, said_in_words
from snellen.experiments.pattern_sentences import PatternCounts, is_needless, sentence_of
from snellen.experiments.report import Pattern, PatternExample, PatternKind
from snellen.scoring import Observations, confidence_interval, evidence
from snellen.tools.transforms import DATA_TYPES, TRANSFORMS

if TYPE_CHECKING:
    from snellen.experiments.design import Arm, Design
    from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
    from snellen.experiments.report import Report
    from snellen.memory.samples import Sample
    from snellen.tools.calls import ToolCall

PATTERNS_SHARE: Final = 0.2
"""The part of a report's error rate that is for patterns; the rest is for verdicts."""
RightName = Literal["answer", "class", "pool"]
_EXAMPLES: Final = 4
_MOST: Final = 24
"""Patterns that a report tells."""


@dataclass(frozen=True)
class AnsweredSample:
    """A sample with what a model said about it, kinds of answers for answers (`Design.kind_of`).

    Attributes:
        sample: The sample.
        pool: The pool that its class was drawn from; empty without pools.
        right: The right answer.
        change: What its picture was transformed by, in words; empty where it was not.
        choice: The choice that the model made, none of the kinds; None for no usable answer.
        said: The answer.
        before: That about the picture before it was transformed.
    """

    sample: Sample
    pool: str
    right: str
    change: str
    choice: str | None
    said: str | None
    before: str | None


class AnsweredSamples:
    """The samples about which a model was asked everything, as it answered them.

    Attributes:
        samples: All of them.
        showing: Those with one right answer, of one class and of one pool.
    """

    def __init__(self, samples: Sequence[AnsweredSample]) -> None:
        self.samples = samples
        self.showing: dict[tuple[RightName, str], list[AnsweredSample]] = {}
        for one in samples:
            names: dict[RightName, str] = {"answer": one.right, "class": one.sample.label, "pool": one.pool}
            for pair in names.items():
                self.showing.setdefault(pair, []).append(one)


@dataclass(frozen=True)
class PatternHypothesis:
    """A hypothesis that a model fails in one way: that a mean is above a bar.

    Attributes:
        kind: The kind of pattern.
        model: The model.
        plain: Whether it is about pictures before they were transformed.
        bar: What the mean is compared with.
        said: The answer that is given.
        right: The answer that is right; of lost classes of a pool, the class or the pool.
        change: The change that flips answers.
        names: What `right` names.
        weight: Its share of the error rate that is for patterns, or how it compares with others of its kind.
    """

    kind: PatternKind
    model: str
    plain: bool
    bar: float
    said: str = ""
    right: str = ""
    change: str = ""
    names: RightName = "answer"
    weight: float = 1.0

    @property
    def low(self) -> float:
        """The least that an observation can be; the most is 1."""
        return -1.0 if self.kind == "flip" else 0.0

    def about(self, answered: AnsweredSamples) -> list[AnsweredSample]:
        """Return the samples that it is about."""
        if self.kind == "preference":
            return [one for one in answered.samples if one.right != self.said]
        showing = answered.showing.get((self.names, self.right), [])
        return [one for one in showing if one.change == self.change] if self.change else showing

    def value(self, one: AnsweredSample) -> float:
        """Return 1 for a sample in which it shows, -1 for one in which the opposite of a flip does, and 0 otherwise."""
        if self.kind == "lost class":
            return float(one.said != one.right)
        if self.kind == "flip":
            there, back = (self.right, self.said), (self.said, self.right)
            return float((one.before, one.said) == there) - float((one.before, one.said) == back)
        return float(one.said == self.said)


def hypotheses(design: Design) -> list[PatternHypothesis]:
    """Return the hypotheses about an experiment, with weights that sum to 1.

    Between two answers a preference is a confusion and a lost class, too, so that there are no others. Where two tasks
    are compared, none are looked for.
    """
    if design.protocol != "choice" or design.tasks:
        return []
    families = [family for make in (_preferences, _confusions, _lost, _flips) if (family := list(make(design)))]
    totals = [len(families) * len(design.models) * sum(one.weight for one in family) for family in families]
    return [
        replace(one, model=model, weight=one.weight / total)
        for family, total in zip(families, totals, strict=True)
        for one in family
        for model in design.models
    ]


def _preferences(design: Design) -> Iterator[PatternHypothesis]:
    for plain, said in itertools.product(design.conditions, [*design.told_apart, *[UNKNOWN] * design.unknown]):
        yield PatternHypothesis("preference", "", plain, 1 / 2, said=said)


def _confusions(design: Design) -> Iterator[PatternHypothesis]:
    answers = design.told_apart
    if design.of_places or len(answers) == 2:  # noqa: PLR2004 - see `hypotheses`
        return
    for plain, (right, said) in itertools.product(design.conditions, itertools.permutations(answers, 2)):
        yield PatternHypothesis("confusion", "", plain, 1 / len(answers), said=said, right=right)


def _lost(design: Design) -> Iterator[PatternHypothesis]:
    answers = design.told_apart
    bar = 1 - 1 / len(answers)
    for plain in design.conditions:
        if design.of_places:
            one = PatternHypothesis("lost class", "", plain, bar)
            pools = design.pools if len(design.pools) > 1 else ()
            yield from (replace(one, right=pool, names="pool") for pool in pools)
            # The classes of a pool together weigh as much as it does: those of a small one, of which each is shown
            # often, are not told less surely for the many that stand beside them.
            for names in (dict.fromkeys(pool) for pool in design.pools.values() if len(pool) > 1):
                yield from (replace(one, right=name, names="class", weight=1 / len(names)) for name in names)
        elif len(answers) > 2 or design.unknown:  # noqa: PLR2004 - see `hypotheses`
            yield from (PatternHypothesis("lost class", "", plain, bar, right=right) for right in answers)


def _flips(design: Design) -> Iterator[PatternHypothesis]:
    if not design.paired or design.of_places or design.against:
        return
    changes = [name for name in dict.fromkeys(map(change_in_words, design.arms)) if name]
    for change, (right, said) in itertools.product(changes, itertools.permutations(design.told_apart, 2)):
        yield PatternHypothesis("flip", "", plain=False, bar=MARGIN, said=said, right=right, change=change)


@cache
def _types() -> list[tuple[ToolCall, str]]:
    """Return the calls that make each type of data, with their arguments, and its name."""
    return [(TRANSFORMS.read(call), kind.name) for kind in DATA_TYPES.values() for call in kind.calls]


def change_in_words(arm: Arm) -> str:
    """Name the transform of an arm: the type of data that it makes, or else its call; empty where there is none."""
    call = TRANSFORMS.read(arm.transform)
    if call.name == IDENTITY.name:
        return ""
    return next(
        (name for one, name in _types() if one == call),
        f"{call.name}({', '.join(f'{name}={value}' for name, value in call.arguments.items())})"[:80],
    )


def answered_samples(evaluated: EvaluatedChoices, model: str, *, plain: bool) -> AnsweredSamples:
    """Return what a model said about the samples of complete rounds (`EvaluatedChoices.complete`)."""
    design = evaluated.design
    arms = [
        (pool_of(design, arm), design.kind_of(arm.answer), "" if plain else change_in_words(arm)) for arm in design.arms
    ]
    now, before = evaluated.choices.get((model, plain), {}), evaluated.choices.get((model, True), {})
    kinds: dict[str | None, str] = {choice: design.kind_of(choice) for choice in design.choices}
    return AnsweredSamples(
        [
            AnsweredSample(
                sample, *arms[sample.arm], now[sample], kinds.get(now[sample]), kinds.get(before.get(sample))
            )
            for sample in evaluated.complete(model)
        ]
    )


def patterns_of(report: Report, evaluated: Sequence[EvaluatedChoices]) -> list[Pattern]:
    """Return the patterns of failure that the trials of a report prove, without those that others of them imply.

    Args:
        report: With its verdicts.
        evaluated: The trials of its experiments.
    """
    found = [
        pattern
        for number, each in enumerate(evaluated, 1)
        for pattern in _proved(each, number, report.patterns_alpha / report.budget.experiments)
    ]
    return [one for one in found if not any(is_needless(one, other) for other in found)][:_MOST]


def _proved(evaluated: EvaluatedChoices, number: int, alpha: float) -> Iterator[Pattern]:
    """Yield the patterns of an experiment.

    Args:
        evaluated: Its trials.
        number: The number of the experiment, from 1.
        alpha: The error rate of all its hypotheses together.
    """
    known: dict[tuple[str, bool], AnsweredSamples] = {}
    for one in hypotheses(evaluated.design) if alpha else ():
        key = (one.model, one.plain)
        if key not in known:
            known[key] = answered_samples(evaluated, one.model, plain=one.plain)
        about, rate = one.about(known[key]), one.weight * alpha
        seen = Observations({each.sample: one.value(each) for each in about})
        # Half of it, as for claims: the interval, which has two ends, then agrees with it.
        if seen.mean > one.bar and evidence(seen, one.bar, low=one.low).above / 2 * rate >= 1:
            counts = _counts(one, about, known[key].samples)
            span = confidence_interval(seen, alpha=rate, low=one.low)
            pattern = Pattern(
                kind=one.kind, model=one.model, experiment=number, plain=one.plain, said=one.said, right=one.right,
                change=one.change, times=counts.times, n=counts.n, unit=evaluated.design.unit.name, mean=seen.mean,
                bar=one.bar, kept=counts.kept / max(counts.right, 1), interval=(span.low, span.high), error_rate=rate,
                sentence="", examples=_examples(one, about, evaluated.design),
            )  # fmt: skip
            yield pattern.model_copy(update={"sentence": sentence_of(pattern, evaluated.design, counts)})


def _counts(
    one: PatternHypothesis, about: Sequence[AnsweredSample], samples: Sequence[AnsweredSample]
) -> PatternCounts:
    values = list(map(one.value, about))
    where_right = [each for each in samples if each.right == one.said]
    return PatternCounts(
        times=sum(value > 0 for value in values),
        n=len(values),
        back=sum(value < 0 for value in values),
        kept=sum(each.said == one.said for each in where_right),
        right=len(where_right),
    )


def _examples(one: PatternHypothesis, about: Sequence[AnsweredSample], design: Design) -> list[PatternExample]:
    """Return the first pictures in which a pattern shows."""
    examples = []
    for each in [each for each in about if one.value(each) > 0][:_EXAMPLES]:
        sample, put = each.sample, asked(design, each.sample)
        examples.append(
            PatternExample(
                picture=sample.plain if one.plain else sample.picture,
                before="" if one.plain or sample.plain == sample.picture else sample.plain,
                label=sample.label,
                right=put.answer,
                said=said_in_words(design, put.choices, each.choice) or "",
            )
        )
    return examples
