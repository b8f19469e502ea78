"""Savers of a home with all of LangGraph's interface, beyond reading and writing.

Threads can be copied and pruned, and what single runs saved can be deleted. All of it can be called synchronously, too.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

import ormsgpack
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from snellen.memory.background_loop import blocking, submit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Coroutine, Iterator, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple

Result = TypeVar("Result")

KEEP_LATEST: Final = "keep_latest"
DELETE: Final = frozenset({"delete", "delete_all"})
"""How to prune: the interface says ``delete``, LangGraph's server says ``delete_all``."""
# Up to version 0.1 the states were classes of the top-level package ``graphs``; their names are in its checkpoints.
_MOVED_MODULE: Final = (ormsgpack.packb("graphs.states"), ormsgpack.packb("snellen.graphs.states"))

_TABLES: Final = ("writes", "checkpoints")
# A damaged row has no run, and must not keep the others from being deleted.
_WRITES: Final = (
    "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value FROM writes "
    "WHERE thread_id = ?"
)
_WRITING: Final = (
    "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, "
    "value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_DELETED: Final = (
    "DELETE FROM {table} WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (SELECT thread_id, checkpoint_ns, "
    "checkpoint_id FROM checkpoints WHERE CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN "
    "json_extract(CAST(metadata AS TEXT), '$.run_id') END IN (SELECT value FROM json_each(?)))"
)
_PRUNED: Final = (
    "DELETE FROM {table} WHERE thread_id = ? AND (checkpoint_ns, checkpoint_id) NOT IN "
    "(SELECT checkpoint_ns, MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ? GROUP BY checkpoint_ns)"
)
_WITH_DELTAS: Final = (
    "SELECT 1 FROM checkpoints WHERE thread_id = ? AND "
    "instr(CAST(metadata AS TEXT), '\"counters_since_delta_snapshot\"')"
)
_COPIED: Final = (
    (
        "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
        "checkpoint, metadata) SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, "
        "metadata FROM checkpoints WHERE thread_id = ?"
    ),
    (
        "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, "
        "type, value) SELECT ?, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value "
        "FROM writes WHERE thread_id = ?"
    ),
)


def checked_strategy(strategy: str) -> bool:
    """Return whether pruning keeps the latest checkpoints.

    Raises:
        ValueError: There is no such strategy.
    """
    if strategy != KEEP_LATEST and strategy not in DELETE:
        msg = f"There is no way to prune called {strategy!r}: it is {KEEP_LATEST!r} or 'delete'."
        raise ValueError(msg)
    return strategy == KEEP_LATEST


