"""SEG: masks from MaskFormer."""

from __future__ import annotations

from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.context import models_of
from snellen.values import Picture, Region


@tool("SEG")
def segment(context: ToolContext, image: Picture) -> list[Region]:
    """Segment the picture into all its things, each with its mask and what it was taken for; best first."""
    found = models_of(context).segment([context.pictures.get(image.id)])[0]
    return [
        Region(each.box, each.score, label=each.name, mask=context.pictures.put(each.mask).id, picture=image.id)
        for each in found
    ]
