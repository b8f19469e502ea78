"""Killed anywhere while writing, the memory is what it was or what it was to be."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from snellen.memory.archives import export_memory
from snellen.memory.demonstrations import DemonstrationPool, demonstration
from snellen.memory.prompts import PromptPool
from snellen.memory.verification import verify_prompts
from tests.memory.learned import CHECKPOINT, made

ROOT = Path(__file__).parents[2]


KILLED = """
import os, signal, sys
from pathlib import Path
import snellen.memory.prompts.index_file, snellen.memory.prompts.pool, snellen.memory.prompts.rows
from snellen.memory.archives import import_memory
from snellen.memory.prompts import PromptPool
from tests.memory.learned import CHECKPOINT, made
point, work, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
pool = PromptPool(folder / "home")

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
    "rows": lambda: dying(snellen.memory.prompts.rows, "put_tensors"),
    "tensors": lambda: dying(snellen.memory.prompts.rows, "put_tensors", done=True),
    "second pool": lambda: dying(snellen.memory.prompts.rows, "insert", after=1, done=True),
    "before commit": lambda: dying(snellen.memory.prompts.rows, "arrive" if work != "forget" else "delete", done=True),
    "after commit": lambda: (
        dying(snellen.memory.prompts.pool, "shrink")
        if work == "forget"
        else dying(PromptPool, "deliver_demonstrations")
    ),
    "index": lambda: dying(snellen.memory.prompts.index_file, "write_atomically"),
}[point]()
if work == "add":
    pool.add(*[made(number) for number in range(10, 20)], made(20, pool="SEG"))
if work == "forget":
    pool.forget([made(number).row.id for number in (1, 5)])
if work == "import":
    import_memory(pool, folder / "archive")
pool.candidates("LOC", "", CHECKPOINT, made(1).feature, 3)
"""


def kill(folder: Path, point: str, work: str) -> None:
    command = [sys.executable, "-c", KILLED, point, work, str(folder)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def ids(pool: PromptPool) -> set[str]:
    return {row.id for row in pool.rows()}


def check(folder: Path) -> None:
    """Check that a crash left nothing: neither damage, nor files that somebody must clear away."""
    found = verify_prompts(folder, repair=False)
    assert found.clean, found.findings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    PromptPool(tmp_path / "home").add(*[made(number) for number in range(4)])
    PromptPool(tmp_path / "home").add(*[made(number) for number in range(4, 7)])
    return tmp_path


BEFORE = {made(number).row.id for number in range(7)}
ADDED = BEFORE | {made(number).row.id for number in range(10, 20)} | {made(20, pool="SEG").row.id}


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("rows", BEFORE),
        ("tensors", BEFORE),
        ("second pool", BEFORE),
        ("before commit", BEFORE),
        ("after commit", ADDED),
        ("index", ADDED),
    ],
)
def test_killed_while_adding(folder: Path, point: str, expected: set[str]) -> None:
    kill(folder, point, "add")

    pool = PromptPool(folder / "home")
    assert ids(pool) == expected
    assert len(pool.candidates("LOC", "", CHECKPOINT, made(1).feature, 3)) == 3
    check(folder / "home")
    assert ids(PromptPool(folder / "home")) == expected
    pool.add(*[made(number) for number in range(10, 20)], made(20, pool="SEG"))
    assert ids(pool) == ADDED


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("before commit", BEFORE),
        ("after commit", BEFORE - {made(1).row.id, made(5).row.id}),
    ],
)
def test_killed_while_forgetting(folder: Path, point: str, expected: set[str]) -> None:
    kill(folder, point, "forget")

    pool = PromptPool(folder / "home")
    assert ids(pool) == expected
    assert len(pool.candidates("LOC", "", CHECKPOINT)) == len(expected)
    check(folder / "home")


@pytest.mark.parametrize(
    ("point", "arrived"), [("second pool", False), ("before commit", False), ("after commit", True)]
)
def test_killed_while_importing(folder: Path, point: str, *, arrived: bool) -> None:
    source = folder / "source"
    PromptPool(source).add(made(30), made(31, pool="SEG"))
    learned = demonstration("plan", "Count the flamingos.", plan=["Find them."], correct=False, critique="It misses.")
    DemonstrationPool(source).add(learned)
    export_memory(PromptPool(source), folder / "archive")

    kill(folder, point, "import")

    pool = PromptPool(folder / "home")
    assert ids(pool) == BEFORE | ({made(30).row.id, made(31, pool="SEG").row.id} if arrived else set())
    assert DemonstrationPool(folder / "home").learned() == ([learned] if arrived else [])
    check(folder / "home")
    assert DemonstrationPool(folder / "home").learned() == ([learned] if arrived else [])


ADDING = """
import sys
from pathlib import Path
from snellen.memory.prompts import PromptPool
from tests.memory.learned import CHECKPOINT, made
pool = PromptPool(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(100, 10_000, 3):
    pool.add(*[made(one) for one in range(number, number + 3)])
    pool.forget([made(number).row.id])
    pool.candidates("LOC", "", CHECKPOINT, made(1).feature, 3)
"""


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_a_random_time(folder: Path, seed: int) -> None:
    home = folder / "home"
    command = [sys.executable, "-c", ADDING, str(home)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(random.Random(seed).uniform(0.05, 0.6))
        process.kill()

    pool = PromptPool(home)
    found = ids(pool)
    assert found >= BEFORE
    # Three at a time came, all or none, and then the first of them went; as many times as there was time for.
    bases = range(100, 100 + 3 * (len(found) // 2 + 2), 3)
    learned = [sum(made(one).row.id in found for one in range(base, base + 3)) for base in bases]
    whole = [count for count in learned if count]
    assert all(count == 2 for count in whole[:-1])
    assert not whole or whole[-1] in {2, 3}
    assert sum(whole) == len(found - BEFORE)
    assert len(pool.candidates("LOC", "", CHECKPOINT)) == len(found)
    check(home)
    assert ids(PromptPool(home)) == found
