"""What one request may take: sizes and times, whatever its application does with them."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from snellen.serving import ServerSettings
from snellen.serving.app import create_app
from tests.servers.snellen_server import asked, listening


async def _size(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _careless(request: Request) -> Response:
    """Make something of its own of whatever goes wrong with the body."""
    try:
        await request.body()
    except Exception:  # noqa: BLE001
        return PlainTextResponse("never mind", 400)
    return PlainTextResponse("fine")


async def _slow(_: Request) -> Response:
    await asyncio.sleep(30)
    return PlainTextResponse("at last")


async def _stubborn(_: Request) -> Response:
    """Answer although it was told to end."""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        return PlainTextResponse("never mind")
    return PlainTextResponse("at last")


async def _stream(_: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(6):
            yield b"."
            await asyncio.sleep(0.1)

    return StreamingResponse(parts())


async def _endless(_: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        while True:
            yield b"." * 65_536

    return StreamingResponse(parts())


def _app(**limits: float) -> Starlette:
    settings = ServerSettings(port=0, **limits)  # type: ignore[arg-type]
    found = {
        "/size": _size,
        "/careless": _careless,
        "/slow": _slow,
        "/stubborn": _stubborn,
        "/stream": _stream,
        "/endless": _endless,
    }
    return create_app(settings, routes=[Route(path, one, methods=["GET", "POST"]) for path, one in found.items()])


def _says(url: str, text: str, *, seconds: float = 10.0) -> bytes:
    """Send bytes over a socket of its own, and read until the server closes it."""
    place = urlsplit(url)
    assert place.hostname
    assert place.port
    with socket.create_connection((place.hostname, place.port), timeout=seconds) as one:
        one.sendall(text.encode())
        said = bytearray()
        while part := one.recv(65_536):
            said += part
    return bytes(said)


async def _chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize("path", ["/size", "/careless"])
async def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(path: str) -> None:
    async with asked(_app(body_bytes=1000)) as client:
        fits = await client.post(path, content=b"x" * 1000)
        announced = await client.post(path, content=b"x" * 1001)
        chunked = await client.post(path, content=_chunks(b"x" * 600, b"x" * 600))
        lying = await client.post(path, content=_chunks(b"x" * 2000), headers={"content-length": "10"})

    assert fits.status_code == 200
    assert [one.status_code for one in (announced, chunked, lying)] == [413] * 3
    assert chunked.json()["error"]["code"] == "body_bytes"


@pytest.mark.parametrize("said", ["-1", "x", "1e3", "9" * 400, "+5"])
async def test_an_odd_length_is_refused(said: str) -> None:
    async with asked(_app(body_bytes=1000)) as client:
        answer = await client.post("/size", content=_chunks(b"x"), headers={"content-length": said})
    assert answer.status_code == 413


def test_over_a_socket_a_large_body_is_not_read_to_its_end() -> None:
    with listening(_app(body_bytes=1000)) as url:
        said = _says(url, "POST /size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\nxxx")
        chunks = "400\r\n" + "x" * 1024 + "\r\n"
        dripped = _says(url, f"POST /size HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")

    assert said.startswith(b"HTTP/1.1 413")
    assert dripped.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("path", ["/size", "/careless"])
def test_a_body_that_drips_is_not_waited_for(path: str) -> None:
    with listening(_app(body_seconds=0.3)) as url:
        began = time.monotonic()
        said = _says(url, f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nx")

    assert said.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "head", ["", "GET / HTTP/1.1\r\nHost: 127.0", "GET /size HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET"]
)
def test_a_head_that_drips_is_not_waited_for(head: str) -> None:
    with listening(_app(header_seconds=0.5)) as url:
        began = time.monotonic()
        _says(url, head)
        assert time.monotonic() - began < 5
        assert httpx.get(f"{url}/size").status_code == 200


def test_a_connection_that_waits_between_requests_is_kept() -> None:
    with listening(_app(header_seconds=0.5)) as url, httpx.Client(base_url=url) as client:
        first = client.get("/stream")
        time.sleep(0.7)
        second = client.get("/size")

    assert (first.text, second.status_code) == ("......", 200)


def test_only_so_many_connections_are_open() -> None:
    with listening(_app(connections=3)) as url:
        place = urlsplit(url)
        held = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in range(4)]
        time.sleep(0.2)
        try:
            assert httpx.get(f"{url}/health").status_code == 200, "a short one more is borne with"
            held[0].settimeout(5)
            assert held[0].recv(1) == b"", "who has waited longest gives way"
        except ConnectionResetError:
            pass
        finally:
            for one in held:
                one.close()
        time.sleep(0.2)
        assert httpx.get(f"{url}/health").status_code == 200


@pytest.mark.parametrize("path", ["/slow", "/stubborn"])
async def test_an_answer_that_does_not_begin_is_given_up(path: str) -> None:
    async with asked(_app(request_seconds=0.2)) as client:
        answer = await client.get(path)

    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "request_seconds"


def test_a_stream_that_has_begun_may_last() -> None:
    with listening(_app(request_seconds=0.2)) as url:
        assert httpx.get(f"{url}/stream").text == "......"


def test_a_client_that_does_not_read_is_let_go() -> None:
    app = _app(send_seconds=0.3)
    with listening(app) as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=10) as one:
            one.sendall(b"GET /endless HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            _until(app, 1.0)
            _until(app, 0.0)


def _until(app: Starlette, wanted: float) -> None:
    registry = app.state.serving.metrics.registry
    end = time.monotonic() + 10
    while registry.get_sample_value("snellen_requests_in_flight") != wanted:
        assert time.monotonic() < end
        time.sleep(0.02)
