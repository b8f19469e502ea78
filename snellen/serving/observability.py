"""The outermost layer: it logs and counts every answer, adds protective headers, and lets no exception out."""

from __future__ import annotations

import logging
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.serving.limits import Refusal, send_refusal
from snellen.serving.logs import FIELDS, during_request

if TYPE_CHECKING:
    from typing import Any

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from snellen.serving.metrics import Metrics

_LOG: Final = logging.getLogger("snellen.requests")
_ABORTED: Final = 499
"""The status that is counted where a client or the server's end cut an answer off before it began."""

_PAGE_POLICY: Final = (
    # Gradio's page configures itself by inline scripts and styles.
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
_DATA_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"
_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_KEPT: Final = ("text/css", "text/javascript", "application/javascript", "font/", "image/")
"""Kinds of files that browsers may keep; all else is told not to be."""


@dataclass
class RequestObserver:
    """Pure ASGI middleware that accounts for each request and lets no exception out."""

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, then log and count it."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        watched = _Watched(scope, send)
        scope.setdefault("state", {})["request"] = watched.request
        forget = during_request(watched.request)
        began = time.perf_counter()
        self.metrics.in_flight.inc()
        try:
            await self.app(scope, receive, watched.send)
        except Exception:  # noqa: BLE001 - the last door: whoever asked gets a sentence, the log the places
            await self._tell_surprise(watched, scope, receive)
        finally:
            self.metrics.in_flight.dec()
            self._account(watched, scope, time.perf_counter() - began)
            forget()

    async def _tell_surprise(self, watched: _Watched, scope: Scope, receive: Receive) -> None:
        _LOG.exception("a request failed")
        if not watched.begun:
            msg = f"An unexpected error occurred; the server's log has details under {watched.request}."
            await send_refusal(Refusal(500, "error", msg), scope, receive, watched.send)

    def _account(self, watched: _Watched, scope: Scope, seconds: float) -> None:
        state = scope["state"]
        if limit := state.get("refused"):
            self.metrics.refused(limit)
        method = scope.get("method", "WEBSOCKET")
        self.metrics.answered(
            route=watched.route, method=method, status=watched.status, seconds=seconds, size=watched.size
        )
        user = state.get("user")
        fields = {
            "user": user.name if user is not None else "",
            "method": method,
            "route": watched.route,
            "status": watched.status,
            "ms": round(seconds * 1000, 1),
            "bytes": watched.size,
        }
        _LOG.info("request", extra={FIELDS: fields | ({"refused": limit} if limit else {})})


class _Watched:
    """One request and its answer, as they are observed."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.request = secrets.token_hex(8)
        self.route = _template(scope)
        self.status, self.size, self.begun = _ABORTED, 0, False

    async def send(self, message: Message) -> None:
        """Note what an answer says, and add the headers that protect."""
        kind = message["type"]
        if kind in {"http.response.start", "websocket.http.response.start"}:
            self.begun, self.status = True, message["status"]
            message = {**message, "headers": _protected(message.get("headers", ()), self._scope, self.request)}
        elif kind == "websocket.accept":
            self.begun, self.status = True, 101
        elif kind == "websocket.close" and not self.begun:
            self.begun, self.status = True, 403
        elif kind.endswith("response.body"):
            self.size += len(message.get("body", b""))
        await self._send(message)


def _template(scope: Scope) -> str:
    """Return the template of the route that will serve a request: one of few, whatever the path says."""
    from starlette.routing import Match, Mount

    for route in scope["app"].routes:
        if route.matches(scope)[0] is not Match.NONE:
            path: str = getattr(route, "path", "")
            return f"{path}/…" if isinstance(route, Mount) else path
    return "(none)"


def _protected(headers: Any, scope: Scope, request: str) -> list[tuple[bytes, bytes]]:  # noqa: ANN401 - an iterable of pairs
    from starlette.datastructures import MutableHeaders

    kept = MutableHeaders(raw=list(headers))
    kind = kept.get("content-type", "")
    for name, value in _ALWAYS.items():
        kept.setdefault(name, value)
    kept.setdefault("content-security-policy", _PAGE_POLICY if kind.startswith("text/html") else _DATA_POLICY)
    if not kind.startswith(_KEPT):
        kept.setdefault("cache-control", "no-store")
    if scope.get("scheme") in {"https", "wss"}:
        kept.setdefault("strict-transport-security", "max-age=31536000")
    kept["x-request-id"] = request
    return kept.raw
