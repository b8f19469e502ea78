"""LangGraph's saver in Postgres, for the threads of one home; imported only where Postgres is used."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_dumps
from psycopg_pool import AsyncConnectionPool

from snellen.memory.postgres.locks import check_held
from snellen.memory.postgres.server import PATIENCE_SECONDS, Server, entering, prepared, reaching
from snellen.memory.savers import DELETE, KEEP_LATEST, SynchronousMethods

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]

_ESCAPES: Final = re.compile(r"(?P<fit>\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\u(?:0000|d[89a-f][0-9a-f]{2})")
"""In JSON: an escaped backslash or a whole pair of surrogates, or else what text in Postgres cannot have."""

# Values lie apart from the checkpoints that name them; those that none names any more go, too.
_FORGETTING: Final = (
    (
        "DELETE FROM checkpoint_writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (SELECT thread_id, "
        "checkpoint_ns, checkpoint_id FROM checkpoints WHERE metadata->>'run_id' = ANY(%(runs)s))"
    ),
    "DELETE FROM checkpoints WHERE metadata->>'run_id' = ANY(%(runs)s)",
    (
        "DELETE FROM checkpoint_blobs AS value WHERE thread_id = ANY(%(threads)s) AND NOT EXISTS (SELECT 1 FROM "
        "checkpoints AS saved WHERE saved.thread_id = value.thread_id AND saved.checkpoint_ns = value.checkpoint_ns "
        "AND saved.checkpoint->'channel_versions'->>value.channel = value.version)"
    ),
)
_THREADS: Final = "SELECT DISTINCT thread_id FROM checkpoints WHERE metadata->>'run_id' = ANY(%(runs)s)"
_COPYING: Final = (
    (
        "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob) "
        "SELECT %(target)s, checkpoint_ns, channel, version, type, blob FROM checkpoint_blobs "
        "WHERE thread_id = %(source)s ON CONFLICT DO NOTHING"
    ),
    (
        "INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, "
        "type, blob) SELECT %(target)s, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob "
        "FROM checkpoint_writes WHERE thread_id = %(source)s ON CONFLICT DO NOTHING"
    ),
    (
        "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, "
        "metadata) SELECT %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata "
        "FROM checkpoints WHERE thread_id = %(source)s ON CONFLICT DO NOTHING"
    ),
)

_WRITES: Final = (
    "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob "
    "FROM checkpoint_writes WHERE thread_id = %s"
)

# What the pool says in the log about a server that is gone is told by the error that follows, in our own words.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


class FencedSaver(AsyncPostgresSaver, SynchronousMethods):
    """Saves nothing of a thread once this process has lost its hold on it: another may be running it by then."""

    def __init__(self, pool: Pool, schema: str, serde: JsonPlusSerializer) -> None:
        """Save by the connections of a pool.

        Args:
            pool: Opens connections that see one home's tables.
            schema: The name of these tables' schema.
            serde: Reads and writes values.
        """
        super().__init__(pool, serde=serde)
        self._schema = schema

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a state.

        Raises:
            MemoryTrouble: the hold on the thread was lost.
        """
        await check_held(self._schema, config["configurable"]["thread_id"])
        return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a step gave.

        Raises:
            MemoryTrouble: the hold on the thread was lost.
        """
        await check_held(self._schema, config["configurable"]["thread_id"])
        await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that runs saved, in all threads, and what their steps wrote."""
        runs: dict[str, Any] = {"runs": [str(one) for one in run_ids]}
        async with self._cursor() as cursor, cursor.connection.transaction():
            await cursor.execute(_THREADS, runs)
            runs["threads"] = [row["thread_id"] for row in await cursor.fetchall()]
            for statement in _FORGETTING:
                await cursor.execute(statement, runs)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread, and what its steps wrote, to another one."""
        both = {"source": str(source_thread_id), "target": str(target_thread_id)}
        async with self._cursor() as cursor, cursor.connection.transaction():
            for statement in _COPYING:
                await cursor.execute(statement, both)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = KEEP_LATEST) -> None:
        """Delete threads, or all but the latest checkpoint of each of their namespaces."""
        await super().aprune(thread_ids, strategy="delete" if strategy in DELETE else strategy)

    async def writes_of(self, thread: str) -> list[tuple[Any, ...]]:
        """Return what the steps of a thread gave, as the rows that ``copy_writes`` takes."""
        async with self._cursor() as cursor:
            await cursor.execute(_WRITES, [thread])
            return [tuple(row.values()) for row in await cursor.fetchall()]

    async def copy_writes(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Save what steps gave in another database."""
        async with self._cursor(pipeline=True) as cursor:
            await cursor.executemany(self.UPSERT_CHECKPOINT_WRITES_SQL, rows)


@asynccontextmanager
async def opened_saver(server: Server, folder: Path, serde: JsonPlusSerializer) -> AsyncIterator[FencedSaver]:
    """Open the checkpoints of a home.

    Args:
        server: Where they lie.
        folder: The memory's home.
        serde: Reads and writes values.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses, or the connection was lost.
    """
    schema = await asyncio.to_thread(prepared, server, folder)

    async def configure(connection: AsyncConnection[DictRow]) -> None:
        set_json_dumps(_dumps, connection)
        await connection.execute(entering(schema))

    with reaching(server):
        async with _pool(server, configure) as pool:
            yield FencedSaver(pool, schema, serde)


def _pool(server: Server, configure: Any) -> Pool:  # noqa: ANN401 - psycopg's callback
    pool = AsyncConnectionPool(
        server.address,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        # The saver uses one connection at a time. It is looked at before each use: a server may have been restarted.
        min_size=1,
        max_size=1,
        configure=configure,
        check=AsyncConnectionPool.check_connection,
        timeout=PATIENCE_SECONDS,
        reconnect_timeout=PATIENCE_SECONDS,
        open=False,
    )
    return cast("Pool", pool)


def _dumps(value: object) -> str:
    """Write JSON that Postgres takes: what is no text there (NUL, half a character) becomes U+FFFD."""
    return _ESCAPES.sub(lambda found: found["fit"] or r"\ufffd", json.dumps(value))
