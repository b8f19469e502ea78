"""A Snellen server in this process: on a loopback port, or without any socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import httpx
from starlette.applications import Starlette

from snellen.serving import ServerSettings, Tokens
from snellen.serving.listener import serve

HOST = "127.0.0.1:7860"


@contextmanager
def listening(app: Starlette) -> Iterator[str]:
    """Serve an application on its port, in a thread, until the block ends; yields where: ``http://127.0.0.1:…``."""
    said: Queue[str] = Queue()
    thread = threading.Thread(target=serve, args=(app,), kwargs={"say": said.put})
    thread.start()
    try:
        yield said.get(timeout=30).removeprefix("Snellen listens on ")
    finally:
        app.state.serving.gate.closed = True
        thread.join(30)
        assert not thread.is_alive()


def asked(app: Starlette, *, token: str = "", client: str = "127.0.0.1", host: str = HOST) -> httpx.AsyncClient:
    """Return a client that calls an application directly."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, client=(client, 4711)),
        base_url=f"http://{host}",
        headers={"authorization": f"Bearer {token}"} if token else {},
    )


def tokens_of(home: Path, *names: str) -> tuple[Tokens, list[str]]:
    """Make a token for each name."""
    tokens = Tokens(home)
    return tokens, [tokens.add(name) for name in names]


def free_port() -> ServerSettings:
    """Return the usual settings on a port that the system chooses."""
    return ServerSettings(port=0)
