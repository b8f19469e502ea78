"""What is timed for growth works at any size, and does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.growth import KINDS, Operation
from snellen.memory.demonstrations import Demonstration
from snellen.threads.listing import ThreadPage


def operations(kind: str, folder: Path, size: int) -> dict[str, Operation]:
    return {one.name: one for one in KINDS[kind](folder, size)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_can_be_repeated(kind: str, tmp_path: Path) -> None:
    for one in KINDS[kind](tmp_path, 30):
        for run in (-1, 0, 1):
            one.before(run)
            one.work(run)


def test_what_is_timed_finds_what_is_there(tmp_path: Path) -> None:
    recall = operations("recall", tmp_path / "recall", 40)
    found = recall["recalled_after_adding"].work(3)
    assert isinstance(found, list)
    assert len(found) == 4
    assert all(isinstance(one, Demonstration) and one.correct and one.kind == "program" for one in found)

    threads = operations("threads", tmp_path, 70)
    assert threads["found"].work(5) == "ask"
    page = threads["page"].work(0)
    assert isinstance(page, ThreadPage)
    assert (len(page.threads), page.of, page.threads[0].thread) == (50, 70, "thread-69")
    assert page.threads[0].status == "finished"

    trials = operations("trials", tmp_path / "trials", 100)
    assert len(trials["found"].work(1)) == 64  # type: ignore[arg-type]
