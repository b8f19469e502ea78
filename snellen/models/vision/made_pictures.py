"""Pictures that were made, kept while a process runs: what is asked for again is not made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from snellen.models.computed_once import ComputedOnce
from snellen.models.picture_encoding import digest_of

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
        self._pictures = ComputedOnce(most, _size)

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
        found = self._pictures.values(dict(zip(keys, calls, strict=True)), make)
        return [found[key].copy() for key in keys]


def _size(picture: PIL.Image.Image) -> int:
    return picture.width * picture.height * len(picture.getbands())


def _key(maker: str, call: ImageCall) -> str:
    given = "" if call.picture is None else digest_of(call.picture)
    return json.dumps([maker, call.prompt, call.size, call.seed, given])
