"""An object store of the tests' own, on a port of the loopback: moto's server, which speaks the protocol of S3.

It is not among what developers install, because it brings fifty packages. Where its program is missing, tests that need
it are skipped, and say how to have it: ``pip install 'moto[s3,server]'``, in an environment of its own.
"""

from __future__ import annotations

import http.server
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_PROGRAM = "moto_server"
_PATIENCE_SECONDS = 60.0


@contextmanager
def object_store(folder: Path) -> Iterator[str]:
    """Have a server while the block lasts; yield its address.

    Args:
        folder: Takes what it prints.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        pytest.skip(f"There is no {_PROGRAM} on this machine: pip install 'moto[s3,server]'.")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], cwd=folder, stdout=log, stderr=log)
        try:
            _wait(server, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    pytest.fail("The object store did not start.")


@contextmanager
def refusing_store(status: int, code: str) -> Iterator[str]:
    """Have a server that refuses whatever is written to it as an object store does; yield its address.

    Args:
        status: Of the answer: 507.
        code: The error's name in the protocol of S3: ``XMinioStorageFull``.
    """
    content = f"<Error><Code>{code}</Code><Message>The bucket takes no more.</Message></Error>".encode()

    class Refusing(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
