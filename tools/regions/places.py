"""Places in a picture: AT, ROWS, COLUMNS."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from snellen.errors import BadInput
from snellen.tools.regions.computing import check_count
from snellen.tools.registry import ToolContext, tool
from snellen.values import Picture, Region, describe

_SIDES: Final = {"top": "top", "upper": "top", "bottom": "bottom", "lower": "bottom", "left": "left", "right": "right",
                 "lefthand": "left", "righthand": "right"}  # fmt: skip
_MIDDLE: Final = frozenset({"middle", "centre", "center"})
_FILLERS: Final = frozenset(
    (
        *("the", "of", "in", "on", "at", "to", "a", "picture", "image", "photo"),
        *("half", "side", "part", "area", "quarter", "third", "hand", "corner"),
    )
)
_EDGE: Final = 0.1
"""The share of the picture's size that counts as its edge."""


@dataclass(frozen=True)
class Place:
    """A place in a picture.

    Attributes:
        across: ``left``, ``right``, ``middle``, or empty for any.
        down: ``top``, ``bottom``, ``middle``, or empty for any.
        edge: Whether only what touches the edge is there.
    """

    across: str = ""
    down: str = ""
    edge: bool = False


def read_place(text: str) -> Place:
    """Read the name of a place, such as ``top left corner``, ``the middle`` or ``bottom edge``.

    Raises:
        BadInput: It names none.
    """
    words = [word for word in re.split(r"[\s,_-]+", text.casefold().strip(" .")) if word and word not in _FILLERS]
    sides = [_SIDES[word] for word in words if word in _SIDES]
    across = [side for side in sides if side in {"left", "right"}]
    down = [side for side in sides if side in {"top", "bottom"}]
    middle, edge = any(word in _MIDDLE for word in words), any(word in {"edge", "border"} for word in words)
    unknown = [word for word in words if word not in {*_SIDES, *_MIDDLE, "edge", "border"}]
    if unknown or len(across) > 1 or len(down) > 1 or not (sides or middle) or (edge and not sides):
        msg = (
            f"{describe(text)} is no place in a picture; write top, bottom, left, right or middle, or two as in "
            "'top left corner', or 'top edge' (for places beside a thing there are LEFT_OF, ABOVE, NEXT_TO …)"
        )
        raise BadInput(msg)
    return Place((across or ["middle" if middle else ""])[0], (down or ["middle" if middle else ""])[0], edge)


@tool("AT", texts={"place": read_place})
def at(context: ToolContext, image: Picture, object: list[Region], place: str) -> list[Region]:  # noqa: ARG001
    """Keep the regions at a place of the picture, the nearest to the place first.

    place is top, bottom, left, right or middle, or two of them as in 'top left corner' or 'bottom middle'. A region is
    at the top where its middle lies in the upper half, at the top left where it lies in the upper left quarter, in the
    middle where it lies in the middle third across and down (next to a side: in the middle third along it), at the
    'top edge' where its box ends within a tenth of the picture's height from it.
    """
    check_count(len(object))
    direction = read_place(place)
    boxes = [(region, _relative(region, image)) for region in object]
    there = [(_farness(box, direction), number) for number, (_, box) in enumerate(boxes) if _holds(box, direction)]
    return [object[number] for _, number in sorted(there)]


_Relative = tuple[float, float, float, float]


def _relative(region: Region, image: Picture) -> _Relative:
    x0, y0, x1, y1 = region.box
    return x0 / image.width, y0 / image.height, x1 / image.width, y1 / image.height


def _holds(box: _Relative, place: Place) -> bool:
    if place.edge:
        ends = {"left": box[0], "right": 1 - box[2], "top": box[1], "bottom": 1 - box[3]}
        return all(ends[side] <= _EDGE for side in (place.across, place.down) if side in ends)
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return _is_along(x, place.across, "left") and _is_along(y, place.down, "top")


def _is_along(middle: float, side: str, first: str) -> bool:
    if not side:
        return True
    if side == "middle":
        return abs(middle - 1 / 2) <= 1 / 6
    return (middle < 1 / 2) == (side == first)


def _farness(box: _Relative, place: Place) -> float:
    """Return how far a region is from the side, the corner or the middle that a place names."""
    ends = {"left": box[0], "right": 1 - box[2], "top": box[1], "bottom": 1 - box[3], "": 0.0}
    middles = {"across": abs((box[0] + box[2]) / 2 - 1 / 2), "down": abs((box[1] + box[3]) / 2 - 1 / 2)}
    across = middles["across"] if place.across == "middle" else ends[place.across]
    down = middles["down"] if place.down == "middle" else ends[place.down]
    return math.hypot(across, down)


@tool("ROWS")
def rows(context: ToolContext, object: list[Region]) -> list[list[Region]]:  # noqa: ARG001 - needs none
    """Put the regions into rows from top to bottom, each from left to right: ROWS0[0][2] is third in the top row.

    Regions are in a row where their middles differ by less than half of their mean height from one to the next.
    """
    return _lines(object, lambda region: (region.centre[1], region.height), lambda region: region.centre[0])


@tool("COLUMNS")
def columns(context: ToolContext, object: list[Region]) -> list[list[Region]]:  # noqa: ARG001 - needs none
    """Put the regions into columns from left to right, each from top to bottom.

    Regions are in a column where their middles differ by less than half of their mean width from one to the next.
    """
    return _lines(object, lambda region: (region.centre[0], region.width), lambda region: region.centre[1])


def _lines(
    regions: Sequence[Region], across: Callable[[Region], tuple[float, float]], along: Callable[[Region], float]
) -> list[list[Region]]:
    check_count(len(regions))
    ordered = sorted(regions, key=across)
    lines = [ordered[:1]] if ordered else []
    for before, region in pairwise(ordered):
        (middle, size), (last, last_size) = across(region), across(before)
        if middle - last < (size + last_size) / 4:
            lines[-1].append(region)
        else:
            lines.append([region])
    return [sorted(line, key=along) for line in lines]
