"""Pairs to score: the protocol of PairBench within investigations.

A round is one original of each split with its three pairs: the same, the changed one, another one. Models are asked for
a score in both orders, once where the change counts and once where it is to be overlooked. The independent unit is the
original, not its splits or pairs, whose scores depend on each other: one value for each original, the mean over its
splits, says whether its scores are in the right order, alike both ways round, and heed what counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from snellen.datasets.pairs import TEMPLATES, Pair, WorldOriginals, asked, second_of, truth
from snellen.errors import BadInput, SnellenError
from snellen.experiments.protocols.protocol import RoundPart, RoundPlace, observed, said_of
from snellen.experiments.schema import Claim, Design, Result
from snellen.memory.samples import Sample
from snellen.memory.trials import TrialKey
from snellen.scoring import Observations, confidence_interval
from snellen.scoring.judge_replies import not_understood, parsed_score
from snellen.scoring.pairs import INVALID, Judged

if TYPE_CHECKING:
    from snellen.experiments.resources import Examination
    from snellen.experiments.schema import Arm
    from snellen.memory.trials import Trial
    from snellen.models.under_test import Card
    from snellen.scoring.pairs import Condition

SPLIT: Final = "split"
"""The argument of an arm's source that says what changes."""
_CONDITIONS: Final[tuple[Condition, ...]] = ("sensitive", "invariant")
WAYS: Final[tuple[tuple[Condition, bool], ...]] = tuple(
    (condition, backward) for condition in _CONDITIONS for backward in (False, True)
)
"""How each pair is asked about: under which condition, and whether its second picture comes first."""
_ALIKE: Final = 1.0
"""What scores in both orders may differ by (ε of RelaxSym)."""
_OTHERS: Final = 1_000_000
"""From this number on, originals are the irrelevant ones."""


