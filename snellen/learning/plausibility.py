"""Plausibility of a run's steps: nothing found, low scores, contradictions between steps.

Nobody needs to know the right answer for it; the judge notes it beside its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from snellen.reasoning.language.inflection import singular
from snellen.scoring.answers import same
from snellen.values import Region, Untaught, as_number, from_json

Json = dict[str, Any]

UNSURE: Final = 0.3
"""Below this score a region, where it is the best of its step, is worth a note."""

_OPTIONS: Final = re.compile(r"\b(\w+) or (\w+)\W*$")
_EXISTS: Final = re.compile(r"(?:is|are) there (?:an? |any )?([\w ]+)")
_COUNTS: Final = re.compile(r"how many ([\w ]+?)(?: (?:are|is) (?:there|in the picture))?")


def implausible_results(steps: Sequence[Json]) -> list[str]:
    """Return sentences about the steps of a run that look wrong.

    Args:
        steps: Step records in JSON form, shortened or not.
    """
    return [*_empty(steps), *_unsure(steps), *_contradictions(steps)]


def _empty(steps: Sequence[Json]) -> Iterator[str]:
    for step in steps:
        output = from_json(step["output"]) if step["tool"] != "SET" else None
        if isinstance(output, Untaught):
            yield f"Step {step['address']} says nothing, as no tool was taught {output.name!r}: {step['source']}"
        elif output == []:
            yield f"Step {step['address']} found nothing: {step['source']}"


def _unsure(steps: Sequence[Json]) -> Iterator[str]:
    for step in steps:
        regions = [one for one in _listed(step.get("output")) if isinstance(one, Region)]
        best = max((one.score for one in regions), default=1.0)
        if step["tool"] in {"LOC", "FACEDET", "SEG", "CLASSIFY"} and best < UNSURE:
            yield f"Step {step['address']} is unsure, its best score is {best:.2f}: {step['source']}"


def _contradictions(steps: Sequence[Json]) -> Iterator[str]:
    detections = {
        (repr(step["arguments"].get("image")), singular(str(step["arguments"].get("object", "")))): step
        for step in steps
        if step["tool"] == "LOC"
    }
    for step in steps:
        if step["tool"] != "VQA" or not isinstance(step.get("output"), str):
            continue
        yield from _outside_its_options(step)
        yield from _against_what_was_found(step, detections)


def _outside_its_options(step: Json) -> Iterator[str]:
    options = _OPTIONS.search(_question(step))
    if options and not any(same(step["output"], one) for one in options.groups()):
        yield f"Step {step['address']} answers {step['output']!r}, which it was not asked: {step['source']}"


def _against_what_was_found(step: Json, detections: Mapping[tuple[str, str], Json]) -> Iterator[str]:
    question, image = _question(step), repr(step["arguments"].get("image"))
    exists, counts = _EXISTS.fullmatch(question), _COUNTS.fullmatch(question)
    match = exists or counts
    located = detections.get((image, singular(match[1]))) if match else None
    if located is None:
        return
    number = len(_listed(located["output"]))
    agrees = (step["output"] == "yes") == (number > 0) if exists else as_number(step["output"]) in {number, None}
    if not agrees:
        yield (
            f"Steps {located['address']} and {step['address']} contradict each other: {number} found, "
            f"but {step['output']!r} answered."
        )


def _question(step: Json) -> str:
    return " ".join(str(step["arguments"].get("question", "")).split()).casefold().strip(" ?.")


def _listed(output: Any) -> list[Any]:  # noqa: ANN401 - any value in JSON form
    value = from_json(output)
    return value if isinstance(value, list) else [value]
