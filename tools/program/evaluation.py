"""Expressions computed: a checked tree is walked with the values of a program's variables."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

from snellen.errors import BadInput
from snellen.tools.program.expression_limits import MAX_EXPONENT, ExpressionError, bounded, read_number
from snellen.tools.program.expressions import (
    ARITHMETIC,
    COMPARISONS,
    NAMED,
    PLACEHOLDER,
    Expression,
    is_mark,
    placeholder,
)
from snellen.tools.program.fields import field_of
from snellen.tools.program.functions import FUNCTIONS
from snellen.values import Region, Untaught, Value, as_number, as_text, describe, truth


def evaluate(expression: Expression, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - any value
    """Compute an expression.

    Raises:
        ExpressionError: A variable is not set, or the values do not fit the operation.
    """
    try:
        return _value(expression.tree, variables)
    except ExpressionError:
        raise
    except BadInput as error:
        raise ExpressionError(str(error)) from error


def _value(node: ast.expr, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - any value
    match node:
        case ast.Constant(value=str() as text):
            return _fill_in(text, variables)
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            return _variable(name, variables)
        case ast.Attribute(value=whole, attr=name):
            return bounded(field_of(_value(whole, variables), name))
        case ast.Set(elts=[inner]):
            return _value(inner, variables)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return _list([_value(item, variables) for item in items])
        case ast.Call(func=ast.Name(id=name)):
            return bounded(FUNCTIONS[name].apply(*(_value(each, variables) for each in node.args)))
    return _operation(node, variables)


def _operation(node: ast.expr, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - any value
    match node:
        case ast.IfExp():
            return _value(node.body if truth(_value(node.test, variables)) else node.orelse, variables)
        case ast.BoolOp():
            return _combine(node, variables)
        case ast.UnaryOp():
            return _unary(node, variables)
        case ast.Compare():
            return _compare(node, variables)
        case ast.BinOp():
            return _arithmetic(type(node.op), _value(node.left, variables), _value(node.right, variables))
        case ast.Subscript():
            return _item(node, variables)
    msg = f"{type(node).__name__} is not allowed in an expression"
    raise ExpressionError(msg)


def _variable(name: str, variables: Mapping[str, Value]) -> Value:
    if name in variables:
        return variables[name]
    if name in NAMED:
        return NAMED[name]
    msg = f"{name} has no value yet; set it in an earlier step, or put text in quotes"
    raise ExpressionError(msg)


def _fill_in(text: str, variables: Mapping[str, Value]) -> str:
    """Write variables mentioned as ``{NAME}`` into a text: as text, never as part of the expression."""
    filled = PLACEHOLDER.sub(lambda match: as_text(_value(placeholder(match[1]), variables)), text)
    return str(bounded(filled))


def _list(items: list[Any]) -> list[Any]:
    if any(isinstance(item, list | tuple) for item in items):
        msg = "a list cannot hold lists; join them with +"
        raise ExpressionError(msg)
    return list(bounded(items))


def _combine(node: ast.BoolOp, variables: Mapping[str, Value]) -> bool:
    if isinstance(node.op, ast.And):
        return all(truth(_value(each, variables)) for each in node.values)
    result, exclusive = False, False
    for each in node.values:
        if is_mark(each):
            exclusive = True
        elif exclusive:
            result, exclusive = result is not truth(_value(each, variables)), False
        else:
            result = result or truth(_value(each, variables))
    return result


def _unary(node: ast.UnaryOp, variables: Mapping[str, Value]) -> int | float | bool:
    operand = _value(node.operand, variables)
    if isinstance(node.op, ast.Not):
        return not truth(operand)
    read = read_number(operand)
    return -read if isinstance(node.op, ast.USub) else read


def _compare(node: ast.Compare, variables: Mapping[str, Value]) -> bool:
    left = _value(node.left, variables)
    for comparison, operand in zip(node.ops, node.comparators, strict=True):
        right = _value(operand, variables)
        if not COMPARISONS[type(comparison)](left, right):
            return False
        left = right
    return True


def _arithmetic(kind: type[ast.operator], left: object, right: object) -> Any:  # noqa: ANN401 - number, text or list
    if kind is ast.Add and {type(left), type(right)} <= {list, Region, Untaught}:
        return bounded([*_listed(left), *_listed(right)])
    if kind is ast.Add and isinstance(left, str) and isinstance(right, str) and not _both_numbers(left, right):
        return bounded(left + right)
    one, other = read_number(left), read_number(right)
    if kind is ast.Pow and abs(other) > MAX_EXPONENT:
        msg = f"the exponent {describe(other)} is beyond {MAX_EXPONENT}"
        raise ExpressionError(msg)
    return bounded(_computed(ARITHMETIC[kind], one, other))


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _both_numbers(left: str, right: str) -> bool:
    return as_number(left) is not None and as_number(right) is not None


def _computed(operation: Callable[..., Any], *operands: object) -> Any:  # noqa: ANN401 - a number
    try:
        return operation(*operands)
    except ZeroDivisionError as error:
        msg = "a division by zero; test the divisor first"
        raise ExpressionError(msg) from error
    except OverflowError as error:
        msg = "the result is too large; the largest number is 10**15"
        raise ExpressionError(msg) from error


def _item(node: ast.Subscript, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - an item of a list
    whole = _value(node.value, variables)
    if not isinstance(whole, list | str):
        msg = f"only lists and texts have items, not {describe(whole)}"
        raise ExpressionError(msg)
    if isinstance(node.slice, ast.Slice):
        return whole[_slice(node.slice, variables)]
    position = _position(node.slice, variables)
    if position is None or not -len(whole) <= position < len(whole):
        msg = f"there is no item {describe(position)} in {describe(whole)}; test len(…) first"
        raise ExpressionError(msg)
    return whole[position]


def _slice(node: ast.Slice, variables: Mapping[str, Value]) -> slice:
    step = _position(node.step, variables)
    if step == 0:
        msg = "the step of a slice cannot be zero"
        raise ExpressionError(msg)
    return slice(_position(node.lower, variables), _position(node.upper, variables), step)


def _position(node: ast.expr | None, variables: Mapping[str, Value]) -> int | None:
    if node is None:
        return None
    position = read_number(_value(node, variables))
    if not math.isfinite(position) or position != int(position):
        msg = f"an item's position is a whole number, not {describe(position)}"
        raise ExpressionError(msg)
    return int(position)
