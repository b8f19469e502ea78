"""Registration of threads that began on the command line or a page with LangGraph's server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from snellen.errors import SnellenError
from snellen.memory.home import using_home
from snellen.serving.studio.thread_ids import THREAD_IDS, KnownThread
from snellen.threads.events import requests_in
from snellen.threads.thread import has_ended, known_graph, reading_all
from snellen.threads.thread_types import THREAD_TYPES

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot
    from starlette.types import ASGIApp, Receive, Scope, Send

_LISTS: Final = frozenset({"/threads/search", "/threads/count"})
_ONE: Final = re.compile(r"^/threads/(?P<thread>[0-9a-f-]{36})(?:/|$)")


@dataclass
class ThreadRegistration:
    """Pure ASGI middleware that makes a user's threads known to the server before it looks for them.

    The server keeps of each thread whether it waits for a person, and with which request. Of threads that another
    process works on it is told that anew: inboxes search for threads that wait.
    """

    app: ASGIApp
    _registered: set[str] = field(default_factory=set)
    _settled: dict[str, str] = field(default_factory=dict)
    """The latest checkpoint of threads that had come to their end with it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Register the threads that a request is about, then pass it on."""
        if scope["type"] == "http" and (user := scope.get("state", {}).get("user")) is not None:
            match = _ONE.match(scope["path"])
            if match or scope["path"] in _LISTS:
                threads = [one for one in await THREAD_IDS.refresh() if one.user == user.name]
                await self._register([one for one in threads if not match or one.uuid == match["thread"]])
        await self.app(scope, receive, send)

    async def _register(self, several: Sequence[KnownThread]) -> None:
        for known in several:
            if known.uuid not in self._registered:
                await _make(known)
                self._registered.add(known.uuid)
        changed = [
            one for one in several if not THREAD_IDS.is_ours(one) and self._settled.get(one.uuid) != one.checkpoint
        ]
        if not changed:
            return
        async with reading_all(changed[0].home) as graphs:
            for known in changed:
                graph = graphs[known_graph(known.graph)]
                snapshot = await graph.aget_state({"configurable": {"thread_id": known.name}}, subgraphs=True)
                with using_home(known.home):
                    summary = await THREAD_TYPES[known_graph(known.graph)].summary(graph, known.name)
                await _update_status(known, snapshot, summary.reason)
                if has_ended(snapshot):
                    self._settled[known.uuid] = known.checkpoint


async def _make(known: KnownThread) -> None:
    """Enter a thread into the server's table directly; its API would require a token."""
    from langgraph_runtime.database import connect
    from langgraph_runtime.ops import Threads

    metadata: dict[str, Any] = {"graph_id": known_graph(known.graph), "name": known.name, "owner": known.user}
    async with connect() as connection:
        async for _ in await Threads.put(connection, UUID(known.uuid), metadata=metadata, if_exists="do_nothing"):
            pass


async def _update_status(known: KnownThread, snapshot: StateSnapshot, reason: str) -> None:
    """Enter the status of a thread, and the reason of a failure."""
    from langgraph_runtime.database import connect
    from langgraph_runtime.ops import Threads

    # "Interrupted" is what waits for a person; what was only stopped, or is worked on elsewhere, does not.
    waits = any(requests_in(snapshot))
    standing: Any = {
        "next": list(snapshot.next) if waits else [],
        "values": snapshot.values,
        "tasks": [{"id": one.id, "interrupts": list(one.interrupts) if waits else []} for one in snapshot.tasks],
    }
    async with connect() as connection:
        await Threads.set_status(connection, UUID(known.uuid), standing, SnellenError(reason) if reason else None)
