"""Middleware around Gradio: an uploaded file is its uploader's alone, and unused parts of its API are closed."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from pydantic_core import from_json
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_KEPT: Final = 10_000
"""Uploads that are remembered; each is read, stored and deleted as soon as its message is sent."""
_API: Final = "/gradio_api/"
_FILE: Final = re.compile(r".*/gradio_api/file=(?P<path>.+)", re.DOTALL)
_USED: Final = re.compile(
    r".*/gradio_api/(?:upload|upload_progress|queue/(?:join|data|status)|cancel|reset|heartbeat/[\w-]+|app_id|startup-events"
    r"|run/predict)/?"
)
"""The parts of Gradio's interface that the page uses."""

_POLICY: Final = (
    # Gradio configures its page by inline scripts, and makes functions of the texts in its own components.
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)


@dataclass
class GradioMiddleware:
    """Pure ASGI middleware around Gradio.

    Gradio itself serves any file of its cache to anyone who knows its name, and takes any path in there as an upload.
    """

    app: ASGIApp
    _known: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _API not in scope["path"]:
            await self.app(scope, receive, _with_headers(send, lasting="/assets/" in scope["path"]))
            return
        shown = _FILE.fullmatch(scope["path"])
        if shown is not None and (_user(scope), unquote(shown["path"])) not in self._known:
            await PlainTextResponse("There is no such file.", 404)(scope, receive, send)
        elif shown is None and _USED.fullmatch(scope["path"]) is None:
            await PlainTextResponse("Not found.", 404)(scope, receive, send)
        elif scope["path"].rstrip("/").endswith("/upload"):
            await self.app(scope, receive, _UploadRecorder(self, scope, send))
        else:
            await self.app(scope, receive, send)

    def note(self, user: str, paths: Any) -> None:  # noqa: ANN401 - what Gradio answered
        """Remember whose files these are."""
        for path in paths if isinstance(paths, list) else []:
            self._known[user, str(path)] = None
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def is_known(self, user: str, path: str) -> bool:
        """Tell whether a user has uploaded a file."""
        return (user, path) in self._known


class _UploadRecorder:
    """Records the files named in the answer to an upload."""

    def __init__(self, uploads: GradioMiddleware, scope: Scope, send: Send) -> None:
        self._uploads, self._user, self._send = uploads, _user(scope), send
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                self._note()
        await self._send(message)

    def _note(self) -> None:
        try:
            self._uploads.note(self._user, from_json(self._body))
        except ValueError:
            return


def _with_headers(send: Send, *, lasting: bool) -> Send:
    """Add what pages may do to pages, and how long they last to files whose names say what is in them.

    A page consists of a hundred such files: asked for at each reload, they would use up what a user may ask for.
    """
    from starlette.datastructures import MutableHeaders

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type", "").startswith("text/html"):
                headers["content-security-policy"] = _POLICY
            elif lasting and message["status"] == 200:  # noqa: PLR2004 - the status itself
                headers["cache-control"] = "private, max-age=31536000, immutable"
        await send(message)

    return sent


def _user(scope: Scope) -> str:
    user = scope.get("state", {}).get("user")
    return "" if user is None else str(user.name)
