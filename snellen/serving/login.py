"""The login page: a browser sends a token once, and gets a session cookie."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from snellen.serving.credentials import COOKIE, Sessions
from snellen.serving.guard import LOGIN

if TYPE_CHECKING:
    from starlette.requests import Request

    from snellen.serving.users import Tokens

LOGOUT: Final = "/logout"
_LONGEST: Final = 4096
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Snellen: log in</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 15vh auto; padding: 0 1rem; }}
label, input, button {{ display: block; width: 100%; box-sizing: border-box; font: inherit; margin: .5rem 0; }}
input, button {{ padding: .5rem; }}
[role=alert] {{ color: #a40000; }}
</style>
<h1>Snellen</h1>
{trouble}
<form method="post" action="{action}">
<label for="token">Your token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<input type="hidden" name="next" value="{there}">
<button>Log in</button>
</form>
<p>The owner of this server makes tokens with <code>snellen tokens add NAME</code>.</p>
</html>
"""


def login_routes(tokens: Tokens, sessions: Sessions) -> list[Route]:
    """Return the routes by which browsers log in and out."""

    async def show(request: Request) -> Response:
        there = _local(request.query_params.get("next", "/"))
        return RedirectResponse(there, 303) if request.state.user is not None else _form(there)

    async def log_in(request: Request) -> Response:
        form = parse_qs((await _body(request)).decode(errors="replace"), max_num_fields=8)
        there = _local(form.get("next", ["/"])[0])
        token = tokens.find(form.get("token", [""])[0].strip())
        if token is None:
            return _form(there, "This token is not valid here: it may be mistyped or revoked.", status=401)
        answer = RedirectResponse(there, 303)
        answer.set_cookie(
            COOKIE, sessions.begin(token), max_age=sessions.seconds, httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return answer

    async def log_out(_: Request) -> Response:
        answer = RedirectResponse(LOGIN, 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    return [
        Route(LOGIN, show, methods=["GET"]),
        Route(LOGIN, log_in, methods=["POST"]),
        Route(LOGOUT, log_out, methods=["POST"]),
    ]


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > _LONGEST:
            return b""
    return bytes(content)


def _form(there: str, trouble: str = "", *, status: int = 200) -> HTMLResponse:
    alert = f'<p role="alert">{html.escape(trouble)}</p>' if trouble else ""
    page = _PAGE.format(trouble=alert, action=LOGIN, there=html.escape(there, quote=True))
    return HTMLResponse(page, status)


def _local(path: str) -> str:
    """Return a path of this server; browsers read two slashes, either way, as the beginning of another's address."""
    if not path.startswith("/") or path[1:2] in {"/", "\\"} or not path.isprintable() or "\\" in path:
        return "/"
    return path
