"""The pool keeps every demonstration, whatever happens to its index, its disk or its neighbours."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import snellen.memory.demonstration_vectors
import snellen.memory.home
import snellen.memory.tables
from snellen.errors import SnellenError
from snellen.memory.demonstrations import DATABASE, INDEX, Demonstration, DemonstrationPool, demonstration
from snellen.memory.home import MemoryTrouble
from tests.memory.cramped import cramped

ROOT = Path(__file__).parents[2]
VERSION_1 = Path(__file__).parent / "fixtures" / "demonstrations-1.sql"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Letters:
    """Embeds by counting letters, and counts the texts it was given."""

    def __init__(self) -> None:
        self.texts = 0

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return np.array([[text.count(letter) + 0.01 for letter in LETTERS] for text in texts], dtype=np.float32)


def opened(folder: Path, **options: object) -> DemonstrationPool:
    return DemonstrationPool(folder, embed=Letters(), **options)  # type: ignore[arg-type]


def plan(instruction: str, *, correct: bool = True) -> Demonstration:
    return demonstration("plan", instruction, plan=["Look", "Say"], correct=correct, critique="" if correct else "no")


@pytest.fixture
def pool(tmp_path: Path) -> DemonstrationPool:
    pool = opened(tmp_path)
    pool.add(plan("zzz zz"), plan("abc"), plan("abcd"), plan("xyz"), plan("abc", correct=False))
    pool.add(demonstration("program", "abc", plan=["Look"], program="A=RESULT(var=IMAGE)", family="vqa"))
    return pool


def instructions(found: list[Demonstration]) -> list[str]:
    return [one.instruction for one in found]


@pytest.mark.usefixtures("memory_place")
def test_the_nearest_come_first(pool: DemonstrationPool) -> None:
    assert instructions(pool.nearest("abc", "plan", correct=True)) == ["abc", "abcd", "xyz", "zzz zz"]
    assert instructions(pool.nearest("abc", "plan", correct=True, k=1)) == ["abc"]


@pytest.mark.usefixtures("memory_place")
def test_each_part_of_the_pool_is_searched_by_itself(pool: DemonstrationPool) -> None:
    assert [one.critique for one in pool.nearest("abc", "plan", correct=False)] == ["no"]
    assert [one.program for one in pool.nearest("abc", "program", correct=True)] == ["A=RESULT(var=IMAGE)"]
    assert pool.nearest("abc", "program", correct=False) == []


@pytest.mark.usefixtures("memory_place")
def test_an_empty_pool_finds_nothing(tmp_path: Path) -> None:
    assert opened(tmp_path).nearest("abc", "plan", correct=True) == []


@pytest.mark.usefixtures("memory_place")
def test_adding_twice_adds_once(pool: DemonstrationPool) -> None:
    count = pool.count()

    assert pool.add(plan("abc"), plan("  abc ")) == 0
    assert pool.count() == count


@pytest.mark.usefixtures("memory_place")
def test_demonstrations_come_back_as_they_were(pool: DemonstrationPool) -> None:
    made = demonstration("program", "Wie viele Füße?", plan=["Zähle"], program="X=1", correct=False, critique="falsch")
    pool.add(made)

    assert pool.get([made.id]) == [made]
    assert pool.all()[-1] == made


@pytest.mark.usefixtures("memory_place")
def test_get_keeps_the_order_and_leaves_out_the_unknown(pool: DemonstrationPool) -> None:
    first, second, *_ = pool.all()

    assert pool.get([second.id, "unknown", first.id]) == [second, first]
    assert pool.get([]) == []


def test_a_new_process_reads_the_index_instead_of_embedding_again(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.nearest("abc", "plan", correct=True)
    letters = Letters()
    again = DemonstrationPool(tmp_path, embed=letters)

    assert instructions(again.nearest("abc", "plan", correct=True, k=1)) == ["abc"]
    assert letters.texts == 1


def damage_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def damage_sizes(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:48] + b"\xff" * 40 + content[88:])


@pytest.mark.parametrize(
    "harm", [Path.unlink, damage_end, damage_middle, damage_sizes, lambda path: path.write_bytes(b"")]
)
def test_a_missing_or_damaged_index_is_built_again(pool: DemonstrationPool, tmp_path: Path, harm: object) -> None:
    found = pool.nearest("abc", "plan", correct=True)
    harm(tmp_path / INDEX)  # type: ignore[operator]

    assert opened(tmp_path).nearest("abc", "plan", correct=True) == found
    whole = Letters()
    DemonstrationPool(tmp_path, embed=whole).nearest("abc", "plan", correct=True)
    assert whole.texts == 1


@pytest.mark.usefixtures("memory_place")
def test_a_stale_index_is_extended_by_the_new_rows_only(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.nearest("abc", "plan", correct=True)
    opened(tmp_path).add(plan("abcabcabc d"))
    letters = Letters()
    again = DemonstrationPool(tmp_path, embed=letters)

    assert "abcabcabc d" in instructions(again.nearest("abcabcabc d", "plan", correct=True, k=1))
    assert letters.texts == 2


def test_an_index_with_deleted_rows_is_built_again(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.nearest("abc", "plan", correct=True)
    with sqlite3.connect(tmp_path / DATABASE) as rows:
        rows.execute("DELETE FROM demonstrations WHERE instruction = 'abcd'")
    rows.close()

    assert "abcd" not in instructions(pool.nearest("abcd", "plan", correct=True))


def test_a_new_row_never_inherits_the_vector_of_a_deleted_one(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.add(plan("qqq"))
    pool.nearest("qqq", "plan", correct=True)
    with sqlite3.connect(tmp_path / DATABASE) as rows:
        rows.execute("DELETE FROM demonstrations WHERE instruction = 'qqq'")
    rows.close()
    pool.add(plan("abcabc"))

    assert instructions(pool.nearest("qqq", "plan", correct=True, k=1)) != ["abcabc"]


def test_another_embedding_builds_another_index(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.nearest("abc", "plan", correct=True)
    letters = Letters()
    other = DemonstrationPool(tmp_path, embed=letters, embedding="another")

    other.nearest("abc", "plan", correct=True)
    assert letters.texts == 1 + len({one.instruction for one in pool.all()})


def test_another_length_of_vectors_builds_another_index(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.nearest("abc", "plan", correct=True)
    short = DemonstrationPool(tmp_path, embed=lambda texts: Letters()(texts)[:, :5])

    assert instructions(short.nearest("abc", "plan", correct=True, k=1)) == ["abc"]


def test_an_index_that_cannot_be_saved_does_not_stop_the_search(
    pool: DemonstrationPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snellen.memory.demonstration_vectors, "write_atomically", full)

    assert instructions(pool.nearest("abc", "plan", correct=True, k=1)) == ["abc"]
    assert not (tmp_path / INDEX).exists()


def test_a_full_disk_loses_nothing(pool: DemonstrationPool, tmp_path: Path) -> None:
    before = pool.all()
    with (
        cramped(snellen.memory.tables, tmp_path / DATABASE),
        pytest.raises(MemoryTrouble, match="disk is full"),
    ):
        pool.add(plan("small"), *(plan(f"{number} {'long ' * 2000}") for number in range(20)))

    assert pool.all() == before
    pool.add(plan("small"))
    assert pool.count() == len(before) + 1


def test_a_damaged_database_is_named_and_kept(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database " * 500)

    with pytest.raises(MemoryTrouble, match=r"demonstrations\.sqlite.* damaged"):
        opened(tmp_path)
    assert (tmp_path / DATABASE).read_bytes() == b"no database " * 500


def write_seeds(path: Path, *words: str) -> Path:
    seeds = [{"kind": "plan", "instruction": word, "plan": ["Look"], "family": "vqa"} for word in words]
    path.write_text(json.dumps(seeds))
    return path


@pytest.mark.usefixtures("memory_place")
def test_seeds_are_loaded_once_for_each_content(tmp_path: Path) -> None:
    seeds = write_seeds(tmp_path / "seeds.json", "abc", "def")
    assert [one.source for one in opened(tmp_path, seeds=seeds).all()] == ["seed", "seed"]
    opened(tmp_path).forget([one.id for one in opened(tmp_path).all() if one.instruction == "def"])

    assert instructions(opened(tmp_path, seeds=seeds).all()) == ["abc"]  # what was forgotten stays forgotten
    write_seeds(seeds, "abc", "ghi")
    assert instructions(opened(tmp_path, seeds=seeds).all()) == ["abc", "ghi"]


@pytest.mark.parametrize("content", ["", "{", "[1]", '[{"kind": "plan"}]', '[{"colour": "red"}]'])
def test_seeds_that_are_none_are_named(tmp_path: Path, content: str) -> None:
    seeds = tmp_path / "seeds.json"
    seeds.write_text(content)

    with pytest.raises(SnellenError, match=r"seeds\.json cannot be read"):
        opened(tmp_path, seeds=seeds)


def test_a_pool_of_version_1_is_brought_up_to_date(tmp_path: Path) -> None:
    rows = sqlite3.connect(tmp_path / DATABASE)
    rows.executescript(VERSION_1.read_text())
    rows.close()
    seeds = write_seeds(tmp_path / "seeds.json", "abc")

    pool = opened(tmp_path, seeds=seeds)

    assert instructions(pool.all()) == ["How many dogs are there?", "How many dogs are there?", "abc"]
    assert [one.correct for one in pool.all()] == [True, False, True]
    assert instructions(pool.nearest("How many dogs are there?", "program", correct=False)) == [
        "How many dogs are there?"
    ]


PROCESS = """
import sys
from pathlib import Path
from snellen.memory.demonstrations import DemonstrationPool, demonstration
from tests.graphs.scripted import embed
pool = DemonstrationPool(Path(sys.argv[1]), embed=embed)
for number in range(40):
    pool.add(demonstration("plan", f"{sys.argv[2]} {number}", plan=["Look"]))
    pool.add(demonstration("plan", f"both {number}", plan=["Look"]))
    if number % 8 == 0:
        assert pool.nearest(f"{sys.argv[2]} {number}", "plan", correct=True)
"""


@pytest.mark.usefixtures("memory_place")
def test_two_processes_add_at_once(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(tmp_path), name], env=environment, stderr=subprocess.PIPE)
        for name in ("first", "second")
    ]
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()

    pool = opened(tmp_path)
    assert pool.count() == 120
    assert instructions(pool.nearest("both 7", "plan", correct=True, k=1))[0].startswith("both")
