"""Pairs to score: the protocol of PairBench within investigations.

A round is one original of each split with its three pairs: the same, the changed one, another one. Models are asked for
a score in both orders, once where the change counts and once where it is to be overlooked. The independent unit is the
original, not its splits or pairs, whose scores depend on each other: one value for each original, the mean over its
splits, says whether its scores are in the right order, alike both ways round, and follow the criterion.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final

from snellen.datasets.pairs import TEMPLATES, Pair, WorldOriginals, asked, second_of, truth
from snellen.errors import BadInput, SnellenError
from snellen.experiments.design import Claim, Design
from snellen.experiments.protocols.protocol import RoundPart, RoundPlace, observed, trials_of
from snellen.experiments.report import Result
from snellen.memory.samples import Sample
from snellen.memory.trials import TrialKey
from snellen.scoring import Observations, confidence_interval
from snellen.scoring.judge_replies import not_understood, parsed_score
from snellen.scoring.pairs import CONDITIONS, INVALID, Condition, PairScores

if TYPE_CHECKING:
    from snellen.experiments.design import Arm
    from snellen.experiments.resources import Examination
    from snellen.memory.trials import Trial
    from snellen.models.under_test import Card

SPLIT: Final = "split"
"""The argument of an arm's source that says what changes."""
WAYS: Final[tuple[tuple[Condition, bool], ...]] = tuple(
    (condition, backward) for condition in CONDITIONS for backward in (False, True)
)
"""How each pair is asked about: under which condition, and whether its second picture comes first."""
_EPSILON: Final = 1.0
"""What scores in both orders may differ by (ε of RelaxSym)."""
_OTHERS: Final = 1_000_000
"""From this number on, originals are the irrelevant ones."""


def pair_keys(pair: Pair, fingerprint: str, ids: Mapping[str, str]) -> list[TrialKey]:
    """Name the trials about a pair: under each condition, in both orders where there are two.

    Args:
        pair: The pair.
        fingerprint: Of the model.
        ids: Of the stored pictures, by the pair's files.
    """
    requests = [asked(pair, condition, backward=backward) for condition, backward in _ways(pair)]
    return [TrialKey(fingerprint, tuple(ids[file] for file in one.files), one.text, ()) for one in requests]


def pair_scores(pair: Pair, scores: Sequence[float | None]) -> list[PairScores]:
    """Return the scores of a pair under each condition.

    Args:
        pair: The pair.
        scores: Of its trials, in the order of `pair_keys`; a text and a picture have one order only.
    """
    by_way = dict(zip(_ways(pair), scores, strict=True))
    return [
        PairScores(
            pair.id, condition, truth(pair.kind, condition), by_way[condition, False],
            by_way[condition, not pair.text], pair.original,
        )
        for condition in CONDITIONS
    ]  # fmt: skip


def _ways(pair: Pair) -> list[tuple[Condition, bool]]:
    return [way for way in WAYS if not (way[1] and pair.text)]


