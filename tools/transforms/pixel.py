"""Transforms of values: noise, compression, brightness, contrast, blur and colour (APEX, appendix A; PairBench)."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import cv2
import numpy as np
from PIL import Image, ImageEnhance
from pydantic import Field

from snellen.tools.transforms.transform import (
    TRANSFORMS,
    Colour,
    Factor,
    ParameterOutOfRange,
    SourcePicture,
    as_picture,
    pixels,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Share = Annotated[float, Field(ge=0, le=1)]

_FLAT = 1e-3 * 255**2
"""The variance that noise reckons with at least: nothing times a factor would stay nothing."""
_HALVINGS = 12
_STRONGEST = 512.0
"""The deviation of noise that leaves hardly anything of a picture but its ends, 0 and 255."""
_QUALITIES = (1, 95)
"""Of JPEG, from the lowest to the highest that is of use."""


@TRANSFORMS.declare("AddGaussianNoise")
def add_gaussian_noise(
    sample: SourcePicture, *, variance_factor: Annotated[float, Field(ge=1, le=100)] = 1.4
) -> Image.Image:
    """Add Gaussian noise until the variance of the picture's values has grown by a factor.

    Values are clipped, so a picture cannot vary by any factor: one that is out of its reach is refused. A flat picture
    is taken to vary a little.

    Args:
        variance_factor: Variance with the noise over variance without, at least 1.
    """
    clean = pixels(sample.picture).astype(np.float64)
    noise = sample.dice.standard_normal(clean.shape)
    target = variance_factor * max(float(clean.var()), _FLAT) - max(_FLAT - float(clean.var()), 0)

    def noisy(deviation: float) -> Image.Image:
        return as_picture(clean + deviation * noise)

    strongest = float(pixels(noisy(_STRONGEST)).var())
    if strongest < target:
        most = strongest / max(float(clean.var()), _FLAT)
        msg = f"variance_factor={variance_factor:g} is out of reach: its variance grows {most:.2f} times at most."
        raise ParameterOutOfRange(msg)
    return noisy(_least(lambda deviation: pixels(noisy(deviation)).var() >= target, _STRONGEST))


@TRANSFORMS.declare("AddJPEGCompression")
def add_jpeg_compression(
    sample: SourcePicture, *, target_psnr: Annotated[float, Field(ge=1, le=60)] = 26.0
) -> Image.Image:
    """Compress as JPEG, at the highest quality at which the loss reaches a target.

    A loss that no quality gives is refused: flat pictures keep much even at the lowest.

    Args:
        target_psnr: Peak signal-to-noise ratio with the clean picture, in decibels: the lower, the worse.
    """
    clean, (lowest, highest) = sample.picture, _QUALITIES
    low, high = (psnr(clean, _jpeg(clean, quality)) for quality in _QUALITIES)
    if not low <= target_psnr <= high:
        msg = f"target_psnr={target_psnr:g} is out of reach: JPEG leaves it between {low:.1f} and {high:.1f} dB."
        raise ParameterOutOfRange(msg)
    while lowest < highest:  # the ratio grows with quality
        quality = (lowest + highest + 1) // 2
        if psnr(clean, _jpeg(clean, quality)) <= target_psnr:
            lowest = quality
        else:
            highest = quality - 1
    return _jpeg(clean, lowest)


@TRANSFORMS.declare("ChangeBrightness")
def change_brightness(sample: SourcePicture, *, brightness_factor: Factor) -> Image.Image:
    """Make a picture brighter or darker.

    Args:
        brightness_factor: 0 gives a black picture, 1 the picture as it is, 2 one twice as bright.
    """
    return ImageEnhance.Brightness(sample.picture).enhance(brightness_factor)


@TRANSFORMS.declare("ChangeContrast")
def change_contrast(sample: SourcePicture, *, contrast_factor: Factor) -> Image.Image:
    """Raise or lower the contrast.

    Args:
        contrast_factor: 0 gives the picture's mean gray, 1 the picture as it is, 2 twice the distance from that gray.
    """
    return ImageEnhance.Contrast(sample.picture).enhance(contrast_factor)


@TRANSFORMS.declare("DefocusBlurImage")
def defocus_blur(sample: SourcePicture, *, blur_factor: Annotated[float, Field(ge=1, le=1e6)] = 10.0) -> Image.Image:
    """Blur with a Gaussian filter until the sharpness has fallen by a factor.

    A factor that even the widest filter, half as wide as the picture, does not reach is refused.

    Args:
        blur_factor: Sharpness (the variance of the Laplacian) before over sharpness after.
    """
    clean = pixels(sample.picture)
    target = sharpness(sample.picture) / blur_factor
    widest = max(sample.picture.size) / 2

    def blurred(deviation: float) -> Image.Image:
        return Image.fromarray(cv2.GaussianBlur(clean, (0, 0), deviation) if deviation > 0 else clean)

    shown = blurred(_least(lambda deviation: sharpness(blurred(deviation)) <= target, widest))
    left = sharpness(shown)
    if left > target:
        most = sharpness(sample.picture) / left
        msg = f"blur_factor={blur_factor:g} is out of reach: its sharpness falls {most:.3g} times at most."
        raise ParameterOutOfRange(msg)
    return shown


@TRANSFORMS.declare("OverlayColor")
def overlay_colour(sample: SourcePicture, *, color: Colour, opacity: Share = 1.0) -> Image.Image:
    """Lay an even color over the picture.

    Args:
        color: Red, green and blue, 0 to 255.
        opacity: 0 shows the picture alone, 1 the color alone.
    """
    return as_picture((1 - opacity) * pixels(sample.picture) + opacity * np.asarray(color, dtype=np.float64))


@TRANSFORMS.declare("ColorJitter")
def colour_jitter(
    sample: SourcePicture,
    *,
    brightness: Share = 0.5,
    contrast: Share = 0.5,
    saturation: Share = 0.5,
    hue: Annotated[float, Field(ge=0, le=0.5)] = 0.25,
) -> Image.Image:
    """Change brightness, contrast, saturation and hue at random, in random order (PairBench's CJ).

    Args:
        brightness: The factor is drawn from 1 - brightness to 1 + brightness.
        contrast: As above.
        saturation: As above.
        hue: The turn of the color circle is drawn from -hue to hue, in whole turns.
    """
    factors: list[tuple[Callable[[Image.Image], ImageEnhance._Enhance], float]] = [
        (ImageEnhance.Brightness, brightness),
        (ImageEnhance.Contrast, contrast),
        (ImageEnhance.Color, saturation),
    ]
    changes = [_enhanced(kind, float(sample.dice.uniform(1 - reach, 1 + reach))) for kind, reach in factors]
    changes.append(partial(_turned, turn=float(sample.dice.uniform(-hue, hue))))
    picture = sample.picture
    for place in sample.dice.permutation(len(changes)):
        picture = changes[place](picture)
    return picture


@TRANSFORMS.declare("GaussianBlur")
def gaussian_blur(sample: SourcePicture, *, sigma: Annotated[float, Field(gt=0, le=100)] = 2.0) -> Image.Image:
    """Blur with a Gaussian filter of a given width (PairBench's GB).

    Args:
        sigma: Standard deviation of the filter in pixels.
    """
    return Image.fromarray(cv2.GaussianBlur(pixels(sample.picture), (0, 0), sigma))


def psnr(clean: Image.Image, changed: Image.Image) -> float:
    """Return the peak signal-to-noise ratio of two RGB pictures of one size in decibels; infinite where they agree."""
    error = float(np.mean((pixels(clean).astype(np.float64) - pixels(changed)) ** 2))
    return math.inf if error == 0 else 10 * math.log10(255**2 / error)


def sharpness(picture: Image.Image) -> float:
    """Return the variance of the Laplacian of a picture's gray values (Pech-Pacheco et al. 2000)."""
    gray: NDArray[np.float64] = cv2.Laplacian(np.asarray(picture.convert("L")), cv2.CV_64F)
    return float(gray.var())


def _jpeg(picture: Image.Image, quality: int) -> Image.Image:
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=quality)
    return Image.open(written).convert("RGB")


def _enhanced(
    kind: Callable[[Image.Image], ImageEnhance._Enhance], factor: float
) -> Callable[[Image.Image], Image.Image]:
    return lambda picture: kind(picture).enhance(factor)


def _turned(picture: Image.Image, turn: float) -> Image.Image:
    hue, saturation, value = picture.convert("HSV").split()
    moved = (np.asarray(hue, dtype=np.int64) + round(turn * 256)) % 256
    return Image.merge("HSV", (Image.fromarray(moved.astype(np.uint8)), saturation, value)).convert("RGB")


def _least(enough: Callable[[float], bool], most: float) -> float:
    """Return about the least amount that is enough, by halving; `most` where none below it is.

    Halving would begin with the largest amounts, which take the longest to try, as a Gaussian filter is as wide as its
    deviation. So the amounts that it may come to first are tried from the smallest up: what comes of it is the same.
    """
    if enough(0.0):
        return 0.0
    low, high, doublings = 0.0, most * 0.5**_HALVINGS, 0
    while high < most and not enough(high):
        low, high, doublings = high, 2 * high, doublings + 1
    for _ in range(doublings - 1):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
