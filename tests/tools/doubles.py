"""What the tests of tools stand on: pictures kept in a dict, and a context without models."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

import PIL.Image

from snellen.errors import SnellenError
from snellen.profiles import load_profile
from snellen.tools.registry import ToolContext
from snellen.values import Picture


class Shelf:
    """A picture store that forgets when the test ends."""

    def __init__(self) -> None:
        self._pictures: dict[str, PIL.Image.Image] = {}

    def put(self, picture: PIL.Image.Image) -> Picture:
        file = io.BytesIO()
        picture.save(file, "PNG")
        picture_id = hashlib.sha256(file.getvalue()).hexdigest()
        self._pictures[picture_id] = picture.copy()
        return Picture(picture_id, *picture.size)

    def get(self, picture_id: str) -> PIL.Image.Image:
        if picture_id not in self._pictures:
            msg = f"there is no picture {picture_id}"
            raise SnellenError(msg)
        return self._pictures[picture_id].copy()


def known_names(query: str, most: int, candidates: Sequence[str]) -> list[str]:
    return [f"{query} {number}" for number in range(most + 5)]


def context_of(shelf: Shelf) -> ToolContext:
    return ToolContext(pictures=shelf, models=None, list_knowledge=known_names, profile=load_profile("embedded"))
