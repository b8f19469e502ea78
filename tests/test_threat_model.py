"""The threat model names tests for what it claims; they exist, and what came of them is told."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.threats import Threat, ThreatCase, cases, report, threats

_ROOT = Path(__file__).parents[1]
_THREATS = threats((_ROOT / "docs" / "THREAT_MODEL.md").read_text(encoding="utf-8"))
_WRITTEN = """<testsuites><testsuite>
<testcase classname="tests.graphs.test_a" name="test_b[1-x]" time="0.5" />
<testcase classname="tests.graphs.test_a" name="test_b[2]" time="0.25"><failure>no</failure></testcase>
<testcase classname="tests.graphs.test_a.TestD" name="test_c" time="1"><skipped>not here</skipped></testcase>
</testsuite></testsuites>"""


def _tests_of(within: ast.Module | ast.ClassDef, above: str = "") -> Iterator[str]:
    for one in within.body:
        if isinstance(one, ast.ClassDef):
            yield from _tests_of(one, f"{above}{one.name}::")
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{above}{one.name}"


def test_there_are_rows_for_every_part() -> None:
    assert len(_THREATS) >= 40


@pytest.mark.parametrize("threat", _THREATS, ids=lambda threat: threat.name)
def test_every_row_names_tests_that_exist(threat: Threat) -> None:
    assert threat.name
    assert threat.done
    assert threat.tests
    assert not threat.rest
    for test in threat.tests:
        file, _, name = test.partition("::")
        assert name in _tests_of(ast.parse((_ROOT / file).read_text(encoding="utf-8"))), f"{file} has no {name}"


def test_the_results_tell_what_came_of_every_row() -> None:
    told = json.loads((_ROOT / "docs" / "results" / "threats" / "report.json").read_text(encoding="utf-8"))
    assert [(row["threat"], row["tests"]) for row in told["threats"]] == [(one.name, one.tests) for one in _THREATS]
    assert all(row["held"] == row["cases"] > 0 for row in told["threats"])


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells"):
        threats("| threat | what is done |\n|---|---|\n| one | done |\n")


def test_what_failed_was_skipped_or_did_not_run_has_not_held(tmp_path: Path) -> None:
    (tmp_path / "tests.xml").write_text(_WRITTEN)
    ran = cases(tmp_path / "tests.xml")
    assert ran["tests/graphs/test_a.py::test_b"] == [
        ThreatCase(held=True, seconds=0.5),
        ThreatCase(held=False, seconds=0.25),
    ]
    proof = (
        "`tests/graphs/test_a.py::test_b`, `tests/graphs/test_a.py::TestD::test_c`, `tests/graphs/test_a.py::test_gone`"
    )
    told = report([Threat("a threat", "what is done", proof)], ran)["threats"]
    assert [(row["cases"], row["held"], row["seconds"]) for row in told] == [(4, 1, 1.8)]
    assert "tests/graphs/test_a.py::TestD::test_c" in ran
