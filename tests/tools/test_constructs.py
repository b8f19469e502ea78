"""Constructs of programs are told by what is written, whatever way it is written."""

from __future__ import annotations

import pytest

from snellen.tools.program import parse
from snellen.tools.program.constructs import all_constructs, constructs_of
from snellen.tools.program.fields import REGION_FIELDS
from snellen.tools.program.functions import FUNCTIONS
from snellen.tools.registry import catalogue


@pytest.mark.parametrize(
    ("line", "constructs"),
    [
        ("A=DESCRIBE(image=IMAGE)", {"CAPTION"}),
        ("A=CROP_LEFT(image=IMAGE,box=B)", {"CROP_LEFTOF"}),
        ("A=EVAL(expr='{B} xor {C}')", {"EVAL", "xor"}),
        ("A=B xor not C", {"NAME=value", "xor", "not"}),
        ("A='{B[0].label} there'", {"NAME=value", "'{NAME}'", "NAME[0]", ".label"}),
        ("A=FILTER(object=B,where='area > 3 and region != C')", {"FILTER", ".area", "Gt", "and", "region", "NotEq"}),
        ("A=EVAL(expr='{area} + 1')", {"EVAL", "Add"}),
        ("A=max(B.width)", {"NAME=value", "max()", ".width"}),
        ("A=B[1:] if C in [1, 2] else B", {"NAME=value", "NAME[1:]", "NAME[0]", "a if c else b", "In", "[a, b]"}),
        ("for B in C:\n    if B:\n        A=LOC(image=IMAGE,object='cat')", {"for", "if", "LOC"}),
    ],
)
def test_constructs_of_a_program(line: str, constructs: set[str]) -> None:
    assert constructs_of(parse(line)) == constructs
    assert constructs <= all_constructs()


def test_every_tool_function_and_field_is_a_construct() -> None:
    names = {
        *(tool.name for tool in catalogue()),
        *(f"{name}()" for name in FUNCTIONS),
        *(f".{f}" for f in REGION_FIELDS),
    }
    assert names <= all_constructs()
