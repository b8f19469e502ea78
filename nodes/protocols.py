"""The ways in which experiments ask: answers to choose from, free answers, pairs to score.

What differs between them is how a round of pictures is made, what is asked about each, and what the answers say about a
claim. All else is the same: trials, evidence, budgets, verdicts, resuming, reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from nodes.reasoning.inquiry import Claim, Design, Finding, Result
from tools.scoring import confidence_interval, evidence

if TYPE_CHECKING:
    from memory.samples import Sample
    from memory.trials import Trial, TrialKey
    from nodes.examination import Examination
    from tools.models import Card

_ENDLESS: Final = 600.0
"""Logarithms of evidence are kept below this: JSON knows no infinity."""


@dataclass(frozen=True)
class Place:
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

    def observations(self, claim: Claim) -> list[float]:
        """Return what a claim is about, a value for each observation of the rounds that are complete."""
        ...

    def results(self) -> list[Result]:
        """Return the metrics of every model."""
        ...


class AskingProtocol(Protocol):
    """A way of asking."""

    def make(self, examination: Examination, design: Design, place: Place) -> list[Sample]:
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


def finding(evaluated: Evaluated, before: Finding, *, alpha: float) -> Finding:
    """Return what is known of a claim now; its verdict is left open.

    Args:
        evaluated: What models said.
        before: The finding so far.
        alpha: The error rate of the interval.
    """
    claim, seen = before.claim, evaluated.observations(before.claim)
    found = evidence(seen, claim.threshold, low=claim.low)
    span = confidence_interval(seen, alpha=alpha, low=claim.low)
    strength = found.strength
    return before.model_copy(
        update={
            "n": len(seen),
            "mean": sum(seen) / len(seen) if seen else 0.0,
            "spread": float(np.std([*seen, claim.low, 1.0])),
            "interval": (span.low, span.high),
            "logarithm": min(math.log(strength), _ENDLESS) if strength > 0 else -_ENDLESS,
            "leaning": "open" if not seen else "yes" if found.above > found.below else "no",
            "verdict": "open",
        }
    )


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


def complete(values: Mapping[Sample, float], arms: int) -> list[float]:
    """Return the values of the rounds in which every arm has one."""
    rounds: dict[int, list[float]] = {}
    for sample, value in values.items():
        rounds.setdefault(sample.round, []).append(value)
    return [value for row in rounds.values() if len(row) == arms for value in row]
