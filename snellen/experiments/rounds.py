"""Rounds of an experiment: tried, made into pictures, and weighed by what models said about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.experiments.decisions import judged, with_intervals
from snellen.experiments.failure_patterns import patterns_of
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.protocols.protocol import RoundPlace
from snellen.experiments.protocols.registry import PROTOCOLS

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Report
    from snellen.experiments.resources import Examination
    from snellen.memory.samples import Sample


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
