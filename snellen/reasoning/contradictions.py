"""Contradictions among the results of a run: steps of which at least one must be wrong.

Few are sure enough to be found in records alone:

- A question that names its choices ("is the lock green or purple?") was answered with another word.
- LOC and VQA were asked about the same name in the same picture, and one found what the other denies, or another
  number.

These are none: two answers to the same question about the same picture are the same, as models draw no lots. A thing
both to the left and to the right of another is no contradiction: of boxes it cannot come about, and two things of a
name may stand on either side, or one lie across the middle where pictures are cut. Words for the same thing that
differ ("horse", "animal") and scores prove nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from snellen.reasoning.language.inflection import singular
from snellen.tools.program import is_unanswered
from snellen.values import as_number, from_json

Json = Any
"""An executed step in JSON form, as ``StepRecord.to_json`` writes it."""

_EXISTS: Final = re.compile(r"(?:is|are) there (?:an? |any )?([\w ]+)")
_COUNTS: Final = re.compile(r"how many ([\w ]+?)(?: (?:are|is) (?:there|in the picture))?")


@dataclass(frozen=True)
class Contradiction:
    """Steps that cannot all be right.

    Attributes:
        addresses: Their addresses, the one that was asked last at the end.
        sentence: The contradiction in words.
    """

    addresses: tuple[str, ...]
    sentence: str


def contradictions(steps: Sequence[Json]) -> Iterator[Contradiction]:
    """Find the contradictions in a run.

    Args:
        steps: Step records in JSON form, shortened or not.
    """
    detections = {
        (repr(step["arguments"].get("image")), singular(str(step["arguments"].get("object", "")))): step
        for step in steps
        if step["tool"] == "LOC"
    }
    for step in steps:
        if step["tool"] == "VQA" and isinstance(step.get("output"), str):
            yield from _outside_its_options(step)
            yield from _against_what_was_found(step, detections)


def _outside_its_options(step: Json) -> Iterator[Contradiction]:
    if is_unanswered(_question(step), step["output"]):
        sentence = f"Step {step['address']} answers {step['output']!r}, which it was not asked: {step['source']}"
        yield Contradiction((step["address"],), sentence)


def _against_what_was_found(step: Json, detections: Mapping[tuple[str, str], Json]) -> Iterator[Contradiction]:
    question, image = _question(step), repr(step["arguments"].get("image"))
    exists, counts = _EXISTS.fullmatch(question), _COUNTS.fullmatch(question)
    match = exists or counts
    located = detections.get((image, singular(match[1]))) if match else None
    if located is None:
        return
    regions = from_json(located["output"])
    number = len(regions) if isinstance(regions, list) else 1
    agrees = (step["output"] == "yes") == (number > 0) if exists else as_number(step["output"]) in {number, None}
    if not agrees:
        sentence = (
            f"Steps {located['address']} and {step['address']} contradict each other: {number} found, "
            f"but {step['output']!r} answered."
        )
        yield Contradiction((located["address"], step["address"]), sentence)


def _question(step: Json) -> str:
    return " ".join(str(step["arguments"].get("question", "")).split()).casefold().strip(" ?.")
