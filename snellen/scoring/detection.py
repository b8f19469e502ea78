"""Metrics of detection: the agreement of named boxes with the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class LabelledBox:
    """A box (x0, y0, x1, y1) in pixels, x1 and y1 exclusive, with its name."""

    box: Box
    name: str


@dataclass(frozen=True)
class Matches:
    """Numbers of boxes that agree, that were found, and that there are."""

    matched: int
    found: int
    true: int


def iou(first: Box, second: Box) -> float:
    """Return the area that two boxes share over the area that they cover together; 0 where both are empty."""
    shared = _area(
        (max(first[0], second[0]), max(first[1], second[1]), min(first[2], second[2]), min(first[3], second[3]))
    )
    covered = _area(first) + _area(second) - shared
    return shared / covered if covered else 0.0


def _area(box: Box) -> int:
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def match_boxes(found: Sequence[LabelledBox], true: Sequence[LabelledBox], *, threshold: float = 0.5) -> Matches:
    """Match found boxes to true ones of the same name, best overlap first, each at most once.

    Args:
        found: What was found.
        true: What there is.
        threshold: The least intersection over union at which two boxes are the same.

    Names are compared as they are: put them in the same case first.
    """
    overlaps = sorted(
        ((iou(a.box, b.box), i, j) for i, a in enumerate(found) for j, b in enumerate(true) if a.name == b.name),
        key=lambda overlap: (-overlap[0], overlap[1], overlap[2]),
    )
    used_found: set[int] = set()
    used_true: set[int] = set()
    for overlap, i, j in overlaps:
        if overlap >= threshold and i not in used_found and j not in used_true:
            used_found.add(i)
            used_true.add(j)
    return Matches(len(used_found), len(found), len(true))


def f1(matches: Matches) -> float:
    """Return the harmonic mean of precision and recall.

    1 where nothing was found and there is nothing; 0 where only one of the two is so, or nothing matches.
    """
    if matches.found == matches.true == 0:
        return 1.0
    return 2 * matches.matched / (matches.found + matches.true)
