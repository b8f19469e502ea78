"""How a request is refused: a status, one sentence, and which limit it was."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class Refusal(Exception):  # noqa: N818 - what it is
    """The server does not do what a request asks for.

    Attributes:
        status: The HTTP status.
        limit: Which rule refused it: a short name, for logs, metrics and programs.
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


async def tell(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or the opening of a websocket, with a refusal, in the form that OpenAI's clients expect."""
    from starlette.responses import JSONResponse

    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.limit})
        return
    kind = "refused" if refusal.status < 500 else "server_error"  # noqa: PLR2004 - the first that is the server's
    body = {"error": {"message": refusal.message, "type": kind, "param": None, "code": refusal.limit}}
    answer = JSONResponse(body, status_code=refusal.status, headers=refusal.headers)
    await answer(scope, receive, send)
