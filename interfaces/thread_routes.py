"""The threads of a user over HTTP: listed, and read."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from interfaces import directory

if TYPE_CHECKING:
    from starlette.requests import Request


def thread_routes() -> list[Route]:
    """Return the routes: ``GET /threads``, the user's threads as JSON, the latest first (``?limit=``, 100).

    They stand behind the guard (``interfaces.serving``), which makes the user's home the home.
    """
    return [Route("/threads", _threads)]


async def _threads(request: Request) -> Response:
    said = request.query_params.get("limit", "100")
    most = min(int(said), 1_000) if said.isdecimal() and len(said) < 10 else 100  # noqa: PLR2004 - digits
    found = await directory.list_threads()
    return JSONResponse({"threads": [dataclasses.asdict(one) for one in found[:most]], "of": len(found)})
