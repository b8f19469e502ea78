"""Copying the threads of a home from its SQLite database into Postgres, or back; what is copied stays where it was.

It may be repeated, also after it was cut off: a thread that has gone on there since is left as it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from snellen.errors import BadInput
from snellen.memory.checkpoints import DATABASE, in_sqlite, serializer, sqlite_threads
from snellen.memory.postgres.server import CHECKPOINTS_VARIABLE, chosen_server
from snellen.memory.postgres.server import thread_heads as postgres_threads
from snellen.memory.thread_locks import holds_file, running

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from langgraph.checkpoint.base import CheckpointTuple

    from snellen.memory.postgres.saver import FencedSaver
    from snellen.memory.savers import HomeSaver

    Saver = FencedSaver | HomeSaver

Outcome = Literal["copied", "went on in Postgres", "went on in the home", "is being run"]
"""What became of a thread; one that went on, or that is being run, is left alone."""


async def copy_threads(
    folder: Path,
    *,
    state_types: Iterable[type] = (),
    target: Literal["store", "home"] = "store",
    progress: Callable[[str, int, int], None] = lambda _, __, ___: None,
) -> dict[str, Outcome]:
    """Copy all threads of a home's SQLite database into the Postgres that has its checkpoints, or back.

    Args:
        folder: The memory's home.
        state_types: The classes that may be read back from a checkpoint.
        target: Where to: into Postgres, or into the home's SQLite.
        progress: Called with "threads", how many are done, and of how many.

    Returns:
        What became of each thread.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` and ``SNELLEN_STORE`` name no Postgres.
        MemoryTrouble: one of the databases cannot be used; what was copied is copied.
    """
    server = chosen_server()
    if server is None:
        msg = f"There is no Postgres to copy to: set {CHECKPOINTS_VARIABLE}=postgresql://USER:PASSWORD@HOST/DATABASE."
        raise BadInput(msg)
    from snellen.memory.postgres.saver import opened_saver

    if target == "store":
        threads = await asyncio.to_thread(sqlite_threads, folder / DATABASE)
    else:
        threads = await asyncio.to_thread(postgres_threads, server, folder)
    if not threads:
        return {}
    serde, outcomes = serializer(state_types), dict[str, Outcome]()
    async with in_sqlite(folder / DATABASE, serde) as home, opened_saver(server, folder, serde) as store:
        for thread in reversed(threads):
            if target == "store":
                outcomes[thread] = await _copied(thread, folder, home, store, "went on in Postgres")
            else:
                outcomes[thread] = await _copied(thread, folder, store, home, "went on in the home")
            progress("threads", len(outcomes), len(threads))
    return outcomes


async def _copied(thread: str, folder: Path, old: Saver, new: Saver, went_on: Outcome) -> Outcome:
    if await asyncio.to_thread(holds_file, thread, folder):
        return "is being run"
    address: Any = {"configurable": {"thread_id": thread}}
    try:
        async with running(thread, folder):
            states = [state async for state in old.alist(address)]
            there = await new.aget_tuple(address)
            if there is not None and there.checkpoint["id"] not in {state.checkpoint["id"] for state in states}:
                return went_on
            # What steps under way gave comes first: the newest state, which comes last, says that all is there.
            await new.copy_writes(await old.writes_of(thread))
            for state in reversed(states):
                await _copy(state, new)
    except BadInput:
        return "is being run"
    return "copied"


async def _copy(state: CheckpointTuple, new: Saver) -> None:
    address, parent = state.config["configurable"], (state.parent_config or {}).get("configurable", {})
    before: Any = {
        "configurable": {
            "thread_id": address["thread_id"],
            "checkpoint_ns": address["checkpoint_ns"],
            "checkpoint_id": parent.get("checkpoint_id"),
        }
    }
    await new.aput(before, state.checkpoint, state.metadata, state.checkpoint["channel_versions"])
