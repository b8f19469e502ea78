"""Styles in which scenes are drawn: integers only, like all drawing, so that a scene has the same bytes everywhere.

The first six (`STYLES` of `scenes`, with "flat") change colours alone, and the shipped checkpoints were trained on
them. Those of `FURTHER_STYLES` are the other types of Udandarao et al. (2024) that change what a thing is made of: they
look at where things are, and most put something else behind them.
"""

# ruff: noqa: PLR2004 - a drawing is made of numbers: places, distances and shades
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

Wide = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_LUMA: Final = np.array([77, 151, 28], dtype=np.int32)
"""Weights of red, green and blue in 256ths."""


@dataclass(frozen=True, eq=False)
class StyleCanvas:
    """A picture that is given a style.

    Attributes:
        colour: (height, width, 3), 0 to 255.
        opacity: (height, width), 0 to 255: how much of the pixel is a thing rather than background.
        shift: From 0 to 255; moves grain, bricks and folds, so that scenes differ in them.
    """

    colour: Wide
    opacity: Wide
    shift: int

    @cached_property
    def light(self) -> Wide:
        """Lightness (height, width, 1), 0 to 255."""
        light: Wide = (self.colour @ _LUMA // 256)[..., None]
        return light

    @cached_property
    def things(self) -> Mask:
        """The places of things, (height, width)."""
        shown: Mask = self.opacity > 127
        return shown

    @cached_property
    def rows(self) -> Wide:
        """The row of each pixel, (height, width)."""
        rows: Wide = np.mgrid[: self.opacity.shape[0], : self.opacity.shape[1]][0].astype(np.int32)
        return rows

    @cached_property
    def columns(self) -> Wide:
        """The column of each pixel, (height, width)."""
        columns: Wide = np.mgrid[: self.opacity.shape[0], : self.opacity.shape[1]][1].astype(np.int32)
        return columns

    @cached_property
    def grain(self) -> Wide:
        """Noise of 0 to 255, (height, width): a hash of each place."""
        mixed = (self.columns + 31 * self.shift) * 374_761_393 ^ self.rows * 668_265_263
        mixed = (mixed ^ mixed >> 13) * 1_274_126_177
        grain: Wide = (mixed ^ mixed >> 16) & 255
        return grain


Style = Callable[[StyleCanvas], Wide]


def styled(canvas: StyleCanvas, style: str) -> Wide:
    """Return the colours of a canvas in a style; those of any other name stay as they are."""
    return _STYLES[style](canvas) if style in _STYLES else canvas.colour


def _grayscale(canvas: StyleCanvas) -> Wide:
    return np.repeat(canvas.light, 3, axis=-1)


def _pastel(canvas: StyleCanvas) -> Wide:
    return (canvas.colour + 255) // 2


def _posterized(canvas: StyleCanvas) -> Wide:
    return (canvas.colour + 32) // 64 * 64


def _mosaic(canvas: StyleCanvas) -> Wide:
    height, width, _ = canvas.colour.shape
    blocks: Wide = canvas.colour.reshape(height // 2, 2, width // 2, 2, 3).sum(axis=(1, 3)) // 4
    return blocks.repeat(2, axis=0).repeat(2, axis=1)


def _embossed(canvas: StyleCanvas) -> Wide:
    moved = np.roll(canvas.light, (1, 1), axis=(0, 1))
    raised: Wide = (
        np.repeat(128 + (canvas.light - moved) + (canvas.light - 128) // 2, 3, axis=-1) + canvas.colour
    ) // 2
    return raised


def _sketch(canvas: StyleCanvas) -> Wide:
    light = canvas.light
    edges = abs(light - np.roll(light, 1, axis=0)) + abs(light - np.roll(light, 1, axis=1))
    lines: Wide = np.repeat(245 - (edges * 2).clip(0, 190) - (255 - light) // 4, 3, axis=-1)
    drawn: Wide = (lines * 3 + canvas.colour * 2) // 5
    return drawn


def _cartoon(canvas: StyleCanvas) -> Wide:
    """A comic: few strong colours, dots in the shade, everything outlined in ink."""
    vivid = (canvas.light + (canvas.colour - canvas.light) * 3 // 2).clip(0, 255)
    few = (vivid + 42) // 85 * 85
    dots = (canvas.columns % 4 - 2) ** 2 + (canvas.rows % 4 - 2) ** 2 <= 1
    shaded = np.where((dots & ~canvas.things)[..., None], few * 3 // 5, few)
    inked = (_around(canvas.things, 2) & ~canvas.things) | (canvas.things & (_steps(canvas.light) > 70))
    return np.where(inked[..., None], 15, shaded).astype(np.int32)


def _plushie(canvas: StyleCanvas) -> Wide:
    """Soft toys of pale fur: ragged rims, rounded light, a seam along the outline, on a blanket."""
    pale = _means(canvas.colour, canvas.rows // 3 * 256 + canvas.columns // 3, canvas.things) // 2 + 105
    depth = _depth(canvas.things, 7)
    pile = canvas.grain // 6 - 21
    fur = (pale + pile[..., None]) * (72 + depth * 4)[..., None] // 100
    seam = (depth == 3) & ((canvas.rows + canvas.columns) // 2 % 2 == 0)
    toy = np.where(seam[..., None], fur * 3 // 5, fur)
    rim = _around(canvas.things, 3) & ~canvas.things & (canvas.grain > 90)
    tufts = _spread(canvas.colour, canvas.things) // 2 + 100 + pile[..., None]
    knitted = ((canvas.columns + abs(canvas.rows % 8 - 4)) % 8 < 4) * 18
    blanket = (canvas.colour + 5 * np.array([206, 186, 214], dtype=np.int32)) // 6 - knitted[..., None]
    return np.where(canvas.things[..., None], toy, np.where(rim[..., None], tufts, blanket)).astype(np.int32)


def _graffiti(canvas: StyleCanvas) -> Wide:
    """Sprayed on a wall of bricks: neon fills with a black line, a white halo, speckles and drips."""
    row = (canvas.rows + canvas.shift % 9) // 9
    joint = ((canvas.rows + canvas.shift % 9) % 9 < 1) | ((canvas.columns + row % 2 * 9 + canvas.shift) % 18 < 1)
    tone = (row * 53 + (canvas.columns + row % 2 * 9 + canvas.shift) // 18 * 97) % 30 + canvas.grain // 12
    bricks = np.array([150, 78, 62], dtype=np.int32) + tone[..., None] - 20
    wall = np.where(joint[..., None], np.array([176, 168, 158], dtype=np.int32), bricks)
    vivid = (canvas.light + (canvas.colour - canvas.light) * 2).clip(0, 255)
    neon = ((vivid + 32) // 64 * 64).clip(30, 255) + canvas.grain[..., None] // 10 - 12
    halo = _around(canvas.things, 5)
    sprayed = halo | (_around(canvas.things, 9) & (canvas.grain > 225))
    line = _around(canvas.things, 2) | _drips(canvas)
    walled = np.where(sprayed[..., None], 244, wall)
    outlined = np.where((line & ~canvas.things)[..., None], 12, walled)
    return np.where(canvas.things[..., None], neon, outlined).astype(np.int32)


def _drips(canvas: StyleCanvas) -> Mask:
    """Paint that runs down from the lower rims of things, every few columns."""
    running = canvas.things & ((canvas.columns + canvas.shift) % 7 == 0)
    drips: Mask = np.zeros_like(running)
    for length in range(1, 19):
        fell = np.zeros_like(running)
        fell[length:] = running[:-length]
        drips |= fell & ((canvas.columns * 11 + canvas.shift) % 14 + 5 >= length)
    return drips


def _embroidery(canvas: StyleCanvas) -> Wide:
    """Stitches of shiny thread, slanting one way within things, on linen that shows its weave."""
    weave = ((canvas.rows % 4 < 2) ^ (canvas.columns % 4 < 2)) * 18 + (canvas.rows % 2) * 6
    ground = (canvas.colour + 3 * np.array([232, 222, 200], dtype=np.int32)) // 4
    linen = ground - weave[..., None]
    along, across = canvas.columns + canvas.rows, canvas.columns - canvas.rows
    bundles = (along // 6) * 4_096 + (across + 2_048) // 3
    thread = _means(canvas.colour, bundles, canvas.things)
    sheen = np.array([-70, 34, 6], dtype=np.int32)[across % 3] - (along % 6 == 0) * 60
    stitched = (thread * 11 // 10 + sheen[..., None]).clip(0, 255)
    satin = _around(canvas.things, 2) & ~canvas.things
    rim = np.where((along % 3 == 0)[..., None], 40, _spread(canvas.colour, canvas.things) * 11 // 20)
    return np.where(
        canvas.things[..., None], stitched, np.where(satin[..., None], rim, linen)
    ).astype(np.int32)  # fmt: skip


def _origami(canvas: StyleCanvas) -> Wide:
    """Folded from paper: flat triangles, light and dark by turns, with white folds and a shadow, on a plain table."""
    size = 8
    x, y = canvas.columns + canvas.shift % size, canvas.rows + canvas.shift // 16 % size
    turned = (x // size + y // size) % 2 == 0
    upper = np.where(turned, x % size + y % size < size, x % size > y % size)
    facets = (x // size) * 1_024 + (y // size) * 2 + upper
    share = _means(canvas.opacity[..., None], facets, np.ones_like(canvas.things))[..., 0]
    paper = share > 96
    tone = np.array([118, 100, 82, 108], dtype=np.int32)[(upper + 2 * turned).astype(np.int32)]
    tint = _means(canvas.colour, facets, canvas.things) * tone[..., None] // 100
    fold = (facets != np.roll(facets, 1, axis=0)) | (facets != np.roll(facets, 1, axis=1))
    folded = np.where(fold[..., None], (tint + 255) // 2, tint).clip(0, 255)
    table = np.repeat(238 - canvas.rows[..., None] // 8, 3, axis=-1)
    shadow = np.pad(paper, ((4, 0), (4, 0)))[:-4, :-4] & ~paper
    return np.where(paper[..., None], folded, np.where(shadow[..., None], table - 60, table)).astype(np.int32)


def _sculpture(canvas: StyleCanvas) -> Wide:
    """Carved from marble: no colour but veins, lit from the upper left, before a dark wall on a plinth."""
    height = _blurred(canvas.light, 1)[..., 0] // 2 + _depth(canvas.things, 12) * 9
    slope = (height - np.pad(height, ((2, 0), (2, 0)), mode="edge")[:-2, :-2]) * 3
    vein = abs((canvas.columns * 3 + canvas.rows * 5 + canvas.grain // 16 + canvas.shift) % 61 - 30) < 2
    stone = (176 + slope - vein * 26 + canvas.grain // 24 - 5).clip(40, 252)
    marble = np.stack([stone, stone - 3, stone - 12], axis=-1)
    foot = canvas.rows.shape[0] * 7 // 8
    wall = np.array([44, 48, 58], dtype=np.int32) + ((canvas.columns + canvas.rows) // 6)[..., None]
    plinth = np.array([120, 116, 108], dtype=np.int32) + ((canvas.rows == foot) * 70 - canvas.grain // 16)[..., None]
    behind = np.where((canvas.rows >= foot)[..., None], plinth, wall)
    return np.where(canvas.things[..., None], marble, behind).astype(np.int32)


def _tattoo(canvas: StyleCanvas) -> Wide:
    """Blue-black ink in skin: outlines, and hatching where a thing is dark; the skin is lit like an arm."""
    width = canvas.columns.shape[1]
    bend = 46 * (2 * canvas.columns - width) ** 2 // width**2
    skin = np.array([232, 184, 150], dtype=np.int32) - (bend + canvas.grain // 22)[..., None] * np.array([1, 1, 1])
    outline = canvas.things & ~_within(canvas.things, 2)
    edges = canvas.things & (_steps(canvas.light) > 44)
    hatched = canvas.things & ((canvas.rows + canvas.columns) % 4 < 2) & (canvas.light[..., 0] < 150)
    dotted = canvas.things & (canvas.grain > 60 + canvas.light[..., 0] * 3 // 4)
    ink = np.where(outline | edges, 13, np.where(hatched, 8, np.where(dotted, 5, canvas.things * 1)))[..., None]
    inked: Wide = (skin * (16 - ink) + np.array([28, 44, 62], dtype=np.int32) * ink) // 16
    return inked


def _tiger_stripes(canvas: StyleCanvas) -> Wide:
    """The same picture, with orange and black stripes on every thing."""
    wave = np.array([0, 1, 2, 3, 3, 2, 1, 0], dtype=np.int32)[(canvas.rows + canvas.shift) // 2 % 8]
    stripe = (canvas.columns + wave + canvas.shift + (canvas.grain > 200)) % 9 < 4
    fur = (np.array([240, 150, 40], dtype=np.int32) * (canvas.light * 3 // 4 + 80) // 255 * 3 + canvas.colour) // 4
    striped = np.where(stripe[..., None], 18 + canvas.light // 12, fur)
    return np.where(canvas.things[..., None], striped, canvas.colour).astype(np.int32)


_STYLES: Final[Mapping[str, Style]] = {
    "grayscale": _grayscale, "pastel": _pastel, "posterized": _posterized, "mosaic": _mosaic, "embossed": _embossed,
    "sketch": _sketch, "cartoon": _cartoon, "plushie": _plushie, "graffiti": _graffiti, "embroidery": _embroidery,
    "origami": _origami, "sculpture": _sculpture, "tattoo": _tattoo, "tiger stripes": _tiger_stripes,
}  # fmt: skip


def _around(mask: Mask, distance: int) -> Mask:
    """Return a mask with all that is at most so many steps away, a step being across, down or both."""
    padded = np.pad(mask, distance)
    height, width = mask.shape
    wide = np.zeros((padded.shape[0], width), dtype=np.bool_)
    for step in range(2 * distance + 1):
        wide |= padded[:, step : step + width]
    grown = np.zeros_like(mask)
    for step in range(2 * distance + 1):
        grown |= wide[step : step + height]
    return grown


def _within(mask: Mask, distance: int) -> Mask:
    """Return what of a mask is more than so many steps away from its rim."""
    return ~_around(~mask, distance)


def _depth(mask: Mask, most: int) -> Wide:
    """Return how many steps each place of a mask is from its rim, at most so many; 0 outside."""
    depth, left = mask.astype(np.int32), mask
    for _ in range(most - 1):
        left = _within(left, 1)
        depth += left
    return depth


def _blurred(values: Wide, distance: int) -> Wide:
    """Return the means over squares of 2 × `distance` + 1 pixels, (height, width, n)."""
    side = 2 * distance + 1
    padded = np.pad(values, ((distance, distance), (distance, distance), (0, 0)), mode="edge")
    height, width, _ = values.shape
    across = np.sum([padded[:, step : step + width] for step in range(side)], axis=0)
    blurred: Wide = np.sum([across[step : step + height] for step in range(side)], axis=0) // side**2
    return blurred


def _steps(light: Wide) -> Wide:
    """Return how much lightness changes from a place to those to the left and above."""
    flat = light[..., 0]
    steps: Wide = abs(flat - np.roll(flat, 1, axis=0)) + abs(flat - np.roll(flat, 1, axis=1))
    return steps


def _means(values: Wide, cells: Wide, counted: Mask) -> Wide:
    """Return for each pixel the mean of the counted values of its cell; of a cell with none, 0."""
    _, index = np.unique(cells, return_inverse=True)
    index = index.reshape(-1)
    weights = counted.reshape(-1)
    counts = np.bincount(index[weights], minlength=index.max() + 1)
    flat = values.reshape(-1, values.shape[-1])
    # Sums of bytes are whole numbers far below 2**53: floating point adds them exactly, in any order.
    sums = [np.bincount(index[weights], flat[weights, part], minlength=len(counts)) for part in range(flat.shape[1])]
    means = np.stack(sums, axis=-1).astype(np.int64) // np.maximum(counts, 1)[:, None]
    return means[index].reshape(values.shape).astype(np.int32)


def _spread(values: Wide, mask: Mask) -> Wide:
    """Return the mean colour of a mask, for a rim in its colour; (3,) or 0 where the mask is empty."""
    count = max(int(mask.sum()), 1)
    mean: Wide = values[mask].sum(axis=0).astype(np.int32) // count
    return mean
