"""The server's checkpoints: those of the command line and the pages, addressed by the server's UUIDs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from graphs.states import STATE_TYPES
from interfaces.studio.names import NAMES, Known
from memory.checkpoints import checkpoints, serializer

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple


class HomesSaver(BaseCheckpointSaver[str]):
    """Reads and writes each thread where it belongs: in its user's home, under its own name.

    Args:
        stack: Closes the homes' databases.
    """

    def __init__(self, stack: AsyncExitStack) -> None:
        super().__init__(serde=serializer(STATE_TYPES))
        self._stack = stack
        self._open: dict[Path, BaseCheckpointSaver[str]] = {}

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, the latest where none is named."""
        known, saver = await self._where(config)
        found = await saver.aget_tuple(_named(config, known.name))
        return None if found is None else _renamed(found, _thread(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - inherited
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield the checkpoints of a thread, the latest first."""
        if config is None:
            return
        known, saver = await self._where(config)
        earlier = None if before is None else _named(before, known.name)
        async for found in saver.alist(_named(config, known.name), filter=filter, before=earlier, limit=limit):
            yield _renamed(found, _thread(config))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; it says which graph it is of, as the command line wants to know."""
        known, saver = await self._where(config)
        graph = config["configurable"].get("graph_id") or known.graph
        told: Any = {**metadata, "thread_id": known.name} | ({"graph": graph} if graph else {})
        saved = await saver.aput(_named(config, known.name), checkpoint, told, new_versions)
        if not config["configurable"].get("checkpoint_ns"):
            NAMES.note_written(_thread(config), checkpoint["id"])
        return _named(saved, _thread(config))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a task wrote before its step is over."""
        known, saver = await self._where(config)
        await saver.aput_writes(_named(config, known.name), writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread."""
        known, saver = await self._where({"configurable": {"thread_id": thread_id}})
        await saver.adelete_thread(known.name)
        NAMES.forget(thread_id)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - inherited
        """Return the version of a channel that follows, as the homes' savers count them."""
        import random

        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    async def _where(self, config: RunnableConfig) -> tuple[Known, BaseCheckpointSaver[str]]:
        configurable = config["configurable"]
        user = str(configurable.get("langgraph_auth_user_id") or "")
        known = await NAMES.find(str(configurable["thread_id"]), user=user)
        if known.home not in self._open:
            await asyncio.to_thread(known.home.mkdir, parents=True, exist_ok=True)
            opened = checkpoints(known.home, state_types=STATE_TYPES)
            self._open[known.home] = await self._stack.enter_async_context(opened)
        return known, self._open[known.home]


@asynccontextmanager
async def checkpointer() -> AsyncIterator[HomesSaver]:
    """Open the checkpoints for a server (``checkpointer.path`` of langgraph.json)."""
    async with AsyncExitStack() as stack:
        yield HomesSaver(stack)


def _thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _named(config: RunnableConfig, name: str) -> RunnableConfig:
    """Return an address with another name for the thread; what only the server uses of it is left out."""
    kept = {key: value for key, value in config["configurable"].items() if key.startswith("checkpoint_")}
    return {"configurable": {"checkpoint_ns": "", **kept, "thread_id": name}}


def _renamed(found: CheckpointTuple, name: str) -> CheckpointTuple:
    parent = found.parent_config
    return found._replace(
        config=_named(found.config, name), parent_config=None if parent is None else _named(parent, name)
    )
