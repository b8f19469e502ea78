"""Claims of evidence about a step's output, and the test whether an output meets them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from snellen.scoring import iou
from snellen.scoring.answers import same
from snellen.values import Region, from_json

if TYPE_CHECKING:
    from snellen.reasoning.critique import StepEvidence

REST: Final = "rest"
"""The scope of evidence about what is not in the output."""
SAME_BOX: Final = 0.5
"""From this overlap on, two boxes are about the same thing."""

Box = tuple[int, int, int, int]


def met(evidence: StepEvidence, output: Any, own: Any, *, labels: bool = False) -> bool:  # noqa: ANN401 - any values
    """Tell whether an output is as the evidence says.

    Args:
        evidence: A claim about a step; without a suggestion it claims that the step's own output is right.
        output: The output to be compared, the step's own one or another.
        own: The step's own output.
        labels: Whether regions must have the same label as well as the same place.
    """
    claimed = own if evidence.suggests is None else from_json(evidence.suggests)
    if evidence.scope == REST and isinstance(output, list) and isinstance(own, list):
        return all(_at(own, one.box, labels=False) for one in output if isinstance(one, Region))
    if evidence.scope and isinstance(output, list) and isinstance(claimed, list):
        box = json.loads(evidence.scope)
        return _at(output, box, labels=labels) == _at(claimed, box, labels=labels)
    if isinstance(output, list) and isinstance(claimed, str):
        return any(one.label == claimed for one in output if isinstance(one, Region))
    if isinstance(output, list) and isinstance(claimed, bool):
        return bool(output) == claimed
    if isinstance(output, list) and isinstance(claimed, int | float):
        return len(output) == claimed
    if isinstance(output, list) and isinstance(claimed, list):
        return _boxes(output, labels=labels) == _boxes(claimed, labels=labels)
    return same(output, claimed)


def _at(regions: list[Any], box: Box, *, labels: bool) -> str:
    """Return what a list of regions has at a place: a label, or a mark that there is something; empty for nothing."""
    found = [one for one in regions if isinstance(one, Region) and iou(one.box, box) >= SAME_BOX]
    if not found:
        return ""
    return max(found, key=lambda one: iou(one.box, box)).label or "-" if labels else "-"


def _boxes(regions: list[Any], *, labels: bool) -> list[Any]:
    return sorted((one.box, one.label if labels else "") for one in regions if isinstance(one, Region))
