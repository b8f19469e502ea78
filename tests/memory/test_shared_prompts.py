"""What one machine learns or forgets, all machines of a store learn and forget, each in its own home."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from snellen.memory.home import MemoryTrouble
from snellen.memory.home_copying import copy_home
from snellen.memory.prompts import PromptPool, pool
from snellen.memory.prompts.journal import PromptJournal
from snellen.memory.prompts.rows import DATABASE
from snellen.memory.stored_files import AddressFiles, FolderFiles, StoredFiles
from snellen.memory.verification import verify_prompts
from tests.memory.learned import CHECKPOINT, made

Machine = Callable[[str], PromptPool]


everywhere = pytest.mark.parametrize("files", ["tables", "folder", "memory"], indirect=True)


@pytest.fixture
def files(
    request: pytest.FixtureRequest, in_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> StoredFiles | None:
    """Keep tensors in a folder, in the tables of a store, or at an address of fsspec."""
    place = getattr(request, "param", "folder")
    monkeypatch.setattr(pool, "_CATCHING_UP_SECONDS", 0.0)
    if place == "tables":
        return None
    folder = str(tmp_path / "shared")
    address = folder if place == "folder" else f"memory://{uuid4().hex}"
    monkeypatch.setenv("SNELLEN_STORE", f"{in_store} {address}")
    return FolderFiles(Path(folder) / "prompts") if place == "folder" else AddressFiles(f"{address}/prompts")


@pytest.fixture
def machine(files: StoredFiles | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Open the prompts of a machine's home, that of its owner."""

    def opened(name: str) -> PromptPool:
        monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / name))
        (tmp_path / name).mkdir(exist_ok=True)
        return PromptPool(tmp_path / name)

    return opened


def ids(prompts: PromptPool) -> list[str]:
    return sorted(row.id for row in prompts.candidates("LOC", "flamingo", CHECKPOINT).rows)


def names(*numbers: int) -> list[str]:
    return sorted(made(number).row.id for number in numbers)


@everywhere
def test_what_one_machine_learns_and_forgets_the_other_does_too(machine: Machine, files: StoredFiles | None) -> None:
    one, other = machine("one"), machine("other")
    assert one.add(made(1), made(2), made(3, prompt=np.zeros((2, 3)))) == 3
    assert other.concepts("LOC", CHECKPOINT) == {"flamingo"}
    found = other.candidates("LOC", "flamingo", CHECKPOINT, made(2).feature, 1)
    assert [row.id for row in found.rows] == names(2)
    np.testing.assert_array_equal(found.prompts[0], made(2).prompt)
    assert other.add(made(1), made(4)) == 1
    assert ids(one) == ids(other) == sorted([*names(1, 2, 4), made(3, prompt=np.zeros((2, 3))).row.id])
    if files is not None:
        assert len(list(files.names())) == 4

    assert other.forget([made(1).row.id]) == 1
    assert one.forget(concept="flamingo", ids=[made(2).row.id]) == 1
    assert ids(one) == ids(other)
    assert len(ids(one)) == 2
    assert ids(machine("third")) == ids(one)
    if files is not None:
        assert len(list(files.names())) == 2
    assert one.add(made(1)) == 1
    assert made(1).row.id in ids(other)


def test_two_that_learn_at_once_have_the_same_and_nothing_twice(machine: Machine) -> None:
    machines = [machine(name) for name in ("one", "other", "third")]

    def learn(number: int) -> None:
        prompts = machines[number % 3]
        prompts.add(made(number % 8), made(number % 5))
        if number % 4 == 0:
            prompts.forget([made(number % 7).row.id])

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(learn, range(24)))
    first, *others = [ids(each) for each in machines]
    assert others == [first, first]
    assert ids(machine("new")) == first
    assert all(verify_prompts(each.folder).clean for each in machines)


