"""Pictures as they are sent out: bounded in size, and encoded once."""

from __future__ import annotations

import base64
import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import PIL.Image

_KEPT: Final = 64 * 2**20
"""Bytes of encoded pictures that are kept."""
_SMALLEST: Final = 32
"""Pixels of the longest side below which a picture is not made smaller."""
_MARGIN: Final = 0.9
"""Of the side that should do, so that one more try is seldom needed."""


@dataclass(frozen=True)
class PictureForm:
    """The form in which pictures are sent.

    A picture that fits is sent as PNG, without loss. One that takes too many bytes becomes a JPEG, and a smaller one
    where that is still too large.

    Attributes:
        side: The longest side, in pixels; larger pictures are scaled down.
        most: Bytes of one encoded picture.
        quality: Of a JPEG, 1 to 95.
    """

    side: int = 2_048
    most: int = 1_000_000
    quality: int = 90


@dataclass(frozen=True)
class EncodedPicture:
    """A picture as it is sent.

    Attributes:
        content: The bytes of the file.
        kind: Its media type.
    """

    content: bytes
    kind: str

    @property
    def url(self) -> str:
        """The picture as a ``data:`` address."""
        return f"data:{self.kind};base64,{base64.b64encode(self.content).decode()}"


class EncodedPictures:
    """Encodes pictures, each in each form once; the ones that were used longest ago are dropped.

    Args:
        most: Bytes that are kept.
    """

    def __init__(self, most: int = _KEPT) -> None:
        self._most, self._bytes = most, 0
        self._known: OrderedDict[tuple[str, PictureForm], Future[EncodedPicture]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str, form: PictureForm, read: Callable[[], PIL.Image.Image]) -> EncodedPicture:
        """Return a picture in a form. Threads that ask for the same one wait for the first of them.

        Args:
            name: Stands for the content, such as the id of a stored picture.
            form: How it is sent.
            read: Returns the picture, if it is not known yet.
        """
        with self._lock:
            found = self._known.get((name, form))
            making = found is None
            if found is None:
                found = self._known[name, form] = Future()
            self._known.move_to_end((name, form))
        if making:
            self._make(name, form, read, found)
        return found.result()

    def _make(
        self, name: str, form: PictureForm, read: Callable[[], PIL.Image.Image], found: Future[EncodedPicture]
    ) -> None:
        try:
            made = encoded(read(), form)
        except BaseException as error:
            with self._lock:
                self._known.pop((name, form), None)
            found.set_exception(error)
            raise
        found.set_result(made)
        with self._lock:
            self._bytes += len(made.content)
            self._drop()

    def _drop(self) -> None:
        dropped = []
        for key, one in self._known.items():  # seldom more than the first: they are not gone through for each picture
            if self._bytes <= self._most:
                break
            if one.done():
                self._bytes -= len(one.result().content)
                dropped.append(key)
        for key in dropped:
            del self._known[key]


ENCODED: Final = EncodedPictures()
"""What this process has encoded."""


def encoded_once(picture: PIL.Image.Image, form: PictureForm) -> EncodedPicture:
    """Return a picture in a form; one with the same pixels is not encoded again while it is remembered."""
    return ENCODED.get(digest_of(picture), form, lambda: picture)


def digest_of(picture: PIL.Image.Image) -> str:
    """Return a name that pictures with the same pixels share."""
    digest = hashlib.sha256(f"{picture.mode} {picture.size} ".encode())
    digest.update(picture.tobytes())
    return digest.hexdigest()


def encoded(picture: PIL.Image.Image, form: PictureForm) -> EncodedPicture:
    """Encode a picture, in RGB: as PNG if that fits, else as JPEG."""
    import PIL.Image

    picture = picture.convert("RGB")
    if max(picture.size) > form.side:
        picture.thumbnail((form.side, form.side), PIL.Image.Resampling.LANCZOS)
    content = _written(picture, "PNG")
    if len(content) <= form.most:
        return EncodedPicture(content, "image/png")
    content = _written(picture, "JPEG", quality=form.quality)
    while len(content) > form.most and max(picture.size) > _SMALLEST:
        side = max(round(_MARGIN * math.sqrt(form.most / len(content)) * max(picture.size)), _SMALLEST)
        picture.thumbnail((side, side), PIL.Image.Resampling.LANCZOS)
        content = _written(picture, "JPEG", quality=form.quality)
    return EncodedPicture(content, "image/jpeg")


def _written(picture: PIL.Image.Image, kind: str, **options: int) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()
