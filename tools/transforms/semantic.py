"""Transforms of what is shown: mixtures, pasted things, style and weather (APEX, appendix A)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from pydantic import Field

from tools.calls import Words
from tools.transforms.transform import TRANSFORMS, Colour, Repeat, Sample, as_picture, pixels

if TYPE_CHECKING:
    from tools.transforms.transform import Pixels

Side = Annotated[int, Field(ge=1, le=4096)]

_PART = 4
"""What is pasted without a size is this part of the picture's shorter side."""


@TRANSFORMS.declare("ApplyCutMix")
def cut_mix(sample: Sample, *, alpha: Annotated[float, Field(gt=0, le=100)] = 1.0) -> Image.Image:
    """Paste a random part of another picture at its own place (Yun et al. 2019).

    Args:
        alpha: Parameter of the Beta distribution from which the part's area is drawn.
    """
    old, other = pixels(sample.picture).copy(), _other(sample)
    height, width = old.shape[:2]
    side = np.sqrt(1 - sample.dice.beta(alpha, alpha))
    down, across = max(round(height * side), 1), max(round(width * side), 1)
    top, left = sample.dice.integers(height - down, endpoint=True), sample.dice.integers(width - across, endpoint=True)
    old[top : top + down, left : left + across] = other[top : top + down, left : left + across]
    return Image.fromarray(old)


@TRANSFORMS.declare("ApplyMixUp")
def mix_up(sample: Sample, *, alpha: Annotated[float, Field(ge=0, le=1)] = 0.7) -> Image.Image:
    """Blend with another picture (Zhang et al. 2018).

    Args:
        alpha: The share of the picture itself; the rest is the other one's.
    """
    return as_picture(alpha * pixels(sample.picture) + (1 - alpha) * _other(sample).astype(np.float64))


@TRANSFORMS.declare("EditImageStyle")
def edit_style(sample: Sample, *, style: Words) -> Image.Image:
    """Make the same picture in another visual style.

    Args:
        style: For example "pencil sketch" or "mosaic".
    """
    return sample.ask(f"style {style!r}").restyled(style=style, weather="")


@TRANSFORMS.declare("EditImageWeather")
def edit_weather(sample: Sample, *, weather: Words) -> Image.Image:
    """Make the same picture in another weather.

    Args:
        weather: For example "rainy" or "snowy".
    """
    return sample.ask(f"weather {weather!r}").restyled(style="", weather=weather)


@TRANSFORMS.declare("PasteGeneratedObjectAtRandomPosition")
def paste_object(
    sample: Sample,
    *,
    class_name: Words = "random",
    size: Side | None = None,
    repeat: Repeat = 1,
) -> Image.Image:
    """Paste an object, once or several times, at random places.

    Args:
        class_name: What is pasted; "random" for any class.
        size: Height and width in pixels, at most those of the picture; a quarter of its shorter side if left out.
        repeat: How many are pasted.
    """
    picture = sample.picture.copy()
    side = _side(picture, size)
    for _ in range(repeat):
        thing = sample.ask("object to paste").cut_out(class_name, side, sample.dice)
        picture.paste(thing, _place(picture, thing.size, sample.dice), thing)
    return picture


@TRANSFORMS.declare("PasteGeometricShapeAtRandomPosition")
def paste_shape(
    sample: Sample,
    *,
    shape: Literal["circle", "square", "triangle"],
    size: Side | None = None,
    color: Colour = (255, 0, 0),
    fill: bool = True,
    repeat: Repeat = 1,
) -> Image.Image:
    """Draw a shape, once or several times, at random places.

    Args:
        shape: Which one.
        size: Height and width in pixels, at most those of the picture; a quarter of its shorter side if left out.
        color: Red, green and blue, 0 to 255.
        fill: Whether it is filled, or drawn as an outline.
        repeat: How many are drawn.
    """
    picture = sample.picture.copy()
    pen = ImageDraw.Draw(picture)
    side = _side(picture, size)
    for _ in range(repeat):
        x, y = _place(picture, (side, side), sample.dice)
        right, bottom = x + side - 1, y + side - 1
        how: dict[str, Any] = {"fill": color} if fill else {"outline": color, "width": max(side // 12, 1)}
        if shape == "circle":
            pen.ellipse((x, y, right, bottom), **how)
        elif shape == "square":
            pen.rectangle((x, y, right, bottom), **how)
        else:
            pen.polygon([((x + right) / 2, y), (right, bottom), (x, bottom)], **how)
    return picture


@TRANSFORMS.declare("PasteTextAtRandomPosition")
def paste_text(
    sample: Sample,
    *,
    text: Words,
    font_size: Annotated[int, Field(ge=4, le=512)] | None = None,
    font_color: Colour = (0, 0, 255),
    repeat: Repeat = 1,
) -> Image.Image:
    """Write a text, once or several times, at random places; it is made smaller where it would not fit.

    Args:
        text: What is written.
        font_size: Height of a line in pixels; a quarter of the picture's shorter side if left out.
        font_color: Red, green and blue, 0 to 255.
        repeat: How often it is written.
    """
    picture = sample.picture.copy()
    pen = ImageDraw.Draw(picture)
    height = _side(picture, font_size)
    left, top, right, bottom = ImageFont.load_default(height).getbbox(text)
    fits = min(picture.width / max(right - left, 1), picture.height / max(bottom - top, 1), 1)
    font = ImageFont.load_default(max(height * fits, 1))
    left, top, right, bottom = font.getbbox(text)
    for _ in range(repeat):
        x, y = _place(picture, (round(right - left), round(bottom - top)), sample.dice)
        pen.text((x - left, y - top), text, fill=font_color, font=font)
    return picture


def _other(sample: Sample) -> Pixels:
    """Another picture, at this one's size."""
    other = sample.ask("other picture").another(sample.dice).convert("RGB")
    return pixels(other.resize(sample.picture.size, Image.Resampling.BICUBIC))


def _side(picture: Image.Image, size: int | None) -> int:
    shorter = min(picture.size)
    return min(size, shorter) if size else max(shorter // _PART, 1)


def _place(picture: Image.Image, size: tuple[int, int], dice: np.random.Generator) -> tuple[int, int]:
    across, down = max(picture.width - size[0], 0), max(picture.height - size[1], 0)
    return int(dice.integers(across, endpoint=True)), int(dice.integers(down, endpoint=True))
