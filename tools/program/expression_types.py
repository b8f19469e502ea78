"""Types of expressions, found before anything runs: what could never be computed is refused with the reason."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from snellen import values
from snellen.tools.program.expression_limits import MAX_SHOWN, ExpressionError
from snellen.tools.program.expressions import NAMED, PLACEHOLDER, Expression, is_mark, placeholder, written
from snellen.tools.program.fields import kind_of_field
from snellen.tools.program.functions import UNORDERED, kind_of_call

_ITEM_KINDS: Final = {
    values.REGIONS: values.REGION,
    values.GROUPS: values.REGIONS,
    values.LABELS: values.LABEL,
    values.NUMBERS: values.NUMBER,
    values.TEXTS: values.TEXT,
    values.TEXT: values.TEXT,
    values.LABEL: values.TEXT,
    values.ANY: values.ANY,
}
_LISTS: Final = frozenset({values.REGIONS, values.GROUPS, values.LABELS, values.NUMBERS, values.TEXTS})
_TEXTUAL: Final = frozenset({values.TEXT, values.LABEL, values.NUMBER, values.BOOL})
_SUMS: Final = {
    frozenset({values.REGION}): values.REGIONS,
    frozenset({values.REGION, values.REGIONS}): values.REGIONS,
    frozenset({values.NUMBER}): values.NUMBER,
}
"""The types of sums, by those of what is added; lists of one type give that type."""


def kind_of_item(kind: str) -> str | None:
    """Return the type name of a list's items, ``None`` when the type is no list."""
    return None if kind in {values.TEXT, values.LABEL} else _ITEM_KINDS.get(kind)


def kind_of_expression(expression: Expression, variables: Mapping[str, str]) -> str:
    """Return the type name that an expression will have, from those of the variables; ``Any`` when it depends.

    Raises:
        ExpressionError: Types that never fit together, such as an order of labels or the area of a number.
    """
    return _kind(expression.tree, variables)


def _kind(node: ast.expr, variables: Mapping[str, str]) -> str:  # noqa: PLR0911 - one for each form
    match node:
        case ast.Constant(value=str() as text):
            for match in PLACEHOLDER.finditer(text):
                _kind(placeholder(match[1]), variables)
            return values.TEXT
        case ast.Constant(value=None):
            return values.ANY
        case ast.Constant(value=constant):
            return values.kind_of(constant)
        case ast.Name(id=name):
            return variables.get(name, values.BOOL if name in NAMED else values.ANY)
        case ast.Attribute(value=whole, attr=name):
            return kind_of_field(_kind(whole, variables), name)
        case ast.Set(elts=[inner]):
            return _kind(inner, variables)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return _kind_of_items([_kind(item, variables) for item in items])
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return kind_of_call(name, [_kind(each, variables) for each in arguments])
        case _:
            return _kind_of_operation(node, variables)


def _kind_of_items(kinds: list[str]) -> str:
    if kinds and all(kind == values.REGION for kind in kinds):
        return values.REGIONS
    return values.TEXTS if kinds and set(kinds) <= _TEXTUAL else values.ANY


def _kind_of_operation(node: ast.expr, variables: Mapping[str, str]) -> str:
    match node:
        case ast.IfExp():
            _kind(node.test, variables)
            kinds = {_kind(node.body, variables), _kind(node.orelse, variables)}
            return kinds.pop() if len(kinds) == 1 else values.ANY
        case ast.BoolOp():
            for each in node.values:
                if not is_mark(each):
                    _kind(each, variables)
            return values.BOOL
        case ast.UnaryOp():
            kind = _kind(node.operand, variables)
            if isinstance(node.op, ast.Not):
                return values.BOOL
            _check_number(node.operand, kind)
            return values.NUMBER
        case ast.Compare():
            _check_comparison(node, variables)
            return values.BOOL
        case ast.Subscript():
            return _kind_of_part(node, variables)
        case ast.BinOp():
            return _kind_of_arithmetic(node, variables)
    return values.ANY


def _kind_of_part(node: ast.Subscript, variables: Mapping[str, str]) -> str:
    kind = _kind(node.value, variables)
    if kind not in _ITEM_KINDS:
        msg = f"{_shown(node.value)} is {kind}; only lists and texts have items"
        raise ExpressionError(msg)
    if not isinstance(node.slice, ast.Slice):
        _kind(node.slice, variables)
        return _ITEM_KINDS[kind]
    for each in (node.slice.lower, node.slice.upper, node.slice.step):
        if each is not None:
            _kind(each, variables)
    return kind


def _kind_of_arithmetic(node: ast.BinOp, variables: Mapping[str, str]) -> str:
    sides = (node.left, node.right)
    left, right = (_kind(each, variables) for each in sides)
    if not isinstance(node.op, ast.Add):
        for each, kind in zip(sides, (left, right), strict=True):
            _check_number(each, kind)
        return values.NUMBER
    if {left, right} & {values.PICTURE} or _mixed(left, right):
        msg = f"{_shown(node)} adds {left} and {right}; + joins two lists or two texts, or adds numbers"
        raise ExpressionError(msg)
    if left == right and left in _LISTS:
        return left
    return _SUMS.get(frozenset({left, right}), values.ANY)


def _mixed(left: str, right: str) -> bool:
    """Tell whether one side is regions, and the other neither regions nor unknown."""
    regions = {values.REGION, values.REGIONS}
    return any(one in regions and other in _TEXTUAL for one, other in ((left, right), (right, left)))


def _check_number(node: ast.expr, kind: str) -> None:
    if kind in UNORDERED or kind in _LISTS:
        hint = "use len(…) to count a list" if kind in _LISTS else "take a field with a number, such as .area"
        msg = f"{_shown(node)} is {kind}, not a number; {hint}"
        raise ExpressionError(msg)


def _check_comparison(node: ast.Compare, variables: Mapping[str, str]) -> None:
    operands: Sequence[ast.expr] = [node.left, *node.comparators]
    kinds = [_kind(each, variables) for each in operands]
    for place, operation in enumerate(node.ops):
        pair = list(zip(operands, kinds, strict=True))[place : place + 2]
        match operation:
            case ast.Eq() | ast.NotEq():
                _check_equality(pair)
            case ast.In() | ast.NotIn():
                whole, kind = pair[1]
                if kind not in _ITEM_KINDS:
                    msg = f"{_shown(whole)} is {kind}; 'in' looks into a list or a text"
                    raise ExpressionError(msg)
            case _:
                for each, kind in pair:
                    _check_order(each, kind)


def _check_order(node: ast.expr, kind: str) -> None:
    if kind in UNORDERED:
        msg = f"{_shown(node)} is {kind}, which has no order; {UNORDERED[kind]}"
        raise ExpressionError(msg)
    if kind in _LISTS:
        msg = f"{_shown(node)} is a list, which has no order; take one item, as in NAME[0], or use max(…) or len(…)"
        raise ExpressionError(msg)


def _check_equality(pair: Sequence[tuple[ast.expr, str]]) -> None:
    kinds = [kind for _, kind in pair]
    for (node, kind), other in zip(pair, reversed(kinds), strict=True):
        if kind in {values.LABELS, values.NUMBERS} and other in _TEXTUAL:
            msg = f"{_shown(node)} is a list and never equals {other}; use 'in', count(…), or one item as in NAME[0]"
            raise ExpressionError(msg)


def _shown(node: ast.expr) -> str:
    text = written(node)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
