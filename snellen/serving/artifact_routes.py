"""Pictures and reports over HTTP, each user's own: what Studio, the page and the endpoints link to."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from pydantic_core import from_json
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home
from snellen.reports import investigation_page, investigation_text
from snellen.runtime.resources import open_pictures
from snellen.serving.settings import ServerSettings
from snellen.serving.uploads import Uploads
from snellen.threads import chat, directory, investigate
from snellen.values import to_json

if TYPE_CHECKING:
    from starlette.requests import Request

    from snellen.threads.investigate import InvestigationResult

_FOREVER: Final = "private, max-age=31536000, immutable"
"""A picture is named by what it shows, so it never changes; it is kept by nobody but the browser of its user."""
_PLAIN_PAGE: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"
)
"""What a report needs: it carries its pictures, and a script that filters its table."""
_PICTURE: Final = re.compile(r"[0-9a-f]{64}")


def artifact_routes(settings: ServerSettings | None = None) -> list[Route]:
    """Return the routes.

    - ``GET /artifacts/{id}.png``: a stored picture of the user's.
    - ``POST /artifacts``: store the picture that the body is (a file, or JSON ``{"picture": "data:image/…"}``).
    - ``GET /reports/{id}``, ``.md``, ``.json``: what an investigation found.

    They stand behind the guard (``snellen.serving``), which makes the user's home the home.

    Args:
        settings: How large and how many pictures may be.
    """
    chosen = settings or ServerSettings()

    async def upload(request: Request) -> Response:
        return await _upload(request, chosen)

    return [
        Route("/artifacts/{picture}.png", _picture),
        Route("/artifacts", upload, methods=["POST"]),
        Route("/reports/{thread}.md", _report_text),
        Route("/reports/{thread}.json", _report_json),
        Route("/reports/{thread}", _report),
    ]


async def found_of(thread: str) -> InvestigationResult:
    """Return what an investigation, or the last one of a conversation, found.

    Raises:
        BadInput: There is none of that name.
    """
    graph, state = await directory.read_thread(thread)
    found = None
    if graph == "investigate":
        found = investigate.found_in(state)
    elif graph == "chat":
        found = chat.found_in_chat(state)
    if found is None:
        msg = f"The thread {thread[:80]!r} has found out nothing about models yet; `snellen reports` lists what has."
        raise BadInput(msg)
    return found


async def _picture(request: Request) -> Response:
    picture = request.path_params["picture"]
    if not _PICTURE.fullmatch(picture):
        return PlainTextResponse("There is no such picture.", 404)
    if request.headers.get("if-none-match") == f'"{picture}"':
        return Response(status_code=304)
    try:
        content = await asyncio.to_thread(lambda: open_pictures(home()).read(picture))
    except SnellenError:
        return PlainTextResponse("There is no such picture.", 404)
    return Response(content, media_type="image/png", headers={"cache-control": _FOREVER, "etag": f'"{picture}"'})


async def _upload(request: Request, settings: ServerSettings) -> Response:
    uploads = Uploads(open_pictures(await asyncio.to_thread(home)), settings)
    body = await request.body()
    if request.headers.get("content-type", "").startswith("application/json"):
        try:
            said = from_json(body)["picture"]
        except (ValueError, KeyError, TypeError) as error:
            msg = 'Send a picture file, or JSON {"picture": "data:image/png;base64,…"}.'
            raise BadInput(msg) from error
        return JSONResponse(to_json(await uploads.add_reference(str(said))), 201)
    return JSONResponse(to_json(await uploads.add_file(body)), 201)


async def _report(request: Request) -> Response:
    found = await _known(request)
    if found is None:
        return PlainTextResponse("There is no such report.", 404)
    page = await asyncio.to_thread(lambda: investigation_page.render(found, home()))
    return HTMLResponse(page, headers={"content-security-policy": _PLAIN_PAGE, "cache-control": "no-store"})


async def _report_text(request: Request) -> Response:
    found = await _known(request)
    if found is None:
        return PlainTextResponse("There is no such report.", 404)
    return PlainTextResponse(investigation_text.markdown(found), media_type="text/markdown; charset=utf-8")


async def _report_json(request: Request) -> Response:
    found = await _known(request)
    if found is None:
        return JSONResponse({"error": "There is no such report."}, 404)
    return Response(found.report.model_dump_json(indent=2), media_type="application/json")


async def _known(request: Request) -> InvestigationResult | None:
    try:
        return await found_of(request.path_params["thread"])
    except BadInput:
        return None
