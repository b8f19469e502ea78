"""The protocol of asking models: how a round of samples is made, what is asked about each, and how replies are read.

Protocols also differ in what is drawn independently (`snellen.experiments.units.UNITS`). Everything else is the same:
trials, evidence, budgets, verdicts, resuming, reports.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from snellen.experiments.drawn_rounds import RoundPlace as RoundPlace
from snellen.scoring import Observations

if TYPE_CHECKING:
    from snellen.experiments.design import Claim, Design
    from snellen.experiments.report import Result
    from snellen.experiments.resources import Examination
    from snellen.memory.samples import Sample
    from snellen.memory.trials import Trial, TrialKey
    from snellen.models.under_test import Card


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
    """A way of asking; it has no state."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store the pictures of one round: one of each arm.

        Raises:
            SnellenError: One cannot be made.
        """
        ...

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Check that pictures of each arm can be made.

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
    """The part of a round that a value is about.

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


def closed_up(counts: Mapping[RoundPart, bool], *, parts: int) -> dict[RoundPart, RoundPart]:
    """Return the parts of the rounds that those come to be that count, the others left out.

    The first part of each arm that counts makes the first round, the second of each the second one. Only complete
    rounds are looked at, so what was measured before stays where it was when more is.

    Args:
        counts: Whether each part counts, of those that were measured.
        parts: How many a round has.
    """
    rounds: dict[int, list[RoundPart]] = {}
    for part in counts:
        rounds.setdefault(part.round, []).append(part)
    numbers: dict[int | str, int] = {}
    places: dict[RoundPart, RoundPart] = {}
    for number in sorted(number for number, row in rounds.items() if len(row) == parts):
        for part in rounds[number]:
            if counts[part]:
                turn = numbers.get(part.name, 0)
                places[part], numbers[part.name] = RoundPart(turn, part.name), turn + 1
    return places


def trials_of(
    protocol: AskingProtocol,
    examination: Examination,
    design: Design,
    samples: Sequence[Sample],
    fingerprints: Mapping[str, str],
) -> dict[str, dict[Sample, list[Trial]]]:
    """Return, for each model by name, the trials about each sample of which all were measured."""
    trials: dict[str, dict[Sample, list[Trial]]] = {}
    for name, fingerprint in fingerprints.items():
        keys = {sample: protocol.keys(design, sample, fingerprint) for sample in samples}
        known = examination.trials.get([key for each in keys.values() for key in each])
        trials[name] = {
            sample: [known[key] for key in each] for sample, each in keys.items() if all(key in known for key in each)
        }
    return trials


def card_of(protocol: AskingProtocol, examination: Examination, design: Design, model: str) -> Card:
    """Return the card of a model that can be asked about an experiment's pictures.

    Raises:
        SnellenError: The model cannot be read, or not be asked this.
    """
    card = examination.executor.card(model)
    protocol.refuse(card, design)
    return card


def unmeasured(
    protocol: AskingProtocol, examination: Examination, design: Design, samples: Sequence[Sample], model: str
) -> list[Sequence[TrialKey]]:
    """Return the trials of a model about samples that were not measured yet, in parts of one shard each.

    Raises:
        SnellenError: The model cannot be read, or not be asked this.
    """
    card = card_of(protocol, examination, design, model)
    return examination.runner.shards(
        key for sample in samples for key in protocol.keys(design, sample, card.fingerprint)
    )
