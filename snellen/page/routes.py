"""Downloads of the page: tables of trials, and the memory as one archive."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from snellen.errors import BadInput
from snellen.memory.archives import export_memory
from snellen.memory.home import home
from snellen.memory.prompts import PromptPool
from snellen.reports import investigation_files
from snellen.serving.artifact_routes import found_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from snellen.threads.investigate import InvestigationResult

_ARCHIVE: Final = "snellen-memory.zip"


def page_routes() -> list[Route]:
    """Return the routes; they stand behind the guard, which makes the user's home the home.

    - ``GET /page/trials/{thread}.jsonl``: every trial of an investigation.
    - ``GET /page/memory.zip``: what ``snellen memory export`` writes.
    """
    return [Route("/page/trials/{thread}.jsonl", _trials), Route("/page/memory.zip", _memory)]


async def _trials(request: Request) -> Response:
    try:
        result = await found_of(request.path_params["thread"])
    except BadInput:
        return PlainTextResponse("There is no such report.", 404)
    return await _file("trials.jsonl", lambda place: _write_trials(result, place), "application/jsonl")


async def _memory(_: Request) -> Response:
    return await _file(_ARCHIVE, lambda place: export_memory(PromptPool(home()), place), "application/zip")


def _write_trials(result: InvestigationResult, place: Path) -> None:
    investigation_files.write_trials(result, home(), place)


async def _file(name: str, write: Callable[[Path], object], kind: str) -> Response:
    """Write a file on a worker thread, send it, and delete it."""
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="snellen-")
    place = Path(folder.name) / name
    try:
        await asyncio.to_thread(write, place)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(place, media_type=kind, filename=name, background=BackgroundTask(folder.cleanup))
