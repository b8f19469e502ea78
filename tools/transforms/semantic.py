"""Transforms of what is shown: mixtures, pasted things, style and weather (APEX, appendix A)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from pydantic import Field

from snellen.tools.calls import Words
from snellen.tools.transforms.transform import (
    ANY,
    OTHER,
    SAME,
    TRANSFORMS,
    Colour,
    ParameterOutOfRange,
    Repeat,
    SourcePicture,
    as_picture,
    pixels,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.tools.transforms.transform import Box, Pixels

Side = Annotated[int, Field(ge=1, le=4096)]

_PART = 4
"""What is pasted without a size is this part of the picture's shorter side."""
_SMALLEST_FONT = 4
_TRIES = 50
"""Random places that are tried for a thing before all get places in a grid."""

Size = tuple[int, int]
"""Width and height in pixels."""


@TRANSFORMS.declare("ApplyCutMix")
def cut_mix(sample: SourcePicture, *, alpha: Annotated[float, Field(gt=0, le=100)] = 1.0) -> Image.Image:
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
def mix_up(sample: SourcePicture, *, alpha: Annotated[float, Field(ge=0, le=1)] = 0.7) -> Image.Image:
    """Blend with another picture (Zhang et al. 2018).

    Args:
        alpha: The share of the picture itself; the rest is the other one's.
    """
    return as_picture(alpha * pixels(sample.picture) + (1 - alpha) * _other(sample).astype(np.float64))


@TRANSFORMS.declare("EditImageStyle")
def edit_style(sample: SourcePicture, *, style: Words) -> Image.Image:
    """Make the same picture in another visual style.

    Args:
        style: For example "pencil sketch" or "mosaic".
    """
    return sample.ask(f"style {style!r}").restyled(style=style, weather="")


@TRANSFORMS.declare("EditImageWeather")
def edit_weather(sample: SourcePicture, *, weather: Words) -> Image.Image:
    """Make the same picture in another weather.

    Args:
        weather: For example "rainy" or "snowy".
    """
    return sample.ask(f"weather {weather!r}").restyled(style="", weather=weather)


@TRANSFORMS.declare("PasteGeneratedObjectAtRandomPosition")
def paste_object(
    sample: SourcePicture,
    *,
    class_name: Words = ANY,
    size: Side | None = None,
    repeat: Repeat = 1,
) -> Image.Image:
    """Paste an object, once or several times, at random places; they do not overlap.

    Args:
        class_name: What is pasted; "random" for any class. "same" for the class that the picture shows and "other" for
            classes that it does not show: these are pasted beside what it shows, where that is known.
        size: Height and width in pixels, at most those of the picture; a quarter of its shorter side if left out.
        repeat: How many are pasted, at most as many as have room beside one another.
    """
    picture = sample.picture.copy()
    side = _side(picture, size)
    _check_room(picture, (side, side), repeat)
    studio = sample.ask("object to paste")
    things = [studio.cut_out(class_name, side, sample.dice) for _ in range(repeat)]
    sizes, taken = [thing.size for thing in things], studio.occupied() if class_name in {SAME, OTHER} else ()
    places = _beside(picture, taken, sizes, sample.dice) if taken else _places(picture, sizes, sample.dice)
    for thing, place in zip(things, places, strict=True):
        picture.paste(thing, place, thing)
    return picture


@TRANSFORMS.declare("PasteGeometricShapeAtRandomPosition")
def paste_shape(
    sample: SourcePicture,
    *,
    shape: Literal["circle", "square", "triangle"],
    size: Side | None = None,
    color: Colour = (255, 0, 0),
    fill: bool = True,
    repeat: Repeat = 1,
) -> Image.Image:
    """Draw a shape, once or several times, at random places; they do not overlap.

    Args:
        shape: Which one.
        size: Height and width in pixels, at most those of the picture; a quarter of its shorter side if left out.
        color: Red, green and blue, 0 to 255.
        fill: Whether it is filled, or drawn as an outline.
        repeat: How many are drawn, at most as many as have room beside one another.
    """
    picture = sample.picture.copy()
    pen = ImageDraw.Draw(picture)
    side = _side(picture, size)
    for x, y in _places(picture, [(side, side)] * repeat, sample.dice):
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
    sample: SourcePicture,
    *,
    text: Words,
    font_size: Annotated[int, Field(ge=_SMALLEST_FONT, le=512)] | None = None,
    font_color: Colour = (0, 0, 255),
    repeat: Repeat = 1,
) -> Image.Image:
    """Write a text, once or several times, at random places; the places do not overlap.

    Args:
        text: What is written; the whole of it has room in the picture.
        font_size: Height of a line in pixels. If left out, a quarter of the picture's shorter side, or what fits.
        font_color: Red, green and blue, 0 to 255.
        repeat: How often it is written, at most as often as it has room.
    """
    picture = sample.picture.copy()
    pen = ImageDraw.Draw(picture)
    height = _font_size(picture, text, font_size)
    left, top, _, _ = _inked(text, height)
    for x, y in _places(picture, [_written(text, height)] * repeat, sample.dice):
        pen.text((x - left, y - top), text, fill=font_color, font=ImageFont.load_default(height))
    return picture


def _other(sample: SourcePicture) -> Pixels:
    """Another picture, at this one's size."""
    other = sample.ask("other picture").another(sample.dice).convert("RGB")
    return pixels(other.resize(sample.picture.size, Image.Resampling.BICUBIC))


