"""The journal of an evaluation keeps what was measured, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from snellen.memory.evaluation_journal import EvaluationJournal
from snellen.memory.home import MemoryTrouble


def journal(tmp_path: Path, fingerprint: str = "vqa/7") -> EvaluationJournal:
    return EvaluationJournal(tmp_path / "evaluations" / "one.jsonl", fingerprint=fingerprint)


def test_results_are_there_again_after_an_interruption(tmp_path: Path) -> None:
    first = journal(tmp_path)
    assert first.begin() == {}
    first.add({"id": "a", "value": 1})
    first.add({"id": "b", "value": 0})
    assert journal(tmp_path).begin() == {"a": {"id": "a", "value": 1}, "b": {"id": "b", "value": 0}}


def test_a_line_cut_short_by_a_crash_costs_one_result(tmp_path: Path) -> None:
    first = journal(tmp_path)
    first.begin()
    first.add({"id": "a"})
    with first.path.open("a") as file:
        file.write('{"id": "b", "val')
    second = journal(tmp_path)
    assert set(second.begin()) == {"a"}
    second.add({"id": "c"})
    assert set(journal(tmp_path).begin()) == {"a", "c"}


def test_what_measured_something_else_is_discarded(tmp_path: Path) -> None:
    first = journal(tmp_path)
    first.begin()
    first.add({"id": "a"})
    assert journal(tmp_path, "vqa/8").begin() == {}
    assert journal(tmp_path).begin() == {}


def test_a_finished_evaluation_leaves_no_journal(tmp_path: Path) -> None:
    first = journal(tmp_path)
    first.begin()
    first.finish()
    first.finish()
    assert not first.path.exists()


def test_a_folder_that_is_a_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "evaluations").write_text("")
    with pytest.raises(MemoryTrouble, match="cannot be used"):
        journal(tmp_path).begin()
