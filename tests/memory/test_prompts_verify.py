"""Damage is found, what is whole is saved, and what is lost is named."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from snellen.memory.demonstrations import DATABASE as DEMONSTRATIONS
from snellen.memory.demonstrations import INDEX, DemonstrationPool, demonstration
from snellen.memory.home import MemoryTrouble
from snellen.memory.prompt_rows import DATABASE
from snellen.memory.prompts import PromptPool
from snellen.memory.verification import Verification, verify_memory, verify_prompts
from tests.graphs.scripted import embed
from tests.memory.learned import CHECKPOINT, made


@pytest.fixture
def pool(tmp_path: Path) -> PromptPool:
    pool = PromptPool(tmp_path)
    pool.add(*[made(number) for number in range(6)])
    pool.add(made(6), made(7, pool="SEG"))
    pool.candidates("LOC", "", CHECKPOINT, made(1).feature, 2)
    return pool


def kinds(found: Verification) -> Counter[str]:
    return Counter(one.kind for one in found.findings)


def ids(pool: PromptPool) -> list[str]:
    return [row.id for row in pool.rows()]


def block_of(pool: PromptPool, number: int) -> Path:
    (path,) = [path for path in pool.blocks.glob("*/*") if made(number).prompt.tobytes() in path.read_bytes()]
    return path


def spoil(path: Path, number: int) -> None:
    content = path.read_bytes()
    path.write_bytes(content.replace(made(number).prompt.tobytes(), b"\1" * made(number).prompt.nbytes))


def test_what_is_whole_is_counted_and_left_alone(pool: PromptPool) -> None:
    found = pool.verify()
    assert (found.prompts, found.blocks, found.indexes, found.clean, found.lost) == (8, 3, 1, True, 0)


def test_an_empty_home_is_clean(tmp_path: Path) -> None:
    assert verify_prompts(tmp_path / "nowhere").clean
    assert not (tmp_path / "nowhere").exists()
    assert verify_prompts(tmp_path, repair=False).clean


def test_one_spoiled_prompt_is_lost_and_its_neighbours_are_saved(pool: PromptPool) -> None:
    spoil(block_of(pool, 2), 2)

    assert kinds(pool.verify(repair=False)) == {"lost": 1, "saved": 1}
    assert len(ids(pool)) == 8
    found = pool.verify()
    assert kinds(found) == {"lost": 1, "saved": 1}
    assert found.findings[0].place == made(2).row.id
    assert pool.verify().clean
    again = PromptPool(pool.folder).candidates("LOC", "", CHECKPOINT)
    assert [row.id for row in again.rows] == [made(number).row.id for number in (0, 1, 3, 4, 5, 6)]
    np.testing.assert_array_equal(again.prompts[2], made(3).prompt)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def test_a_file_cut_short_gives_back_what_is_left(pool: PromptPool) -> None:
    cut(block_of(pool, 2))
    found = pool.verify()
    assert kinds(found) == {"saved": 1}  # its end holds words, which the database knows
    assert len(ids(pool)) == 8
    assert pool.verify().clean


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"{")])
def test_a_lost_file_is_told_prompt_by_prompt(pool: PromptPool, harm: Callable[[Path], object]) -> None:
    harm(block_of(pool, 2))
    found = pool.verify()
    assert kinds(found) == {"lost": 6}
    assert found.lost == 6
    assert ids(pool) == [made(6).row.id, made(7, pool="SEG").row.id]
    assert pool.verify().clean
    assert pool.add(made(2)) == 1


def test_a_row_that_was_changed_is_noticed(pool: PromptPool) -> None:
    with sqlite3.connect(pool.folder / DATABASE) as rows:
        rows.execute("UPDATE prompts SET fingerprint = 'stolen' WHERE id = ?", [made(2).row.id])
    rows.close()
    assert kinds(pool.verify()) == {"lost": 1, "saved": 1}
    assert pool.verify().clean


def test_files_that_belong_to_nothing_are_removed(pool: PromptPool, tmp_path: Path) -> None:
    orphan = block_of(pool, 2).with_name("ab" * 32 + ".safetensors")
    orphan.write_bytes(b"x")
    draft = block_of(pool, 2).with_name(".draft.safetensors.1234")
    draft.write_bytes(b"x")
    index = pool.index_path("CLIP", "gone")
    index.write_bytes(b"x")
    note = pool.blocks / "note.txt"
    note.write_text("of the user")

    assert kinds(pool.verify()) == {"orphan": 3}
    assert not orphan.exists()
    assert not draft.exists()
    assert not index.exists()
    assert note.exists()
    assert pool.verify().clean


def test_a_database_that_is_gone_is_not_begun_anew(pool: PromptPool) -> None:
    before = {one.id for one in pool.rows()}
    move_away(pool)
    with pytest.raises(MemoryTrouble, match="run `snellen memory verify`"):
        PromptPool(pool.folder)
    assert kinds(verify_prompts(pool.folder)) == {"rebuilt": 1}
    assert {one.id for one in PromptPool(pool.folder).rows()} == before


def test_files_that_a_new_database_does_not_know_are_taken_in(pool: PromptPool) -> None:
    """A damaged database was moved away by hand, and another one was begun before anything was verified."""
    before = {one.id for one in pool.rows()}
    move_away(pool)
    fresh = PromptPool(pool.folder, rebuilding=True)
    assert fresh.rows() == []
    assert kinds(verify_prompts(pool.folder, repair=False))["rebuilt"] == 3
    assert fresh.rows() == []
    assert set(kinds(verify_prompts(pool.folder))) == {"rebuilt"}
    assert {one.id for one in fresh.rows()} == before
    assert len(fresh.candidates("LOC", "", CHECKPOINT, made(2).feature)) == len(
        [one for one in fresh.rows() if one.pool == "LOC" and one.fingerprint == CHECKPOINT]
    )
    assert pool.verify().clean


def test_what_was_forgotten_is_not_taken_in_again(pool: PromptPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "busy")

    with monkeypatch.context() as undeletable:
        undeletable.setattr("snellen.memory.prompts.delete_block", busy)
        assert pool.forget(all_=True)
    assert list(pool.blocks.glob("*/*.safetensors"))
    assert verify_prompts(pool.folder).clean
    assert PromptPool(pool.folder).rows() == []
    assert not list(pool.blocks.glob("*/*.safetensors"))


def move_away(pool: PromptPool) -> None:
    for file in pool.folder.glob(f"{DATABASE}*"):
        file.unlink()


@pytest.mark.parametrize("place", ["artifacts/ab", "drafts", "prompt-indexes", "."])
def test_files_that_were_half_written_are_removed_when_nobody_can_be_writing_them(pool: PromptPool, place: str) -> None:
    name = ".demonstrations.faiss.x1" if place == "." else ".one.x1"
    half = pool.folder / place / name
    half.parent.mkdir(parents=True, exist_ok=True)
    half.write_bytes(b"x")
    assert pool.verify().clean

    yesterday = time.time() - 24 * 3600
    os.utime(half, (yesterday, yesterday))
    assert kinds(pool.verify()) == {"orphan": 1}
    assert not half.exists()


def test_a_damaged_index_is_built_again(pool: PromptPool) -> None:
    path = pool.index_path("LOC", CHECKPOINT)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert kinds(pool.verify(repair=False)) == {"rebuilt": 1}
    assert kinds(pool.verify()) == {"rebuilt": 1}
    assert path.read_bytes() == whole


def damaged(path: Path) -> None:
    path.write_bytes(b"no database " * 500)


@pytest.mark.parametrize("harm", [damaged, Path.unlink])
def test_a_lost_database_is_built_again_from_the_files(
    pool: PromptPool, tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    before, rows = sorted(ids(pool)), {row.id: row for row in pool.rows()}
    for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    harm(tmp_path / DATABASE)

    assert kinds(verify_prompts(tmp_path, repair=False)) == {"rebuilt": 1}
    assert kinds(verify_prompts(tmp_path)) == {"rebuilt": 1}
    again = PromptPool(tmp_path)
    assert sorted(ids(again)) == before
    assert {row.id: row for row in again.rows()} == rows
    assert again.candidates("LOC", "", CHECKPOINT, made(3).feature, 1).rows == (made(3).row,) or (
        again.candidates("LOC", "", CHECKPOINT, made(3).feature, 1).rows[0].id == made(3).row.id
    )
    assert verify_prompts(tmp_path).clean
    assert len(list(tmp_path.glob("*.damaged-*"))) == (harm is damaged)


@pytest.fixture
def demonstrations(tmp_path: Path) -> DemonstrationPool:
    pool = opened(tmp_path)
    pool.add(demonstration("plan", "Count the dogs.", plan=["Look"]), demonstration("plan", "Count cats.", plan=["Go"]))
    pool.nearest("Count", "plan", correct=True)
    return pool


def opened(folder: Path) -> DemonstrationPool:
    return DemonstrationPool(folder, embed=embed, embedding="letters")


def test_demonstrations_are_checked_too(demonstrations: DemonstrationPool, tmp_path: Path) -> None:
    found = verify_memory(tmp_path, lambda: demonstrations)
    assert (found.demonstrations, found.indexes, found.clean) == (2, 1, True)

    with sqlite3.connect(tmp_path / DEMONSTRATIONS) as rows:
        rows.execute("UPDATE demonstrations SET plan = '[\"Guess\"]' WHERE instruction = 'Count cats.'")
    rows.close()
    index = tmp_path / INDEX
    index.write_bytes(index.read_bytes()[:-1])
    assert kinds(verify_memory(tmp_path, lambda: opened(tmp_path), repair=False)) == {"lost": 1, "rebuilt": 1}
    assert kinds(verify_memory(tmp_path, lambda: opened(tmp_path))) == {"lost": 1, "rebuilt": 1}
    assert verify_memory(tmp_path, lambda: opened(tmp_path)).clean
    assert [one.instruction for one in opened(tmp_path).all()] == ["Count the dogs."]


def test_a_damaged_database_of_demonstrations_is_moved_away(demonstrations: DemonstrationPool, tmp_path: Path) -> None:
    for name in (f"{DEMONSTRATIONS}-wal", f"{DEMONSTRATIONS}-shm", INDEX):
        (tmp_path / name).unlink(missing_ok=True)
    damaged(tmp_path / DEMONSTRATIONS)

    assert kinds(verify_memory(tmp_path, lambda: opened(tmp_path), repair=False)) == {"lost": 1}
    found = verify_memory(tmp_path, lambda: opened(tmp_path))
    assert kinds(found) == {"lost": 1}
    assert (tmp_path / f"{DEMONSTRATIONS}.damaged-1").read_bytes().startswith(b"no database")
    assert verify_memory(tmp_path, lambda: opened(tmp_path)).clean


def test_demonstrations_are_forgotten_without_a_trace(demonstrations: DemonstrationPool) -> None:
    demonstrations.add(
        demonstration("plan", "Count the dogs!", plan=["Look"], source="seed"),
        demonstration("plan", "Count dogs.", plan=["Guess"], correct=False, critique="It guesses."),
    )
    found = demonstrations.nearest("Count the dogs.", "plan", correct=True)
    new = demonstration("plan", "Count the dogs now.", plan=["Look"], source="search")
    demonstrations.add(new)
    assert new in demonstrations.nearest("Count the dogs.", "plan", correct=True)

    assert demonstrations.nearest("Count", "plan", correct=True, sources={"search"}) == [new]
    assert demonstrations.nearest("Count", "plan", correct=True, sources=()) == []
    assert demonstrations.all(source="search") == [new]
    assert demonstrations.forget([new.id, "unknown"]) == 1
    assert demonstrations.nearest("Count the dogs.", "plan", correct=True) == found
    assert demonstrations.forget(source="search") == 0
    assert demonstrations.forget(learned=True) == 3
    assert [one.source for one in demonstrations.all()] == ["seed"]
