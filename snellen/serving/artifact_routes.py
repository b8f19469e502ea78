"""Pictures and reports of a user over HTTP; Studio, the page and the endpoints link to them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from pydantic_core import from_json
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from snellen.errors import BadInput, SnellenError
from snellen.memory.artifacts import is_picture_id
from snellen.memory.home import home
from snellen.reports import investigation_page, investigation_text
from snellen.runtime.resources import open_pictures
from snellen.serving.settings import ServerSettings
from snellen.serving.uploads import Uploads
from snellen.threads import chat, directory, investigate
from snellen.values import to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request

    from snellen.threads.investigate import InvestigationResult

_FOREVER: Final = "private, max-age=31536000, immutable"
"""A picture is named by its content, so it never changes; only its user's browser keeps it."""
_PLAIN_PAGE: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"
)
"""The policy of a report: its pictures and the script of its explorer are inside it."""


def artifact_routes(settings: ServerSettings | None = None) -> list[Route]:
    """Return the routes.

    - ``GET /artifacts/{id}.png``: a stored picture of the user's.
    - ``POST /artifacts``: store the picture that the body is (a file, or JSON ``{"picture": "data:image/…"}``).
    - ``GET /reports/{id}``, ``.md``, ``.json``: the report of an investigation.
    - ``GET /reports/{id}/explorer``: the explorer of its evidence alone, for a frame.

    They stand behind the guard (``snellen.serving``), which makes the user's home the home.

    Args:
        settings: The limits of uploads.
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
        Route("/reports/{thread}/explorer", _explorer),
    ]


async def found_of(thread: str) -> InvestigationResult:
    """Return the result of an investigation, or of the last one of a conversation.

    Raises:
        BadInput: There is none of that name.
    """
    graph, state = await directory.read_thread(thread)
    result = None
    if graph == "investigate":
        result = investigate.found_in(state)
    elif graph == "chat":
        result = chat.found_in_chat(state)
    if result is None:
        msg = f"The thread {thread[:80]!r} has no report yet; `snellen reports` lists the threads that have one."
        raise BadInput(msg)
    return result


async def _picture(request: Request) -> Response:
    picture = request.path_params["picture"]
    if not is_picture_id(picture):
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
            reference = from_json(body)["picture"]
        except (ValueError, KeyError, TypeError) as error:
            msg = 'Send a picture file, or JSON {"picture": "data:image/png;base64,…"}.'
            raise BadInput(msg) from error
        return JSONResponse(to_json(await uploads.add_reference(str(reference))), 201)
    return JSONResponse(to_json(await uploads.add_file(body)), 201)


async def _report(request: Request) -> Response:
    return await _page(request, investigation_page.render)


async def _explorer(request: Request) -> Response:
    return await _page(request, investigation_page.render_explorer)


async def _page(request: Request, render: Callable[[InvestigationResult, Path], str]) -> Response:
    result = await _known(request)
    if result is None:
        return PlainTextResponse("There is no such report.", 404)
    page = await asyncio.to_thread(lambda: render(result, home()))
    return HTMLResponse(page, headers={"content-security-policy": _PLAIN_PAGE, "cache-control": "no-store"})


async def _report_text(request: Request) -> Response:
    result = await _known(request)
    if result is None:
        return PlainTextResponse("There is no such report.", 404)
    return PlainTextResponse(investigation_text.markdown(result), media_type="text/markdown; charset=utf-8")


async def _report_json(request: Request) -> Response:
    result = await _known(request)
    if result is None:
        return JSONResponse({"error": "There is no such report."}, 404)
    return Response(result.report.model_dump_json(indent=2), media_type="application/json")


async def _known(request: Request) -> InvestigationResult | None:
    try:
        return await found_of(request.path_params["thread"])
    except BadInput:
        return None
