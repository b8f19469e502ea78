"""Settings of a server: its address and every limit, with defaults."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from snellen.errors import BadInput
from snellen.threads.deletion import LONGEST

_LARGEST_PORT = 65_535
_MAY_BE_ZERO = frozenset({"port", "thread_days"})


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


_HOST: Final = re.compile(r"[\w.-]+|\[?[0-9A-Fa-f:.]+\]?").fullmatch
_FORMS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "names": (_HOST, "a name such as sight.example.org"),
    "origins": (re.compile(r"https?://[^\s/?#]+").fullmatch, "an origin such as https://example.org"),
    "proxies": (_is_network, "an IP address such as 127.0.0.1, or a network such as 172.16.0.0/12"),
    "picture_hosts": (_HOST, "a name such as pictures.example.org"),
}
"""The form of the entries of each list."""


@dataclass(frozen=True)
class ServerSettings:
    """The address of a server, its trusted proxies, and its limits; ``docs/serving.md`` lists the status codes.

    Attributes:
        host: The address to listen on; beyond loopback only with tokens.
        port: The port; 0 takes a free one.
        names: Names, beside loopback's, by which the server may be addressed (``Host``), such as that of a proxy.
        origins: Other web pages that may use the server from a browser, such as ``https://example.org``.
        proxies: Addresses of reverse proxies whose ``X-Forwarded-…`` headers are believed.
        picture_hosts: Hosts from which a request may have pictures fetched; none, unless named here.
        body_bytes: The largest body of a request.
        body_seconds: How long a body may take to arrive.
        header_seconds: How long the head of a request may take to arrive, and a connection wait for the next one.
        request_seconds: How long an answer may take to begin; a stream that has begun may last.
        send_seconds: How long a client may leave a part of an answer unread.
        stop_seconds: How long work under way may take to be saved when the server is told to stop.
        requests_per_second: Requests of a user, and of strangers from one address, in the long run.
        burst: Requests of a user, and of strangers from one address, at once.
        requests_each: Requests of a user that may be under way.
        requests_total: Requests that may be under way.
        connections: Connections that may be open.
        connections_each: Connections that may be open from one address, of IPv6 from one /64; ``proxies`` may have all.
        picture_bytes: The largest file of a picture.
        pictures: Pictures that one request may bring.
        session_seconds: How long a browser stays logged in.
        transient_seconds: How long the thread of a request that stands for itself is kept, for messages that follow.
        thread_days: After so many days without anything new a thread is deleted; 0 keeps all, 36500 is the most.

    Raises:
        BadInput: a number is not above zero or too large, or the port none.
    """

    host: str = "127.0.0.1"
    port: int = 7860
    names: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    picture_hosts: tuple[str, ...] = ()
    body_bytes: int = 32 * 2**20
    body_seconds: float = 30.0
    header_seconds: float = 10.0
    request_seconds: float = 300.0
    send_seconds: float = 60.0
    stop_seconds: float = 8.0
    requests_per_second: float = 20.0
    burst: int = 200
    requests_each: int = 32
    requests_total: int = 128
    connections: int = 512
    connections_each: int = 128
    picture_bytes: int = 10 * 2**20
    pictures: int = 16
    session_seconds: int = 7 * 24 * 3600
    transient_seconds: float = 900.0
    thread_days: float = 0.0

    def __post_init__(self) -> None:
        """Refuse limits that would let nothing through."""
        for name, value in vars(self).items():
            if isinstance(value, int | float) and name not in _MAY_BE_ZERO and not value > 0:
                msg = f"The server's {name} is {value}; give a number above zero."
                raise BadInput(msg)
        for name, (fits, form) in _FORMS.items():
            if odd := [one for one in getattr(self, name) if not fits(one)]:
                msg = f"The server's {name} cannot have {odd[0][:80]!r}; give {form}."
                raise BadInput(msg)
        if not 0 <= self.thread_days <= LONGEST.days:
            msg = f"The server's thread_days is {self.thread_days}; give 0 (keep all threads) to {LONGEST.days} days."
            raise BadInput(msg)
        if not 0 <= self.port <= _LARGEST_PORT:
            msg = f"{self.port} is not a port; give a number from 0 (any free port) to {_LARGEST_PORT}."
            raise BadInput(msg)
