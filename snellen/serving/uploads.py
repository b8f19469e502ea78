"""Uploads: pictures of requests, checked, decoded away from the event loop, and stored under an id."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.memory.artifacts import ArtifactStore, read_picture
from snellen.sentences import capitalized
from snellen.serving.remote_pictures import Address, fetch, read_address

if TYPE_CHECKING:
    from snellen.serving.settings import ServerSettings
    from snellen.values import Picture

_DATA = re.compile(r"data:(?:image/[A-Za-z0-9.+-]{1,40})?(?:;[A-Za-z0-9=._-]{1,40}){0,4};base64,", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:")
_HEAD: Final = 300
"""Characters in which the head of a data address ends."""

_DECODERS: Final = ThreadPoolExecutor(max_workers=2, thread_name_prefix="pictures")
"""A decoded picture may take 200 MB: two at a time, and never in the way of other work's threads."""

Fetch = Callable[[Address], Awaitable[bytes]]


class Uploads:
    """Takes the pictures of one request into a store.

    Args:
        store: Where they go: of the user who asks.
        settings: How many, how large, from which hosts.
        fetch: Fetches one from a host that is allowed; None does so over the network.
    """

    def __init__(self, store: ArtifactStore, settings: ServerSettings, *, fetch: Fetch | None = None) -> None:
        """Begin a request that has brought no picture yet."""
        self._store, self._settings = store, settings
        self._fetch = fetch or self._fetched
        self._count = 0
        self.notices: dict[str, list[str]] = {}
        """Notices about pictures that differ from their files, by the pictures' ids."""

    async def add_file(self, content: bytes) -> Picture:
        """Store the picture that a file holds.

        Args:
            content: A PNG, JPEG, GIF, BMP, WebP, TIFF, PPM or AVIF file.

        Returns:
            The reference to the stored picture.

        Raises:
            BadInput: it is one picture too many, too large, or none.
            MemoryTrouble: the disk is full or not writable.
        """
        return await self._stored(content, self._next())

    async def add_reference(self, text: str) -> Picture:
        """Store the picture that a text holds or names.

        Args:
            text: A ``data:`` address in base64, bare base64, or the ``http(s)`` address of an allowed host.

        Returns:
            The reference to the stored picture.

        Raises:
            BadInput: it is one picture too many, too large, none, or an address that is not fetched from.
            MemoryTrouble: the disk is full or not writable.
        """
        name = self._next()
        scheme = _SCHEME.match(text)
        if scheme is None:
            return await self._stored(await self._decoded(text, name), name)
        kind = scheme[0].lower()
        if kind == "data:":
            return await self._stored(await self._decoded(_payload(text, name), name), name)
        if kind in {"http:", "https:"}:
            return await self._stored(await self._fetch(read_address(text, self._settings.picture_hosts)), name)
        msg = f"The {name} has a {scheme[0]} address, which is not supported; send a data: address or a file."
        raise BadInput(msg)

    def _next(self) -> str:
        if self._count >= self._settings.pictures:
            msg = f"A request may bring at most {self._settings.pictures} pictures; send fewer."
            raise BadInput(msg)
        self._count += 1
        return f"picture {self._count}"

    async def _decoded(self, payload: str, name: str) -> bytes:
        # Before anything is copied: four characters carry three bytes.
        self._refuse_large(len(payload) // 4 * 3 - 2, name)
        return await asyncio.get_running_loop().run_in_executor(_DECODERS, _from_base64, payload, name)

    async def _stored(self, content: bytes, name: str) -> Picture:
        self._refuse_large(len(content), name)
        stored, notices = await asyncio.get_running_loop().run_in_executor(_DECODERS, _put, self._store, content, name)
        if notices:
            self.notices[stored.id] = notices
        return stored

    async def _fetched(self, address: Address) -> bytes:
        return await fetch(address, most=self._settings.picture_bytes)

    def _refuse_large(self, size: int, name: str) -> None:
        if size > self._settings.picture_bytes:
            msg = f"The {name} is larger than {self._settings.picture_bytes:,} bytes; send a smaller one."
            raise BadInput(msg)


def _payload(text: str, name: str) -> str:
    head = _DATA.match(text, 0, _HEAD)
    if head is None:
        msg = f"The {name} is not a picture in base64; send data:image/png;base64,… or another image type."
        raise BadInput(msg)
    return text[head.end() :]


def _from_base64(payload: str, name: str) -> bytes:
    try:
        return base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError) as error:
        msg = f"The {name} is not valid base64; encode the file again, without line breaks."
        raise BadInput(msg) from error


def _put(store: ArtifactStore, content: bytes, name: str) -> tuple[Picture, list[str]]:
    notices: list[str] = []
    picture = store.put(read_picture(content, name, notice=notices.append))
    return picture, [capitalized(one) for one in notices]
