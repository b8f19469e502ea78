"""Damage is found, what is whole is saved, and what is lost is named."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from snellen.memory.demonstrations import DATABASE as DEMONSTRATIONS
from snellen.memory.demonstrations import INDEX, DemonstrationPool, demonstration
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.rows import DATABASE
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


def spoil(pool: PromptPool, number: int) -> None:
    with sqlite3.connect(pool.path) as rows:
        query = "UPDATE prompt_tensors SET prompt = ? WHERE number = (SELECT number FROM prompts WHERE id = ?)"
        rows.execute(query, [b"\1" * made(number).prompt.nbytes, made(number).row.id])
    rows.close()


def test_what_is_whole_is_counted_and_left_alone(pool: PromptPool) -> None:
    found = verify_prompts(pool.folder)
    assert (found.prompts, found.blocks, found.indexes, found.clean, found.lost) == (8, 0, 1, True, 0)


def test_an_empty_home_is_clean(tmp_path: Path) -> None:
    assert verify_prompts(tmp_path / "nowhere").clean
    assert not (tmp_path / "nowhere").exists()
    assert verify_prompts(tmp_path, repair=False).clean


def test_one_spoiled_prompt_is_lost_and_its_neighbours_are_kept(pool: PromptPool) -> None:
    spoil(pool, 2)

    assert kinds(verify_prompts(pool.folder, repair=False)) == {"lost": 1}
    assert len(ids(pool)) == 8
    found = verify_prompts(pool.folder)
    assert kinds(found) == {"lost": 1}
    assert found.findings[0].place == made(2).row.id
    assert verify_prompts(pool.folder).clean
    again = PromptPool(pool.folder).candidates("LOC", "", CHECKPOINT)
    assert [row.id for row in again.rows] == [made(number).row.id for number in (0, 1, 3, 4, 5, 6)]
    np.testing.assert_array_equal(again.prompts[2], made(3).prompt)
    assert pool.add(made(2)) == 1


def test_a_row_that_was_changed_is_noticed(pool: PromptPool) -> None:
    with sqlite3.connect(pool.folder / DATABASE) as rows:
        rows.execute("UPDATE prompts SET fingerprint = 'stolen' WHERE id = ?", [made(2).row.id])
    rows.close()
    assert kinds(verify_prompts(pool.folder)) == {"lost": 1}
    assert verify_prompts(pool.folder).clean


def test_files_that_belong_to_nothing_are_removed(pool: PromptPool, tmp_path: Path) -> None:
    orphan = pool.folder / "prompts" / "ab" / f"{'ab' * 32}.safetensors"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"x")
    draft = orphan.with_name(".draft.safetensors.1234")
    draft.write_bytes(b"x")
    index = pool.index_path("CLIP", "gone")
    index.write_bytes(b"x")
    note = pool.folder / "prompts" / "note.txt"
    note.write_text("of the user")

    assert kinds(verify_prompts(pool.folder)) == {"orphan": 3}
    assert not orphan.exists()
    assert not draft.exists()
    assert not index.exists()
    assert note.exists()
    assert verify_prompts(pool.folder).clean


@pytest.mark.parametrize("place", ["artifacts/ab", "drafts", "prompt-indexes", "."])
def test_files_that_were_half_written_are_removed_when_nobody_can_be_writing_them(pool: PromptPool, place: str) -> None:
    name = ".demonstrations.faiss.x1" if place == "." else ".one.x1"
    half = pool.folder / place / name
    half.parent.mkdir(parents=True, exist_ok=True)
    half.write_bytes(b"x")
    assert verify_prompts(pool.folder).clean

    yesterday = time.time() - 24 * 3600
    os.utime(half, (yesterday, yesterday))
    assert kinds(verify_prompts(pool.folder)) == {"orphan": 1}
    assert not half.exists()


def test_a_damaged_index_is_built_again(pool: PromptPool) -> None:
    path = pool.index_path("LOC", CHECKPOINT)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert kinds(verify_prompts(pool.folder, repair=False)) == {"rebuilt": 1}
    assert kinds(verify_prompts(pool.folder)) == {"rebuilt": 1}
    assert path.read_bytes() == whole


def damaged(path: Path) -> None:
    path.write_bytes(b"no database " * 500)


def test_a_database_that_is_wholly_damaged_is_lost_and_kept(pool: PromptPool, tmp_path: Path) -> None:
    for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    damaged(tmp_path / DATABASE)

    assert kinds(verify_prompts(tmp_path, repair=False)) == {"lost": 1}
    assert kinds(verify_prompts(tmp_path)) == {"lost": 1, "orphan": 1}  # its search index
    assert PromptPool(tmp_path).rows() == []
    assert verify_prompts(tmp_path).clean
    assert (tmp_path / f"{DATABASE}.damaged-1").read_bytes().startswith(b"no database")


def test_what_is_whole_in_a_damaged_database_is_saved(tmp_path: Path) -> None:
    pool = PromptPool(tmp_path)
    prompts = [made(number, prompt=np.full((20, 100), number)) for number in range(30)]
    pool.add(*prompts)
    content = bytearray(pool.path.read_bytes())
    at = content.index(prompts[7].prompt.tobytes()[:64]) // 16_384 * 16_384
    content[at : at + 16_384] = b"\x42" * 16_384
    for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    pool.path.write_bytes(content)

    assert set(kinds(verify_prompts(tmp_path, repair=False))) == {"lost", "saved"}
    found = verify_prompts(tmp_path)
    assert set(kinds(found)) == {"lost", "saved"}
    kept = PromptPool(tmp_path).candidates("LOC", "", CHECKPOINT)
    assert 20 <= len(kept) < 30
    assert list(kept.rows) == [one.row for one in prompts if one.row in kept.rows]
    assert verify_prompts(tmp_path).clean
    assert (tmp_path / f"{DATABASE}.damaged-1").exists()


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
