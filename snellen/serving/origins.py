"""Origins of pages that may reach the server: a defence against DNS rebinding and cross-site requests.

A server on loopback asks its owner for no token, so any page that the owner opens could use it. A browser identifies
pages: by ``Host`` which name it looked up, by ``Origin`` and ``Sec-Fetch-Site`` which page asks.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from snellen.serving.users import is_loopback

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from snellen.serving.settings import ServerSettings

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_DEFAULT_PORTS: Final = (80, 443)


def host_allowed(host: str, settings: ServerSettings) -> bool:
    """Tell whether a request's ``Host`` is a name of this server.

    On loopback these are loopback's names and the configured ones. A server that listens elsewhere also takes any
    literal address: only a name can be made to point somewhere else.
    """
    name = _host_and_port(host)[0]
    if name in _LOOPBACK or name in {one.lower() for one in settings.names}:
        return True
    if is_loopback(settings.host) or not name:
        return False
    return name == settings.host.lower() or _is_address(name)


def page_allowed(headers: Headers, settings: ServerSettings, *, changes: bool) -> bool:
    """Tell whether a page that makes a browser send a request may do so.

    Args:
        headers: The request's.
        settings: Name the other pages that may.
        changes: Whether the request may change something, or opens a websocket: then no page of a foreign origin may
            send it. Otherwise a link to this server may be followed.

    Returns:
        True also where no browser is involved: such programs send none of these headers.
    """
    origin = headers.get("origin")
    if origin is not None and (origin in settings.origins or _is_same(origin, headers.get("host", ""))):
        return True
    if origin is not None and changes:
        return False
    if headers.get("sec-fetch-site", "none") in {"same-origin", "none"}:
        return True
    return not changes and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def _is_same(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"} or parts.path or parts.query or parts.fragment:
        return False
    # The scheme is not compared: a proxy may have taken TLS off.
    return _host_and_port(parts.netloc) == _host_and_port(host) != ("", None)


def _host_and_port(text: str) -> tuple[str, int | None]:
    """Split a ``Host`` into the name in lower case, without brackets, and the port; an empty name where it is none."""
    try:
        parts = urlsplit(f"//{text}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return "", None
    if parts.netloc != text or "@" in text:
        return "", None
    return name.removesuffix("."), None if port in _DEFAULT_PORTS else port


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
