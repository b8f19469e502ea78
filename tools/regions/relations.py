"""Relations by boxes: LEFT_OF, RIGHT_OF, ABOVE, BELOW, BETWEEN, NEAREST, NEXT_TO, INSIDE, ON.

No picture is cut, so nothing is lost at a cut. What covers half of a reference's box or lies for the most part in it is
taken for the reference itself, seen twice, and stands in no relation to it. ``python -m benchmarks.relations`` measures
the rules on scenes whose relations are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from snellen.errors import BadInput
from snellen.scoring.detection import iou
from snellen.tools.boxes import distance, share_inside
from snellen.tools.regions.computing import check_count, check_pairs
from snellen.tools.registry import ToolContext, tool
from snellen.values import Region

Relation: TypeAlias = Callable[[Region, Region], bool]
Nearness: TypeAlias = Callable[[Region, Region], tuple[float, ...]]

SAME_THING: Final = 0.5
"""The share of two boxes from which on they show one thing."""
SIDE: Final = 0.4
"""The least distance of the middles of two things, in means of their widths (or heights), where one is beside.

`python -m benchmarks.relations`: of the true relations between things that the detector found 99 % are kept (95 % at
0.6), and 96 % of what is said is true (80 % at 0, and 79 % by a cut through the middle).
"""
NEXT: Final = 0.75
"""The farthest distance of what is next to a thing, in sides of the larger of the two."""


@tool("LEFT_OF")
def left_of(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions to the left of a reference (of), the nearest first, without the references.

    A region is to the left where its middle is left of the other's by more than two fifths of the mean of their widths,
    however high each is in the picture. Those at the height of the reference come before the others.
    """
    return _related(context, object, of, _is_left, nearness=_along_the_row)


