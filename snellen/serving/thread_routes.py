"""The threads of a user over HTTP: listed, and deleted."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from snellen.memory.checkpoints import thread_ids
from snellen.memory.thread_locks import BeingRun
from snellen.serving.limits import error_body
from snellen.threads import deletion
from snellen.threads.listing import list_threads

if TYPE_CHECKING:
    from starlette.requests import Request


def thread_routes() -> list[Route]:
    """Return the routes.

    - ``GET /threads``: the user's threads as JSON, the latest first (``?limit=``, 100).
    - ``DELETE /threads/{id}``: deletes one with all that belongs to it alone, and returns the counts; 404 where there
      is none, 409 while it runs.

    They stand behind the guard (``snellen.serving``), which makes the user's home the home.
    """
    return [Route("/threads", _threads), Route("/threads/{thread}", _delete, methods=["DELETE"])]


async def _threads(request: Request) -> Response:
    limit = request.query_params.get("limit", "100")
    most = min(int(limit), 1_000) if limit.isdecimal() and len(limit) < 10 else 100  # noqa: PLR2004 - digits
    threads = await list_threads()
    return JSONResponse({"threads": [dataclasses.asdict(one) for one in threads[:most]], "of": len(threads)})


async def _delete(request: Request) -> Response:
    name = request.path_params["thread"]
    if name not in await asyncio.to_thread(thread_ids):
        return _refused(404, f"There is no thread {name[:80]!r}.")
    try:
        deleted = await deletion.delete([name])
    except BeingRun as error:
        return _refused(409, str(error))
    return JSONResponse(dataclasses.asdict(deleted))


def _refused(status: int, message: str) -> Response:
    return JSONResponse(error_body(message, "invalid_request_error"), status)
