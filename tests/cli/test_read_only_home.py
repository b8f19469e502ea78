"""A home that cannot be written can be looked at: on a read-only mount, in a backup, of another user."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from snellen.memory.checkpoints import DATABASE
from snellen.memory.prompts import PromptPool
from snellen.memory.thread_locks import running
from snellen.runtime.context import Context
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.threads import ask, investigate
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import RIGHT, Critic, make_context
from tests.memory.learned import made

ROOT = Path(__file__).parents[2]
_DROP_CAPABILITY, _DAC_OVERRIDE = 24, 1
"""PR_CAPBSET_DROP of prctl(2), and CAP_DAC_OVERRIDE: what lets root write where permission bits forbid it."""


def heed_permissions() -> None:
    """Have the process that is begun next keep to permission bits, root's too."""
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _DAC_OVERRIDE, 0, 0, 0) != 0:
        os._exit(99)


@pytest.fixture
async def home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def scripted(_: str, folder: Path, *__: object) -> Context:
        context = make_context(folder, reasoner=Critic(program=RIGHT))
        return replace(context, examination=watched(folder, Oracle({"clip": lambda *_: 0.99})))

    monkeypatch.setattr(ask, "make_context", scripted)
    monkeypatch.setattr(investigate, "examining", scripted)
    picture = tmp_path / "picture.png"
    PIL.Image.new("RGB", (8, 8), "red").save(picture)
    request = InvestigationRequest(query="Can clip recognize fruit?", models=["clip"], budget={"images": 60})
    for events in (
        ask.stream_ask([picture], "What is one and two?", thread="mine"),
        investigate.stream_investigate(request, thread="examined"),
    ):
        async with aclosing(events):
            async for _ in events:
                pass
    PromptPool(home).add(made(1))
    return home


Say = Callable[..., Any]


@pytest.fixture
def say(home: Path) -> Iterator[Say]:
    """Run a command on the home, once nothing can be written to it; return its JSON, or what it says of an error."""
    if sys.platform != "linux" and os.geteuid() == 0:
        pytest.skip("root writes anywhere here")
    places = [home, *home.rglob("*")]

    def said(*words: str, status: int = 0) -> Any:  # noqa: ANN401 - JSON
        for place in places:
            if place.exists():
                place.chmod(0o555 if place.is_dir() else 0o444)
        done = subprocess.run(
            [sys.executable, "-m", "snellen", *words],
            env=os.environ | {"SNELLEN_HOME": str(home), "HF_HUB_OFFLINE": "1"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=heed_permissions,
        )
        if done.returncode == 99:
            pytest.skip("this root may not give up its right to write anywhere")
        assert done.returncode == status, done.stderr
        return done.stderr if status else json.loads(done.stdout)

    yield said
    make_writable(home)


def make_writable(home: Path) -> None:
    for place in [home, *home.rglob("*")]:
        place.chmod(0o755)


def contents(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_it_can_be_looked_at_and_stays_as_it_is(home: Path, say: Say) -> None:
    before = contents(home)
    (prompt,) = PromptPool(home).rows()

    assert {one["thread"]: one["status"] for one in say("threads", "--json")} == {
        "mine": "finished",
        "examined": "finished",
    }
    assert [one["id"] for one in say("reports", "--json")] == ["examined"]
    assert say("report", "examined", "--json")["thread"] == "examined"
    assert [one["id"] for one in say("memory", "list", "--json")["prompts"]] == [prompt.id]
    assert say("memory", "show", prompt.id, "--json")[0]["id"] == prompt.id
    assert say("memory", "stats", "--json")["prompts"][0]["prompts"] == 1
    verified = say("memory", "verify", "--dry-run", "--json")
    assert (verified["lost"], verified["prompts"], verified["threads"], verified["samples"] > 0) == (0, 1, 2, True)
    assert contents(home) == before
    assert "read-only" in say("memory", "verify", "--json", status=1)
    assert "read-only" in say("learn", "dog", status=1)


def test_what_a_crash_left_in_the_log_is_seen(home: Path, say: Say, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with closing(sqlite3.connect(home / DATABASE)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        with connection:
            connection.execute("UPDATE checkpoints SET thread_id = 'renamed' WHERE thread_id = 'mine'")
        shutil.copytree(home, kept)
    for file in kept.glob(f"{DATABASE}*"):
        shutil.copy(file, home)
    (home / f"{DATABASE}-shm").unlink()
    assert (home / f"{DATABASE}-wal").stat().st_size

    assert {one["thread"] for one in say("threads", "--json")} == {"renamed", "examined"}


async def test_whoever_runs_a_thread_there_is_seen(home: Path, say: Say) -> None:
    async with running("mine", home):
        with closing(sqlite3.connect(home / DATABASE)) as connection, connection:
            connection.execute(
                "DELETE FROM checkpoints WHERE checkpoint_id = "
                "(SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = 'mine')"
            )
        found = await asyncio.to_thread(say, "threads", "--json")
        await asyncio.to_thread(make_writable, home)

    assert {one["thread"]: one["status"].split()[0] for one in found}["mine"] == "running"
