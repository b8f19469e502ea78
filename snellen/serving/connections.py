"""Connections, shared fairly by address; none waits for ever.

A client that opens many idle connections only harms itself: where there is no room, the longest-waiting connection of
the same address, or of the address with most, is closed. A request under way is never closed. A few connections beyond
the limits are kept for probes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from snellen.serving.guard import PROBES
from snellen.serving.limits import Refusal, address_key, send_refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from snellen.serving.settings import ServerSettings

_SPARE: Final = 16
"""Connections beyond a limit that only answer probes."""
_GRACE_SECONDS: Final = 0.05
"""Until an idle connection gives way: what it has sent meanwhile is read first."""
_SLACK: Final = 128
"""Connections beyond a limit at which there is no such grace."""

_key = lru_cache(maxsize=4_096)(address_key)


@dataclass(frozen=True)
class _Crowd:
    """Connections of which ``beyond`` are too many."""

    members: Sequence[Any]
    beyond: int


class SharedConnection(H11Protocol):
    """A connection that must send the head of each request in time, and be one of not too many of its address.

    uvicorn waits for ever for the first line of a request, and takes every connection.

    Attributes:
        limits: Of the server.
        waiting_since: When it began to wait for a request; None while one is under way.
    """

    limits: ClassVar[ServerSettings]
    waiting_since: float | None = None
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is a place."""
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if not self._has_place():
            transport.abort()
            return
        self._late = self.loop.call_later(self.limits.header_seconds, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Read on; once a head is whole, what was asked for is under way."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self.waiting_since = None
            self._arrived()
        elif self._late is None:
            self._late = self.loop.call_later(self.limits.header_seconds, self.transport.abort)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self.waiting_since = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._arrived()
        super().connection_lost(exc)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _has_place(self) -> bool:
        """Tell whether this connection may stay; where it is one too many, an idle one gives way a moment later."""
        crowd = self._crowd()
        if crowd is None:
            return True
        if (oldest := _longest_waiting(one for one in crowd.members if one is not self)) is None:
            self.app = _only_probes(self.app)
            self.ws_protocol_class = None
            return crowd.beyond <= _SPARE
        if crowd.beyond > _SLACK:
            oldest.transport.abort()
        else:
            self.loop.call_later(_GRACE_SECONDS, self._make_room)
        return True

    def _make_room(self) -> None:
        """Close the connection that has waited longest, if there are still too many."""
        crowd = self._crowd()
        if crowd is not None and (oldest := _longest_waiting(crowd.members)) is not None:
            oldest.transport.abort()

    def _crowd(self) -> _Crowd | None:
        """Return connections of which one must close: of this address, or of the one with most; None for none."""
        limits = self.limits
        everyone = [one for one in self.connections if not one.transport.is_closing()]
        own = [one for one in everyone if _address(one) == _address(self)]
        if len(own) > limits.connections_each and not _is_in(_host(self), limits.proxies):
            return _Crowd(own, len(own) - limits.connections_each)
        if len(everyone) > limits.connections:
            return _Crowd(_largest(everyone, limits.proxies), len(everyone) - limits.connections)
        return None


def connection_protocol(settings: ServerSettings) -> type[SharedConnection]:
    """Return the protocol of connections that keep ``connections``, ``connections_each`` and ``header_seconds``."""
    return type("LimitedConnection", (SharedConnection,), {"limits": settings})


def _largest(connections: Iterable[Any], proxies: Sequence[str]) -> list[Any]:
    """Return those connections of the address with most of them that wait; of proxies only where no other wait."""
    waiting = [one for one in connections if getattr(one, "waiting_since", None) is not None]
    waiting = [one for one in waiting if not _is_in(_host(one), proxies)] or waiting
    counts = Counter(map(_address, waiting))
    return [one for one in waiting if counts[_address(one)] == max(counts.values())]


def _longest_waiting(connections: Iterable[Any]) -> Any:  # noqa: ANN401 - a connection, or none
    # Those of websockets have no such time: they are under way.
    waiting = [one for one in connections if getattr(one, "waiting_since", None) is not None]
    return min(waiting, key=lambda one: one.waiting_since, default=None)


def _host(connection: Any) -> str:  # noqa: ANN401 - of HTTP, or of a websocket
    return str((connection.client or ("",))[0])


def _address(connection: Any) -> str:  # noqa: ANN401 - of HTTP, or of a websocket
    return str(_key(_host(connection)))


def _is_in(host: str, networks: Sequence[str]) -> bool:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return any(address in ip_network(one, strict=False) for one in networks)


def _only_probes(app: ASGIApp) -> ASGIApp:
    async def probed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBES:
            await app(scope, receive, send)
            return
        msg = "Too many connections are open; close some, or try again in a moment."
        refusal = Refusal(503, "connections", msg, retry_after=1.0, headers={"connection": "close"})
        await send_refusal(refusal, scope, receive, send)

    return probed
