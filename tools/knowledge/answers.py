"""COUNT, EVAL and RESULT: from what was seen to an answer."""

from __future__ import annotations

from typing import Any

from snellen.tools.program.evaluation import evaluate
from snellen.tools.program.expressions import parse_expression
from snellen.tools.registry import ToolContext, tool
from snellen.values import Region, Value


@tool("COUNT")
def count(context: ToolContext, box: list[Region]) -> int:  # noqa: ARG001 - counting needs nothing
    """Count the regions in box, as LOC, SEG, FACEDET or SELECT gave them.

    Gives 0 when nothing was found (CLOVA, table 2).
    """
    return len(box)


@tool("EVAL")
def evaluate_expression(context: ToolContext, expr: str) -> Any:  # noqa: ANN401 - any value
    """Compute expr, a text in which variables stand as {NAME}.

    It has numbers, 'text', lists, + - * / // % **, == != < <= > >= in, and or not xor, a if c else b, items
    NAME[0], and len, sum, min, max, sorted, round, abs, int, float, str, bool, any, all. 'yes' and 'no' count
    as true and false, '3' and 'three' as 3, and text compares without case. For example
    EVAL(expr="'yes' if {COUNT0} > 2 else 'no'") or EVAL(expr="{ANSWER0} xor {ANSWER1}").

    Regions have fields: label, score, box, left, top, right, bottom, x, y, centre, width, height, area, ground; of a
    list of regions a field gives the list of each one's: BOX0[0].label, max(BOX0.area), 'dog' in BOX0.label. + joins
    lists; distance(A, B) are the pixels between two regions, overlap(A, B) the share that they have in common;
    unique(LIST), common(LIST, LIST), without(LIST, LIST), count(LIST, ITEM) work on lists. A step may also write
    NAME=expression without EVAL, and texts may say {NAME[0].label}.
    """
    return evaluate(parse_expression(expr), context.variables)


@tool("RESULT")
def result(context: ToolContext, var: Value) -> Value:  # noqa: ARG001 - it hands on what it is given
    """Make var the answer of the program; the last RESULT counts."""
    return var
