"""The failed run that rules of revision read: its program as a tree, its results, and the names that tools know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

from snellen.tools.program import Assign, Call, Program, Statement
from snellen.tools.program.expressions import parse_expression
from snellen.tools.program.rewriting import Change, rewritten, statement_at
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.models.vision.name_expansion import Expansion
    from snellen.tools.program import StepRecord

_OPEN: Final = ("what ", "which ", "who ", "where ")
"""How a question begins that takes its thing for granted."""
_EXISTENCE: Final = ("is there ", "are there ")


@dataclass(frozen=True)
class Rewrite:
    """A rewritten program, and the change in a sentence."""

    program: str
    change: str


@dataclass(frozen=True)
class FailedRun:
    """A run in trouble.

    Attributes:
        program: What was run.
        steps: Its steps in order.
        names: The names that the profile's tools know, and their groups.
    """

    program: Program
    steps: Sequence[StepRecord]
    names: Expansion

    def call(self, address: str, *tools: str) -> Call | None:
        """Return the statement at an address where it calls one of these tools."""
        statement = statement_at(self.program, address)
        return statement if isinstance(statement, Call) and statement.tool in tools else None

    def setter(self, name: str) -> Call | None:
        """Return the only statement that sets a variable, where it is a call."""
        setters = [one for one in self.program.walk() if isinstance(one, Call | Assign) and one.target == name]
        only = setters[0] if len(setters) == 1 else None
        return only if isinstance(only, Call) else None

    def was_given(self, call: Call, argument: str) -> bool:
        """Tell whether a call was given something for an argument, in any iteration; an untaught name is nothing."""
        given = (one.arguments.get(argument) for one in self.steps if one.target == call.target)
        return any(from_json(value) for value in given)

    def users(self, name: str) -> list[Statement]:
        """Return the statements that read a variable."""
        return [one for one in self.program.walk() if name in names_in(one)]

    def fresh(self, stem: str, taken: Sequence[str] = ()) -> str:
        """Return a name that no variable of the program has."""
        text = self.program.text
        return next(name for number in count() if (name := f"{stem}{number}") not in text and name not in taken)

    def in_place_of(self, place: Statement, statements: Sequence[Statement]) -> str:
        """Return the program's text with statements in the place of one."""
        return self.rewritten(lambda one: statements if one is place else [one])

    def rewritten(self, change: Change) -> str:
        """Return the program's text, each statement changed."""
        return rewritten(self.program, change)


def names_in(statement: Statement) -> tuple[str, ...]:
    """Return the variables that a statement itself reads."""
    match statement:
        case Call():
            return tuple(name for expression in statement.arguments.values() for name in expression.names)
        case Assign():
            return statement.value.names
        case _:
            condition = getattr(statement, "condition", None) or getattr(statement, "iterable", None)
            return condition.names if condition is not None else ()


def variable(call: Call, argument: str) -> str:
    """Return the variable that an argument of a call is; empty where it is anything else."""
    expression = call.arguments.get(argument)
    return expression.text if expression is not None and expression.names == (expression.text,) else ""


def text_of(call: Call, argument: str) -> str:
    """Return the text that an argument of a call is; empty where it is computed."""
    expression = call.arguments.get(argument)
    return (expression.constant_text() or "") if expression is not None else ""


def calling(target: str, tool: str, **arguments: str) -> Call:
    """Make a statement that calls a tool; its arguments are expressions as they are written."""
    return Call(target, tool, {name: parse_expression(text) for name, text in arguments.items()}, 0, "")


def is_open(question: str) -> bool:
    """Tell whether a question takes its thing for granted: it asks what, which or where, or gives a choice."""
    words = f"{' '.join(question.casefold().split())} "
    return words.startswith(_OPEN) or (" or " in words and not words.startswith(_EXISTENCE))