class StateSerializer(JsonPlusSerializer):
    """LangGraph's serializer, which also revives the states that earlier versions wrote."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:  # noqa: ANN401 - inherited
        """Return the object that was written."""
        kind, content = data
        if kind != "msgpack":
            return super().loads_typed(data)
        return ormsgpack.unpackb(content, ext_hook=self._revived, option=ormsgpack.OPT_NON_STR_KEYS)

    def _revived(self, code: int, content: bytes) -> Any:  # noqa: ANN401 - as its type
        # The first byte begins the array whose first item is the module of the class.
        old, new = _MOVED_MODULE
        if content[1:].startswith(old):
            content = content[:1] + new + content[1 + len(old) :]
        return self._unpack_ext_hook(code, content)


class SynchronousMethods(BaseCheckpointSaver[str]):
    """The synchronous half of a saver: each method waits for its asynchronous twin."""

    loop: asyncio.AbstractEventLoop
    """The loop that the saver was opened on."""

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do work on the saver's loop, and wait for it on another thread.

        Raises:
            RuntimeError: It is the caller's own loop.
        """
        try:
            here = asyncio.get_running_loop() is self.loop
        except RuntimeError:
            here = False
        if here:
            work.close()
            msg = "This saver belongs to the running loop: await its methods, or open it with `blocking_checkpoints`."
            raise RuntimeError(msg)
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, the latest where none is named."""
        return self._wait(self.aget_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - inherited
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the latest first."""
        yield from self._wait(_all(self.alist(config, filter=filter, before=before, limit=limit)))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint."""
        return self._wait(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a task wrote before its step is over."""
        self._wait(self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread."""
        self._wait(self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what runs saved."""
        self._wait(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread."""
        self._wait(self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = KEEP_LATEST) -> None:
        """Delete threads, or all but the latest checkpoint of each of their namespaces."""
        self._wait(self.aprune(thread_ids, strategy=strategy))


class HomeSaver(AsyncSqliteSaver, SynchronousMethods):
    """LangGraph's saver in SQLite, with the whole interface."""

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that runs saved, in all threads, and what their steps wrote."""
        runs = json.dumps([str(one) for one in run_ids])
        await self._change(*((_DELETED.format(table=table), (runs,)) for table in _TABLES))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread, and what its steps wrote, to another one."""
        both = (str(target_thread_id), str(source_thread_id))
        await self._change(*((statement, both) for statement in _COPIED))

    async def writes_of(self, thread: str) -> list[tuple[Any, ...]]:
        """Return what the steps of a thread gave, as the rows that ``copy_writes`` takes."""
        await self.setup()
        async with self.lock, self.conn.execute(_WRITES, [thread]) as found:
            return [tuple(row) for row in await found.fetchall()]

    async def copy_writes(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Save what steps gave in another database."""
        await self._change(*((_WRITING, row) for row in rows))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = KEEP_LATEST) -> None:
        """Delete threads, or all but the latest checkpoint of each of their namespaces.

        Raises:
            NotImplementedError: A thread has delta channels, whose values are spread over its checkpoints.
            ValueError: There is no such strategy.
        """
        keep = checked_strategy(strategy)
        for thread in map(str, thread_ids):
            if not keep:
                await self.adelete_thread(thread)
                continue
            async with self.lock, self.conn.execute(_WITH_DELTAS, (thread,)) as rows:
                if await rows.fetchone():
                    msg = f"The thread {thread!r} has delta channels, which need all of its checkpoints."
                    raise NotImplementedError(msg)
            await self._change(*((_PRUNED.format(table=table), (thread, thread)) for table in _TABLES))

    async def _change(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Do all or nothing."""
        await self.setup()
        async with self.lock:
            try:
                for statement, values in statements:
                    await self.conn.execute(statement, values)
            except BaseException:
                await self.conn.rollback()
                raise
            await self.conn.commit()


class BlockingSaver(SynchronousMethods):
    """A saver that can be called from any thread, with or without a running loop: it works on the background loop.

    Args:
        saver: Opened on the background loop.
    """

    def __init__(self, saver: BaseCheckpointSaver[str]) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, the latest where none is named."""
        return await asyncio.wrap_future(submit(self._saver.aget_tuple(config)))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - inherited
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, the latest first."""
        listing = _all(self._saver.alist(config, filter=filter, before=before, limit=limit))
        for one in await asyncio.wrap_future(submit(listing)):
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint."""
        return await asyncio.wrap_future(submit(self._saver.aput(config, checkpoint, metadata, new_versions)))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a task wrote before its step is over."""
        await asyncio.wrap_future(submit(self._saver.aput_writes(config, writes, task_id, task_path)))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread."""
        await asyncio.wrap_future(submit(self._saver.adelete_thread(thread_id)))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what runs saved."""
        await asyncio.wrap_future(submit(self._saver.adelete_for_runs(run_ids)))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread."""
        await asyncio.wrap_future(submit(self._saver.acopy_thread(source_thread_id, target_thread_id)))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = KEEP_LATEST) -> None:
        """Delete threads, or all but the latest checkpoint of each of their namespaces."""
        await asyncio.wrap_future(submit(self._saver.aprune(thread_ids, strategy=strategy)))

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return blocking(work)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[str]:
        """Return one that brings back the classes of a graph, too: graphs ask for it when they are compiled."""
        return BlockingSaver(self._saver.with_allowlist(extra_allowlist))

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the version of a channel that follows."""
        return self._saver.get_next_version(current, channel)


async def _all(checkpoints: AsyncIterator[CheckpointTuple]) -> list[CheckpointTuple]:
    return [one async for one in checkpoints]
