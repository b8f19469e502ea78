"""Limits of requests: refusals, token buckets, slots for requests under way, and bounds of size and time."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from snellen.serving.settings import ServerSettings

_NETWORK_BITS: Final = 64
"""The network of one IPv6 customer, who has all addresses of it."""


class Refusal(Exception):  # noqa: N818 - what it is
    """The refusal of a request.

    Attributes:
        status: The HTTP status.
        limit: The short name of the rule that refused it, for logs, metrics and programs.
        message: One sentence for the user.
        headers: Headers of the answer.
    """

    def __init__(
        self, status: int, limit: str, message: str, *, retry_after: float = 0.0, headers: dict[str, str] | None = None
    ) -> None:
        """Refuse; ``retry_after`` says in how many seconds another try makes sense (0: not by waiting)."""
        super().__init__(message)
        self.status, self.limit, self.message = status, limit, message
        self.headers = dict(headers or {})
        if retry_after:
            self.headers["retry-after"] = str(math.ceil(retry_after))


def error_body(
    message: str, kind: str, *, param: str | None = None, code: str | None = None
) -> dict[str, dict[str, str | None]]:
    """Return the body of an error in the form that OpenAI's clients expect."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


async def send_refusal(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or the opening of a websocket, with a refusal, in the form that OpenAI's clients expect."""
    from starlette.responses import JSONResponse

    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.limit})
        return
    kind = "refused" if refusal.status < 500 else "server_error"  # noqa: PLR2004 - the first that is the server's
    body = error_body(refusal.message, kind, code=refusal.limit)
    answer = JSONResponse(body, status_code=refusal.status, headers=refusal.headers)
    await answer(scope, receive, send)


class TokenBuckets:
    """A token bucket for each key: in any span of time a key gets at most ``burst`` plus ``rate`` a second.

    Only the ``most`` keys that asked last are remembered; a forgotten one begins with a full bucket.
    """

    def __init__(
        self, *, rate: float, burst: int, most: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Fill each bucket by ``rate`` a second, up to ``burst``."""
        self._rate, self._burst, self._most, self._clock = rate, burst, most, clock
        self._levels: dict[str, tuple[float, float]] = {}

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._levels)

    def give_back(self, key: str) -> None:
        """Put back into the bucket of ``key`` what was taken from it just now."""
        if key in self._levels:
            level, since = self._levels[key]
            self._levels[key] = (min(float(self._burst), level + 1), since)

    def take(self, key: str) -> float:
        """Take one from the bucket of ``key``: 0.0, or the seconds until there is one again."""
        now = self._clock()
        level, since = self._levels.pop(key, (float(self._burst), now))
        level = min(float(self._burst), level + max(0.0, now - since) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        # Put back last: the first key of the dict is the one that asked longest ago.
        self._levels[key] = (level if wait else level - 1, now)
        if len(self._levels) > self._most:
            del self._levels[next(iter(self._levels))]
        return wait


class RequestSlots:
    """Slots for requests under way, of each user and altogether."""

    def __init__(self, *, each: int, total: int) -> None:
        """Make ``total`` slots, of which a user may take ``each``."""
        self._each, self._total = each, total
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, user: str) -> Iterator[None]:
        """Hold a slot for a user inside the block.

        Raises:
            Refusal: all are taken (503), or the user has as many as they may (429).
        """
        if self._taken.total() >= self._total:
            msg = "The server is busy; try again in a moment."
            raise Refusal(503, "requests_total", msg, retry_after=1.0)
        if self._taken[user] >= self._each:
            msg = f"Too many of your requests are under way (limit: {self._each}); wait until one of them ends."
            raise Refusal(429, "requests_each", msg, retry_after=1.0)
        self._taken[user] += 1
        try:
            yield
        finally:
            self._taken[user] -= 1
            if not self._taken[user]:
                del self._taken[user]


def address_key(host: str) -> str:
    """Return the key of a client's address: IPv4 as it is, of IPv6 the network of 64 bits."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _NETWORK_BITS), strict=False))


@dataclass
class RequestBounds:
    """Pure ASGI middleware that ends a request which exceeds its bounds: 413, 408, 504, or a closed connection."""

    app: ASGIApp
    settings: ServerSettings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request within its bounds; websockets have those of their library."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(self.settings, receive, send)
        try:
            exchange.check_announced(scope)
            async with asyncio.timeout(self.settings.request_seconds) as exchange.deadline:
                await self.app(scope, exchange.receive, exchange.send)
        except Refusal as refusal:
            exchange.refuse(refusal)
        except Exception:
            # The application may fail in any way on a body cut off or a time limit; the reason is known.
            if exchange.refusal is None and not exchange.is_late():
                raise
        if exchange.is_late():
            msg = f"The answer did not begin within {self.settings.request_seconds:g} seconds; ask for less at once."
            exchange.refuse(Refusal(504, "request_seconds", msg))
        if exchange.refusal is not None:
            scope.setdefault("state", {})["refused"] = exchange.refusal.limit
            if not exchange.begun:
                await send_refusal(exchange.refusal, scope, receive, send)


class _Exchange:
    """One request and its answer, as the application sees them."""

    def __init__(self, settings: ServerSettings, receive: Receive, send: Send) -> None:
        self._settings, self._receive, self._send = settings, receive, send
        self._bytes, self._complete = 0, False
        self._body_end: float | None = None
        self.begun = False
        self.refusal: Refusal | None = None
        self.deadline: asyncio.Timeout | None = None

    def refuse(self, refusal: Refusal) -> None:
        """Remember the first reason to refuse."""
        self.refusal = self.refusal or refusal

    def is_late(self) -> bool:
        """Tell whether the time was up before the answer began."""
        return self.deadline is not None and self.deadline.expired()

    def check_announced(self, scope: Scope) -> None:
        """Refuse a body that says it is too large before any of it is read."""
        for name, value in scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value[:20]) > self._settings.body_bytes):
                raise self._too_large()

    async def receive(self) -> Message:
        """Give the application the next part of the body, or news of the client's leaving."""
        if self.refusal is not None:
            raise self.refusal
        message = await (self._receive() if self._complete else self._part())
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._bytes > self._settings.body_bytes:
                self.refuse(self._too_large())
                raise self._too_large()
        return message

    async def _part(self) -> Message:
        now = asyncio.get_running_loop().time()
        self._body_end = self._body_end or now + self._settings.body_seconds
        try:
            async with asyncio.timeout_at(self._body_end):
                return await self._receive()
        except TimeoutError:
            msg = f"The body did not arrive within {self._settings.body_seconds:g} seconds."
            refusal = Refusal(408, "body_seconds", msg, headers={"connection": "close"})
            self.refuse(refusal)
            raise refusal from None

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on, unless the request has been refused meanwhile."""
        if not self.begun and (self.refusal is not None or self.is_late()):
            return
        if message["type"] == "http.response.start" and self.deadline is not None:
            self.begun = True
            # A stream may last; the time limit is for the beginning of an answer.
            self.deadline.reschedule(None)
        try:
            async with asyncio.timeout(self._settings.send_seconds):
                await self._send(message)
        except TimeoutError:
            msg = f"Nothing of the answer was read for {self._settings.send_seconds:g} seconds."
            raise Refusal(408, "send_seconds", msg) from None

    def _too_large(self) -> Refusal:
        msg = f"The request's body is larger than {self._settings.body_bytes:,} bytes; send smaller or fewer pictures."
        return Refusal(413, "body_bytes", msg, headers={"connection": "close"})
