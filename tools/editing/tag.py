"""TAG: draw what was found into the picture."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from snellen.tools.editing.regions import Box, clipped, warn_if_empty
from snellen.tools.regions.computing import check_count
from snellen.tools.registry import ToolContext, tool
from snellen.values import Picture, Region

if TYPE_CHECKING:
    import PIL.ImageDraw

_COLOURS = ("#d7263d", "#1b6ca8", "#2a9134", "#8f2d9b", "#b8600b", "#0f766e", "#7a4419", "#45526c")
"""Dark enough for white text on them."""
_FONT_SHARE = 1 / 24
_FONT_PIXELS = (9, 28)


@tool("TAG")
def tag(context: ToolContext, image: Picture, object: list[Region]) -> Picture:
    """Draw the box and the label of each region of object into the picture.

    The same label has the same colour. The tagged regions stay those of object (CLOVA, figure 11).
    """
    if warn_if_empty(context, object, "nothing is tagged"):
        return image
    check_count(len(object))
    from PIL import ImageDraw, ImageFont

    picture = context.pictures.get(image.id).convert("RGB")
    least, most = _FONT_PIXELS
    font = ImageFont.load_default(min(max(least, round(max(picture.size) * _FONT_SHARE)), most))
    draw = ImageDraw.Draw(picture)
    for region in object:
        colour = _COLOURS[zlib.crc32(region.label.encode()) % len(_COLOURS)]
        x0, y0, x1, y1 = clipped(region.box, picture.size)
        draw.rectangle((x0, y0, x1 - 1, y1 - 1), outline=colour, width=max(1, max(picture.size) // 256))
        if region.label:
            _label(draw, (x0, y0, x1, y1), region.label, font=font, colour=colour)
    return context.pictures.put(picture)


def _label(
    draw: PIL.ImageDraw.ImageDraw,
    box: Box,
    label: str,
    *,
    font: PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont,
    colour: str,
) -> None:
    """Write a label above the box, or inside it where there is no room above; kept within the picture's width."""
    left, top, right, bottom = draw.textbbox((0, 0), label, font=font)
    width, height = int(right - left) + 2, int(bottom - top) + 2
    x = max(0, min(box[0], draw.im.size[0] - width))
    y = box[1] - height if box[1] >= height else box[1]
    draw.rectangle((x, y, x + width - 1, y + height - 1), fill=colour)
    draw.text((x + 1 - left, y + 1 - top), label, fill="white", font=font)
