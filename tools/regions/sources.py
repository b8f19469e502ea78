"""The picture that a region was found in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.errors import BadInput
from snellen.tools.registry import ToolContext
from snellen.values import Region, describe

if TYPE_CHECKING:
    import PIL.Image


def picture_of(context: ToolContext, region: Region) -> PIL.Image.Image:
    """Return the picture that a region was found in.

    Raises:
        BadInput: Nobody said which one that is.
        SnellenError: It is no longer stored.
    """
    if not region.picture:
        msg = f"{describe(region)} belongs to no picture; take CROP(image=…, box=…)"
        raise BadInput(msg)
    return context.pictures.get(region.picture)
