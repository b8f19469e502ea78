"""Answers of investigations that contradict earlier ones of the same home."""

from __future__ import annotations

from pathlib import Path

from snellen.memory.picture_ledger import AnsweredProperty, Ledger
from tests.experiments.investigating import Oracle
from tests.graphs.test_investigate import GOOD, POOR, investigated


async def test_an_answer_that_contradicts_an_earlier_one_says_so(tmp_path: Path) -> None:
    first = await investigated(tmp_path, Oracle({"it": GOOD}), "Can it count?", investigation="first")
    again = await investigated(tmp_path, Oracle({"it": POOR}), "Is it good at counting?", investigation="second")
    assert not any("contradicts" in note for note in first.notes)
    (note,) = (note for note in again.notes if "contradicts" in note)
    assert "an earlier answer (first), by which this holds of it: good at counting" in note
    fine = await investigated(tmp_path, Oracle({"it": GOOD}), "Can it tell left from right?", investigation="third")
    assert not any("contradicts" in note for note in fine.notes)


def test_the_same_investigation_may_change_its_answer(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    yes, no = (AnsweredProperty(("a",), "robust to noise", holds=holds) for holds in (True, False))
    assert ledger.conclude("one", [yes]) == [()]
    assert ledger.conclude("one", [no]) == [()]
    assert ledger.conclude("two", [yes]) == [("one",)]
    assert ledger.conclude("three", [AnsweredProperty(("b",), "robust to noise", holds=True)]) == [()]
