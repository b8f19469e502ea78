"""A disk that is full while something is learned: nothing half-learned, a clear sentence, and later it goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

import snellen.memory.prompts
import snellen.memory.prompts.drafts
import snellen.memory.prompts.rows
import snellen.memory.tables
from snellen.graphs.states import STATE_TYPES, LearnState
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import MemoryTrouble
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.memory.prompts.rows import DATABASE
from snellen.memory.verification import verify_memory
from snellen.nodes.learn import prompt_tuning as nodes
from snellen.profiles import BadInput
from snellen.threads import ask, learn
from snellen.threads.events import Finished
from snellen.threads.listing import list_threads
from tests.graphs.killed import PROFILE, THREAD, make_context, save_profile
from tests.memory.cramped import cramped
from tests.memory.learned import full, made

Full = Callable[[Path], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models")
    save_profile(folder)
    return str(folder / PROFILE)


@pytest.fixture(autouse=True)
def tiny_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "make_context", make_context)


@contextmanager
def no_room_for_drafts(_: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snellen.memory.prompts.drafts, "write_atomically", full)
        yield


@contextmanager
def no_room_for_tensors(_: Path) -> Iterator[None]:
    def no_room(*_: object) -> None:
        msg = "database or disk is full"
        raise sqlite3.OperationalError(msg)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snellen.memory.prompts.rows, "put_tensors", no_room)
        yield


@contextmanager
def no_room_for_rows(home: Path) -> Iterator[None]:
    """Fill the database's last pages with small prompts, so that none of the size of ours has room."""
    pool = PromptPool(home)
    with cramped(snellen.memory.tables, home / DATABASE):
        _fill(pool)
        yield
    pool.forget(pool="SEG")


def _fill(pool: PromptPool) -> None:
    for number in range(1000):
        try:
            pool.add(made(number, "x", pool="SEG"))
        except MemoryTrouble:
            return
    pytest.fail("the database found room for everything")


def no_room_for_the_result(_: Path) -> AbstractContextManager[None]:
    """Let the thread's own database be full once the prompts are stored."""
    return _no_room_once_stored("aput_writes", "aput")


def no_room_for_the_state(_: Path) -> AbstractContextManager[None]:
    """Let it be full when that is noted, but not the state that follows from it."""
    return _no_room_once_stored("aput")


@contextmanager
def _no_room_once_stored(*writing: str) -> Iterator[None]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    stored, done = nodes._store, list[object]()

    def noted(*args: Any) -> object:  # noqa: ANN401
        done.append(stored(*args))
        return done[-1]

    def failing(save: Callable[..., Any]) -> Callable[..., Any]:
        async def saved(*args: Any, **kwargs: Any) -> object:  # noqa: ANN401
            if done:
                msg = "database or disk is full"
                raise sqlite3.OperationalError(msg)
            return await save(*args, **kwargs)

        return saved

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "_store", noted)
        for name in writing:
            patch.setattr(AsyncSqliteSaver, name, failing(getattr(AsyncSqliteSaver, name)))
        yield


@pytest.mark.parametrize(
    ("full_disk", "stopped", "there"),
    [
        (no_room_for_drafts, "failed before tune", 0),
        (no_room_for_tensors, "failed before store", 0),
        (no_room_for_rows, "failed before store", 0),
        # What went wrong could not be saved any more, either.
        (no_room_for_the_result, "stopped before store", 3),
        (no_room_for_the_state, "stopped after store", 3),
    ],
)
def test_nothing_is_half_learned_on_a_full_disk_and_later_it_goes_on(
    home: Path, profile: str, full_disk: Full, stopped: str, there: int
) -> None:
    with full_disk(home), pytest.raises(MemoryTrouble, match="the disk is full; free some space and try again"):
        followed(learn.stream_learn("dog", tools=("CLASSIFY", "LOC"), profile=profile, thread=THREAD))

    (thread,) = asyncio.run(list_threads())
    assert thread.status == stopped
    assert ("the disk is full" in thread.reason) == stopped.startswith("failed")
    assert learned(home) == there
    check(home)
    with pytest.raises(BadInput, match="has not finished"):
        followed(learn.stream_learn("cat", profile=profile, thread=THREAD))
    state = followed(learn.LEARN.resume(THREAD))
    assert [(one["kept"], one["discarded"]) for one in state.learned] == [(3, 0), (0, 3)]
    assert learned(home) == 3
    assert len(Drafts(home)) == 0
    check(home)


def learned(home: Path) -> int:
    return len({row.picture for row in PromptPool(home).rows() if row.pool == "CLIP"})


def check(home: Path) -> None:
    found = verify_memory(home, lambda: DemonstrationPool(home), repair=False, state_types=STATE_TYPES)
    assert found.clean, found.findings


def followed(events: AsyncIterator[Any]) -> LearnState:
    """Follow a thread to its end and return its last state."""

    async def follow() -> Any:  # noqa: ANN401
        return [event async for event in events][-1]

    ended = asyncio.run(follow())
    assert isinstance(ended, Finished)
    state = ended.state
    assert isinstance(state, LearnState)
    return state
