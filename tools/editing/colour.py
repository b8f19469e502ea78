"""COLORPOP and BGBLUR: keep an object as it is, change the rest."""

from __future__ import annotations

from snellen.tools.editing.regions import region_mask, warn_if_empty
from snellen.tools.registry import ToolContext, tool
from snellen.values import Picture, Region

BLUR_SHARE = 1 / 40
"""Standard deviation of the blur as a share of the picture's longer side, 2 pixels at least."""


@tool("COLORPOP")
def colour_pop(context: ToolContext, image: Picture, object: list[Region]) -> Picture:
    """Keep the regions of object in colour and make the rest of the picture grey.

    Follows masks where the regions were segmented, else their boxes (CLOVA, table 2).
    """
    from PIL import Image

    warn_if_empty(context, object, "the whole picture becomes grey")
    picture = context.pictures.get(image.id).convert("RGB")
    grey = picture.convert("L").convert("RGB")
    return context.pictures.put(Image.composite(picture, grey, region_mask(context, object, picture.size)))


@tool("BGBLUR")
def blur_background(context: ToolContext, image: Picture, object: list[Region]) -> Picture:
    """Keep the regions of object sharp and blur the rest of the picture.

    Follows masks where the regions were segmented, else their boxes (CLOVA, table 2).
    """
    from PIL import Image, ImageFilter

    warn_if_empty(context, object, "the whole picture is blurred")
    picture = context.pictures.get(image.id).convert("RGB")
    blurred = picture.filter(ImageFilter.GaussianBlur(max(2.0, max(picture.size) * BLUR_SHARE)))
    return context.pictures.put(Image.composite(picture, blurred, region_mask(context, object, picture.size)))