class ScoringPairs:
    """Models score how alike two pictures are."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store a pair of each arm; see `snellen.experiments.protocols.protocol.AskingProtocol`."""
        return [self._sample(examination, arm, which, place) for which, arm in enumerate(design.arms)]

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Make a pair of each arm, to see that it can be made."""
        for which, arm in enumerate(design.arms):
            self._sample(examination, arm, which, RoundPlace("", 0, 0, seed))

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:
        """Name the trials about a pair: under each condition in each order."""
        pair = _pair(design.arms[sample.arm], sample)
        found = []
        for condition, backward in WAYS:
            pictures = (sample.picture, sample.plain) if backward else (sample.plain, sample.picture)
            text = asked(pair, condition, backward=backward).text
            found.append(TrialKey(fingerprint, pictures, text, ()))
        return found

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
    ) -> PairsEvaluated:
        """Look up all scores of an experiment."""
        said = said_of(examination, self, design, samples, fingerprints)
        groups = {name: judged(design, trials) for name, trials in said.items()}
        unclear = {
            name: not_understood(one.said for row in trials.values() for one in row) for name, trials in said.items()
        }
        return PairsEvaluated(design, groups, unclear)

    def _sample(self, examination: Examination, arm: Arm, which: int, place: RoundPlace) -> Sample:
        split = str(arm.select.arguments[SPLIT])
        if examination.world is None:
            msg = "This profile has no world to make pairs of: build a benchmark with `snellen pairs build --data DIR`."
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
class PairsEvaluated:
    """The scores of one experiment.

    Attributes:
        design: Of the experiment.
        groups: For each model by name, the scores of each original's pairs of one split.
        unclear: For each model by name, a few answers without a score, quoted.
    """

    design: Design
    groups: Mapping[str, Mapping[RoundPart, Sequence[Judged]]]
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
        found = []
        for name, groups in self.groups.items():
            seen = {measure: self._observed(self._values(name, measure)) for measure in _MEASURES}
            order = seen["order"]
            if not order:
                continue
            rows = [one for part, group in groups.items() if part.round in order.by_unit for one in group]
            scores = [score for one in rows for score in (one.forward, one.backward)]
            span = confidence_interval(order, alpha=alpha, low=-1.0)
            found.append(
                Result(
                    model=name, plain=False, n=len(order), unit=self.design.unit.name, average=(order.mean + 1) / 2,
                    interval=((span.low + 1) / 2, (span.high + 1) / 2), error_rate=alpha,
                    interval_kind="confidence sequence",
                    by_class={measure: each.mean for measure, each in seen.items()}, abstention=None,
                    invalid=sum(score is None for score in scores) / len(scores), informedness=None,
                    not_understood=list(self.unclear.get(name, ())),
                )
            )  # fmt: skip
        return found

    def _observed(self, values: Mapping[RoundPart, float]) -> Observations:
        splits = {str(arm.select.arguments[SPLIT]) for arm in self.design.arms}
        return observed(self.design, values, parts=len(splits))

    def _values(self, model: str, measure: str) -> dict[RoundPart, float]:
        return {part: _MEASURES[measure](rows) for part, rows in self.groups.get(model, {}).items()}


def _order(rows: Sequence[Judged]) -> float:
    """The share of an original's pairs, two and two, that are scored in the right order, less those in the wrong one.

    Kendall's concordance within one original: over originals its mean is what MMScore's τ is made of.
    """
    found = []
    for condition in _CONDITIONS:
        ours = [one for one in rows if one.condition == condition]
        for one, other in combinations(ours, 2):
            if one.truth == other.truth:
                continue
            for here, there in ((one.forward, other.forward), (one.backward, other.backward)):
                step = (INVALID if here is None else here) - (INVALID if there is None else there)
                found.append(float((step > 0) - (step < 0)) * (1 if one.truth > other.truth else -1))
    return sum(found) / len(found)


def _symmetry(rows: Sequence[Judged]) -> float:
    """The share of pairs that get alike scores both ways round, where the change counts.

    Where it is to be overlooked most scores are 10, and alike for that alone.
    """
    alike = [
        one.forward is not None and one.backward is not None and abs(one.forward - one.backward) <= _ALIKE
        for one in rows
        if one.condition == "sensitive"
    ]
    return sum(alike) / len(alike)


def _heed(rows: Sequence[Judged]) -> float:
    """Whether the changed pair scores higher where the change is to be overlooked, in each order."""
    changed = {one.condition: one for one in rows if "transformed" in one.pair}
    sides = [
        (changed["sensitive"].forward, changed["invariant"].forward),
        (changed["sensitive"].backward, changed["invariant"].backward),
    ]
    return sum(low is not None and high is not None and high > low for low, high in sides) / len(sides)


_MEASURES: Final = {"order": _order, "symmetry": _symmetry, "heed": _heed}


def judged(design: Design, said: Mapping[Sample, Sequence[Trial]]) -> dict[RoundPart, list[Judged]]:
    """Gather the scores of each original's three pairs of a split, where all of them were measured.

    Args:
        design: Of the experiment.
        said: The trials about each sample, in the order of `WAYS`.
    """
    found: dict[RoundPart, list[Judged]] = {}
    for sample, trials in said.items():
        arm = design.arms[sample.arm]
        split, scores = str(arm.select.arguments[SPLIT]), [parsed_score(trial.said) for trial in trials]
        for place, condition in enumerate(_CONDITIONS):
            right = truth(arm.answer, condition)  # type: ignore[arg-type]
            forward, backward = scores[2 * place : 2 * place + 2]
            one = Judged(f"{sample.round}-{arm.answer}", condition, right, forward, backward, str(sample.round))
            found.setdefault(RoundPart(sample.round, split), []).append(one)
    return {part: rows for part, rows in found.items() if len(rows) == 3 * len(_CONDITIONS)}


def right(kind: str, trial: Trial) -> bool:
    """Tell whether a score is near the right one under the condition that it was asked under, or either of them."""
    score = parsed_score(trial.said)
    truths = {truth(kind, condition) for condition in _CONDITIONS}  # type: ignore[arg-type]
    if "does not count" in trial.key.question:
        truths = {truth(kind, "invariant")}  # type: ignore[arg-type]
    elif "It counts" in trial.key.question:
        truths = {truth(kind, "sensitive")}  # type: ignore[arg-type]
    return score is not None and any(abs(score - one) <= _ALIKE for one in truths)


def _pair(arm: Arm, sample: Sample) -> Pair:
    """Return a sample as the pair that it is, for its wording."""
    details: dict[str, Any] = json.loads(sample.details)
    return Pair(
        id=f"{sample.round}-{sample.arm}", split=str(arm.select.arguments[SPLIT]), kind=arm.answer,
        original=str(sample.round), first="1.png", second="2.png", digests=[], template=int(details["template"]),
    )  # fmt: skip
