"""Pictures of allowed hosts: asked once, at the address that was judged, and bounded."""

from __future__ import annotations

import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from snellen.errors import BadInput
from snellen.serving import remote_pictures
from snellen.serving.remote_pictures import Address, fetch

_WHERE = Address("http", "pictures.example", "/picture?x=1")


class _Handler(BaseHTTPRequestHandler):
    heard: list[tuple[str, str]]
    ending: threading.Event

    def do_GET(self) -> None:
        self.heard.append((self.headers["Host"], self.path))
        kind = self.path.partition("?")[0]
        if kind == "/moved":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1/picture")
            self.end_headers()
            return
        self.send_response(200)
        if kind == "/packed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        try:
            if kind == "/drips":
                while not self.ending.wait(0.02):
                    self.wfile.write(b".")
            else:
                self.wfile.write(b"a file" if kind != "/large" else b"." * 100_000)
        except ConnectionError:
            pass

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@contextmanager
def _serving(monkeypatch: pytest.MonkeyPatch, context: ssl.SSLContext | None = None) -> Iterator[list[tuple[str, str]]]:
    _Handler.heard, _Handler.ending = [], threading.Event()
    server = _Server(("127.0.0.1", 0), _Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    ports = {"http": server.server_port, "https": server.server_port}
    monkeypatch.setattr("snellen.serving.remote_pictures._PORTS", ports)
    try:
        yield _Handler.heard
    finally:
        _Handler.ending.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about clients that do not trust it."""


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """Serve on loopback what ``pictures.example`` serves; yields what was asked: host, path."""
    # Nothing that the environment says sends the request elsewhere.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with _serving(monkeypatch) as asked:
        yield asked


async def _loopback(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


async def _fetched(path: str, *, most: int = 1000, seconds: float = 5.0) -> bytes:
    where = Address("http", "pictures.example", path)
    return await fetch(where, most=most, seconds=seconds, resolve=_loopback, public=lambda _: True)


async def test_the_judged_address_is_asked_under_the_hosts_name(heard: list[tuple[str, str]]) -> None:
    assert await _fetched("/picture?x=1") == b"a file"
    assert heard == [("pictures.example", "/picture?x=1")]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/moved", "status 302"),
        ("/packed", "not with a file"),
        ("/large", "larger than 1,000"),
        ("/drips", "within 0.5 s"),
    ],
)
async def test_what_is_no_plain_file_of_the_right_size_and_time_is_refused(
    heard: list[tuple[str, str]], path: str, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        await _fetched(path, seconds=0.5, most=1_000_000 if path == "/drips" else 1000)
    assert len(heard) == 1


@pytest.mark.parametrize(
    "found",
    [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"], ["8.8.8.8", "10.0.0.1"], []],
)
async def test_a_host_that_leads_into_the_private_network_is_not_asked(
    heard: list[tuple[str, str]], found: list[str]
) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return found

    with pytest.raises(BadInput, match="not on the public network"):
        await fetch(_WHERE, most=1000, resolve=resolve)
    assert not heard


async def test_a_host_is_looked_up_once_so_that_a_second_answer_changes_nothing(heard: list[tuple[str, str]]) -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])

    async def resolve(_host: str, _port: int) -> list[str]:
        return next(answers)

    judged: list[str] = []
    await fetch(_WHERE, most=1000, resolve=resolve, public=lambda one: not judged.append(one))  # type: ignore[func-returns-value]

    assert judged == ["127.0.0.1"]
    assert next(answers) == ["127.0.0.2"]
    assert len(heard) == 1


async def test_a_host_that_does_not_exist_or_answer_is_told() -> None:
    async def nowhere(_host: str, _port: int) -> list[str]:
        raise OSError(-2, "unknown")

    for resolve in (nowhere, _loopback):
        with pytest.raises(BadInput, match=r"pictures\.example could not be reached"):
            await fetch(Address("http", "pictures.example", "/"), most=9, resolve=resolve, public=lambda _: True)


async def test_names_are_looked_up_by_the_system() -> None:
    addresses = await remote_pictures.resolve("localhost", 80)
    assert {"127.0.0.1", "::1"} & set(addresses)
    with pytest.raises(BadInput, match="not on the public network"):
        await fetch(Address("http", "localhost", "/"), most=9)


@pytest.fixture
def proven(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve over TLS under the name that the test gives, with a certificate that clients trust."""
    name = str(request.param)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=os.fspath(certificate))
    monkeypatch.setattr("httpx._transports.default.create_ssl_context", lambda **_: trusting)
    with _serving(monkeypatch, context):
        yield name


@pytest.mark.parametrize("proven", ["pictures.example", "evil.example"], indirect=True)
async def test_over_tls_the_host_must_prove_its_name(proven: str) -> None:
    where = Address("https", "pictures.example", "/picture")
    if proven == where.host:
        assert await fetch(where, most=1000, resolve=_loopback, public=lambda _: True) == b"a file"
        return
    with pytest.raises(BadInput, match="could not be reached"):
        await fetch(where, most=1000, resolve=_loopback, public=lambda _: True)
