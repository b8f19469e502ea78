"""Which addresses on the network a request may have the server ask: a short list of hosts, none of them private.

A request that names an address makes the server send one itself, from inside its network. So a host must be allowed
by name, must lead to public addresses only, and is connected to at the address that was judged.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from snellen.errors import BadInput

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


@dataclass(frozen=True)
class Address:
    """Where a picture is fetched from: ``http`` or ``https``, a host's name, and path with query."""

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
        text: What a request says.
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
        msg = "The address of a picture must be a plain http:// or https:// one, without a password; or send the file."
        raise BadInput(msg)
    if port not in (None, _PORTS[parts.scheme]) or parts.hostname not in {one.lower() for one in hosts}:
        msg = "Pictures are fetched only from hosts that the server's owner allows, at their usual port; send the file."
        raise BadInput(msg)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme, parts.hostname, target)


def is_public(address: str) -> bool:
    """Tell whether an IP address is one host's in the public network: not private, local, shared, or for many."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if any(found in network for network in _NOT_ASKED):
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)
