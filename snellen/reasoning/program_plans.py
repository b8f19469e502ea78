"""Plans of programs that have none: what each step does, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from snellen.reasoning.reasoner import MAX_PLAN_STEPS, MAX_STEP_LENGTH
from snellen.tools.program import RESULT, Assign, Call, For, If, Program, Statement
from snellen.tools.program.syntax import takes_expression
from snellen.tools.registry import catalogue

_END: Final = "Give the result."
_CLAUSE: Final = re.compile(r"[.:;(]")


def plan_of(program: Program) -> list[str]:
    """Describe a program in sentences, as a plan that it could have been written to.

    A call is described by the first clause of its tool's description, and by what its arguments say in words.
    """
    sentences = [sentence[:MAX_STEP_LENGTH] for sentence in _sentences(program.statements)]
    return [*sentences[: MAX_PLAN_STEPS - 1], _END]


def _sentences(statements: Sequence[Statement]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Call(tool=tool) if tool == RESULT:
                continue
            case Call():
                yield _called(statement)
            case Assign(target=target, value=value):
                yield f"Compute {target}: {value.text}."
            case If(condition=condition, then=then, otherwise=otherwise):
                yield f"If {condition.text}: {_inline(then)}"
                if otherwise:
                    yield f"Otherwise: {_inline(otherwise)}"
            case For(variable=variable, iterable=iterable, body=body):
                yield f"For each {variable} of {iterable.text}: {_inline(body)}"


def _called(call: Call) -> str:
    tool = catalogue().find(call.tool)
    does = _CLAUSE.split(" ".join(tool.description.split()))[0].strip() if tool is not None else f"Call {call.tool}"
    arguments = ", ".join(
        f"{name} {argument.text}"
        for name, argument in call.arguments.items()
        if argument.constant_text() is not None or takes_expression(call.tool, name)
    )
    return f"{does} ({arguments})." if arguments else f"{does}."


def _inline(statements: Sequence[Statement]) -> str:
    sentences = (sentence.rstrip(".") for sentence in _sentences(statements))
    return "; ".join(sentence[:1].lower() + sentence[1:] for sentence in sentences) + "."
