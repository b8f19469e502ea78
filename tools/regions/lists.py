"""Lists of regions: FILTER, SORT, FIRST, LAST, GROUP, IN_BOTH, ONLY_IN."""

from __future__ import annotations

from collections.abc import Hashable

from snellen.errors import BadInput
from snellen.tools.program.expression_limits import read_number
from snellen.tools.program.functions import identity
from snellen.tools.regions.computing import for_each
from snellen.tools.registry import Condition, Key, Order, ToolContext, tool
from snellen.values import Region, truth


@tool("FILTER")
def filter_regions(context: ToolContext, object: list[Region], where: Condition) -> list[Region]:
    """Keep the regions for which where is true, in their order.

    where is an expression as in EVAL, in which the fields of the region stand by themselves: label, score, left, top,
    right, bottom, x, y, width, height, area, ground; region is the region itself. For example
    FILTER(object=BOX0, where="area > 100 and label != 'dog'").
    """
    kept = zip(object, for_each(context, object, where), strict=True)
    return [region for region, holds in kept if truth(holds)]


@tool("SORT")
def sort_regions(context: ToolContext, object: list[Region], by: Order, *, descending: bool = False) -> list[Region]:
    """Put the regions in the order of a number, the smallest first; with descending=True the largest first.

    by is an expression with the fields of the region, as in FILTER: 'left' sorts from left to right, 'top' from top to
    bottom, 'area' by size, 'distance(region, HOUSE)' by nearness. Equal ones stay in their order. Labels have no order.
    """
    numbers = map(read_number, for_each(context, object, by))
    keyed = sorted(zip(numbers, object, strict=True), key=lambda pair: pair[0], reverse=descending)
    return [region for _, region in keyed]


@tool("FIRST")
def first(context: ToolContext, object: list[Region], n: int = 1) -> list[Region]:  # noqa: ARG001 - needs none
    """Take the first n regions; fewer where there are fewer."""
    return object[: _count(n)]


@tool("LAST")
def last(context: ToolContext, object: list[Region], n: int = 1) -> list[Region]:  # noqa: ARG001 - needs none
    """Take the last n regions, in their order; fewer where there are fewer."""
    return object[max(len(object) - _count(n), 0) :]


def _count(number: float) -> int:
    if number != int(number) or number < 0:
        msg = f"n={number} is no number of regions; give 1 or more"
        raise BadInput(msg)
    return int(number)


@tool("GROUP")
def group(context: ToolContext, object: list[Region], by: Key = "label") -> list[list[Region]]:
    """Put regions that are alike into groups, the largest group first; go through them with for GROUP0 in GROUPS0.

    by is an expression with the fields of the region, as in FILTER: 'label', 'area > 500'. GROUPS0[0] is the largest
    group, GROUPS0[0][0].label what most regions are, len(GROUPS0) how many kinds there are.
    """
    groups: dict[Hashable, list[Region]] = {}
    for region, key in zip(object, for_each(context, object, by), strict=True):
        groups.setdefault(identity(key), []).append(region)
    return sorted(groups.values(), key=len, reverse=True)


@tool("IN_BOTH")
def in_both(context: ToolContext, object: list[Region], other: list[Region], by: Key = "label") -> list[Region]:
    """Keep the regions of object that have one like them in other: what is in the one picture and in the other too.

    Regions are alike where by, an expression with the fields of the region as in FILTER, gives the same of both.
    """
    there = {identity(key) for key in for_each(context, other, by)}
    keyed = zip(object, for_each(context, object, by), strict=True)
    return [region for region, key in keyed if identity(key) in there]


@tool("ONLY_IN")
def only_in(context: ToolContext, object: list[Region], other: list[Region], by: Key = "label") -> list[Region]:
    """Keep the regions of object that have none like them in other: what is in the one picture and not in the other.

    Regions are alike as in IN_BOTH.
    """
    there = {identity(key) for key in for_each(context, other, by)}
    keyed = zip(object, for_each(context, object, by), strict=True)
    return [region for region, key in keyed if identity(key) not in there]
