"""Pictures of regions: WIDEN, PICTURE, MASK."""

from __future__ import annotations

from dataclasses import replace

from snellen.errors import BadInput
from snellen.scoring.detection import iou
from snellen.tools.editing.crop import crop
from snellen.tools.editing.regions import best, clipped
from snellen.tools.regions.computing import check_pairs
from snellen.tools.regions.sources import picture_of
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.segment import segment
from snellen.values import Picture, Region

_SAME_THING = 0.5


@tool("WIDEN")
def widen(context: ToolContext, image: Picture, object: list[Region], by: float = 0.25) -> list[Region]:  # noqa: ARG001
    """Make the boxes of the regions larger by a share of their width and height on each side, within the picture.

    Their masks are dropped. A negative share makes them smaller.
    """
    if not -0.5 < by <= 10:  # noqa: PLR2004 - beyond it nothing is left, or all is the picture
        msg = f"WIDEN(by={by:g}) is out of range; give a share such as 0.25, more than -0.5 and at most 10"
        raise BadInput(msg)
    return [
        replace(region, box=clipped(_widened(region, by), (image.width, image.height)), mask=None) for region in object
    ]


def _widened(region: Region, share: float) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = region.box
    across, down = round(region.width * share), round(region.height * share)
    return x0 - across, y0 - down, x1 + across, y1 + down


@tool("PICTURE")
def picture(context: ToolContext, object: list[Region]) -> Picture:
    """Cut the best of the regions out of the picture that it was found in."""
    if not object:
        msg = "PICTURE(object=…) got no region; test len(…) first"
        raise BadInput(msg)
    region = best(object)
    return crop(context, Picture(region.picture, *picture_of(context, region).size), [region])


@tool("MASK")
def mask(context: ToolContext, image: Picture, object: list[Region]) -> list[Region]:
    """Give each region the mask of the segment that is the same thing; edits then follow its outline.

    That is the segment whose box it shares most with (at least half); regions without one keep their box alone.
    """
    segments = [each for each in segment(context, image) if not each.ground] if object else []
    check_pairs(len(object), len(segments))
    return [region if region.mask else _masked(region, segments) for region in object]


def _masked(region: Region, segments: list[Region]) -> Region:
    alike = max(segments, key=lambda each: iou(each.box, region.box), default=None)
    if alike is None or iou(alike.box, region.box) < _SAME_THING:
        return region
    return replace(region, mask=alike.mask)
