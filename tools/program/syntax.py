"""The tree of a program, and how text becomes one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from snellen.errors import BadInput
from snellen.tools.program.expression_limits import ExpressionError
from snellen.tools.program.expressions import (
    Expression,
    from_tree,
    is_name,
    parse_expression,
    parse_python,
)
from snellen.tools.registry import catalogue
from snellen.values import COMPUTED_KINDS, describe

if TYPE_CHECKING:
    from snellen.profiles import Profile

COMPUTED: Final = ("EVAL", "expr")
"""The argument whose text is computed at once: CLOVA's ``EVAL(expr='{A} > {B}')``."""


def takes_expression(tool: str, argument: str) -> bool:
    """Tell whether the text of an argument is itself an expression, as those of EVAL, FILTER and SORT are."""
    specification = catalogue().find(tool)
    parameter = None if specification is None else specification.parameter(argument)
    return (tool, argument) == COMPUTED or (parameter is not None and parameter.kind in COMPUTED_KINDS)


@dataclass(frozen=True)
class ProgramLimits:
    """Limits of a program; beyond them, it is refused or stopped.

    Attributes:
        steps: Steps executed, branches and iterations counted.
        statements: Statements written.
        nesting: Depth of ``if`` and ``for`` (an ``elif`` adds none).
        iterations: Items that one ``for`` goes through.
        seconds: Wall-clock seconds, looked at between steps.
        text: Bytes of the text, as UTF-8.
    """

    steps: int = 200
    statements: int = 64
    nesting: int = 4
    iterations: int = 64
    seconds: float = 120.0
    text: int = 20_000

    @classmethod
    def of(cls, profile: Profile) -> ProgramLimits:
        """Return the limits that a profile sets under ``[limits]``."""
        return cls(**profile.limits.model_dump())


NO_PROFILE: Final = ProgramLimits()
"""The limits that hold where no profile sets others."""


@dataclass(frozen=True)
class Call:
    """``target=tool(name=expression, …)``."""

    target: str
    tool: str
    arguments: dict[str, Expression]
    line: int
    source: str


@dataclass(frozen=True)
class Assign:
    """``target=expression``, such as another variable's name, a literal or a list."""

    target: str
    value: Expression
    line: int
    source: str


@dataclass(frozen=True)
class If:
    """``if condition:`` with its two branches; ``elif`` is an ``If`` alone in ``otherwise``."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    line: int
    source: str


@dataclass(frozen=True)
class For:
    """``for variable in iterable:`` with its body."""

    variable: str
    iterable: Expression
    body: tuple[Statement, ...]
    line: int
    source: str


Statement: TypeAlias = Call | Assign | If | For


@dataclass(frozen=True)
class Program:
    """A parsed program; ``text`` is what it was parsed from, and all of it that needs to be stored."""

    statements: tuple[Statement, ...]
    text: str

    def walk(self) -> Iterator[Statement]:
        """Go through all statements in the order they are written."""
        return walk(self.statements)


def walk(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Go through statements and those within them, in the order they are written."""
    for statement in statements:
        yield statement
        if isinstance(statement, If):
            yield from walk(statement.then)
            yield from walk(statement.otherwise)
        elif isinstance(statement, For):
            yield from walk(statement.body)


@dataclass(frozen=True)
class Problem:
    """Problem of a program: the line (from 1), what it is, and what to write instead."""

    line: int
    message: str
    remedy: str

    def __str__(self) -> str:
        """Write the problem in one line."""
        return f"line {self.line}: {self.message}" + (f"; {self.remedy}" if self.remedy else "")


class ProgramError(BadInput):
    """A program cannot run; ``problems`` lists all that was found, the message the first of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Make the message of the first problem and the number of further ones."""
        more = len(problems) - 1
        suffix = f" (and {more} more problem{'' if more == 1 else 's'})" if more else ""
        super().__init__(f"the program cannot run: {problems[0]}{suffix}")
        self.problems = tuple(problems)


def parse(text: str, limits: ProgramLimits = NO_PROFILE) -> Program:
    """Parse a program's text; markdown fences and ``Step1:`` before statements are tolerated.

    Raises:
        ProgramError: The text is too long, cannot be read, or uses what the language has not.
    """
    if len(text.encode(errors="replace")) > limits.text:
        raise _error(1, f"the program is longer than {limits.text} bytes", "write a shorter one")
    lines = _plain_lines(text)
    try:
        tree = parse_python("\n".join(lines) + "\n", mode="exec")
    except ExpressionError as error:
        line = min(max(error.line or 1, 1), len(lines))
        shown = f"{error}: {describe(lines[line - 1].strip())}"
        raise _error(line, shown, "write one NAME=TOOL(argument=…) a line") from error
    statements = _Reader(lines, limits).block(tree.body, nesting=0)
    if not statements:
        raise _error(1, "the program is empty", "write at least one NAME=TOOL(…) and FINAL_RESULT=RESULT(var=…)")
    return Program(statements, text)


def _error(line: int, message: str, remedy: str) -> ProgramError:
    return ProgramError([Problem(line, message, remedy)])


_PREFIX: Final = re.compile(
    r"^(\s*)(?:[-*]\s+)?(?:\*\*)?Step\s*\d+(?:\s+Program)?(?:\s*[:.,)](?:\*\*)?\s*|\s+(?=[a-z]))", re.IGNORECASE
)
_HEADINGS: Final = frozenset({"program", "program:"})
_FENCE: Final = re.compile(r"^\s*```")


