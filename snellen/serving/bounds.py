"""What one request may take: the size and time of its body, the time until its answer begins, a reader that reads."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.serving.refusals import Refusal, tell

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from snellen.serving.settings import ServerSettings


@dataclass
class Bounded:
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
            # Whatever the application made of a body that was cut off, or of its time being up, the reason is known.
            if exchange.refusal is None and not exchange.is_late():
                raise
        if exchange.is_late():
            msg = f"The answer did not begin within {self.settings.request_seconds:g} seconds; ask for less at once."
            exchange.refuse(Refusal(504, "request_seconds", msg))
        if exchange.refusal is not None:
            scope.setdefault("state", {})["refused"] = exchange.refusal.limit
            if not exchange.begun:
                await tell(exchange.refusal, scope, receive, send)


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
