"""Threads that were begun on the command line or a page are made known to LangGraph's server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from interfaces.studio.names import NAMES, Known
from interfaces.threads import known_graph

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_LISTS: Final = frozenset({"/threads/search", "/threads/count"})
_ONE: Final = re.compile(r"^/threads/(?P<thread>[0-9a-f-]{36})(?:/|$)")


@dataclass
class Introduced:
    """Pure ASGI middleware that makes a user's threads known to the server before it looks for them."""

    app: ASGIApp
    _told: set[str] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Introduce what a request is about, then pass it on."""
        if scope["type"] == "http" and (user := scope.get("state", {}).get("user")) is not None:
            wanted = _ONE.match(scope["path"])
            if wanted or scope["path"] in _LISTS:
                for known in await NAMES.refresh():
                    if known.user == user.name and known.uuid not in self._told:
                        if wanted and known.uuid != wanted["thread"]:
                            continue
                        self._told.add(known.uuid)
                        await _introduce(known)
        await self.app(scope, receive, send)


async def _introduce(known: Known) -> None:
    """Have the server make a thread of that UUID; from within nobody is asked who they are, so the owner is named."""
    from langgraph_sdk import get_client

    metadata: dict[str, Any] = {"graph_id": known_graph(known.graph), "name": known.name, "owner": known.user}
    async with get_client(url=None, headers={"host": "127.0.0.1"}) as client:
        await client.threads.create(thread_id=known.uuid, metadata=metadata, if_exists="do_nothing")