@tool("RIGHT_OF")
def right_of(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions to the right of a reference (of), the nearest first, without the references.

    A region is to the right where its middle is right of the other's by more than two fifths of the mean of their
    widths, however high each is in the picture. Those at the height of the reference come before the others.
    """
    return _related(context, object, of, lambda region, other: _is_left(other, region), nearness=_along_the_row)


def _is_left(region: Region, other: Region) -> bool:
    return other.centre[0] - region.centre[0] > SIDE * (region.width + other.width) / 2


@tool("ABOVE")
def above(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions above a reference (of), the nearest first, without the references.

    A region is above where its middle is higher than the other's by more than two fifths of the mean of their heights,
    however far left or right each is. Those straight above it come first.
    """
    return _related(context, object, of, _is_above, nearness=_along_the_column)


@tool("BELOW")
def below(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions below a reference (of), the nearest first, without the references.

    A region is below where its middle is lower than the other's by more than two fifths of the mean of their heights,
    however far left or right each is. Those straight below it come first.
    """
    return _related(context, object, of, lambda region, other: _is_above(other, region), nearness=_along_the_column)


def _is_above(region: Region, other: Region) -> bool:
    return other.centre[1] - region.centre[1] > SIDE * (region.height + other.height) / 2


@tool("NEAREST")
def nearest_to(context: ToolContext, object: list[Region], of: list[Region], n: int = 1) -> list[Region]:
    """Take the n regions nearest to a reference (of), the nearest first, without the references.

    The distance is that of the boxes' edges, and of their middles where two are equally far.
    """
    if n != int(n) or n < 0:
        msg = f"n={n} is no number of regions; give 1 or more"
        raise BadInput(msg)
    return _related(context, object, of, lambda *_: True)[: int(n)]


@tool("NEXT_TO")
def next_to(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions next to (beside, close to) a reference (of), the nearest first, without the references.

    A region is next to another where the gap between their boxes is at most three quarters of the longer side of the
    larger one.
    """
    return _related(context, object, of, _is_next)


def _is_next(region: Region, other: Region) -> bool:
    side = max(region.width, region.height, other.width, other.height)
    return distance(region.box, other.box) <= NEXT * side


@tool("INSIDE")
def inside(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions inside a reference (of), the nearest first, without the references.

    A region is inside another where at least three quarters of its box lie in the other's, which is larger.
    """
    return _related(context, object, of, _is_inside, apart=False)


def _is_inside(region: Region, other: Region) -> bool:
    return region.area < other.area and share_inside(region.box, other.box) >= 0.75  # noqa: PLR2004 - the docstring's


@tool("ON")
def on(context: ToolContext, object: list[Region], of: list[Region]) -> list[Region]:
    """Keep the regions that are on (stand or lie on) a reference (of), the nearest first, without the references.

    A region is on another where its lower edge touches the other's box (or ends at most a quarter of its height above
    it), its middle is above the other's middle, and the middle lies between the other's left and right edge.
    """
    return _related(context, object, of, _is_on, apart=False)


def _is_on(region: Region, other: Region) -> bool:
    touches = other.box[1] - region.height / 4 <= region.box[3] <= other.box[3]
    return touches and region.centre[1] < other.centre[1] and other.box[0] <= region.centre[0] <= other.box[2]


@tool("BETWEEN")
def between(context: ToolContext, object: list[Region], of: list[Region], other: list[Region]) -> list[Region]:
    """Keep the regions between a reference (of) and a reference (other), those nearest to the line between them first.

    A region is between two others where, along the line from the middle of one to that of the other, its middle lies
    between their middles, and where it is off that line by at most half of the line's length.
    """
    check_pairs(len(object), len(of) * len(other))
    _warn_if_missing(context, of)
    _warn_if_missing(context, other)
    apart = [region for region in object if not any(_is_same(region, each) for each in (*of, *other))]
    off = ((min((_off_line(region, a, b) for a in of for b in other), default=math.inf), region) for region in apart)
    near = sorted(((share, region) for share, region in off if share <= 0.5), key=lambda pair: pair[0])  # noqa: PLR2004
    return [region for _, region in near]


def _off_line(region: Region, start: Region, end: Region) -> float:
    """Return how far a region is off the line between two others, in lengths of that line; infinite beside its ends."""
    across, down = end.centre[0] - start.centre[0], end.centre[1] - start.centre[1]
    to_x, to_y = region.centre[0] - start.centre[0], region.centre[1] - start.centre[1]
    length = across**2 + down**2
    along = (to_x * across + to_y * down) / length if length else 0.0
    return abs(to_x * down - to_y * across) / length if 0 < along < 1 else math.inf


def _related(
    context: ToolContext,
    regions: Sequence[Region],
    references: Sequence[Region],
    holds: Relation,
    *,
    apart: bool = True,
    nearness: Nearness | None = None,
) -> list[Region]:
    """Return the regions for which a relation holds to one of the references, the nearest to one of them first."""
    check_count(len(regions))
    check_pairs(len(regions), len(references))
    _warn_if_missing(context, references)
    same = _is_same if apart else _is_twin
    others = [region for region in regions if not any(same(region, each) for each in references)]
    near = [
        (min((nearness or _nearness)(region, each) for each in matching), place)
        for place, region in enumerate(others)
        if (matching := [each for each in references if holds(region, each)])
    ]
    return [others[place] for _, place in sorted(near)]


def _is_twin(region: Region, reference: Region) -> bool:
    """Tell whether two boxes of one picture are one thing."""
    return iou(region.box, reference.box) >= SAME_THING


def _is_same(region: Region, reference: Region) -> bool:
    """Tell whether a region is the reference, or a part of it."""
    return _is_twin(region, reference) or share_inside(region.box, reference.box) >= SAME_THING


def _nearness(region: Region, reference: Region) -> tuple[float, ...]:
    return distance(region.box, reference.box), math.dist(region.centre, reference.centre)


def _along_the_row(region: Region, reference: Region) -> tuple[float, ...]:
    """Return how near a region is to a reference beside it; what shares none of its height is farther than all else."""
    apart = region.box[3] <= reference.box[1] or reference.box[3] <= region.box[1]
    return (apart, *_nearness(region, reference))


def _along_the_column(region: Region, reference: Region) -> tuple[float, ...]:
    """Return how near a region is to a reference above or below; what shares none of its width is farthest."""
    apart = region.box[2] <= reference.box[0] or reference.box[2] <= region.box[0]
    return (apart, *_nearness(region, reference))


def _warn_if_missing(context: ToolContext, references: Sequence[Region]) -> None:
    if not references:
        context.warn("There is nothing that the regions could be related to, so there are none.")
