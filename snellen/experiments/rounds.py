"""Rounds of an experiment: tried, made into pictures, and weighed by what models said about them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.experiments.decisions import judged, with_intervals
from snellen.experiments.drawn_rounds import DrawnRound, RoundPlace
from snellen.experiments.failure_patterns import patterns_of
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.memory.home import MemoryTrouble
from snellen.memory.staged_pictures import StagedPictures

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Report
    from snellen.experiments.resources import Examination
    from snellen.memory.samples import Sample


_TOGETHER_SECONDS: Final = 1.0
"""Seconds of drawing that are lost when a process dies, at most: rounds of one second are stored together."""


def tried(made: Design, report: Report, examination: Examination) -> None:
    """Make one picture of each arm, to see that it can be made.

    Raises:
        BadInput: It cannot.
    """
    PROTOCOLS[made.protocol].check(examination, made, report.seed)


def made_round(
    investigation: str, report: Report, experiment: int, number: int, examination: Examination
) -> list[Sample]:
    """Make one round of an experiment; the same round of the same report has the same pictures.

    Args:
        investigation: The name that its samples are kept by.
        report: What the experiment belongs to.
        experiment: Its number, from 0.
        number: That of the round, from 0.
        examination: Keeps the pictures.

    Raises:
        SnellenError: A picture cannot be made.
    """
    design = report.experiments[experiment].design
    place = RoundPlace(investigation, experiment, number, report.seed_of(experiment))
    return PROTOCOLS[design.protocol].make(examination, design, place)


@dataclass(frozen=True)
class MadeRounds:
    """Rounds that follow each other, made and stored.

    Attributes:
        count: How many.
        rejected: Pictures before theirs that did not show what they should.
        trouble: Why there is no further one; None where there is no trouble.
    """

    count: int
    rejected: int
    trouble: SnellenError | None = None


def drawn_round(
    investigation: str, report: Report, experiment: int, number: int, examination: Examination
) -> DrawnRound:
    """Draw a round as `made_round` makes it; nothing is stored.

    Raises:
        SnellenError: A picture cannot be made.
    """
    design = report.experiments[experiment].design
    place = RoundPlace(investigation, experiment, number, report.seed_of(experiment))
    known = examination.ahead.take(design, place)
    if known is not None:
        return known
    pictures = StagedPictures(examination.pictures)
    samples = made_round(investigation, report, experiment, number, replace(examination, pictures=pictures))
    return DrawnRound(design, place, samples, pictures.staged)


def make_rounds(
    investigation: str, report: Report, experiment: int, numbers: range, examination: Examination
) -> MadeRounds:
    """Make rounds of an experiment until all are there, one cannot be made, or a second is over; store them together.

    Args:
        investigation: The name that their samples are kept by.
        report: What the experiment belongs to.
        experiment: Its number, from 0.
        numbers: Those of the rounds.
        examination: Keeps the pictures.

    Raises:
        MemoryTrouble: They cannot be stored.
    """
    drawn: list[DrawnRound] = []
    trouble, began = None, time.monotonic()
    for number in numbers:
        try:
            drawn.append(drawn_round(investigation, report, experiment, number, examination))
        except MemoryTrouble:
            raise
        except SnellenError as error:
            trouble = error
            break
        if time.monotonic() - began > _TOGETHER_SECONDS:
            break
    samples = [sample for one in drawn for sample in one.samples]
    examination.pictures.put_all({name: content for one in drawn for name, content in one.pictures.items()})
    examination.samples.add(samples)
    return MadeRounds(len(drawn), sum(sample.rejected for sample in samples), trouble)


def weighed(report: Report, number: int, samples: Sequence[Sample], examination: Examination) -> Report:
    """Return the report with the findings and results of one experiment as its trials have them now."""
    experiment = report.experiments[number]
    fingerprints = examination.fingerprints(report.models)
    protocol = PROTOCOLS[experiment.design.protocol]
    evaluated = protocol.evaluated(examination, experiment.design, samples, fingerprints)
    known = report.model_copy(update={"fingerprints": fingerprints})
    return with_intervals(judged(known, number, evaluated), number, evaluated)


def with_patterns(report: Report, samples: Sequence[Sequence[Sample]], examination: Examination) -> Report:
    """Return the report with the patterns of failure that its trials prove; as it is where it looks for none.

    Args:
        report: With its verdicts.
        samples: Those of each of its experiments.
        examination: Keeps the trials.
    """
    if not report.patterns_alpha:
        return report
    evaluated = [
        EvaluatedChoices.of(one.design, each, report.fingerprints, examination.trials)
        for one, each in zip(report.experiments, samples, strict=True)
    ]
    return report.model_copy(update={"patterns": patterns_of(report, evaluated)})
