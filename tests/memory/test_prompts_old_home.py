"""Prompts of homes up to version 0.1, whose tensors lay in files, become rows of the database; nothing is lost."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import snellen.memory.folder_lock
from snellen.errors import SnellenError
from snellen.memory.home import MemoryTrouble
from snellen.memory.prompts import LearnedPrompt, PromptPool
from snellen.memory.prompts.blocks import UNFINISHED, OldBlocks
from snellen.memory.prompts.rows import DATABASE
from snellen.memory.verification import Verification, verify_prompts
from tests.memory.learned import CHECKPOINT, made
from tests.memory.old_pools import old_pool

ROOT = Path(__file__).parents[2]
LEARNED = [
    [*[made(number) for number in range(6)], made(9, prompt=np.zeros((2, 3)))],
    [made(6), made(7, pool="SEG")],
    [made(8, prompt=np.ones((3, 2, 4)), pool="CLIP")],
]
ALL = [one for batch in LEARNED for one in batch]


@pytest.fixture
def old(tmp_path: Path) -> OldBlocks:
    return old_pool(tmp_path / "home", *LEARNED)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def kinds(found: Verification) -> Counter[str]:
    return Counter(one.kind for one in found.findings)


def check_all(pool: PromptPool, prompts: list[LearnedPrompt] = ALL) -> None:
    assert pool.rows() == [one.row for one in prompts]
    for name in ("LOC", "SEG", "CLIP"):
        expected = [one for one in prompts if one.row.pool == name]
        found = pool.candidates(name, "", CHECKPOINT)
        assert list(found.rows) == [one.row for one in expected]
        np.testing.assert_array_equal(found.prompts, np.stack([one.prompt for one in expected]))
        np.testing.assert_array_equal(found.features, np.stack([one.feature for one in expected]))


def test_opening_moves_tensors_into_the_database_and_deletes_their_files(old: OldBlocks, home: Path) -> None:
    assert len(old.paths()) == 4
    check_all(PromptPool(home))
    assert not old.folder.exists()
    check_all(PromptPool(home))
    found = verify_prompts(home)
    assert (found.prompts, found.blocks, found.clean) == (10, 0, True)


def test_a_home_that_cannot_be_written_is_read_as_it_is(
    old: OldBlocks, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    monkeypatch.setattr(snellen.memory.folder_lock, "is_read_only", lambda _: True)

    pool = PromptPool(home)
    check_all(pool)
    assert pool.candidates("LOC", "", CHECKPOINT, made(3).feature, 1).rows[0].id == made(3).row.id
    assert [one.zeros for one in pool.stats()] == [0, 1, 0]
    found = verify_prompts(home, repair=False)
    assert (found.prompts, found.blocks, found.clean) == (10, 4, True)
    assert {path: path.read_bytes() for path in before} == before


def spoil(old: OldBlocks, number: int) -> None:
    for path in old.paths():
        content = path.read_bytes()
        path.write_bytes(content.replace(made(number).prompt.tobytes(), b"\1" * made(number).prompt.nbytes))


def block_of(old: OldBlocks, number: int) -> Path:
    (path,) = [path for path in old.paths() if made(number).prompt.tobytes() in path.read_bytes()]
    return path


def test_a_damaged_prompt_is_named_and_the_others_are_kept(old: OldBlocks, home: Path) -> None:
    spoil(old, 2)
    pool = PromptPool(home)
    with pytest.raises(SnellenError, match="damaged; `snellen memory verify`"):
        pool.candidates("LOC", "", CHECKPOINT)
    said: list[str] = []
    assert len(pool.candidates("LOC", "", CHECKPOINT, trouble=said.append)) == 7
    assert len(said) == 1
    found = verify_prompts(home)
    assert kinds(found) == {"lost": 1}
    assert found.findings[0].place == made(2).row.id
    check_all(PromptPool(home), [one for one in ALL if one.row.id != made(2).row.id])


def test_a_file_cut_short_gives_back_what_is_left(old: OldBlocks, home: Path) -> None:
    path = block_of(old, 2)
    path.write_bytes(path.read_bytes()[:-100])  # its end holds words, which the database knows
    check_all(PromptPool(home))
    assert verify_prompts(home).clean


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"{")])
def test_a_lost_file_is_told_prompt_by_prompt(old: OldBlocks, home: Path, harm: Callable[[Path], object]) -> None:
    harm(block_of(old, 2))
    with pytest.raises(SnellenError, match="missing; `snellen memory verify`"):
        PromptPool(home).candidates("LOC", "", CHECKPOINT)
    found = verify_prompts(home)
    assert found.lost == 7
    check_all(PromptPool(home), ALL[7:])
    assert verify_prompts(home).clean
    assert PromptPool(home).add(made(2)) == 1


def test_a_file_that_is_back_gives_its_prompts_back(old: OldBlocks, home: Path) -> None:
    path = block_of(old, 2)
    content = path.read_bytes()
    path.unlink()
    PromptPool(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    assert kinds(verify_prompts(home)) == {"rebuilt": 1}
    check_all(PromptPool(home))
    assert verify_prompts(home).clean


@pytest.mark.parametrize("harm", ["damaged", "gone"])
def test_a_lost_database_is_built_again_from_the_files(old: OldBlocks, home: Path, harm: str) -> None:
    for path in home.glob(f"{DATABASE}*"):
        path.unlink()
    if harm == "damaged":
        (home / DATABASE).write_bytes(b"no database " * 500)
    with pytest.raises(MemoryTrouble, match="run `snellen memory verify`"):
        PromptPool(home)

    assert kinds(verify_prompts(home, repair=False)) == {"rebuilt": 1}
    assert kinds(verify_prompts(home)) == {"rebuilt": 1}
    assert {one.id for one in PromptPool(home).rows()} == {one.row.id for one in ALL}
    assert verify_prompts(home).clean
    assert len(list(home.glob("*.damaged-*"))) == (harm == "damaged")


def test_files_that_a_new_database_does_not_know_are_taken_in(old: OldBlocks, home: Path) -> None:
    """A damaged database was moved away by hand, and another one was begun before anything was verified."""
    for path in home.glob(f"{DATABASE}*"):
        path.unlink()
    fresh = PromptPool(home, rebuilding=True)
    assert fresh.rows() == []
    assert kinds(verify_prompts(home, repair=False)) == {"rebuilt": 4}
    assert fresh.rows() == []
    assert kinds(verify_prompts(home)) == {"rebuilt": 4}
    assert {one.id for one in fresh.rows()} == {one.row.id for one in ALL}
    assert verify_prompts(home).clean


def test_what_could_not_be_deleted_is_not_taken_in_again(
    old: OldBlocks, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "busy")

    with monkeypatch.context() as undeletable:
        undeletable.setattr(OldBlocks, "delete", busy)
        assert PromptPool(home).forget(all_=True) == 10
        assert len(old.paths()) == 4
        assert verify_prompts(home).clean
    assert PromptPool(home).rows() == []
    assert not old.paths()


def test_what_a_killed_process_noted_is_deleted_and_not_trusted(old: OldBlocks, home: Path) -> None:
    stray = old.folder / "ab" / f"{'ab' * 32}.safetensors"
    stray.parent.mkdir(exist_ok=True)  # the digests of the pool's own files differ from run to run
    stray.write_bytes(b"x")
    outside = home / "outside"
    outside.write_bytes(b"x")
    (home / UNFINISHED).write_text(f"../outside\n{stray.stem}\ncut sh")

    check_all(PromptPool(home))
    assert not (home / UNFINISHED).exists()
    assert not stray.exists()
    assert outside.exists()
    assert verify_prompts(home).clean


KILLED = """
import os, signal, sys
from pathlib import Path
import snellen.memory.prompts.pool, snellen.memory.prompts.rows
from sqlite_utils import Migrations
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.blocks import OldBlocks

def dying(place, name, *, after=0, done=False):
    function = getattr(place, name)
    calls = []
    def replaced(*arguments, **options):
        calls.append(1)
        if len(calls) <= after:
            return function(*arguments, **options)
        if done:
            function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(place, name, replaced)

{
    "first row": lambda: dying(OldBlocks, "feature"),
    "a later row": lambda: dying(OldBlocks, "prompt", after=5),
    "before commit": lambda: dying(Migrations, "_record_applied", done=True),
    "after commit": lambda: dying(OldBlocks, "delete"),
    "first file": lambda: dying(Path, "unlink", done=True),
    "third file": lambda: dying(Path, "unlink", after=2, done=True),
    "files": lambda: dying(OldBlocks, "delete", done=True),
}[sys.argv[1]]()
PromptPool(Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    "point", ["first row", "a later row", "before commit", "after commit", "first file", "third file", "files"]
)
def test_a_move_that_is_killed_loses_nothing_and_goes_on(old: OldBlocks, home: Path, point: str) -> None:
    command = [sys.executable, "-c", KILLED, point, str(home)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()

    check_all(PromptPool(home))
    assert not old.folder.exists()
    assert verify_prompts(home).clean
