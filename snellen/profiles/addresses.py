"""Addresses of servers as people see them."""

from __future__ import annotations

from urllib.parse import urlsplit


def shown_address(url: str) -> str:
    """Return an address without user name, password, query or fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
