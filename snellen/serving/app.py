"""The application of a server: routes and mounts behind one guard, with limits, logs, metrics and a graceful end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home_folder
from snellen.serving.credentials import Sessions
from snellen.serving.guard import HEALTH, METRICS, READY, Gate, Guard
from snellen.serving.health import Check, Readiness, usual_checks
from snellen.serving.limits import RequestBounds, error_body
from snellen.serving.login import login_routes
from snellen.serving.metrics import Metrics
from snellen.serving.observability import RequestObserver
from snellen.serving.settings import ServerSettings
from snellen.serving.users import OWNER, Tokens, User
from snellen.serving.warm_up import Warming
from snellen.version import installed_version

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

Stop = Callable[[float], Awaitable[None]]
"""Saves the work under way; gets the seconds that it may take."""
Background = Callable[[], Coroutine[Any, Any, None]]
"""Runs beside the server until cancelled."""

_LOG: Final = logging.getLogger(__name__)


@dataclass
class Serving:
    """The parts of an application made by ``create_app``: ``app.state.serving``.

    Attributes:
        settings: Its limits.
        tokens: The tokens of its users.
        metrics: Its metrics; ``metrics.watch_jobs`` adds those of jobs.
        gate: Closed from the moment that the server is told to stop.
        on_stop: Saves the work under way.
    """

    settings: ServerSettings
    tokens: Tokens
    metrics: Metrics
    gate: Gate = field(default_factory=Gate)
    on_stop: Stop | None = None
    _stopping: asyncio.Task[None] | None = None

    async def stop(self) -> None:
        """Let no new work in, and have the work under way saved, within ``settings.stop_seconds``; once."""
        self.gate.closed = True
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._saved())
        await asyncio.shield(self._stopping)

    async def _saved(self) -> None:
        if self.on_stop is None:
            return
        try:
            async with asyncio.timeout(self.settings.stop_seconds):
                await self.on_stop(self.settings.stop_seconds)
        except TimeoutError:
            _LOG.warning("not all work was saved within %g seconds", self.settings.stop_seconds)
        except Exception:  # noqa: BLE001 - the server ends nevertheless, and lets go of what it holds
            _LOG.exception("work under way could not be saved")


def create_app(
    settings: ServerSettings | None = None,
    *,
    routes: Sequence[BaseRoute] = (),
    mounts: Sequence[Mount] = (),
    on_stop: Stop | None = None,
    tokens: Tokens | None = None,
    checks: Mapping[str, Check] | None = None,
    background: Sequence[Background] = (),
    warming: Warming | None = None,
) -> Starlette:
    """Return an application that serves ``routes`` and ``mounts`` to its users.

    Beside them it serves ``/health``, ``/ready``, ``/metrics``, ``/login`` and ``/logout``. A handler finds its
    ``User`` as ``request.state.user``, and that user's home is the home while it runs.

    Args:
        settings: Where it will listen, and its limits.
        routes: Its routes.
        mounts: Mounted applications; the lifespans of Starlette's (and FastAPI's) run within its own.
        on_stop: Saves the work under way; gets the seconds that it may take, and is cancelled after them.
        tokens: The tokens of its users; None reads those of the home.
        checks: The checks of ``/ready``; None takes the home and its checkpoints.
        background: Coroutines that run as long as it serves, until cancelled.
        warming: Loads models from the start on; until they are loaded, ``/ready`` says no.
    """
    settings = settings or ServerSettings()
    tokens = tokens or Tokens(home_folder())
    serving = Serving(settings, tokens, Metrics(version=installed_version()), on_stop=on_stop)
    sessions = Sessions(settings.session_seconds)
    readiness = Readiness(usual_checks() if checks is None else checks)
    app = Starlette(
        routes=[*_own_routes(serving, readiness, warming), *login_routes(tokens, sessions), *routes, *mounts],
        middleware=_middleware(serving, sessions),
        exception_handlers={SnellenError: _tell_error},
        lifespan=_lifespan(serving, readiness, mounts, warming, background),
    )
    app.state.serving = serving
    return app


def _middleware(serving: Serving, sessions: Sessions) -> list[Middleware]:
    settings = serving.settings
    pages = Middleware(
        CORSMiddleware,
        allow_origins=settings.origins,
        allow_methods=["*"],
        allow_headers=["authorization", "content-type"],
    )
    return [
        Middleware(RequestObserver, metrics=serving.metrics),
        *([pages] if settings.origins else []),
        Middleware(Guard, settings=settings, tokens=serving.tokens, sessions=sessions, gate=serving.gate),
        Middleware(RequestBounds, settings=settings),
    ]


def _own_routes(serving: Serving, readiness: Readiness, warming: Warming | None) -> list[Route]:
    async def health(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def ready(_: Request) -> Response:
        if serving.gate.closed:
            return _readiness(["stopping"], "stopping")
        failing = await readiness.failing()
        if warming is None or warming.state == "loaded":
            return _readiness(failing, "not ready" if failing else "ready")
        failing = list(dict.fromkeys([*failing, "models"]))
        return _readiness(failing, "loading models" if warming.state == "loading" else "not ready", warming.reason)

    async def metrics(_: Request) -> Response:
        content, kind = serving.metrics.page()
        return Response(content, media_type=kind)

    return [Route(HEALTH, health), Route(READY, ready), Route(METRICS, metrics)]


def _readiness(failing: list[str], status: str, reason: str = "") -> Response:
    body = {"ready": not failing, "failing": failing, "status": status} | ({"reason": reason} if reason else {})
    return JSONResponse(body, 503 if failing else 200)


def _lifespan(
    serving: Serving,
    readiness: Readiness,
    mounts: Sequence[Mount],
    warming: Warming | None,
    background: Sequence[Background],
) -> Callable[[Starlette], Any]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        beside = [asyncio.create_task(each()) for each in (serving.metrics.watch_loop, *background)]
        if warming is not None:
            warming.begin()
        try:
            async with AsyncExitStack() as mounted:
                for mount in mounts:
                    # Starlette begins and ends no application that is mounted on another.
                    if isinstance(mount.app, Starlette):
                        await mounted.enter_async_context(mount.app.router.lifespan_context(mount.app))
                yield
                await serving.stop()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.wait(beside)
            readiness.close()
            if warming is not None:
                warming.end()

    return lifespan


async def _tell_error(request: Request, error: Exception) -> Response:
    """Return an error that a user can act on; only the owner is shown paths of this machine."""
    if isinstance(error, BadInput):
        return _error(400, str(error))
    _LOG.exception("a request failed")
    user: User | None = request.state.user
    is_owner = user is not None and user.name == OWNER
    return _error(500, str(error) if is_owner else "The server cannot do this now; its log has the reason.")


def _error(status: int, message: str) -> Response:
    kind = "invalid_request_error" if status == 400 else "server_error"  # noqa: PLR2004 - the status itself
    return JSONResponse(error_body(message, kind), status)