def _side(picture: Image.Image, size: int | None) -> int:
    shorter = min(picture.size)
    if size is not None and size > shorter:
        msg = f"size={size} does not fit into a picture of {_told(picture.size)}: at most {shorter}."
        raise ParameterOutOfRange(msg)
    return size or max(shorter // _PART, 1)


def _font_size(picture: Image.Image, text: str, size: int | None) -> float:
    """Return the height of a line of text: the wanted one, or one that fits.

    Raises:
        ParameterOutOfRange: The text does not fit into the picture so.
    """
    height = size or max(min(picture.size) // _PART, 1)
    if _fits(picture, text, height):
        return height
    smaller = next((one for one in range(height - 1, 0, -1) if _fits(picture, text, one)), 0)
    if size is None and smaller:
        return smaller
    bound = f"at most {smaller}" if smaller >= _SMALLEST_FONT else "write less"
    setting = f"font_size={size}" if size else "Any size"
    msg = f"{setting} is too large for {text[:40]!r} in a picture of {_told(picture.size)}: {bound}."
    raise ParameterOutOfRange(msg)


def _fits(picture: Image.Image, text: str, height: float) -> bool:
    across, down = _written(text, height)
    return across <= picture.width and down <= picture.height


def _written(text: str, height: float) -> Size:
    """Return what a text takes up."""
    left, top, right, bottom = _inked(text, height)
    return math.ceil(right - left), math.ceil(bottom - top)


def _inked(text: str, height: float) -> tuple[float, float, float, float]:
    return ImageFont.load_default(height).getbbox(text)


def _check_room(picture: Image.Image, box: Size, count: int) -> Size:
    """Return how many boxes have room across and down, with a pixel between any two: no other order has room for more.

    Raises:
        ParameterOutOfRange: There is no room for so many.
    """
    across, down = (picture.width + 1) // (box[0] + 1), (picture.height + 1) // (box[1] + 1)
    if count > across * down:
        msg = (
            f"repeat={count} of {_told(box)} pixels have no room beside one another in a picture of "
            f"{_told(picture.size)}: at most {across * down}."
        )
        raise ParameterOutOfRange(msg)
    return across, down


def _places(picture: Image.Image, boxes: Sequence[Size], dice: np.random.Generator) -> list[tuple[int, int]]:
    """Return the left upper corners of boxes at random places, with a pixel at least between any two.

    Raises:
        ParameterOutOfRange: There is no room for all of them.
    """
    largest = max(box[0] for box in boxes), max(box[1] for box in boxes)
    room = _check_room(picture, largest, len(boxes))
    placed: list[tuple[int, int]] = []
    for box in boxes:
        tries = (_place(picture, box, dice) for _ in range(_TRIES))
        free = (one for one in tries if all(_apart(one, box, other, boxes[at]) for at, other in enumerate(placed)))
        place = next(free, None)
        if place is None:
            return _in_grid(picture, largest, room, len(boxes), dice)
        placed.append(place)
    return placed


def _beside(
    picture: Image.Image, taken: Sequence[Box], sizes: Sequence[Size], dice: np.random.Generator
) -> list[tuple[int, int]]:
    """Return the left upper corners of boxes at random places, apart from one another and from what is taken.

    Raises:
        ParameterOutOfRange: No such places were found.
    """
    there = [((x0, y0), (x1 - x0, y1 - y0)) for x0, y0, x1, y1 in taken]
    for _ in range(_TRIES):
        placed = list(there)
        for size in sizes:
            tries = (_place(picture, size, dice) for _ in range(_TRIES))
            free = (one for one in tries if all(_apart(one, size, other, its) for other, its in placed))
            place = next(free, None)
            if place is None:
                break
            placed.append((place, size))
        else:
            return [place for place, _ in placed[len(there) :]]
    msg = f"There is no room for {len(sizes)} objects of {_told(sizes[0])} pixels beside what the picture shows."
    raise ParameterOutOfRange(msg)


def _place(picture: Image.Image, box: Size, dice: np.random.Generator) -> tuple[int, int]:
    across, down = picture.width - box[0], picture.height - box[1]
    return int(dice.integers(across, endpoint=True)), int(dice.integers(down, endpoint=True))


def _apart(one: tuple[int, int], box: Size, other: tuple[int, int], its: Size) -> bool:
    """Tell whether there is a pixel between two boxes at least, across or down."""
    return any(
        here + size < there or there + wide < here for here, size, there, wide in zip(one, box, other, its, strict=True)
    )


def _in_grid(
    picture: Image.Image, box: Size, room: Size, count: int, dice: np.random.Generator
) -> list[tuple[int, int]]:
    """Return random places of a grid whose lines are spread at random over the picture."""
    (across, down), step = room, (box[0] + 1, box[1] + 1)
    spare = picture.width + 1 - across * step[0], picture.height + 1 - down * step[1]
    lines = [
        np.sort(dice.integers(left, size=number, endpoint=True)) + np.arange(number) * wide
        for left, number, wide in zip(spare, room, step, strict=True)
    ]
    chosen = dice.permutation(across * down)[:count]
    return [(int(lines[0][place % across]), int(lines[1][place // across])) for place in chosen]


def _told(size: Size) -> str:
    return f"{size[0]} × {size[1]}"
