"""The threat model names tests for what it claims; they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_NODE = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def _rows() -> list[list[str]]:
    lines = (_ROOT / "docs" / "THREAT_MODEL.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if row[0] != "threat" and not set(row[0]) <= set("-: ")]


def _tests_of(file: Path) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {one.name for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, functions)}


def test_there_are_rows_for_every_part() -> None:
    assert len(_rows()) >= 40


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0])
def test_every_row_names_tests_that_exist(row: list[str]) -> None:
    threat, done, proof = row
    assert threat
    assert done
    found = _NODE.findall(proof)
    # Nothing but names of tests stands there.
    assert found
    assert not _NODE.sub("", proof).strip(", ")
    for file, name in found:
        assert name in _tests_of(_ROOT / file), f"{file} has no {name}"