class PairScoring:
    """Models score how alike two pictures are."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store a pair of each arm; see `snellen.experiments.protocols.protocol.AskingProtocol`."""
        return [self._sample(examination, arm, which, place) for which, arm in enumerate(design.arms)]

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Check that a pair of each arm can be made."""
        self.make(examination, design, RoundPlace("", 0, 0, seed))

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:
        """Name the trials about a pair: under each condition in each order."""
        pair = _pair(design.arms[sample.arm], sample)
        return pair_keys(pair, fingerprint, {pair.first: sample.plain, pair.second: sample.picture})

    def refuse(self, card: Card, design: Design) -> None:  # noqa: ARG002 - whatever is asked
        """Refuse to ask a model that does not write, or reads one picture only."""
        if not card.answers:
            msg = "it compares vectors and gives no scores: `snellen pairs run` measures encoders"
            raise SnellenError(msg)
        if card.pictures < 2:  # noqa: PLR2004 - a pair
            msg = "it reads one picture at once, and cannot compare two"
            raise SnellenError(msg)

    def evaluated(
        self, examination: Examination, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str]
    ) -> EvaluatedPairs:
        """Look up all scores of an experiment."""
        trials = trials_of(self, examination, design, samples, fingerprints)
        groups = {name: scores_by_original(design, about) for name, about in trials.items()}
        unclear = {
            name: not_understood(one.said for row in about.values() for one in row) for name, about in trials.items()
        }
        return EvaluatedPairs(design, groups, unclear)

    def _sample(self, examination: Examination, arm: Arm, which: int, place: RoundPlace) -> Sample:
        split = str(arm.select.arguments[SPLIT])
        if examination.world is None:
            msg = "This profile has no world to make pairs of: build a benchmark of pairs with `snellen pairs build`."
            raise BadInput(msg)
        originals = WorldOriginals(examination.world, places=split.startswith("SP"))
        seed = place.seed * 1_000 + place.experiment
        one = originals.original(place.round, seed)
        source = originals.original(_OTHERS + place.round, seed) if arm.answer == "irrelevant" else one
        second = second_of(arm.answer, source, split, f"{seed}/{place.round}")  # type: ignore[arg-type]
        picture, plain = examination.pictures.put(second.convert("RGB")).id, examination.pictures.put(one.picture).id
        dice = hashlib.sha256(f"{seed}/{split}/{place.round}".encode()).digest()[0]
        details = json.dumps({"template": (dice + which) % TEMPLATES})
        return Sample(
            place.investigation, place.experiment, place.round, which, picture, plain,
            f"{arm.answer}, {split}", originals.title, 0, details,
        )  # fmt: skip


@dataclass(frozen=True)
class EvaluatedPairs:
    """The scores of one experiment.

    Attributes:
        design: Of the experiment.
        groups: For each model by name, the scores of each original's pairs of one split.
        unclear: For each model by name, a few answers without a score, quoted.
    """

    design: Design
    groups: Mapping[str, Mapping[RoundPart, Sequence[PairScores]]]
    unclear: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def observations(self, claim: Claim) -> Observations:
        """Return one value for each original, or the difference of two models."""
        values = self._values(claim.model, claim.measure)
        if claim.kind == "better":
            others = self._values(claim.other, claim.measure)
            # Concordance is between -1 and 1; as a share of pairs in the right order two of them differ by 1 at most.
            width = 2 if claim.measure == "order" else 1
            values = {part: (value - others[part]) / width for part, value in values.items() if part in others}
        return self._observed(values)

    def results(self, *, alpha: float) -> list[Result]:
        """Return how well each model orders pairs, and what else it can be trusted with.

        Args:
            alpha: The error rate of the intervals.
        """
        results = []
        for name, groups in self.groups.items():
            measured = {measure: self._observed(self._values(name, measure)) for measure in _MEASURES}
            order = measured["order"]
            if not order:
                continue
            rows = [one for part, group in groups.items() if part.round in order.by_unit for one in group]
            scores = [score for one in rows for score in (one.forward, one.backward)]
            span = confidence_interval(order, alpha=alpha, low=-1.0)
            results.append(
                Result(
                    model=name, plain=False, n=len(order), unit=self.design.unit.name, average=(order.mean + 1) / 2,
                    interval=((span.low + 1) / 2, (span.high + 1) / 2), error_rate=alpha,
                    interval_kind="confidence sequence",
                    by_class={measure: each.mean for measure, each in measured.items()}, abstention=None,
                    invalid=sum(score is None for score in scores) / len(scores), informedness=None,
                    not_understood=list(self.unclear.get(name, ())),
                )
            )  # fmt: skip
        return results

    def _observed(self, values: Mapping[RoundPart, float]) -> Observations:
        splits = {str(arm.select.arguments[SPLIT]) for arm in self.design.arms}
        return observed(self.design, values, parts=len(splits))

    def _values(self, model: str, measure: str) -> dict[RoundPart, float]:
        return {part: _MEASURES[measure](rows) for part, rows in self.groups.get(model, {}).items()}


def _concordance(rows: Sequence[PairScores]) -> float:
    """The share of an original's pairs, two and two, that are scored in the right order, less those in the wrong one.

    Kendall's concordance within one original: over originals its mean is what MMScore's τ is made of.
    """
    steps = []
    for condition in CONDITIONS:
        for one, other in combinations([one for one in rows if one.condition == condition], 2):
            if one.truth == other.truth:
                continue
            for here, there in ((one.forward, other.forward), (one.backward, other.backward)):
                step = (INVALID if here is None else here) - (INVALID if there is None else there)
                steps.append(float((step > 0) - (step < 0)) * (1 if one.truth > other.truth else -1))
    return sum(steps) / len(steps)


def _symmetry(rows: Sequence[PairScores]) -> float:
    """The share of pairs that get alike scores both ways round, where the change counts.

    Where it is to be overlooked most scores are 10, and alike for that alone.
    """
    alike = [
        one.forward is not None and one.backward is not None and abs(one.forward - one.backward) <= _EPSILON
        for one in rows
        if one.condition == "sensitive"
    ]
    return sum(alike) / len(alike)


def _controllability(rows: Sequence[PairScores]) -> float:
    """The share of orders in which the changed pair scores higher where the change is to be overlooked."""
    changed = {one.condition: one for one in rows if "transformed" in one.pair}
    sides = [
        (changed["sensitive"].forward, changed["invariant"].forward),
        (changed["sensitive"].backward, changed["invariant"].backward),
    ]
    return sum(low is not None and high is not None and high > low for low, high in sides) / len(sides)


_MEASURES: Final = {"order": _concordance, "symmetry": _symmetry, "heed": _controllability}
"""By their names in claims, which are stored."""


def scores_by_original(design: Design, trials: Mapping[Sample, Sequence[Trial]]) -> dict[RoundPart, list[PairScores]]:
    """Return the scores of each original's three pairs of a split, where all of them were measured.

    Args:
        design: Of the experiment.
        trials: Those about each sample, in the order of `WAYS`.
    """
    groups: dict[RoundPart, list[PairScores]] = {}
    for sample, about in trials.items():
        pair = _pair(design.arms[sample.arm], sample)
        scores = pair_scores(pair, [parsed_score(trial.said) for trial in about])
        groups.setdefault(RoundPart(sample.round, pair.split), []).extend(scores)
    return {part: rows for part, rows in groups.items() if len(rows) == 3 * len(CONDITIONS)}


def is_right(kind: str, trial: Trial) -> bool:
    """Return whether a score is near the right one under the condition that it was asked under, or either of them."""
    score = parsed_score(trial.said)
    conditions: tuple[Condition, ...] = CONDITIONS
    if "does not count" in trial.key.question:
        conditions = ("invariant",)
    elif "It counts" in trial.key.question:
        conditions = ("sensitive",)
    return score is not None and any(
        abs(score - truth(kind, condition)) <= _EPSILON  # type: ignore[arg-type]
        for condition in conditions
    )


def _pair(arm: Arm, sample: Sample) -> Pair:
    """Return a sample as the pair that it is."""
    template = int(json.loads(sample.details)["template"])
    return Pair(
        id=f"{sample.round}-{arm.answer}", split=str(arm.select.arguments[SPLIT]), kind=arm.answer,
        original=str(sample.round), first="1.png", second="2.png", digests=[], template=template,
    )  # fmt: skip
