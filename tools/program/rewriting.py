"""Rewriting of programs: the statement at an address, statements in its place, the text of a tree.

What is rewritten is text again: it is parsed and checked like any other program before it is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from snellen.tools.program.syntax import Assign, Call, For, If, Program, Statement, takes_expression

Change = Callable[[Statement], Sequence[Statement]]
"""Returns what stands in a statement's place: itself, another one, or several."""

_PART: Final = re.compile(r"(\d+)(?:\[\d+\])?")
_INDENT: Final = "    "


def statement_at(program: Program, address: str) -> Statement | None:
    """Return the statement at a step's address, of whichever iteration; None where the program has none there."""
    statements: Sequence[Statement] = program.statements
    statement: Statement | None = None
    for part in address.split("."):
        if isinstance(statement, If) and part in {"then", "else"}:
            statements, statement = (statement.then if part == "then" else statement.otherwise), None
            continue
        match = _PART.fullmatch(part)
        place = int(match[1]) - 1 if match else -1
        if not 0 <= place < len(statements):
            return None
        statement = statements[place]
        statements = statement.body if isinstance(statement, For) else ()
    return statement


def rewritten(program: Program, change: Change) -> str:
    """Return the text of a program in which every statement, those of branches and loops too, is changed."""
    return "\n".join(_lines(_changed(program.statements, change), "")) + "\n"


def _changed(statements: Sequence[Statement], change: Change) -> list[Statement]:
    return [_inside(one, change) for statement in statements for one in change(statement)]


def _inside(statement: Statement, change: Change) -> Statement:
    match statement:
        case If():
            then, otherwise = _changed(statement.then, change), _changed(statement.otherwise, change)
            return replace(statement, then=tuple(then), otherwise=tuple(otherwise))
        case For():
            return replace(statement, body=tuple(_changed(statement.body, change)))
        case _:
            return statement


def _lines(statements: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Call():
                arguments = ",".join(f"{name}={_argument(statement, name)}" for name in statement.arguments)
                yield f"{indent}{statement.target}={statement.tool}({arguments})"
            case Assign():
                yield f"{indent}{statement.target}={_one_line(statement.value.text)}"
            case If():
                yield f"{indent}if {_one_line(statement.condition.text)}:"
                yield from _lines(statement.then, indent + _INDENT) if statement.then else [f"{indent}{_INDENT}pass"]
                if statement.otherwise:
                    yield f"{indent}else:"
                    yield from _lines(statement.otherwise, indent + _INDENT)
            case For():
                yield f"{indent}for {statement.variable} in {_one_line(statement.iterable.text)}:"
                yield from _lines(statement.body, indent + _INDENT) if statement.body else [f"{indent}{_INDENT}pass"]


def _argument(call: Call, name: str) -> str:
    text = _one_line(call.arguments[name].text)
    return repr(text) if takes_expression(call.tool, name) else text


def _one_line(text: str) -> str:
    """Write an expression on one line: an end of a line stands outside of its texts, where it is a blank."""
    return " ".join(text.split("\n"))
