"""Pictures that were made, kept while a process runs: what is asked for again is not made again."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import PIL.Image

    from snellen.models.vision.text_to_image import ImageCall

MOST_BYTES: Final = 256 * 2**20
"""Of decoded pictures that are kept; the least recently used go first."""


class MadePictures:
    """Pictures by the content of the calls that made them; safe for threads.

    Args:
        most: Bytes of decoded pictures that are kept at most.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._bytes = most, 0
        self._pictures: OrderedDict[str, PIL.Image.Image] = OrderedDict()
        self._lock = threading.Lock()

    def made(
        self, maker: str, calls: Sequence[ImageCall], make: Callable[[Sequence[ImageCall]], list[PIL.Image.Image]]
    ) -> list[PIL.Image.Image]:
        """Return the pictures of calls; those that are not kept are made together, equal calls once.

        Args:
            maker: Names who makes them; another one makes others.
            calls: What is wanted.
            make: Makes pictures.
        """
        keys = [_key(maker, call) for call in calls]
        found = {key: picture for key in dict.fromkeys(keys) if (picture := self._kept(key)) is not None}
        wanted = {key: call for key, call in zip(keys, calls, strict=True) if key not in found}
        if wanted:
            for key, picture in zip(wanted, make(list(wanted.values())), strict=True):
                found[key] = picture
                self._keep(key, picture)
        return [found[key].copy() for key in keys]

    def _kept(self, key: str) -> PIL.Image.Image | None:
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
            return self._pictures.get(key)

    def _keep(self, key: str, picture: PIL.Image.Image) -> None:
        with self._lock:
            before = self._pictures.pop(key, None)
            self._bytes -= 0 if before is None else _size(before)
            self._pictures[key] = picture
            self._bytes += _size(picture)
            while self._bytes > self._most and self._pictures:
                _, dropped = self._pictures.popitem(last=False)
                self._bytes -= _size(dropped)


def _size(picture: PIL.Image.Image) -> int:
    return picture.width * picture.height * len(picture.getbands())


def _key(maker: str, call: ImageCall) -> str:
    given = ""
    if call.picture is not None:
        data = f"{call.picture.mode} {call.picture.size}".encode() + call.picture.tobytes()
        given = hashlib.sha256(data).hexdigest()
    return json.dumps([maker, call.prompt, call.size, call.seed, given])
