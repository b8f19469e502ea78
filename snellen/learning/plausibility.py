"""Plausibility of a run's steps: nothing found, low scores, contradictions between steps.

Nobody needs to know the right answer for it; the judge notes it beside its verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from snellen.reasoning.contradictions import contradictions
from snellen.values import Region, Untaught, from_json

Json = dict[str, Any]

UNSURE: Final = 0.3
"""Below this score a region, where it is the best of its step, is worth a note."""


def implausible_results(steps: Sequence[Json]) -> list[str]:
    """Return sentences about the steps of a run that look wrong.

    Args:
        steps: Step records in JSON form, shortened or not.
    """
    return [*_empty(steps), *_unsure(steps), *(one.sentence for one in contradictions(steps))]


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


def _listed(output: Any) -> list[Any]:  # noqa: ANN401 - any value in JSON form
    value = from_json(output)
    return value if isinstance(value, list) else [value]
