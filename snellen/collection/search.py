"""Pictures from a search endpoint, within limits of time, size and kind.

What a search returns is hostile input: addresses may lead into the user's own network, answers may be endless or no
pictures. So every address must be public, every answer is cut off at a size, and only pictures are opened.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus, urlsplit

from snellen.collection.sources import OpenPicture, SearchedPicture
from snellen.profiles import BadInput, SnellenError

if TYPE_CHECKING:
    import httpx
    import PIL.Image

_MAX_ANSWER: Final = 5_000_000
_MAX_REDIRECTS: Final = 3
_TRIES: Final = 4
"""Addresses tried for each picture that is wanted: many lead nowhere."""


@dataclass(frozen=True)
class SearchSettings:
    """The form of requests to an endpoint, and the limits of its answers.

    Attributes:
        url: Address with ``{query}`` and, if the endpoint wants it, ``{count}``.
        results: Key under which the answer's list stands; dots lead deeper (``data.items``).
        picture: Key of a picture's address in an item of the list.
        timeout: Seconds for each answer.
        largest: Bytes of a picture above which it is passed over.
    """

    url: str
    results: str = "results"
    picture: str = "url"
    timeout: float = 10.0
    largest: int = 10_000_000


def is_public(host: str) -> bool:
    """Tell whether every address of a host is reachable from anywhere, rather than in a private network."""
    try:
        addresses = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        return False
    return bool(addresses) and all(ipaddress.ip_address(each[4][0]).is_global for each in addresses)


class PictureSearch:
    """A search for pictures behind an HTTP endpoint that answers with JSON.

    Args:
        settings: How to ask.
        open_picture: Reads a foreign picture safely.
        client: Sends the requests; made when first needed. Redirects are followed here, one by one.
        public: Decides whether a host of a found address may be asked.

    Raises:
        BadInput: The address has no ``{query}``, or is not http(s).
    """

    def __init__(
        self,
        settings: SearchSettings,
        *,
        open_picture: OpenPicture,
        client: httpx.Client | None = None,
        public: Callable[[str], bool] = is_public,
    ) -> None:
        if "{query}" not in settings.url or urlsplit(settings.url).scheme not in {"http", "https"}:
            msg = f"The search address {settings.url[:120]} must begin with http:// or https:// and contain {{query}}."
            raise BadInput(msg)
        self._settings = settings
        self._open = open_picture
        self._given = client
        self._public = public

    def __str__(self) -> str:
        """Name its host; an address may carry a key."""
        return f"the picture search at {self._host()}"

    def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:  # noqa: ARG002 - of the protocol
        """Search; addresses that do not lead to a picture are passed over.

        Args:
            concept: What to search for.
            count: At most this many pictures.
            seed: Without effect: a search engine has its own order.

        Raises:
            SnellenError: The endpoint did not answer, or not in the form that the settings say.
        """
        pictures: list[SearchedPicture] = []
        for address in self._addresses(concept, count * _TRIES):
            if len(pictures) == count:
                break
            picture = self._picture(address)
            if picture is not None:
                pictures.append(SearchedPicture(picture, concept, address))
        return pictures

    def _addresses(self, concept: str, count: int) -> list[str]:
        address = self._settings.url.replace("{query}", quote_plus(concept)).replace("{count}", str(count))
        content = self._fetch(address, most=_MAX_ANSWER, kind="json", trusted=True)
        if content is None:
            msg = f"The picture search at {self._host()} did not answer within {self._settings.timeout:g} s or refused."
            raise SnellenError(msg)
        try:
            listed: Any = json.loads(content)
            for key in self._settings.results.split("."):
                listed = listed[key]
            addresses = [item[self._settings.picture] for item in listed]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            form = f"a list under {self._settings.results!r} with {self._settings.picture!r} in each item"
            msg = f"The picture search at {self._host()} did not answer with {form}: correct [collection.search]."
            raise SnellenError(msg) from error
        return [address for address in addresses if isinstance(address, str)][:count]

    def _picture(self, address: str) -> PIL.Image.Image | None:
        content = self._fetch(address, most=self._settings.largest, kind="image/", trusted=False)
        if content is None:
            return None
        try:
            return self._open(content, address)
        except BadInput:
            return None

    def _fetch(self, address: str, *, most: int, kind: str, trusted: bool) -> bytes | None:
        """Fetch one answer; None where it is refused, too long, of another kind, or leads into a private network."""
        import httpx

        try:
            for _ in range(_MAX_REDIRECTS + 1):
                parts = urlsplit(address)
                if parts.scheme not in {"http", "https"} or not parts.hostname:
                    return None
                if not trusted and not self._public(parts.hostname):
                    return None
                with self._client().stream("GET", address) as answer:
                    if answer.is_redirect:
                        address = str(answer.next_request.url) if answer.next_request else ""
                        continue
                    if answer.status_code != httpx.codes.OK or kind not in answer.headers.get("content-type", ""):
                        return None
                    return _bounded(answer.iter_bytes(), most, seconds=self._settings.timeout)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):
            return None
        return None

    def _client(self) -> httpx.Client:
        import httpx

        if self._given is None:
            self._given = httpx.Client(timeout=self._settings.timeout, follow_redirects=False)
        return self._given

    def _host(self) -> str:
        return urlsplit(self._settings.url).hostname or self._settings.url


def _bounded(parts: Iterator[bytes], most: int, *, seconds: float) -> bytes | None:
    """Gather an answer; None where it is too long, or trickles in so slowly that no single read is late."""
    content, end = bytearray(), time.monotonic() + seconds
    for part in parts:
        content += part
        if len(content) > most or time.monotonic() > end:
            return None
    return bytes(content)
