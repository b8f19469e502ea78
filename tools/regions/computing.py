"""Computing for each region: conditions, keys and orders that programs give as text, within limits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from snellen.errors import BadInput
from snellen.tools.program.evaluation import evaluate
from snellen.tools.program.expressions import parse_expression
from snellen.tools.program.fields import RegionScope
from snellen.tools.registry import ToolContext
from snellen.values import Region

MAX_REGIONS: Final = 1_000
"""Regions that a tool computes something of."""
MAX_PAIRS: Final = 100_000
"""Pairs of regions that a tool compares."""


def for_each(context: ToolContext, regions: Sequence[Region], text: str) -> list[Any]:
    """Return what an expression gives for each region.

    Raises:
        BadInput: There are too many regions, time is up, or the expression cannot be computed for one.
    """
    check_count(len(regions))
    expression = parse_expression(text)
    computed = []
    for region in regions:
        if time.monotonic() > context.deadline:
            msg = f"{text[:60]!r} took too long for {len(regions)} regions; use fewer regions or a simpler expression"
            raise BadInput(msg)
        computed.append(evaluate(expression, RegionScope(region, context.variables)))
    return computed


def check_count(count: int) -> None:
    """Raise ``BadInput`` where there are more regions than a tool goes through."""
    if count > MAX_REGIONS:
        msg = f"this goes through at most {MAX_REGIONS} regions, not {count}; take FIRST(object=…, n={MAX_REGIONS})"
        raise BadInput(msg)


def check_pairs(one: int, other: int) -> None:
    """Raise ``BadInput`` where two lists make more pairs than a tool compares."""
    if one * other > MAX_PAIRS:
        msg = f"this compares at most {MAX_PAIRS} pairs of regions, not {one} x {other}; take FIRST(object=…, n=100)"
        raise BadInput(msg)
