"""Every saver does what LangGraph expects of one: its own tests for savers, and what they leave out."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.test_utils import generate_checkpoint, generate_config, generate_metadata

from snellen.memory.checkpoints import DATABASE, blocking_checkpoints, checkpoints
from snellen.serving.studio.saver import checkpointer

Opened = Callable[[Path], Any]


@asynccontextmanager
async def blocking(home: Path) -> AsyncIterator[BaseCheckpointSaver[str]]:
    with blocking_checkpoints(home) as saver:
        yield saver


@asynccontextmanager
async def studio(home: Path) -> AsyncIterator[BaseCheckpointSaver[str]]:
    async with checkpointer() as saver:
        yield saver


SAVERS: dict[str, Opened] = {"home": checkpoints, "blocking": blocking, "studio": studio}


async def conform(opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @checkpointer_test(name=str(uuid4()))
    async def saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
        home = root / uuid4().hex
        home.mkdir()
        monkeypatch.setenv("SNELLEN_HOME", str(home))
        async with opened(home) as one:
            yield one

    report = await validate(saver)

    failures = {name: result.failures for name, result in report.results.items() if result.passed is not True}
    assert not failures
    assert len(report.results) == 8


@pytest.mark.parametrize("kind", SAVERS)
async def test_it_passes_langgraphs_tests_of_savers(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await conform(SAVERS[kind], tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAVERS)
async def test_in_postgres_it_does_too(
    kind: str, in_postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await conform(SAVERS[kind], tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def made(home: Path) -> None:
    home.mkdir()


async def put(saver: Any, thread: str, run: str, parent: Any = None) -> Any:  # noqa: ANN401 - a RunnableConfig
    config = generate_config(thread)
    if parent is not None:
        config["configurable"]["checkpoint_id"] = parent["configurable"]["checkpoint_id"]
    made = generate_checkpoint(channel_values={"x": run}, channel_versions={"x": run})
    saved = await saver.aput(config, made, generate_metadata(run_id=run), {"x": run})
    await saver.aput_writes(saved, [("x", run)], str(uuid4()))
    return saved


@pytest.mark.parametrize("kind", SAVERS)
async def test_a_damaged_row_keeps_no_run_from_being_deleted(kind: str, tmp_path: Path, home: Path) -> None:
    async with SAVERS[kind](home) as saver:
        broken, gone = str(uuid4()), str(uuid4())
        await put(saver, broken, "a")
        await put(saver, gone, "b")
        with closing(sqlite3.connect(home / DATABASE)) as rows, rows:
            rows.execute("UPDATE checkpoints SET metadata = 'no JSON' WHERE thread_id = ?", [broken])
        await saver.adelete_for_runs(["b"])

        assert await saver.aget_tuple(generate_config(gone)) is None
    with closing(sqlite3.connect(home / DATABASE)) as rows:
        assert rows.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall() == [(broken,)]
        assert rows.execute("SELECT DISTINCT thread_id FROM writes").fetchall() == [(broken,)]


@pytest.mark.parametrize("kind", SAVERS)
async def test_a_way_to_prune_that_does_not_exist_deletes_nothing(kind: str, home: Path) -> None:
    async with SAVERS[kind](home) as saver:
        saved = await put(saver, str(uuid4()), "a")
        with pytest.raises(ValueError, match="'everything'"):
            await saver.aprune([saved["configurable"]["thread_id"]], strategy="everything")

        assert await saver.aget_tuple(saved) is not None


@pytest.mark.parametrize("kind", SAVERS)
async def test_what_can_be_awaited_can_be_waited_for_on_another_thread(kind: str, home: Path) -> None:
    thread, copy = str(uuid4()), str(uuid4())
    async with SAVERS[kind](home) as saver:
        first = await put(saver, thread, "a")
        await put(saver, thread, "b", first)

        def work() -> list[list[str]]:
            def runs(of: str) -> list[str]:
                return [one.metadata["run_id"] for one in saver.list(generate_config(of))]

            saver.copy_thread(thread, copy)
            seen = [runs(copy)]
            saver.delete_for_runs(["b"])
            seen.append(runs(copy))
            saver.put(generate_config(copy), generate_checkpoint(), generate_metadata(run_id="c"), {})
            saver.prune([copy])
            seen.append(runs(copy))
            saver.put_writes(saver.get_tuple(generate_config(copy)).config, [("x", 1)], "task")
            saver.delete_thread(copy)
            return [*seen, runs(copy)]

        assert await asyncio.to_thread(work) == [["b", "a"], ["a"], ["c"], []]


async def test_a_call_that_would_wait_for_itself_says_so(home: Path) -> None:
    async with checkpoints(home) as saver:
        with pytest.raises(RuntimeError, match="blocking_checkpoints"):
            saver.copy_thread("a", "b")
