"""Pictures on pages: figures with regions outlined, and pictures that are inside the page itself."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.summaries.runs import regions_of
from snellen.summaries.values import in_words
from snellen.values import Picture, Region

if TYPE_CHECKING:
    from snellen.memory.artifacts import ArtifactStore

_LOSSLESS_PIXELS: Final = 512
"""Pictures up to this size stay PNG; larger ones, photographs as a rule, become JPEG."""


@dataclass(frozen=True)
class Figure:
    """A picture on a page, perhaps with regions outlined.

    Attributes:
        href: Its address, or ``#`` and the anchor of an embedded picture.
        width: Its width in pixels.
        height: Its height in pixels.
        label: A description for those who cannot see it.
        caption: A text below it.
        regions: The regions to outline.
    """

    href: str
    width: int
    height: int
    label: str = ""
    caption: str = ""
    regions: tuple[Region, ...] = ()


def figure_of(value: Any, find: Callable[[str], Figure | None], caption: str = "") -> Figure | None:  # noqa: ANN401 - any value of a program
    """Show a picture, or regions on theirs; None for a value with nothing to show, or whose picture is gone.

    Args:
        value: The value of a program.
        find: Finds a stored picture by its id.
        caption: A text below it.
    """
    regions = regions_of(value)
    picture_id = value.id if isinstance(value, Picture) else regions[0].picture if regions else ""
    figure = find(picture_id) if picture_id else None
    return figure and replace(figure, label=in_words(value), caption=caption, regions=tuple(regions))


def data_uri(content: bytes, kind: str = "image/png") -> str:
    """Return a file as an address that holds the file itself."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


@dataclass(frozen=True)
class EmbeddedPicture:
    """A picture inside a page; width and height are those of the stored one."""

    anchor: str
    width: int
    height: int
    uri: str


@dataclass
class EmbeddedPictures:
    """The pictures inside a page, each embedded once, however often it is shown.

    Attributes:
        store: The store that they come from.
    """

    store: ArtifactStore
    _embedded: dict[str, EmbeddedPicture] = field(default_factory=dict)

    def all(self) -> list[EmbeddedPicture]:
        """Return the pictures embedded so far."""
        return list(self._embedded.values())

    def embed(self, picture_id: str, pixels: int) -> EmbeddedPicture:
        """Embed a picture, at most so many pixels on its longer side; one that is embedded already stays as it is.

        Raises:
            SnellenError: It is missing from the store, or damaged.
        """
        if picture_id not in self._embedded:
            picture = self.store.get(picture_id)
            width, height = picture.size
            picture.thumbnail((pixels, pixels))
            kind = "PNG" if max(picture.size) <= _LOSSLESS_PIXELS else "JPEG"
            buffer = BytesIO()
            picture.save(buffer, kind, **({"quality": 88} if kind == "JPEG" else {"optimize": True}))
            uri = data_uri(buffer.getvalue(), f"image/{kind.lower()}")
            self._embedded[picture_id] = EmbeddedPicture(f"p{len(self._embedded)}", width, height, uri)
        return self._embedded[picture_id]

    def find(self, picture_id: str, pixels: int) -> EmbeddedPicture | None:
        """Embed a picture; None where it is gone, which the page survives."""
        try:
            return self.embed(picture_id, pixels)
        except SnellenError:
            return None
