"""New databases: those of one sort begin alike, with nothing in common but their tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from snellen.memory.demonstrations import DATABASE as DEMONSTRATIONS
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.picture_ledger import Ledger
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.rows import DATABASE as PROMPTS
from snellen.memory.samples import SampleTable
from snellen.memory.thread_summaries import ThreadSummaryTable
from snellen.memory.trials import TrialTable

OPENED: list[Callable[[Path], object]] = [
    DemonstrationPool, Ledger, PromptPool, SampleTable, ThreadSummaryTable, TrialTable
]  # fmt: skip


def contents(folder: Path) -> dict[str, list[str]]:
    """Return all that is in the databases of a home, but for identities and the times of migrations."""
    found = {}
    for file in sorted(folder.glob("*.sqlite")):
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            found[file.name] = [*database.iterdump()]
    aside = ("applied_at", "_sqlite_migrations", '_state" VALUES')
    return {name: [line for line in lines if not any(one in line for one in aside)] for name, lines in found.items()}


def identity(folder: Path, database: str, table: str) -> str:
    with closing(sqlite3.connect(folder / database)) as rows:
        return str(rows.execute(f"SELECT identity FROM {table}").fetchone()[0])


def test_the_databases_of_a_home_are_alike_whether_they_were_made_or_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = [tmp_path / name for name in ("made", "copied", "again")]
    for home in homes:
        home.mkdir()
    for open_ in OPENED:
        monkeypatch.setattr("snellen.memory.tables._NEW", {})
        for home in homes:
            open_(home)
    made, *others = map(contents, homes)
    assert len(made) == len(OPENED)
    assert others == [made, made]
    for database, table in ((DEMONSTRATIONS, "demonstration_state"), (PROMPTS, "prompt_state")):
        identities = {identity(home, database, table) for home in homes}
        assert len(identities) == len(homes)
        assert all(len(one) == 16 for one in identities)


def test_the_log_of_a_file_that_is_gone_is_not_taken_for_that_of_a_copy(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trials.sqlite-wal").write_bytes(b"" if name == "first" else b"left behind")
        TrialTable(tmp_path / name)
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_only_what_is_new_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(tmp_path)
    kept: dict[str, bytes] = {}
    monkeypatch.setattr("snellen.memory.tables._NEW", kept)
    Ledger(tmp_path)
    assert not kept
