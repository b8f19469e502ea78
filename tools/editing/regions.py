"""Masks of objects in a picture, which the editing tools share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.tools.regions.computing import check_count
from snellen.tools.registry import ToolContext
from snellen.values import Region

if TYPE_CHECKING:
    import PIL.Image

Box = tuple[int, int, int, int]
"""``(x0, y0, x1, y1)`` in pixels, ``x1`` and ``y1`` exclusive."""


def best(regions: Sequence[Region]) -> Region:
    """Return the region of the highest score, the first of equals; a score that is no number is below all others."""
    return max(regions, key=lambda region: region.score if math.isfinite(region.score) else -math.inf)


def clipped(box: Box, size: tuple[int, int]) -> Box:
    """Return the part of a box inside a picture of ``size`` (width, height); at least one pixel of it."""
    width, height = size
    x0, y0 = min(max(box[0], 0), width - 1), min(max(box[1], 0), height - 1)
    return x0, y0, max(min(box[2], width), x0 + 1), max(min(box[3], height), y0 + 1)


def region_mask(context: ToolContext, regions: Sequence[Region], size: tuple[int, int]) -> PIL.Image.Image:
    """Return an L-mode picture of ``size``, 255 inside the regions: their masks where segmented, else their boxes.

    Raises:
        BadInput: There are too many regions.
        SnellenError: A mask is no longer stored.
    """
    from PIL import Image, ImageChops, ImageDraw

    check_count(len(regions))
    covered = Image.new("L", size, 0)
    for region in regions:
        mask = None if region.mask is None else context.pictures.get(region.mask).convert("L")
        if mask is not None and mask.size == size:
            covered = ImageChops.lighter(covered, mask)
            continue
        if mask is not None:
            context.warn("A mask has another size than the picture, so the region's box is used.")
        x0, y0, x1, y1 = clipped(region.box, size)
        ImageDraw.Draw(covered).rectangle((x0, y0, x1 - 1, y1 - 1), fill=255)
    return covered


def warn_if_empty(context: ToolContext, regions: Sequence[Region], consequence: str) -> bool:
    """Tell the user when there is no region to edit, and what that means; returns whether there is none."""
    if not regions:
        context.warn(f"There is no region here, so {consequence}.")
    return not regions
