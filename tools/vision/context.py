"""Access of the vision tools to the context of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.profiles import ClipModel, SnellenError
from snellen.tools.regions.computing import check_count
from snellen.values import Picture, Region

if TYPE_CHECKING:
    import PIL.Image

    from snellen.models.vision.models import Models
    from snellen.tools.registry import ToolContext


def models_of(context: ToolContext) -> Models:
    """The models of the context.

    Raises:
        SnellenError: The program runs without models.
    """
    if context.models is None:
        msg = "This program runs without models, so its tools cannot see: run it with a profile."
        raise SnellenError(msg)
    return context.models


def crops(context: ToolContext, image: Picture, regions: Sequence[Region]) -> list[PIL.Image.Image]:
    """Cut the regions out of the picture, each with the margin that the profile's CLIP entry asks for.

    Raises:
        BadInput: There are too many.
    """
    check_count(len(regions))
    picture = context.pictures.get(image.id)
    margin = models_of(context).profile.entry(ClipModel).margin
    return [picture.crop(widened(region.box, picture.size, margin=margin)) for region in regions]


def widened(box: tuple[int, int, int, int], size: tuple[int, int], *, margin: float) -> tuple[int, int, int, int]:
    """The box with a share of its width and height added on each side; inside the picture, at least a pixel large."""
    x0, y0, x1, y1 = box
    more_x, more_y = round((x1 - x0) * margin), round((y1 - y0) * margin)
    left = min(max(x0 - more_x, 0), size[0] - 1)
    top = min(max(y0 - more_y, 0), size[1] - 1)
    return left, top, max(min(x1 + more_x, size[0]), left + 1), max(min(y1 + more_y, size[1]), top + 1)


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities from logits; empty for none."""
    import math

    largest = max(logits, default=0.0)
    weights = [math.exp(logit - largest) for logit in logits]
    total = sum(weights)
    return [weight / total for weight in weights]
