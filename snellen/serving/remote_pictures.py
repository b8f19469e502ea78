"""Pictures fetched from other hosts: from a short list of them, at public addresses only, bounded in size and time.

A request that names an address makes the server send one itself, from inside its network. So a host must be allowed
by name, must lead to public addresses only, and is connected to at the address that was checked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from snellen.errors import BadInput

if TYPE_CHECKING:
    import httpx

_SECONDS: Final = 15.0
_LONGEST: Final = 2048
_PRINTABLE = re.compile(r"[!-\[\]-~]+")  # ASCII without blanks and the backslash, which browsers read as a slash
_PORTS: Final = {"http": 80, "https": 443}

_NOT_ASKED: Final = (
    ipaddress.ip_network("168.63.129.16/32"),  # the metadata of one cloud lies at a public address
    ipaddress.ip_network("192.88.99.0/24"),
    # These carry an IPv4 address in an IPv6 one, to be unpacked by a gateway: no honest host needs them.
    ipaddress.ip_network("::/96"),
    ipaddress.ip_network("::ffff:0:0/96"),
    ipaddress.ip_network("::ffff:0:0:0/96"),
    ipaddress.ip_network("64:ff9b::/96"),
    ipaddress.ip_network("64:ff9b:1::/48"),
    ipaddress.ip_network("2001::/32"),
    ipaddress.ip_network("2002::/16"),
    ipaddress.ip_network("fec0::/10"),
)

Resolve = Callable[[str, int], Awaitable[list[str]]]


@dataclass(frozen=True)
class Address:
    """The address of a picture: ``http`` or ``https``, a host's name, and path with query."""

    scheme: str
    host: str
    target: str

    @property
    def port(self) -> int:
        """The scheme's own port; no other is asked."""
        return _PORTS[self.scheme]


def read_address(text: str, hosts: Collection[str]) -> Address:
    """Read the address of a picture.

    Args:
        text: The text of a request.
        hosts: The hosts that may be asked.

    Raises:
        BadInput: it is no plain ``http(s)`` address, or its host is not among ``hosts``.
    """
    try:
        parts = urlsplit(text if len(text) <= _LONGEST and _PRINTABLE.fullmatch(text) else "")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc or "%" in parts.netloc:
        msg = "A picture's address must be plain http:// or https:// without a password; or send the file itself."
        raise BadInput(msg)
    if port not in (None, _PORTS[parts.scheme]) or parts.hostname not in {one.lower() for one in hosts}:
        msg = "Pictures are fetched only from hosts that the server's owner allows, at the default port; send the file."
        raise BadInput(msg)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme, parts.hostname, target)


def is_public(address: str) -> bool:
    """Tell whether an IP address is one host's in the public network: not private, local, shared, or for many."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if any(parsed in network for network in _NOT_ASKED):
        return False
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified)


async def resolve(host: str, port: int) -> list[str]:
    """Return all IP addresses of a host.

    Raises:
        OSError: it has none.
    """
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in infos]


async def fetch(
    address: Address,
    *,
    most: int,
    seconds: float = _SECONDS,
    resolve: Resolve = resolve,
    public: Callable[[str], bool] = is_public,
) -> bytes:
    """Return the file at an address.

    The host is looked up once, all its addresses must be public, and one of them is connected to: a second look-up
    could give another answer. TLS is checked against the host's name.

    Args:
        address: The address.
        most: The most bytes to accept.
        seconds: The time limit.
        resolve: Looks a host up.
        public: Decides whether an IP address may be connected to.

    Raises:
        BadInput: the host leads into a private network, does not answer in time, answers with anything else than a
            file, or with a larger one.
    """
    import httpx

    try:
        async with asyncio.timeout(seconds):
            places = await resolve(address.host, address.port)
            if not places or not all(public(one) for one in places):
                msg = f"The host {address.host} is not on the public network; send the picture's file."
                raise BadInput(msg)
            return await _get(address, places[0], most)
    except TimeoutError as error:
        msg = f"The host {address.host} did not send the picture within {seconds:g} seconds; send the file."
        raise BadInput(msg) from error
    except (OSError, UnicodeError, ValueError, httpx.HTTPError, httpx.InvalidURL) as error:
        msg = f"The host {address.host} could not be reached; send the picture's file."
        raise BadInput(msg) from error


async def _get(address: Address, place: str, most: int) -> bytes:
    import httpx

    url = httpx.URL(scheme=address.scheme, host=place, port=address.port, raw_path=address.target.encode())
    # Compressed bytes could unpack to any size; a picture's file is compressed already.
    headers = {"host": address.host, "accept": "image/*", "accept-encoding": "identity", "user-agent": "snellen"}
    # The environment may name proxies, and a file of passwords.
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=None) as client:  # noqa: S113 - bounded by the caller
        request = client.build_request("GET", url, headers=headers, extensions={"sni_hostname": address.host})
        answer = await client.send(request, stream=True)
        try:
            return await _read(answer, address, most)
        finally:
            await answer.aclose()


async def _read(answer: httpx.Response, address: Address, most: int) -> bytes:
    if answer.status_code != 200 or answer.headers.get("content-encoding", "identity") != "identity":  # noqa: PLR2004
        msg = f"The host {address.host} answered with status {answer.status_code}, not with a file; send the file."
        raise BadInput(msg)
    content = bytearray()
    async for part in answer.aiter_raw():
        content += part
        if len(content) > most:
            msg = f"The picture at {address.host} is larger than {most:,} bytes; send a smaller one."
            raise BadInput(msg)
    return bytes(content)
