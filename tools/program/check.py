"""The check of a program: its problems, found before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from snellen import values
from snellen.errors import BadInput
from snellen.tools.program.expression_limits import ExpressionError
from snellen.tools.program.expression_types import kind_of_expression, kind_of_item
from snellen.tools.program.expressions import Expression
from snellen.tools.program.fields import SCOPE
from snellen.tools.program.syntax import (
    COMPUTED,
    NO_PROFILE,
    Assign,
    Call,
    For,
    If,
    Problem,
    Program,
    ProgramError,
    ProgramLimits,
    Statement,
    parse,
)
from snellen.tools.registry import Catalogue, Parameter, Tool, catalogue, nearest

RESULT = "RESULT"
"""The tool whose last value is the program's; on every way through a program there is one."""


def inputs_for(pictures: int) -> dict[str, str]:
    """Return the inputs of a task with so many pictures, name to type name.

    One picture is ``IMAGE``, two are ``LEFT`` and ``RIGHT`` (paper, figure 9), more ``PICTURE1``, ``PICTURE2`` ….
    """
    if pictures == 1:
        return {"IMAGE": values.PICTURE}
    if pictures == 2:  # noqa: PLR2004 - a pair has its own names
        return {"LEFT": values.PICTURE, "RIGHT": values.PICTURE}
    return {f"PICTURE{number}": values.PICTURE for number in range(1, pictures + 1)}


def load(text: str, inputs: Mapping[str, str], limits: ProgramLimits = NO_PROFILE) -> Program:
    """Parse and check a program.

    Raises:
        ProgramError: It cannot be read, or something in it cannot work; lists every problem found.
    """
    program = parse(text, limits)
    problems = check(program, inputs, limits)
    if problems:
        raise ProgramError(problems)
    return program


def check(program: Program, inputs: Mapping[str, str], limits: ProgramLimits = NO_PROFILE) -> list[Problem]:
    """Return what cannot work: unknown tools, arguments and variables, wrong types, a missing RESULT.

    Args:
        program: The parsed program.
        inputs: The variables that are set when it starts, name to type name.
        limits: Bounds the number of statements.

    A variable that is set in one branch or in a loop alone counts as unset after it: it may be.
    """
    checker = _Checker(catalogue(), limits)
    end = checker.block(program.statements, _Known(dict(inputs)))
    if not end.has_result:
        where = "is only reached in some branches or in a loop" if checker.saw_result else "is missing"
        line = max((statement.line for statement in program.walk()), default=1)
        checker.report(line, f"{RESULT} {where}", "end the program with FINAL_RESULT=RESULT(var=…)")
    return checker.problems


@dataclass(frozen=True)
class _Known:
    """The knowledge at a place in a program: the variables set for certain, and whether RESULT was called."""

    kinds: dict[str, str]
    has_result: bool = False

    def with_kind(self, name: str, kind: str) -> _Known:
        return _Known({**self.kinds, name: kind}, self.has_result)

    def with_result(self) -> _Known:
        return _Known(self.kinds, has_result=True)

    def joined(self, other: _Known) -> _Known:
        """Return what is known after one of two ways was taken."""
        shared = {
            name: kind if other.kinds[name] == kind else values.ANY
            for name, kind in self.kinds.items()
            if name in other.kinds
        }
        return _Known(shared, self.has_result and other.has_result)


