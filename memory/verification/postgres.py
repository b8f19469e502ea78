"""The check of threads that lie in Postgres: they can still be read; nothing is changed there.

A server has checksums, replicas and backups of its own, and others may be using the tables: damage is told, and mended
by whoever looks after the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.postgres import PostgresSaver

from snellen.memory.checkpoints import UNREADABLE, serializer
from snellen.memory.postgres.server import Server, connected
from snellen.memory.verification.pictures import pictures_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig

    from snellen.memory.verification.findings import Verification

_STATES = "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints ORDER BY thread_id, checkpoint_id"


def verify_in_postgres(server: Server, folder: Path, found: Verification, *, state_types: Iterable[type] = ()) -> None:
    """Read every saved state of every thread of a home, adding to ``found`` what cannot be read.

    Args:
        server: Where they lie.
        folder: The memory's home.
        found: Takes the findings.
        state_types: The classes that may be read back from a checkpoint.

    Raises:
        MemoryTrouble: the server cannot be reached, or refuses.
    """
    with connected(server, folder) as connection:
        saver = PostgresSaver(connection, serde=serializer(state_types))
        states: dict[str, list[bool]] = {}
        for row in connection.execute(_STATES).fetchall():
            values = _values(saver, {"configurable": dict(row)})
            states.setdefault(row["thread_id"], []).append(values is not None)
            found.use(f"the thread {row['thread_id']}", set(pictures_in(values)))
    found.threads += len(states)
    for thread, whole in states.items():
        if not all(whole):
            said = f"{whole.count(False)} of its {len(whole)} saved states cannot be read"
            found.note("lost", f"thread {thread} in {server.place}", f"{said}: restore them from the server's backup")


def _values(saver: PostgresSaver, address: RunnableConfig) -> dict[str, Any] | None:
    """Return the values of a saved state; None where it cannot be read."""
    try:
        found = saver.get_tuple(address)
    except UNREADABLE:
        return None
    return {} if found is None else found.checkpoint["channel_values"]
