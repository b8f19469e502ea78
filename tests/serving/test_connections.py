"""Connections are shared out by address: nobody keeps others, or the probes, out."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from snellen.serving import ServerSettings
from snellen.serving.app import create_app
from tests.servers.snellen_server import listening

HALF = b"GET /fast HTTP/1.1\r\nHost: 127."


async def _fast(_: Request) -> Response:
    return PlainTextResponse("fast")


async def _slow(_: Request) -> Response:
    await asyncio.sleep(20)
    return PlainTextResponse("slow")


def _app(**limits: object) -> Starlette:
    routes = [Route("/fast", _fast), Route("/slow", _slow)]
    return create_app(ServerSettings(port=0, **limits), routes=routes, checks={})  # type: ignore[arg-type]


@contextmanager
def crowd(url: str, address: str, count: int, said: bytes) -> Iterator[list[socket.socket]]:
    """Open connections from an address of this machine, say something in each, and wait."""
    place = urlsplit(url)
    with ExitStack() as held:
        found = []
        for _ in range(count):
            one = socket.create_connection((place.hostname or "", place.port or 0), 5, source_address=(address, 0))
            held.enter_context(one)
            one.sendall(said)
            found.append(one)
        time.sleep(0.3)
        yield found


def get(url: str, path: str, address: str = "127.0.0.1") -> int:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=5) as client:
        return client.get(f"{url}{path}").status_code


def is_open(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


def test_half_sent_heads_of_one_address_keep_nobody_out() -> None:
    with listening(_app(connections=40, connections_each=16)) as url, crowd(url, "127.0.0.2", 60, HALF) as held:
        for address in ("127.0.0.1", "127.0.0.2"):
            for path in ("/health", "/ready", "/metrics", "/fast"):
                assert get(url, path, address) == 200, (address, path)
        still = [one for one in held if is_open(one)]
        assert len(still) <= 16
        assert all(one in held[-16:] for one in still), "who has waited longest gives way"


def test_many_addresses_take_from_the_largest_crowd() -> None:
    with (
        listening(_app(connections=24, connections_each=16)) as url,
        crowd(url, "127.0.0.3", 4, HALF) as few,
        crowd(url, "127.0.0.2", 16, HALF),
        crowd(url, "127.0.0.4", 16, HALF),
    ):
        assert get(url, "/fast") == 200
        assert all(map(is_open, few)), "who has few connections keeps them"


def test_what_is_under_way_is_never_closed() -> None:
    slow = b"GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with listening(_app(connections=8, connections_each=6)) as url, crowd(url, "127.0.0.2", 4, slow) as asking:
        with crowd(url, "127.0.0.2", 10, HALF):
            assert get(url, "/fast") == 200
        assert all(map(is_open, asking))


def test_probes_are_answered_when_all_connections_are_under_way() -> None:
    slow = b"GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with listening(_app(connections=6, connections_each=4)) as url, crowd(url, "127.0.0.2", 4, slow):
        assert get(url, "/fast", "127.0.0.2") == 503
        assert get(url, "/health", "127.0.0.2") == 200
        with crowd(url, "127.0.0.3", 2, slow):
            assert get(url, "/fast") == 503
            for path in ("/health", "/ready", "/metrics"):
                assert get(url, path) == 200


def test_connections_beyond_all_limits_are_closed() -> None:
    slow = b"GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with listening(_app(connections=4, connections_each=4)) as url, crowd(url, "127.0.0.2", 4, slow) as asking:
        with crowd(url, "127.0.0.3", 40, HALF) as others:
            assert get(url, "/health") == 200
            assert sum(map(is_open, others)) <= 16 + 1
        assert all(map(is_open, asking))


def test_behind_a_proxy_connections_are_not_those_of_one_client() -> None:
    app = _app(connections=40, connections_each=4, proxies=("127.0.0.2",))
    with listening(app) as url, crowd(url, "127.0.0.2", 12, HALF) as held:
        assert get(url, "/fast") == 200
        assert all(map(is_open, held))


@pytest.mark.parametrize(("one", "other", "same"), [("::1", "::2", True), ("2001:db8::1", "2001:db8:0:1::1", False)])
def test_addresses_of_one_ipv6_network_are_one(one: str, other: str, *, same: bool) -> None:
    from snellen.serving.connections import _key

    assert (_key(one) == _key(other)) is same
