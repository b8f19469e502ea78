"""The server's checkpoints: those of the command line and the pages, addressed by the server's UUIDs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from snellen.graphs.states import STATE_TYPES
from snellen.memory.checkpoints import checkpoints, serializer
from snellen.memory.savers import KEEP_LATEST, SynchronousMethods
from snellen.serving.studio.thread_ids import THREAD_IDS, KnownThread, server_id
from snellen.serving.users import user_homes

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple


class HomesSaver(SynchronousMethods):
    """Reads and writes each thread where it belongs: in its user's home, under its own name.

    Args:
        stack: Closes the homes' databases.
    """

    def __init__(self, stack: AsyncExitStack) -> None:
        super().__init__(serde=serializer(STATE_TYPES))
        self._stack = stack
        self.loop = asyncio.get_running_loop()
        self._open: dict[Path, BaseCheckpointSaver[str]] = {}

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, the latest where none is named."""
        known, saver = await self._where(config)
        checkpoint = await saver.aget_tuple(_named(config, known.name))
        return None if checkpoint is None else _renamed(checkpoint, _thread(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - inherited
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield the checkpoints of a thread, the latest first; of all threads of all homes where none is named."""
        if config is None:
            async for checkpoint in self._of_all(filter, before, limit):
                yield checkpoint
            return
        known, saver = await self._where(config)
        # Without a namespace, those of the graphs inside it are listed, too.
        address = _named(config, known.name, everywhere="checkpoint_ns" not in config["configurable"])
        earlier = None if before is None else _named(before, known.name)
        async for checkpoint in saver.alist(address, filter=filter, before=earlier, limit=limit):
            yield _renamed(checkpoint, _thread(config))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; it says of which graph it is, for the command line, and which run saved it."""
        known, saver = await self._where(config)
        graph = config["configurable"].get("graph_id") or known.graph
        run = config["configurable"].get("run_id") or config.get("metadata", {}).get("run_id")
        tagged: Any = {name: value for name, value in metadata.items() if name != "thread_id"}
        tagged |= ({"graph": graph} if graph else {}) | ({"run_id": str(run)} if run else {})
        saved = await saver.aput(_named(config, known.name), checkpoint, tagged, new_versions)
        if not config["configurable"].get("checkpoint_ns"):
            THREAD_IDS.note_written(_thread(config), checkpoint["id"])
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
        THREAD_IDS.forget(thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what runs saved; the server has looked whose they are, and knows no homes."""
        for home in (await asyncio.to_thread(user_homes)).values():
            await (await self._opened(home)).adelete_for_runs(run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread; the copy lies in the home of the original."""
        source, saver = await self._where({"configurable": {"thread_id": source_thread_id}})
        await saver.acopy_thread(source.name, target_thread_id)
        # Whoever asked for it may have been written down as somebody new: the copy is found where it lies.
        THREAD_IDS.forget(target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = KEEP_LATEST) -> None:
        """Delete threads, or all but the latest checkpoint of each of their namespaces."""
        for thread in thread_ids:
            known, saver = await self._where({"configurable": {"thread_id": thread}})
            await saver.aprune([known.name], strategy=strategy)
            if strategy != KEEP_LATEST:
                THREAD_IDS.forget(thread)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - inherited
        """Return the version of a channel that follows, as the homes' savers count them."""
        import random

        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    async def _where(self, config: RunnableConfig) -> tuple[KnownThread, BaseCheckpointSaver[str]]:
        configurable = config["configurable"]
        user = str(configurable.get("langgraph_auth_user_id") or "")
        known = await THREAD_IDS.find(str(configurable["thread_id"]), user=user)
        return known, await self._opened(known.home)

    async def _opened(self, home: Path) -> BaseCheckpointSaver[str]:
        if home not in self._open:
            await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
            opened = checkpoints(home, state_types=STATE_TYPES)
            self._open[home] = await self._stack.enter_async_context(opened)
        return self._open[home]

    async def _of_all(
        self, conditions: dict[str, Any] | None, before: RunnableConfig | None, limit: int | None
    ) -> AsyncIterator[CheckpointTuple]:
        from heapq import nlargest

        tuples: dict[str, CheckpointTuple] = {}
        for user, home in (await asyncio.to_thread(user_homes)).items():
            saver = await self._opened(home)
            async for one in saver.alist(None, filter=conditions, before=before, limit=limit):
                name = server_id(user, _thread(one.config))
                tuples[f"{one.checkpoint['id']} {name}"] = _renamed(one, name)
        for key in nlargest(len(tuples) if limit is None else limit, tuples):
            yield tuples[key]


@asynccontextmanager
async def checkpointer() -> AsyncIterator[HomesSaver]:
    """Open the checkpoints for a server (``checkpointer.path`` of langgraph.json)."""
    async with AsyncExitStack() as stack:
        yield HomesSaver(stack)


def _thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _named(config: RunnableConfig, name: str, *, everywhere: bool = False) -> RunnableConfig:
    """Return an address with another name for the thread; what only the server uses of it is left out.

    Args:
        config: The address.
        name: The other name.
        everywhere: Whether an address without a namespace stands for all of them, not for the graph itself.
    """
    kept = {key: value for key, value in config["configurable"].items() if key.startswith("checkpoint_")}
    return {"configurable": ({} if everywhere else {"checkpoint_ns": ""}) | kept | {"thread_id": name}}


def _renamed(checkpoint: CheckpointTuple, name: str) -> CheckpointTuple:
    parent = checkpoint.parent_config
    return checkpoint._replace(
        config=_named(checkpoint.config, name), parent_config=None if parent is None else _named(parent, name)
    )
