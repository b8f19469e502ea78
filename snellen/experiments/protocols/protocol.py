"""The ways in which experiments ask: answers to choose from, free answers, pairs to score.

What differs between them is how a round of pictures is made, what is asked about each, what the answers say about a
claim, and what is drawn independently (`snellen.experiments.schema.UNITS`). All else is the same: trials, evidence,
budgets, verdicts, resuming, reports.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from snellen.experiments.schema import Claim, Design, Finding, Result
from snellen.scoring import Observations, confidence_interval, evidence

if TYPE_CHECKING:
    from snellen.experiments.resources import Examination
    from snellen.memory.samples import Sample
    from snellen.memory.trials import Trial, TrialKey
    from snellen.models.under_test import Card

_ENDLESS: Final = 600.0
"""Logarithms of evidence are kept below this: JSON knows no infinity."""


@dataclass(frozen=True)
class RoundPlace:
    """Where a round of pictures belongs.

    Attributes:
        investigation: Whom the pictures belong to; which ones they are does not depend on it, so that whoever asks the
            same again with the same seed gets pictures that were measured.
        experiment: The number of the experiment, from 0.
        round: The number of the round, from 0.
        seed: Chooses the pictures.
    """

    investigation: str
    experiment: int
    round: int
    seed: int


class Evaluated(Protocol):
    """The samples of one experiment, and what models said about them."""

    def observations(self, claim: Claim) -> Observations:
        """Return what a claim is about, a value for each unit of the rounds that are complete (`observed`)."""
        ...

    def results(self, *, alpha: float) -> list[Result]:
        """Return the metrics of every model, over complete rounds.

        Args:
            alpha: The error rate of the intervals.
        """
        ...


class AskingProtocol(Protocol):
    """A way of asking."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store the pictures of one round: one of each arm.

        Raises:
            SnellenError: One cannot be made.
        """
        ...

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """See that pictures of each arm can be made.

        Raises:
            BadInput: They cannot.
        """
        ...

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:
        """Name the trials in which a model is asked about a sample."""
        ...

    def refuse(self, card: Card, design: Design) -> None:
        """Refuse to ask a model what it cannot answer.

        Raises:
            SnellenError: It cannot.
        """
        ...

    def evaluated(
        self, examination: Examination, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str]
    ) -> Evaluated:
        """Look up all trials of an experiment, and read them."""
        ...


@dataclass(frozen=True)
class RoundPart:
    """What a value of a round is about.

    Attributes:
        round: The number of the round.
        name: The number of the arm, or the name of the split.
    """

    round: int
    name: int | str


def observed(design: Design, values: Mapping[RoundPart, float], *, parts: int) -> Observations:
    """Return one value for each unit of the rounds that are complete.

    Only whole rounds count: every mean is over the same arms, and a unit's value is always made of the same parts.

    Args:
        design: Says what a unit is: the whole round, whose value is the mean over its parts, or each part.
        values: Of the parts that were measured.
        parts: How many a round has.
    """
    rounds: dict[int, dict[RoundPart, float]] = {}
    for part, value in values.items():
        rounds.setdefault(part.round, {})[part] = value
    whole = design.unit.whole_round

    def unit(part: RoundPart) -> Hashable:
        return part.round if whole else part

    return Observations.of_parts(
        (unit(part), value) for row in rounds.values() if len(row) == parts for part, value in row.items()
    )


def finding(design: Design, evaluated: Evaluated, before: Finding) -> Finding:
    """Return what is known of a claim now; its verdict and its interval are left open.

    Args:
        design: Of its experiment.
        evaluated: What models said.
        before: The finding so far.
    """
    claim, seen = before.claim, evaluated.observations(before.claim)
    found = evidence(seen, claim.threshold, low=claim.low)
    strength = found.strength
    return before.model_copy(
        update={
            "n": len(seen),
            "unit": design.unit.name,
            "mean": seen.mean,
            "spread": float(np.std([*seen.values, claim.low, 1.0])),
            "logarithm": min(math.log(strength), _ENDLESS) if strength > 0 else -_ENDLESS,
            "leaning": "open" if not seen else "yes" if found.above > found.below else "no",
            "verdict": "open",
        }
    )


def with_interval(evaluated: Evaluated, found: Finding, *, alpha: float) -> Finding:
    """Return a finding with the means that its observations do not rule out.

    Args:
        evaluated: What models said.
        found: What is known of the claim.
        alpha: The error rate of the interval.
    """
    span = confidence_interval(evaluated.observations(found.claim), alpha=alpha, low=found.claim.low)
    kind = {"interval": (span.low, span.high), "error_rate": alpha, "interval_kind": "confidence sequence"}
    return found.model_copy(update=kind)


def said_of(
    examination: Examination,
    protocol: AskingProtocol,
    design: Design,
    samples: Sequence[Sample],
    fingerprints: Mapping[str, str],
) -> dict[str, dict[Sample, list[Trial]]]:
    """Return, for each model by name, the trials about each sample of which all were measured."""
    found: dict[str, dict[Sample, list[Trial]]] = {}
    for name, fingerprint in fingerprints.items():
        keys = {sample: protocol.keys(design, sample, fingerprint) for sample in samples}
        known = examination.trials.get([key for each in keys.values() for key in each])
        found[name] = {
            sample: [known[key] for key in each] for sample, each in keys.items() if all(key in known for key in each)
        }
    return found
