"""A home that an earlier release left is listed, read, and its threads are finished, in SQLite and moved to Postgres.

``old_home.py`` says how ``fixtures/home-*.zip`` are made. They are never written again; a release that changes what is
stored adds its own beside them.
"""

from __future__ import annotations

import zipfile
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from snellen.cli import main
from snellen.memory.prompts import PromptPool
from snellen.threads import ask, investigate, learn
from snellen.threads.events import Finished, NodeFinished, Waits
from snellen.threads.listing import list_threads

HOMES = sorted((Path(__file__).parent / "fixtures").glob("home-*.zip"))
STATUSES = {
    "ask-ended": "finished",
    "ask-stopped": "stopped before write",
    "ask-waiting": "waiting for approval",
    "learn-ended": "finished",
    "learn-stopped": "stopped before collect",
    "learn-waiting": "waiting for approval",
    "investigate-ended": "finished",
    "investigate-stopped": "stopped before measure",
    "investigate-waiting": "waiting for approval",
}


@pytest.fixture(params=HOMES, ids=lambda path: path.stem)
def old_home(request: pytest.FixtureRequest, home: Path) -> Path:
    home.mkdir(parents=True)
    with zipfile.ZipFile(request.param) as archive:
        archive.extractall(home)
    return home


@pytest.fixture(params=["sqlite", "postgres"])
def placed(request: pytest.FixtureRequest, old_home: Path) -> Path:
    """Leave the threads where they are, or move them."""
    if request.param == "postgres":
        request.getfixturevalue("in_postgres")
        for _ in range(2):
            assert main.main(["memory", "copy-threads"]) == 0
    return old_home


def agree(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "approve"} for _ in request["action_requests"]]


def test_there_is_a_home_to_read() -> None:
    assert HOMES


async def test_its_threads_are_listed(placed: Path) -> None:
    listed = await list_threads()

    assert {one.thread: one.status for one in listed} == STATUSES
    assert {one.thread: one.graph for one in listed} == {name: name.partition("-")[0] for name in STATUSES}
    assert all(one.updated and one.instruction for one in listed)


async def test_its_finished_threads_are_read(placed: Path, request: pytest.FixtureRequest) -> None:
    asked = await ask.ASK.read("ask-ended")
    learned = await learn.LEARN.read("learn-ended")
    found = investigate.found_in(await investigate.INVESTIGATE.read("investigate-ended"))

    assert (asked.answer, [step["tool"] for step in asked.steps][-1]) == ("purple", "RESULT")
    assert [one["kept"] > 0 for one in learned.learned] == [True]
    assert found is not None
    assert found.report.answers
    kept = "home-0.1" not in request.node.name  # what an answer means
    assert all((one.answer is not None) == bool(one.property) == kept for one in found.report.answers)


def test_its_prompts_become_rows_and_everything_is_whole(old_home: Path) -> None:
    files = list((old_home / "prompts").glob("*/*.safetensors"))
    pool = PromptPool(old_home)
    (stats,) = pool.stats()
    found = pool.candidates(stats.pool, "wave", stats.fingerprint)

    assert files
    assert not (old_home / "prompts").exists()
    assert len(found) == stats.prompts > 0
    assert main.main(["memory", "verify"]) == 0


LEFT = {
    "ask-stopped": ("write", "remember"),
    "ask-waiting": ("approve", "remember"),
    "learn-stopped": ("collect", "store"),
    "learn-waiting": ("approve", "store"),
    "investigate-stopped": ("measure", "conclude"),
    "investigate-waiting": ("check_design", "conclude"),
}
"""The node with which each thread goes on, and its last one."""
SLOW = ("learn-stopped", "learn-waiting")


@pytest.mark.parametrize(
    "thread", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in LEFT]
)
async def test_its_other_threads_go_on_where_they_were(placed: Path, thread: str) -> None:
    resume: dict[str, Any] = {
        "ask": ask.ASK.resume,
        "learn": learn.LEARN.resume,
        "investigate": investigate.INVESTIGATE.resume,
    }
    async with aclosing(resume[thread.partition("-")[0]](thread, decide=agree)) as events:
        seen = [event async for event in events]

    assert isinstance(seen[-1], Finished)
    assert any(isinstance(event, Waits) for event in seen) == thread.endswith("waiting")
    nodes = [event.node for event in seen if isinstance(event, NodeFinished)]
    assert (nodes[0], nodes[-1]) == LEFT[thread]
    summary = (await list_threads())[0]
    # None of the ten prompts of this small home proves itself, which is no success.
    came = ("failed", "none of the 10 prompts proved itself") if thread == "learn-waiting" else ("finished", "")
    assert summary.status == came[0]
    assert came[1] in summary.reason
