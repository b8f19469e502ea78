"""Threads written by an earlier version are read, and those it left unfinished are finished.

``fixtures/checkpoints-0.1.sql`` is the dump of a database that version 0.1 wrote with the nodes of then: the thread
``finished``, and the thread ``stopped``, interrupted before ``run``. It is never written again; a new version that
changes the state adds its own dump beside it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import PIL.Image
import pytest
from langchain_core.runnables import RunnableConfig

from snellen.graphs.ask import builder
from snellen.graphs.states import STATE_TYPES, AskState
from snellen.memory.checkpoints import DATABASE, checkpoints, thread_ids
from tests.graphs.scripted import make_context

DUMPS = sorted((Path(__file__).parent / "fixtures").glob("checkpoints-*.sql"))


@pytest.fixture(params=DUMPS, ids=lambda path: path.stem)
def old_home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    rows = sqlite3.connect(tmp_path / DATABASE)
    rows.executescript(request.param.read_text())
    rows.close()
    return tmp_path


def config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}, "recursion_limit": 12}


def test_there_is_a_dump_to_read() -> None:
    assert DUMPS


async def test_a_finished_thread_is_read(old_home: Path) -> None:
    assert sorted(thread_ids(old_home)) == ["finished", "stopped"]
    async with checkpoints(old_home, state_types=STATE_TYPES) as saver:
        snapshot = await builder.compile(checkpointer=saver).aget_state(config("finished"))

    state = AskState(**snapshot.values)
    assert snapshot.next == ()
    assert state.instruction == "Which dogs are there?"
    assert state.answer == ["dogs 0", "dogs 1"]
    assert state.verdict == "right"
    assert [step["tool"] for step in state.steps] == ["LIST", "COUNT", "RESULT"]


async def test_a_stopped_thread_is_finished(old_home: Path) -> None:
    context = make_context(old_home)
    context.pictures.put(PIL.Image.new("RGB", (40, 30), "teal"))
    async with checkpoints(old_home, state_types=STATE_TYPES) as saver:
        graph = builder.compile(checkpointer=saver)
        assert (await graph.aget_state(config("stopped"))).next == ("run",)
        await graph.ainvoke(None, config("stopped"), context=context, durability="sync")
        state = AskState(**(await graph.aget_state(config("stopped"))).values)

    assert state.answer == ["dogs 0", "dogs 1"]
    assert state.verdict == "right"
    assert context.pool.count() == 2
