"""Answers that contradict those of earlier investigations of the same checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.memory.picture_ledger import AnsweredProperty
from snellen.runtime.picture_allotment import listed

if TYPE_CHECKING:
    from snellen.experiments.report import Answer, Report
    from snellen.experiments.resources import Examination


def contradictions(report: Report, investigation: str, examination: Examination) -> list[str]:
    """Enter the answers of a report into the ledger; return a note on each that contradicts earlier ones.

    Args:
        report: With its answers.
        investigation: The name that it is entered by.
        examination: Keeps the ledger.
    """
    answers = {one: known for one in report.answers if (known := _known(one, report)) is not None}
    earlier = examination.ledger.conclude(investigation, list(answers.values()))
    return [_note(answer, names) for answer, names in zip(answers, earlier, strict=True) if names]


def _note(answer: Answer, names: Sequence[str]) -> str:
    found = "does not hold" if answer.holds else "holds"
    return (
        f"It contradicts an earlier answer ({listed(names)}), by which this {found} of {answer.about}: "
        f"{answer.property}. At most one of both is right; ask again on fresh pictures."
    )[:300]


def _known(answer: Answer, report: Report) -> AnsweredProperty | None:
    """Return what an answer decides of which checkpoints; None where it decides nothing."""
    names = answer.about.split(" and ")
    if answer.holds is None or not answer.property or not set(names) <= set(report.fingerprints):
        return None
    return AnsweredProperty(tuple(report.fingerprints[name] for name in names), answer.property, answer.holds)
