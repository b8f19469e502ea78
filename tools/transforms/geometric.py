"""Transforms of places: turns, flips, zooms, shuffled parts, distortions (APEX, appendix A; PairBench)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import cv2
import numpy as np
from PIL import Image, ImageOps
from pydantic import Field

from snellen.tools.transforms.transform import TRANSFORMS, ParameterOutOfRange, SourcePicture, pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUARTER = 90


@TRANSFORMS.declare("Identity")
def identity(sample: SourcePicture) -> Image.Image:
    """Leave the picture as it is."""
    return sample.picture


@TRANSFORMS.declare("FlipImage")
def flip(sample: SourcePicture, *, orientation: Literal["horizontal", "vertical"]) -> Image.Image:
    """Mirror the picture.

    Args:
        orientation: "horizontal" swaps left and right, "vertical" top and bottom.
    """
    flipped = ImageOps.mirror if orientation == "horizontal" else ImageOps.flip
    return flipped(sample.picture)


@TRANSFORMS.declare("RotateImage")
def rotate(sample: SourcePicture, *, angle: Annotated[int, Field(ge=-360, le=360)]) -> Image.Image:
    """Turn the picture around its center.

    Quarter turns lose nothing (height and width change places); otherwise corners are lost, and what was outside of the
    picture is black.

    Args:
        angle: Degrees to the right; negative ones turn it to the left.
    """
    exact = angle % _QUARTER == 0
    return sample.picture.rotate(-angle, Image.Resampling.BILINEAR, expand=exact)


@TRANSFORMS.declare("ZoomAtRandomPosition")
def zoom(sample: SourcePicture, *, zoom_factor: Annotated[float, Field(ge=1, le=20)] = 2.0) -> Image.Image:
    """Show a random part of the picture at the size of the whole.

    Args:
        zoom_factor: Width of the picture over width of the part, which has at least one pixel.
    """
    width, height = sample.picture.size
    if zoom_factor > (most := min(width, height)):
        msg = f"zoom_factor={zoom_factor:g} leaves no pixel of a picture of {width} × {height}: at most {most}."
        raise ParameterOutOfRange(msg)
    across, down = width / zoom_factor, height / zoom_factor
    left, top = sample.dice.uniform(0, width - across), sample.dice.uniform(0, height - down)
    part = (left, top, left + across, top + down)
    return sample.picture.resize((width, height), Image.Resampling.BICUBIC, box=part)


@TRANSFORMS.declare("CropRandomShuffleAndRecompose")
def shuffle(sample: SourcePicture, *, grid_size: Annotated[int, Field(ge=2, le=32)] = 2) -> Image.Image:
    """Cut the picture into a grid of equal parts and shuffle them.

    At least two parts change places. Pixels at the right and lower edge that do not go into equal parts stay.

    Args:
        grid_size: How many parts there are across and down, of at least one pixel each.
    """
    old = pixels(sample.picture)
    if grid_size > min(old.shape[:2]):
        msg = (
            f"grid_size={grid_size} leaves no pixel for a part of a picture of {old.shape[1]} × {old.shape[0]}: at "
            f"most {min(old.shape[:2])}."
        )
        raise ParameterOutOfRange(msg)
    new = old.copy()
    down, across = old.shape[0] // grid_size, old.shape[1] // grid_size
    order = sample.dice.permutation(grid_size**2)
    if np.array_equal(order, np.arange(grid_size**2)):
        order = np.roll(order, 1)
    for place, part in enumerate(order):
        (y, x), (from_y, from_x) = divmod(place, grid_size), divmod(int(part), grid_size)
        source = old[from_y * down : (from_y + 1) * down, from_x * across : (from_x + 1) * across]
        new[y * down : (y + 1) * down, x * across : (x + 1) * across] = source
    return Image.fromarray(new)


@TRANSFORMS.declare("ElasticTransform")
def elastic(
    sample: SourcePicture,
    *,
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.05,
    sigma: Annotated[float, Field(gt=0, le=1)] = 0.05,
) -> Image.Image:
    """Shift pixels by a smooth random field (PairBench's ET; Simard et al. 2003).

    Args:
        alpha: Root mean square of the shift, as a share of the shorter side.
        sigma: Width of the filter that makes the field smooth, as a share of the shorter side.
    """
    values = pixels(sample.picture)
    height, width = values.shape[:2]
    side = min(height, width)
    shifts = [cv2.GaussianBlur(sample.dice.standard_normal((height, width)), (0, 0), sigma * side) for _ in range(2)]
    spread = float(np.sqrt(np.mean(np.square(shifts)) * 2)) or 1.0
    across, down = (alpha * side / spread * shift for shift in shifts)
    y, x = np.mgrid[0:height, 0:width]
    return _moved(values, x + across, y + down)


@TRANSFORMS.declare("PerspectiveShift")
def perspective(sample: SourcePicture, *, distortion_scale: Annotated[float, Field(ge=0, le=1)] = 0.5) -> Image.Image:
    """Show the picture as if seen from aside (PairBench's PS); what was outside of it is black.

    Args:
        distortion_scale: Corners move inwards by at most this share of half of the side.
    """
    width, height = sample.picture.size
    inward = sample.dice.uniform(0, distortion_scale, size=(4, 2)) * [(width - 1) / 2, (height - 1) / 2]
    corners = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], dtype=np.float64)
    moved = corners + inward * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    change = cv2.getPerspectiveTransform(corners.astype(np.float32), moved.astype(np.float32))
    return Image.fromarray(cv2.warpPerspective(pixels(sample.picture), change, (width, height), flags=cv2.INTER_LINEAR))


def _moved(values: NDArray[np.uint8], x: NDArray[np.float64], y: NDArray[np.float64]) -> Image.Image:
    """Take each pixel from a place of its own; beyond the edge the picture is mirrored."""
    taken = cv2.remap(
        values, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
    )
    return Image.fromarray(taken)
