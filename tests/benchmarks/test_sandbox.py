"""The benchmark of the box runs its programs rightly."""

from __future__ import annotations

from benchmarks.sandbox import measured


def test_programs_answer_as_the_graph_does() -> None:
    found = measured(programs=8, rounds=2, workers=2)
    assert found["failed"] == 0
    assert found["programs"] == 8
