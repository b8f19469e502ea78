"""Threads whose saved states are damaged: told, mended as far as possible, never silently deleted."""

from __future__ import annotations

import operator
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from snellen.memory.checkpoints import DATABASE, checkpoints, thread_graphs
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.thread_locks import running
from snellen.memory.verification import Verification, verify_memory

NOTHING = b"\xc1"
"""The one byte that msgpack never uses."""


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def one(state: State) -> dict[str, Any]:
    return {"said": ["one"]}


def two(state: State) -> dict[str, Any]:
    return {"said": ["two"]}


builder = StateGraph(State)
builder.add_node("one", one)
builder.add_node("two", two)
builder.add_edge(START, "one")
builder.add_edge("one", "two")
builder.add_edge("two", END)


async def ask(home: Path, thread: str, begin: Any = None) -> list[str]:  # noqa: ANN401
    async with checkpoints(home) as saver:
        graph = builder.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": thread}, "metadata": {"graph": "learn"}}
        found = await graph.ainvoke(begin, config, durability="sync")
        return list(found["said"])


@pytest.fixture
def home(home: Path) -> Path:
    home.mkdir(parents=True)
    return home


def spoil(database: Path, content: bytes) -> None:
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()
    database.write_bytes(content)


async def begun(home: Path, *threads: str) -> Path:
    for thread in threads:
        await ask(home, thread, {"said": []})
    return home


def change(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(home / DATABASE)) as connection, connection:
        connection.execute(statement, values)


def damage_last(home: Path, thread: str) -> None:
    last = "SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ?"
    change(home, f"UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ({last})", NOTHING, thread)


def verified(home: Path, *, repair: bool = True) -> Verification:
    return verify_memory(home, lambda: DemonstrationPool(home), repair=repair)


def dump(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / DATABASE)) as connection:
        return list(connection.iterdump())


async def test_whole_threads_are_counted(home: Path) -> None:
    found = verified(await begun(home, "a", "b"))

    assert (found.clean, found.threads) == (True, 2)
    assert thread_graphs(home) == {"b": "learn", "a": "learn"}


async def test_a_thread_goes_on_from_its_last_whole_state(home: Path) -> None:
    await begun(home, "a", "b")
    damage_last(home, "a")
    before = dump(home)

    (told,) = verified(home, repair=False).findings
    assert (told.kind, told.place) == ("saved", "thread a")
    assert "1 of its 4 saved states cannot be read" in told.said
    assert dump(home) == before

    found = verified(home)
    assert [one.kind for one in found.findings] == ["saved", "orphan"]
    assert found.lost == 0
    with closing(sqlite3.connect(found.findings[1].place)) as aside:
        assert aside.execute("SELECT thread_id, checkpoint FROM checkpoints").fetchall() == [("a", NOTHING)]
    assert await ask(home, "a") == ["one", "two"]
    assert verified(home).clean


async def test_a_thread_without_a_whole_state_is_named_and_kept_aside(home: Path) -> None:
    await begun(home, "a", "b")
    change(home, "UPDATE checkpoints SET checkpoint = ? WHERE thread_id = 'a'", NOTHING)
    change(home, "UPDATE checkpoints SET metadata = 'no' WHERE thread_id = 'a'")

    found = verified(home)

    assert (found.findings[0].kind, found.findings[0].place) == ("lost", "thread a")
    assert found.lost == 1
    assert list(thread_graphs(home)) == ["b"]
    with closing(sqlite3.connect(found.findings[1].place)) as aside:
        assert aside.execute("SELECT COUNT(*) FROM checkpoints").fetchone() == (4,)


async def test_a_damaged_result_of_a_step_is_forgotten_so_that_the_step_is_repeated(home: Path) -> None:
    await begun(home, "a")
    change(home, "UPDATE writes SET value = ?, type = 'msgpack' WHERE rowid = (SELECT MAX(rowid) FROM writes)", NOTHING)

    found = verified(home)

    assert "results of steps under way cannot be read" in found.findings[0].said
    assert verified(home).clean


async def test_a_thread_that_is_being_run_is_left_alone(home: Path) -> None:
    await begun(home, "a")
    damage_last(home, "a")

    async with running("a", home):
        assert verified(home).clean
    assert not verified(home).clean


async def test_a_database_that_is_none_is_moved_aside_and_named(home: Path) -> None:
    await begun(home, "a")
    content = b"no database " * 500
    spoil(home / DATABASE, content)

    dry, found = verified(home, repair=False), verified(home)

    assert dry.lost == found.lost == 1
    assert "the file is kept as checkpoints.sqlite.damaged-1" in found.findings[0].said
    assert (home / "checkpoints.sqlite.damaged-1").read_bytes() == content
    assert verified(home).clean


def test_a_home_without_threads_is_clean(home: Path) -> None:
    assert verified(home).clean