def test_what_a_home_had_before_is_shared_when_it_is_copied(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as alone:
        alone.delenv("SNELLEN_STORE")
        machine("one").add(*[made(number) for number in range(70)])
    one = machine("one")
    other = machine("other")
    assert ids(other) == []
    monkeypatch.setenv("SNELLEN_HOME", str(one.folder))
    for new in (70, 0):
        assert one.share() == new
    assert ids(other) == ids(one) == names(*range(70))


async def test_copying_a_home_tells_how_many_prompts_are_new(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as alone:
        alone.delenv("SNELLEN_STORE")
        machine("one").add(made(1), made(2))
    one = machine("one")
    assert (await copy_home(one.folder, "store")).rows["prompts"] == 2
    assert (await copy_home(one.folder, "store")).rows["prompts"] == 0
    other = machine("other")
    assert (await copy_home(other.folder, "home")).rows["prompts"] == 0
    with monkeypatch.context() as alone:
        alone.delenv("SNELLEN_STORE")
        assert ids(machine("other")) == names(1, 2)


def test_nothing_is_learned_or_forgotten_that_others_cannot_be_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machine("one")
    one.add(made(1))

    def refuse(*_: object) -> int:
        msg = "The bucket is full."
        raise MemoryTrouble(msg)

    with monkeypatch.context() as broken:
        broken.setattr(PromptJournal, "learn", refuse)
        broken.setattr(PromptJournal, "forget", refuse)
        with pytest.raises(MemoryTrouble):
            one.add(made(2))
        with pytest.raises(MemoryTrouble):
            one.forget(all_=True)
    assert ids(one) == ids(machine("other")) == names(1)


def test_batches_are_told_together_or_not_at_all(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    one, written = machine("one"), FolderFiles.write_all

    def full(files: FolderFiles, contents: dict[str, bytes]) -> None:
        if any(made(70).row.id in name for name in contents):
            msg = "The disk is full."
            raise MemoryTrouble(msg)
        written(files, contents)

    monkeypatch.setattr(FolderFiles, "write_all", full)
    with pytest.raises(MemoryTrouble):
        one.add_batches([[made(number)] for number in range(71)])
    assert ids(one) == ids(machine("other")) == []


def test_what_was_told_is_learned_after_a_crash_before_it_was_kept_here(machine: Machine) -> None:
    one = machine("one")
    assert one._journal is not None
    one._journal.learn([[made(1)]])
    assert ids(machine("one")) == names(1)
    one._journal.forget([made(1).row.id])
    assert ids(machine("one")) == []


@everywhere
def test_what_is_damaged_here_comes_back_and_what_was_forgotten_does_not(machine: Machine) -> None:
    one, other = machine("one"), machine("other")
    one.add(*[made(number) for number in range(5)])
    assert len(ids(other)) == 5
    with sqlite3.connect(one.path) as rows:
        rows.execute("UPDATE prompt_tensors SET feature = x'00' WHERE number = 2")
    rows.close()
    machine("one")
    assert verify_prompts(one.folder).lost == 1
    assert ids(machine("one")) == names(*range(5))

    content = bytearray((other.folder / DATABASE).read_bytes())
    one.forget([made(3).row.id])
    machine("other")
    content[:100] = b"spoiled" * 14 + b"!!"
    for left in other.folder.glob(f"{DATABASE}*"):
        left.unlink()
    (other.folder / DATABASE).write_bytes(content)
    verify_prompts(other.folder)
    assert ids(machine("other")) == names(0, 1, 2, 4)


def test_a_prompt_of_another_shape_is_left_out_and_told(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    one = machine("one")
    one.add(made(1))
    assert one._journal is not None
    one._journal.learn([[made(2, prompt=np.ones((5, 3))), made(3)]])
    assert ids(one) == names(1, 3)
    assert "cannot be used here" in caplog.text


def test_a_tensor_that_is_gone_is_left_out(
    machine: Machine, files: StoredFiles, caplog: pytest.LogCaptureFixture
) -> None:
    one = machine("one")
    one.add(made(1), made(2))
    files.delete(f"{made(1).row.id[:2]}/{made(1).row.id}.f32")
    assert ids(machine("other")) == names(2)
    assert "is missing" in caplog.text
