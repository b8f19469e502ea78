"""The loop of a server: an application runs until it is told to stop, then its work is saved."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from snellen.errors import BadInput
from snellen.runtime.running import Workers
from snellen.serving.connections import connection_protocol
from snellen.serving.users import check_listening

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from snellen.serving.app import Serving
    from snellen.serving.settings import ServerSettings

_DRAIN_SECONDS: Final = 1
"""How long answers under way may go on once their work has been saved."""
_LEAVE_SECONDS: Final = 0.5
_BACKLOG: Final = 256
_WORKERS: Final = "snellen-serving"
"""What the names of all worker threads begin with that may hang."""


def serve(app: Starlette, *, say: Callable[[str], None] = print) -> None:
    """Serve an application made by ``create_app``, where its settings say, until SIGTERM or Ctrl-C.

    Then ``/ready`` says no, new work is refused (503), work under way is saved, and the call returns. Closing
    ``app.state.serving.gate`` does the same; a second Ctrl-C waits for nothing. Worker threads that still compute then
    end with the process, at once: what they would have saved is done again when their work is resumed.

    Args:
        app: The application.
        say: Told one line: where the server listens.

    Raises:
        BadInput: the address or port cannot be listened on, or nobody has a token and others could reach it.
    """
    serving: Serving = app.state.serving
    check_listening(serving.settings.host, serving.tokens)
    listening = listener(serving.settings.host, serving.settings.port)
    server = _Server(_config(app, serving.settings), serving, say)
    workers = Workers(thread_name_prefix=_WORKERS)
    with listening, asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.get_loop().set_default_executor(workers)
        runner.run(server.serve(sockets=[listening]))
        workers.abandoned = True
    if threading.current_thread() is threading.main_thread():
        _leave_threads()


class _Server(uvicorn.Server):
    """uvicorn's server, which has the work saved before it hangs up, and ends with status 0."""

    def __init__(self, config: uvicorn.Config, serving: Serving, say: Callable[[str], None]) -> None:
        super().__init__(config)
        self._serving, self._say = serving, say

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._say(f"Snellen listens on {_url(sockets[0])}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - inherited
        # uvicorn would also raise the signal again in the end, and the process would die of it.
        self.force_exit = self._serving.gate.closed and sig == signal.SIGINT
        self._serving.gate.closed = True

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._serving.gate.closed

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # The door stays open meanwhile, to say that the server is stopping.
        saving = asyncio.create_task(self._serving.stop())
        while not saving.done() and not self.force_exit:
            await asyncio.wait({saving}, timeout=0.1)
        # Pages that are still open are hung up on; uvicorn would log that as an error.
        log = logging.getLogger("uvicorn.error")
        level = log.level
        log.setLevel(logging.CRITICAL)
        try:
            await super().shutdown(sockets)
        finally:
            log.setLevel(level)


def _config(app: Starlette, settings: ServerSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=connection_protocol(settings),
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        ws_max_size=settings.body_bytes,
        timeout_keep_alive=max(1, round(settings.header_seconds)),
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )


def listener(host: str, port: int) -> socket.socket:
    """Listen on an address; 0 takes a port that is free.

    Raises:
        BadInput: It cannot be listened on.
    """
    place = f"{host[:80]}:{port}"
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        # The socket module adds where it was to what the system says.
        reason = str(getattr(error, "strerror", None) or error).partition(" (")[0]
        msg = f"The server cannot listen on {place} ({reason}); take another --port, or 0 for any that is free."
        raise BadInput(msg) from error
    # What is accepted inherits it. asyncio sets it only for sockets that were made with TCP's number, and without it
    # each answer but a connection's first waits some 40 ms for the client's acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _url(listening: socket.socket) -> str:
    address: Any = listening.getsockname()
    host = f"[{address[0]}]" if listening.family is socket.AF_INET6 else address[0]
    return f"http://{host}:{address[1]}"


def _leave_threads() -> None:
    """End the process at once if worker threads still compute: they cannot be stopped, and Python would wait."""
    end = time.monotonic() + _LEAVE_SECONDS
    while any(one.name.startswith(_WORKERS) for one in threading.enumerate()):
        if time.monotonic() > end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        time.sleep(0.02)