@dataclass
class _Checker:
    catalogue: Catalogue
    limits: ProgramLimits
    problems: list[Problem] = field(default_factory=list)
    saw_result: bool = False
    set_somewhere: set[str] = field(default_factory=set)

    def report(self, line: int, message: str, remedy: str) -> None:
        self.problems.append(Problem(line, message, remedy))

    def block(self, statements: Sequence[Statement], known: _Known) -> _Known:
        for statement in statements:
            known = self._statement(statement, known)
        return known

    def _statement(self, statement: Statement, known: _Known) -> _Known:
        match statement:
            case Call():
                return self._call(statement, known)
            case Assign():
                kind = self._expression(statement.value, statement.line, known)
                return self._set(known, statement.target, kind)
            case If():
                self._expression(statement.condition, statement.line, known)
                then = self.block(statement.then, known)
                return then.joined(self.block(statement.otherwise, known))
            case For():
                return self._for(statement, known)

    def _set(self, known: _Known, name: str, kind: str) -> _Known:
        self.set_somewhere.add(name)
        return known.with_kind(name, kind)

    def _for(self, statement: For, known: _Known) -> _Known:
        kind = self._expression(statement.iterable, statement.line, known)
        item = kind_of_item(kind)
        if item is None:
            message = f"for goes through a list, but {statement.iterable.text} is {kind}"
            self.report(statement.line, message, "use the variable of LOC, LIST or another tool that gives several")
        body = self.block(statement.body, self._set(known, statement.variable, item or values.ANY))
        return known.joined(body)

    def _expression(self, expression: Expression, line: int, known: _Known) -> str:
        """Report what is wrong with an expression, and return its type name."""
        for name in expression.names:
            if name not in known.kinds:
                self._unknown_variable(name, line, known)
        try:
            return kind_of_expression(expression, known.kinds)
        except ExpressionError as error:
            message, _, remedy = str(error).partition("; ")
            self.report(line, message, remedy)
            return values.ANY

    def _unknown_variable(self, name: str, line: int, known: _Known) -> None:
        if name in self.set_somewhere:
            message = f"{name} may have no value here: it is set in a branch or a loop alone"
            self.report(line, message, "set it before, or in every branch")
            return
        close = nearest(name, list(known.kinds))
        remedy = f"did you mean {close[0]}?" if close else f"there are {', '.join(known.kinds) or 'none'} here"
        self.report(line, f"variable {name} is unknown", f"{remedy} (text goes in quotes)")

    def _call(self, call: Call, known: _Known) -> _Known:
        tool = self.catalogue.find(call.tool)
        if tool is None:
            for expression in call.arguments.values():
                self._expression(expression, call.line, known)
            close = nearest(call.tool, self.catalogue.names(), 1)
            remedy = f"did you mean {close[0]}?" if close else f"the tools are {', '.join(self.catalogue.names())}"
            self.report(call.line, f"tool {values.describe(call.tool)} is unknown", remedy)
            return self._set(known, call.target, values.ANY)
        kinds = self._arguments(call, tool, known)
        # EVAL and RESULT give what they are given.
        returned = kinds[0] if tool.returns == values.ANY and len(kinds) == 1 else tool.returns
        known = self._set(known, call.target, returned)
        if tool.name != RESULT:
            return known
        self.saw_result = True
        return known.with_result()

    def _arguments(self, call: Call, tool: Tool, known: _Known) -> list[str]:
        """Report what is wrong with the arguments of a call, and return their type names."""
        kinds = []
        for name, expression in call.arguments.items():
            parameter = tool.parameter(name)
            scope = known
            if parameter is not None and parameter.kind in values.COMPUTED_KINDS:
                scope = _Known(known.kinds | SCOPE)
            kind = self._expression(expression, call.line, scope)
            kinds.append(kind)
            if parameter is None:
                self._unknown_argument(name, call, tool)
            elif (tool.name, name) != COMPUTED:
                self._kind(parameter, expression, call, kind)
                self._text(tool, name, expression, call)
        missing = [each.name for each in tool.parameters if each.required and each.name not in call.arguments]
        if missing:
            self.report(call.line, f"{call.tool} lacks {', '.join(missing)}", f"write {tool.signature()}")
        return kinds

    def _text(self, tool: Tool, name: str, expression: Expression, call: Call) -> None:
        """Report a text that the tool never takes, where the program says it in full."""
        text = expression.constant_text()
        if text is None or name not in tool.texts:
            return
        try:
            tool.texts[name](text)
        except BadInput as error:
            message, _, remedy = str(error).partition("; ")
            self.report(call.line, message, remedy)

    def _unknown_argument(self, name: str, call: Call, tool: Tool) -> None:
        close = nearest(name, [each.name for each in tool.parameters])
        remedy = f"did you mean {close[0]}?" if close else f"write {tool.signature()}"
        self.report(call.line, f"{call.tool} has no argument {values.describe(name)}", remedy)

    def _kind(self, parameter: Parameter, expression: Expression, call: Call, kind: str) -> None:
        if not values.accepts(parameter.kind, kind):
            message = f"{call.tool}({parameter.name}={expression.text[:40]}) is {kind}"
            self.report(call.line, message, f"it takes {_TAKEN.get(parameter.kind, parameter.kind)}")


_TAKEN: Final = {
    values.CONDITION: "a condition on each region, such as 'area > 100 and label == \\'dog\\''",
    values.KEY: "a label or a number of each region, such as 'label'",
    values.ORDER: "a number of each region, such as 'left' or 'distance(region, HOUSE)', as nothing else has an order",
}
