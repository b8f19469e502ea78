"""The end: no new work, what is under way is saved, and the process is gone in time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from snellen.errors import BadInput
from snellen.serving import ServerSettings, Tokens
from snellen.serving.app import create_app
from snellen.serving.listener import serve
from tests.servers.snellen_server import free_port, listening

_SERVER = """
import asyncio, sys, time
from pathlib import Path
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from snellen.serving import ServerSettings
from snellen.serving.app import create_app
from snellen.serving.listener import serve

saved, way = Path(sys.argv[1]), sys.argv[2]
finish = None

async def work(request):
    global finish
    finish = asyncio.Event()
    async def parts():
        yield b"begun "
        await finish.wait()
        yield b"saved"
    return StreamingResponse(parts())

async def compute(request):
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 60)
    return PlainTextResponse("computing")

async def stop(seconds):
    while way == "hangs" or not saved.with_name("go on").exists():
        await asyncio.sleep(0.02)
    saved.write_text(f"{seconds:g}")
    if finish: finish.set()

settings = ServerSettings(port=0, stop_seconds=float(sys.argv[3]))
app = create_app(settings, routes=[Route("/work", work), Route("/compute", compute)], on_stop=stop)
serve(app, say=lambda line: print(line, flush=True))
"""


@contextmanager
def _server(saved: Path, way: str = "saves", seconds: float = 1.5) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, os.fspath(saved), way, str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Snellen listens on http://127.0.0.1:")
            yield process, line.split()[-1]
        finally:
            process.kill()


def _ended(process: subprocess.Popen[str], *, within: float) -> int:
    began = time.monotonic()
    status = process.wait(within)
    assert time.monotonic() - began < within
    return status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_work_under_way_is_saved_while_new_work_is_refused(tmp_path: Path, number: signal.Signals) -> None:
    saved = tmp_path / "saved"
    with _server(saved, seconds=30) as (process, url), httpx.Client(base_url=url, timeout=60) as client:
        with client.stream("GET", "/work") as under_way:
            parts = under_way.iter_raw()
            assert next(parts) == b"begun "
            process.send_signal(number)
            while (ready := httpx.get(f"{url}/ready")).status_code == 200:
                time.sleep(0.02)
            refused = httpx.get(f"{url}/work")
            assert httpx.get(f"{url}/health").status_code == 200
            saved.with_name("go on").touch()
            assert b"".join(parts) == b"saved"
        assert _ended(process, within=10) == 0

    assert (ready.status_code, ready.json()["failing"]) == (503, ["stopping"])
    assert (refused.status_code, refused.headers["connection"]) == (503, "close")
    assert saved.read_text() == "30"


def test_neither_what_hangs_nor_what_computes_holds_the_process(tmp_path: Path) -> None:
    with _server(tmp_path / "saved", "hangs") as (process, url):
        assert httpx.get(f"{url}/compute").text == "computing"
        process.terminate()
        assert _ended(process, within=10) == 0

    assert not (tmp_path / "saved").exists()


def test_a_second_ctrl_c_waits_for_nothing(tmp_path: Path) -> None:
    with _server(tmp_path / "saved", "hangs", 60) as (process, _):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert _ended(process, within=20) == 0


def test_a_port_in_use_is_told_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = ServerSettings(port=other.getsockname()[1])
        with pytest.raises(
            BadInput, match=rf"cannot listen on 127\.0\.0\.1:{settings.port} \(Address already in use\)"
        ):
            serve(create_app(settings))


def test_a_host_that_is_none_is_told_in_one_sentence(home: Path) -> None:
    tokens = Tokens(home)
    with pytest.raises(BadInput, match="make a token first"):
        serve(create_app(ServerSettings(host="0.0.0.0", port=0)))
    tokens.add("owner")
    with pytest.raises(BadInput, match=r"cannot listen on 192\.0\.2\.1:0"):
        serve(create_app(ServerSettings(host="192.0.2.1", port=0)))


@pytest.mark.parametrize("limits", [{"port": 70_000}, {"port": -1}, {"burst": 0}, {"body_seconds": float("nan")}])
def test_limits_that_let_nothing_through_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        ServerSettings(**limits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "lists",
    [
        {"origins": ("example.org",)},
        {"origins": ("https://example.org/page",)},
        {"names": ("https://example.org",)},
        {"picture_hosts": ("http://pictures.example",)},
        {"proxies": ("nonsense",)},
    ],
)
def test_what_would_never_match_is_refused(lists: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(BadInput, match=f"The server's {next(iter(lists))} cannot have"):
        ServerSettings(**lists)  # type: ignore[arg-type]


def test_what_is_mounted_begins_and_ends_with_the_server() -> None:
    from collections.abc import AsyncIterator
    from contextlib import asynccontextmanager

    told: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        told.append("begins")
        yield
        told.append("ends")

    async def stop(_: float) -> None:
        told.append("saves")

    app = create_app(free_port(), mounts=[Mount("/inner", Starlette(lifespan=lifespan))], on_stop=stop)
    with listening(app):
        assert told == ["begins"]
    assert told == ["begins", "saves", "ends"]
