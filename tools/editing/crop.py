"""CROP and the directional crops: a part of a picture as a picture.

CLOVA's table 2 and VisProg's modules. ``box`` is the best of the given regions; where there is none, the
whole picture is given, as VisProg does. Directional crops keep the whole side of the picture that lies
beyond the middle of the box, so that neighbours which overlap the box are not lost (VisProg, CropLeftOf).
"""

from __future__ import annotations

from snellen.tools.editing.regions import Box, best, clipped, warn_if_empty
from snellen.tools.registry import ToolContext, tool
from snellen.values import Picture, Region

_WHOLE = "the whole picture is used"


@tool("CROP")
def crop(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Cut the best region of box out of the picture; the whole picture when box is empty."""
    if warn_if_empty(context, box, _WHOLE):
        return image
    return _cut(context, image, best(box).box)


@tool("CROP_LEFTOF", synonyms=("CROP_LEFT",))
def crop_left_of(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Keep the part of the picture to the left of the best region of box, up to the region's middle."""
    if warn_if_empty(context, box, _WHOLE):
        return image
    x0, _, x1, _ = best(box).box
    return _cut(context, image, (0, 0, (x0 + x1) // 2, image.height))


@tool("CROP_RIGHTOF", synonyms=("CROP_RIGHT",))
def crop_right_of(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Keep the part of the picture to the right of the best region of box, from the region's middle."""
    if warn_if_empty(context, box, _WHOLE):
        return image
    x0, _, x1, _ = best(box).box
    return _cut(context, image, ((x0 + x1) // 2, 0, image.width, image.height))


@tool("CROP_ABOVE", synonyms=("CROP_OVER", "CROP_TOP"))
def crop_above(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Keep the part of the picture above the best region of box, down to the region's middle."""
    if warn_if_empty(context, box, _WHOLE):
        return image
    _, y0, _, y1 = best(box).box
    return _cut(context, image, (0, 0, image.width, (y0 + y1) // 2))


@tool("CROP_BELOW", synonyms=("CROP_BOTTOM", "CROP_UNDER"))
def crop_below(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Keep the part of the picture below the best region of box, from the region's middle."""
    if warn_if_empty(context, box, _WHOLE):
        return image
    _, y0, _, y1 = best(box).box
    return _cut(context, image, (0, (y0 + y1) // 2, image.width, image.height))


@tool("CROP_FRONTOF", synonyms=("CROP_FRONT", "CROP_INFRONT", "CROP_INFRONTOF"))
def crop_front_of(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Keep what may stand in front of the best region of box: around it, from its top down to the picture's edge.

    What is nearer to the viewer covers an object or stands lower in the picture.
    """
    if warn_if_empty(context, box, _WHOLE):
        return image
    x0, y0, x1, _ = best(box).box
    left, right = _widened(x0, x1)
    return _cut(context, image, (left, y0, right, image.height))


@tool("CROP_BEHIND", synonyms=("CROP_BACK", "CROP_BEHINDOF"))
def crop_behind(context: ToolContext, image: Picture, box: list[Region]) -> Picture:
    """Keep what may stand behind the best region of box: around it, from the picture's top down to its bottom.

    What is farther from the viewer is covered by an object or stands higher in the picture.
    """
    if warn_if_empty(context, box, _WHOLE):
        return image
    x0, _, x1, y1 = best(box).box
    left, right = _widened(x0, x1)
    return _cut(context, image, (left, 0, right, y1))


def _widened(x0: int, x1: int) -> tuple[int, int]:
    """Return the horizontal span widened by half its width on each side."""
    margin = (x1 - x0 + 1) // 2
    return x0 - margin, x1 + margin


def _cut(context: ToolContext, image: Picture, box: Box) -> Picture:
    return context.pictures.put(context.pictures.get(image.id).crop(clipped(box, (image.width, image.height))))
