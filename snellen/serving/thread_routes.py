"""The threads of a user over HTTP: listed, and deleted."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from snellen.memory.checkpoints import thread_graph
from snellen.memory.thread_locks import BeingRun
from snellen.serving.limits import error_body
from snellen.threads import deletion
from snellen.threads.listing import thread_page

if TYPE_CHECKING:
    from starlette.requests import Request


def thread_routes() -> list[Route]:
    """Return the routes.

    - ``GET /threads``: the user's threads as JSON, the latest first (``?limit=``, 100; ``?page=``, 1), and ``of``, how
      many there are.
    - ``DELETE /threads/{id}``: deletes one with all that belongs to it alone, and returns the counts; 404 where there
      is none, 409 while it runs.

    They stand behind the guard (``snellen.serving``), which makes the user's home the home.
    """
    return [Route("/threads", _threads), Route("/threads/{thread}", _delete, methods=["DELETE"])]


async def _threads(request: Request) -> Response:
    most, page = (_number(request, name, usual) for name, usual in (("limit", 100), ("page", 1)))
    listed = await thread_page(limit=min(most, 1_000), page=max(page, 1))
    return JSONResponse(dataclasses.asdict(listed))


def _number(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else usual  # noqa: PLR2004 - digits


async def _delete(request: Request) -> Response:
    name = request.path_params["thread"]
    if await asyncio.to_thread(thread_graph, name) is None:
        return _refused(404, f"There is no thread {name[:80]!r}.")
    try:
        deleted = await deletion.delete([name])
    except BeingRun as error:
        return _refused(409, str(error))
    return JSONResponse(dataclasses.asdict(deleted))


def _refused(status: int, message: str) -> Response:
    return JSONResponse(error_body(message, "invalid_request_error"), status)