def _plain_lines(text: str) -> list[str]:
    """Return the lines of the program alone; what is taken away leaves empty lines, so that numbers stay."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff").rstrip())
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if fences:
        first, last = fences[0], fences[1] if len(fences) > 1 else len(lines)
        lines = [line if first < number < last else "" for number, line in enumerate(lines)]
    return _dedented([_plain_line(line) for line in lines])


def _plain_line(line: str) -> str:
    heading = line.strip(" \t*").casefold() in _HEADINGS
    return "" if heading else _PREFIX.sub(r"\1", line).replace("\\_", "_")


def _dedented(lines: list[str]) -> list[str]:
    """Take away the indentation of the first statement where every line has it."""
    written = [line for line in lines if line.strip()]
    margin = re.match(r"[ \t]*", written[0])[0] if written else ""  # type: ignore[index]
    if not margin or not all(line.startswith(margin) for line in written):
        return lines
    return [line.removeprefix(margin) for line in lines]


_SAY_INSTEAD: Final[dict[type[ast.AST], str]] = {
    ast.AugAssign: "write NAME = NAME + 1",
    ast.AnnAssign: "write NAME=TOOL(argument=…)",
    ast.Expr: "give the step a name: NAME=TOOL(argument=…)",
    ast.While: "use 'for NAME in LIST:'",
    ast.Import: "leave it out; the tools are there already",
    ast.ImportFrom: "leave it out; the tools are there already",
}
_MOST_ARGUMENTS: Final = 16
_SOURCE_CHARACTERS: Final = 2_000
_LANGUAGE: Final = "a program has only NAME=TOOL(…), NAME=value, if/elif/else and for NAME in LIST"


class _Reader:
    """Turns Python's tree into a program's; keeps the lines for messages and records."""

    def __init__(self, lines: list[str], limits: ProgramLimits) -> None:
        self._lines = lines
        self._limits = limits
        self._statements = 0

    def block(self, nodes: Sequence[ast.stmt], *, nesting: int) -> tuple[Statement, ...]:
        if nesting > self._limits.nesting:
            line = nodes[0].lineno
            raise _error(line, f"if and for nest deeper than {self._limits.nesting}", "write it with fewer levels")
        return tuple(self._statement(node, nesting) for node in nodes if not isinstance(node, ast.Pass))

    def _statement(self, node: ast.stmt, nesting: int) -> Statement:
        self._statements += 1
        if self._statements > self._limits.statements:
            message = f"the program has more than {self._limits.statements} statements"
            raise _error(node.lineno, message, "use a for loop or fewer steps")
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(func=ast.Name()) as call):
                return self._call(self._name(target, node), call, node)
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                return Assign(self._name(target, node), self._expression(value), node.lineno, self._source(node))
            case ast.If():
                return self._if(node, nesting)
            case ast.For(target=ast.Name(id=variable), orelse=[]):
                body = self.block(node.body, nesting=nesting + 1)
                iterable = self._expression(node.iter)
                return For(self._name(variable, node), iterable, body, node.lineno, self._head(node))
        remedy = _SAY_INSTEAD.get(type(node), _LANGUAGE)
        raise _error(node.lineno, f"{describe(self._source(node))} is no step of a program", remedy)

    def _if(self, node: ast.If, nesting: int) -> If:
        chained = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        then = self.block(node.body, nesting=nesting + 1)
        otherwise = self.block(node.orelse, nesting=nesting + (0 if chained else 1))
        return If(self._expression(node.test), then, otherwise, node.lineno, self._head(node))

    def _call(self, target: str, node: ast.Call, statement: ast.stmt) -> Statement:
        tool = node.func.id if isinstance(node.func, ast.Name) else ""
        if tool.islower():  # len(…), max(…): a call of the expression language; tools are upper-case
            return Assign(target, self._expression(node), statement.lineno, self._source(statement))
        if node.args:
            raise _error(node.lineno, f"{describe(tool)} is given a value without its name", "write argument=value")
        if len(node.keywords) > _MOST_ARGUMENTS:
            raise _error(node.lineno, f"{describe(tool)} is given {len(node.keywords)} arguments", "leave some out")
        arguments: dict[str, Expression] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise _error(node.lineno, f"** is not allowed in {describe(tool)}", "write each argument as name=value")
            if keyword.arg in arguments:
                message = f"{describe(tool)} is given {describe(keyword.arg)} twice"
                raise _error(node.lineno, message, "leave one out")
            arguments[keyword.arg] = self._argument(tool, keyword.arg, keyword.value)
        return Call(target, tool, arguments, statement.lineno, self._source(statement))

    def _argument(self, tool: str, name: str, node: ast.expr) -> Expression:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and takes_expression(tool, name)):
            return self._expression(node)
        try:
            return parse_expression(node.value)
        except ExpressionError as error:
            raise _error(node.lineno, f"in {tool}: {error}", "") from error

    def _expression(self, node: ast.expr) -> Expression:
        try:
            return from_tree(node)
        except ExpressionError as error:
            raise _error(node.lineno, str(error), "") from error

    def _name(self, name: str, node: ast.stmt) -> str:
        if is_name(name):
            return name
        remedy = "use ASCII letters, digits and _, a letter first, 64 at most"
        raise _error(node.lineno, f"{describe(name)} is no name for a variable", remedy)

    def _head(self, node: ast.stmt) -> str:
        return self._lines[node.lineno - 1].strip()[:_SOURCE_CHARACTERS]

    def _source(self, node: ast.stmt) -> str:
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        return "\n".join(lines).strip()[:_SOURCE_CHARACTERS]
