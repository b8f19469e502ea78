"""Messages between a client and the resident process: JSON behind its length, the first one with file descriptors."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from dataclasses import asdict, dataclass, field
from typing import Any, Final

_HEAD: Final = struct.Struct("!I")
_LARGEST: Final = 16 * 2**20
"""Bytes: words and environment of a process are less."""
_MOST_DESCRIPTORS: Final = 4


@dataclass(frozen=True)
class Request:
    """A client's wish.

    Attributes:
        kind: ``run`` a command, tell the ``status``, or ``stop``.
        process: Digest of the client's circumstances.
        profile: Digest of its profile; empty where any will do.
        words: What follows ``snellen`` on the command line.
        program: What precedes that.
        environment: The client's variables.
        umask: Of files that are made.
        ignored: Numbers of signals that the client ignores.
    """

    kind: str
    process: str = ""
    profile: str = ""
    words: list[str] = field(default_factory=list)
    program: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    umask: int = 0o077
    ignored: list[int] = field(default_factory=list)


def send_request(connection: socket.socket, request: Request, descriptors: tuple[int, ...] = ()) -> None:
    """Send a request, and with it duplicates of file descriptors.

    Raises:
        OSError: The other end has gone.
    """
    data = _packed(asdict(request))
    if descriptors:
        socket.send_fds(connection, [data[:1]], list(descriptors))
        data = data[1:]
    connection.sendall(data)


def receive_request(connection: socket.socket) -> tuple[Request, list[int]]:
    """Receive a request and the descriptors that came with it, which are the caller's to close.

    Raises:
        OSError: The other end has gone, or takes too long.
        ValueError: It is no request.
    """
    data, descriptors = _first(connection)
    try:
        said = json.loads(_rest(connection, data))
        return Request(**said), descriptors
    except BaseException as error:
        for one in descriptors:
            os.close(one)
        if isinstance(error, TypeError):
            msg = "a request has other fields"
            raise ValueError(msg) from error  # noqa: TRY004 - what came is wrong, not what was called
        raise


def send(connection: socket.socket, **said: Any) -> None:  # noqa: ANN401 - any JSON
    """Send a message.

    Raises:
        OSError: The other end has gone.
    """
    connection.sendall(_packed(said))


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """Receive a message; None where the other end has gone.

    Raises:
        TimeoutError: Nothing came in the connection's time.
        ValueError: It is no message.
    """
    try:
        head = connection.recv(_HEAD.size)
        said: dict[str, Any] | None = json.loads(_rest(connection, head)) if head else None
    except ConnectionError:
        return None
    return said


def _packed(said: dict[str, Any]) -> bytes:
    # Names of files and variables may be any bytes: their surrogates travel as escapes.
    text = json.dumps(said).encode()
    return _HEAD.pack(len(text)) + text


def _first(connection: socket.socket) -> tuple[bytes, list[int]]:
    space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
    data, ancillary, _, _ = connection.recvmsg(_HEAD.size, space, socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    return data, list(descriptors)


def _rest(connection: socket.socket, begun: bytes) -> bytes:
    head = begun + _exactly(connection, _HEAD.size - len(begun))
    (length,) = _HEAD.unpack(head)
    if length > _LARGEST:
        msg = "a message is too long"
        raise ValueError(msg)
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 2**20))
        if not part:
            msg = "the other end has gone"
            raise ConnectionResetError(msg)
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
