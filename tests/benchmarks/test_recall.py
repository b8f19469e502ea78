"""A chat model is shown a fitting demonstration for questions in fresh words."""

from __future__ import annotations

from pathlib import Path

from benchmarks.recall import measured
from snellen.reasoning.case_based.reasoner import SEEDS


def test_most_fresh_wordings_are_shown_a_fitting_program(tmp_path: Path) -> None:
    report = measured(tmp_path, SEEDS)

    assert report["n"] >= 60
    assert report["share"] >= 0.85
