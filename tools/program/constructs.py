"""Constructs of the language: all that there are, and those that a program uses.

A construct is called as one writes it: ``SORT``, ``if``, ``.area``, ``distance()``, ``xor``. What there is follows from
the registry of tools and from the tables of the language, so that nothing can be missing here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Final

from snellen.tools.program.expressions import ARITHMETIC, COMPARISONS, PLACEHOLDER, Expression, is_mark, placeholder
from snellen.tools.program.fields import ITSELF, REGION_FIELDS, SCOPE
from snellen.tools.program.functions import FUNCTIONS
from snellen.tools.program.syntax import COMPUTED, Assign, Call, For, If, Program, Statement, takes_expression
from snellen.tools.registry import catalogue

_STATEMENTS: Final[dict[type, str]] = {If: "if", For: "for", Assign: "NAME=value"}
_FORMS: Final[dict[type, str]] = {
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.IfExp: "a if c else b", ast.Subscript: "NAME[0]",
    ast.Slice: "NAME[1:]", ast.List: "[a, b]",
}  # fmt: skip
_XOR: Final = "xor"
_FILLED: Final = "'{NAME}'"
_OPERATORS: Final = {kind: kind.__name__ for kind in (*ARITHMETIC, *COMPARISONS)}


@cache
def all_constructs() -> frozenset[str]:
    """Return every construct of the language, tools included."""
    written = {*_STATEMENTS.values(), *_FORMS.values(), *_OPERATORS.values(), _XOR, _FILLED, ITSELF}
    fields = {f".{name}" for name in REGION_FIELDS}
    return frozenset({*written, *fields, *(f"{name}()" for name in FUNCTIONS), *(tool.name for tool in catalogue())})


def constructs_of(program: Program) -> frozenset[str]:
    """Return the constructs that a program uses, tools by their own names whatever synonym was written."""
    return frozenset(construct for statement in program.walk() for construct in _of_statement(statement))


def _of_statement(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Call):
        tool = catalogue().find(statement.tool)
        yield tool.name if tool is not None else statement.tool
        for name, argument in statement.arguments.items():
            is_scoped = takes_expression(statement.tool, name) and (statement.tool, name) != COMPUTED
            yield from _of_expression(argument, scoped=is_scoped)
        return
    yield _STATEMENTS[type(statement)]
    match statement:
        case Assign(value=expression) | If(condition=expression) | For(iterable=expression):
            yield from _of_expression(expression)


def _of_expression(expression: Expression, *, scoped: bool = False) -> Iterator[str]:
    """Go through the constructs of an expression; in one that is scoped, the fields of a region stand by themselves."""
    for node in _nodes(expression.tree):
        yield from _of_node(node)
        if scoped and isinstance(node, ast.Name) and node.id in SCOPE:
            yield node.id if node.id == ITSELF else f".{node.id}"


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        yield node
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for match in PLACEHOLDER.finditer(node.value):
                yield from ast.walk(placeholder(match[1]))


def _of_node(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BoolOp(values=parts) if any(map(is_mark, parts)):
            yield _XOR
        case ast.BoolOp(op=operation):
            yield _FORMS[type(operation)]
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.Call(func=ast.Name(id=name)):
            yield f"{name}()"
        case ast.Constant(value=str() as text) if PLACEHOLDER.search(text):
            yield _FILLED
        case ast.operator() | ast.cmpop():
            yield _OPERATORS[type(node)]
        case ast.IfExp() | ast.Subscript() | ast.Slice() | ast.List() | ast.Not():
            yield _FORMS[type(node)]
