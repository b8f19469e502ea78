"""SEG and BACKGROUND: masks from MaskFormer."""

from __future__ import annotations

from snellen.models.vision.segmentation import is_ground
from snellen.tools.editing.regions import region_mask
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.ask import answer_question
from snellen.tools.vision.context import models_of
from snellen.values import Picture, Region


@tool("SEG")
def segment(context: ToolContext, image: Picture) -> list[Region]:
    """Segment the picture into all its things, each with its mask and what it was taken for; best first.

    The background is among the segments: its regions have the field ground, FILTER(object=SEG0, where='not ground')
    leaves it out.
    """
    segments = models_of(context).segment([context.pictures.get(image.id)])[0]
    return [
        Region(
            each.box,
            each.score,
            label=each.name,
            mask=context.pictures.put(each.mask).id,
            picture=image.id,
            ground=is_ground(each.name),
        )
        for each in segments
    ]


@tool("BACKGROUND")
def background(context: ToolContext, image: Picture) -> list[Region]:
    """Give the background, all that no thing covers, as one region with its mask.

    Its label says what it is: "grass", "striped background". Ask VQA for its colour.
    """
    from PIL import ImageChops

    segments = segment(context, image)
    covered = region_mask(context, [each for each in segments if not each.ground], (image.width, image.height))
    mask = ImageChops.invert(covered)
    grounds = sorted((each for each in segments if each.ground), key=lambda each: each.area)
    label = grounds[-1].label if grounds else answer_question(context, image, "what is the background?")
    box = mask.getbbox() or (0, 0, image.width, image.height)
    score = grounds[-1].score if grounds else 1.0
    return [Region(box, score, label, mask=context.pictures.put(mask).id, picture=image.id, ground=True)]
