"""Programs are rewritten on their trees; what nothing changes reads as before."""

from __future__ import annotations

import pytest

from snellen.tools.program import Assign, Call, For, If, Statement, parse
from snellen.tools.program.expressions import parse_expression
from snellen.tools.program.rewriting import rewritten, statement_at
from tests.tools.test_program_page import EXAMPLES

PROGRAM = """\
BOX0=LOC(image=IMAGE,object='cat')
for B in BOX0:
    if B.area > 3 xor B.left == 0:
        N=COUNT(box=B)
    else:
        N=EVAL(expr="'none' if {B.label} == 'cat' else 0")
        M=1
FINAL_RESULT=RESULT(var=BOX0)
"""


def same(statement: Statement) -> list[Statement]:
    return [statement]


@pytest.mark.parametrize("text", [PROGRAM, *(text for text, answer in EXAMPLES if not answer.startswith("refused"))])
def test_a_program_that_nothing_changes_is_the_same_program(text: str) -> None:
    once = rewritten(parse(text), same)

    assert rewritten(parse(once), same) == once
    assert [_meaning(one) for one in parse(once).walk()] == [_meaning(one) for one in parse(text).walk()]


def _meaning(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Call():
            return statement.tool, statement.target, *(f"{k}={v.text}" for k, v in statement.arguments.items())
        case Assign():
            return statement.target, statement.value.text
        case If():
            return (statement.condition.text,)
        case For():
            return statement.variable, statement.iterable.text


@pytest.mark.parametrize(
    ("address", "line"),
    [("1", 1), ("2", 2), ("2[7].1", 3), ("2[1].1.then.1", 4), ("2[3].1.else.2", 7), ("3", 8)],
)
def test_a_statement_is_found_by_the_address_of_a_step(address: str, line: int) -> None:
    statement = statement_at(parse(PROGRAM), address)

    assert statement is not None
    assert statement.line == line


@pytest.mark.parametrize("address", ["", "0", "4", "1.then.1", "2[1].2", "2[1].1.then.2", "x", "-1", "1.1"])
def test_no_statement_is_found_at_an_address_that_the_program_has_not(address: str) -> None:
    assert statement_at(parse(PROGRAM), address) is None


def test_statements_within_branches_and_loops_are_changed() -> None:
    def change(statement: Statement) -> list[Statement]:
        if isinstance(statement, Assign):
            return []
        if isinstance(statement, Call) and statement.tool == "COUNT":
            return [Assign("K", parse_expression("B"), 0, ""), statement]
        return [statement]

    assert rewritten(parse(PROGRAM), change) == PROGRAM.replace("        M=1\n", "").replace(
        "        N=COUNT", "        K=B\n        N=COUNT"
    )
