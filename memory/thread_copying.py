"""Copying the threads of a home from its SQLite database into Postgres; what is copied stays where it was, too.

It may be repeated, also after it was cut off: a thread that has gone on in Postgres since is left as it is there.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from snellen.errors import BadInput
from snellen.memory.checkpoints import DATABASE, in_sqlite, serializer, sqlite_threads
from snellen.memory.postgres.server import CHECKPOINTS_VARIABLE, chosen_server
from snellen.memory.thread_locks import holds_file, running

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from langgraph.checkpoint.base import CheckpointTuple

    from snellen.memory.postgres.saver import FencedSaver
    from snellen.memory.savers import HomeSaver

Outcome = Literal["copied", "went on in Postgres", "is being run"]
"""What became of a thread; one that went on, or that is being run, is left alone."""

_WRITES = (
    "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value FROM writes "
    "WHERE thread_id = ?"
)


async def copy_threads(folder: Path, *, state_types: Iterable[type] = ()) -> dict[str, Outcome]:
    """Copy all threads of a home's SQLite database into the Postgres that ``SNELLEN_CHECKPOINTS`` names.

    Args:
        folder: The memory's home.
        state_types: The classes that may be read back from a checkpoint.

    Returns:
        What became of each thread.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` names no Postgres.
        MemoryTrouble: one of the databases cannot be used; what was copied is copied.
    """
    server = chosen_server()
    if server is None:
        msg = f"There is no Postgres to copy to: set {CHECKPOINTS_VARIABLE}=postgresql://USER:PASSWORD@HOST/DATABASE."
        raise BadInput(msg)
    from snellen.memory.postgres.saver import opened_saver

    threads = await asyncio.to_thread(sqlite_threads, folder / DATABASE)
    if not threads:
        return {}
    serde = serializer(state_types)
    async with in_sqlite(folder / DATABASE, serde) as old, opened_saver(server, folder, serde) as new:
        return {thread: await _copied(thread, folder, old, new) for thread in reversed(threads)}


async def _copied(thread: str, folder: Path, old: HomeSaver, new: FencedSaver) -> Outcome:
    if await asyncio.to_thread(holds_file, thread, folder):
        return "is being run"
    address: Any = {"configurable": {"thread_id": thread}}
    try:
        async with running(thread, folder):
            states = [state async for state in old.alist(address)]
            there = await new.aget_tuple(address)
            if there is not None and there.checkpoint["id"] not in {state.checkpoint["id"] for state in states}:
                return "went on in Postgres"
            # What steps under way gave comes first: the newest state, which comes last, says that all is there.
            async with old.conn.execute(_WRITES, [thread]) as found:
                await new.copy_writes([tuple(row) for row in await found.fetchall()])
            for state in reversed(states):
                await _copy(state, new)
    except BadInput:
        return "is being run"
    return "copied"


async def _copy(state: CheckpointTuple, new: FencedSaver) -> None:
    address, parent = state.config["configurable"], (state.parent_config or {}).get("configurable", {})
    before: Any = {
        "configurable": {
            "thread_id": address["thread_id"],
            "checkpoint_ns": address["checkpoint_ns"],
            "checkpoint_id": parent.get("checkpoint_id"),
        }
    }
    await new.aput(before, state.checkpoint, state.metadata, state.checkpoint["channel_versions"])
