"""REPLACE: a part of a picture painted anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.profiles import SnellenError
from snellen.tools.editing.regions import clipped, region_mask
from snellen.tools.regions.computing import check_count
from snellen.tools.registry import ToolContext, tool
from snellen.values import Picture, Region

if TYPE_CHECKING:
    import PIL.Image


@tool("REPLACE")
def replace(context: ToolContext, image: Picture, object: list[Region], prompt: str) -> Picture:
    """Replace the regions by what the prompt describes; without regions the picture stays as it is."""
    if context.models is None:
        msg = "This program runs without models, so REPLACE cannot paint: run it with a profile."
        raise SnellenError(msg)
    context.models.profile.source("replace")
    settings = context.models.profile.models.replace
    frame = None if settings is None else settings.frame
    if not object:
        return image
    check_count(len(object))
    picture = context.pictures.get(image.id)
    mask = region_mask(context, object, picture.size) if frame is None else framed(object, picture.size, frame=frame)
    return context.pictures.put(context.models.inpaint([picture], [mask], [prompt])[0])


def framed(regions: list[Region], size: tuple[int, int], *, frame: int) -> PIL.Image.Image:
    """L mode, of ``size`` (width, height): 255 in the boxes of the regions, ``frame`` pixels larger on each side."""
    import PIL.Image

    mask = PIL.Image.new("L", size, 0)
    for region in regions:
        x0, y0, x1, y1 = region.box
        mask.paste(255, clipped((x0 - frame, y0 - frame, x1 + frame, y1 + frame), size))
    return mask
