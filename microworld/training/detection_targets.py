"""Inputs and targets of the detector: pictures moved or cut, and the thing that each of their patches shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels, sprite_box
from snellen.microworld.scenes import COLOURLESS_STYLES, SIDE, TINTS, Scene

PATCH = 16
GRID = SIDE // PATCH
SHIFT = 7
Window = tuple[int, int, int, int]


@dataclass(frozen=True)
class Things:
    """Names, tints and boxes of the objects of one scene, as arrays over objects.

    Attributes:
        names: (n,) index among the known names.
        tints: (n,) index among `TINTS`, or -1.
        boxes: (n, 4) x0, y0, x1, y1 in pixels.
    """

    names: npt.NDArray[np.int64]
    tints: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Targets:
    """Name, tint and box that every patch of a batch should show, as tensors over (batch, patches).

    Attributes:
        names: Index of the name of the object that covers the patch, -1 for background.
        tints: Index of its tint, -1 for none.
        boxes: (batch, patches, 4) centre x, centre y, width, height as shares of the side.
        middle: Whether the patch lies at the middle of its object.
    """

    names: torch.Tensor
    tints: torch.Tensor
    boxes: torch.Tensor
    middle: torch.Tensor


def known_names() -> list[str]:
    """Return the names of the known concepts, in the order of the vocabulary."""
    return [c.name for c in vocabulary().share("known")]


def as_input(pixels: Pixels) -> torch.Tensor:
    """Turn bytes (B, H, W, 3) into model input (B, 3, H, W) within -1 and 1."""
    return torch.from_numpy(np.array(pixels)).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def shifted(pixels: Pixels, shift: npt.NDArray[np.int64]) -> Pixels:
    """Move pictures by (x, y) pixels, repeating their edge, so that objects meet the patches' grid anew."""
    padded = np.pad(pixels, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    x, y = SHIFT - int(shift[0]), SHIFT - int(shift[1])
    return padded[:, y : y + SIDE, x : x + SIDE]


def random_window(dice: np.random.Generator) -> Window:
    """Choose a part of a picture, half to all of it each way."""
    width, height = (int(side) for side in dice.integers(SIDE // 2, SIDE + 1, 2))
    left, top = int(dice.integers(0, SIDE - width + 1)), int(dice.integers(0, SIDE - height + 1))
    return left, top, left + width, top + height


def cut(picture: Pixels, window: Window) -> Pixels:
    """Return a part of a picture, stretched to the whole size as the detector's processor does."""
    part = Image.fromarray(picture).crop(window)
    return np.asarray(part.resize((SIDE, SIDE), Image.Resampling.BICUBIC))


def within(things: Things, window: Window) -> Things:
    """Return what a stretched part of a picture shows: things of which a third is left, with their boxes there."""
    low, high = np.array(window[:2] * 2, dtype=np.float32), np.array(window[2:] * 2, dtype=np.float32)
    left = things.boxes.clip(low, high)
    whole, rest = ((b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) for b in (things.boxes, left))
    kept = rest >= whole / 3
    return Things(things.names[kept], things.tints[kept], ((left - low) * SIDE / (high - low))[kept])


def scene_boxes(scene: Scene) -> list[tuple[int, int, int, int]]:
    """Return the box of every object's visible pixels, as `truths` does, measured once for each sprite."""
    outlines = [_outline(o.file, o.side, o.mirrored) for o in scene.objects]
    return [
        (o.left + x0, o.top + y0, o.left + x1, o.top + y1)
        for o, (x0, y0, x1, y1) in zip(scene.objects, outlines, strict=True)
    ]


@cache
def _outline(file: str, side: int, mirrored: bool) -> tuple[int, int, int, int]:  # noqa: FBT001 - a key of the cache
    return sprite_box(file, side, mirrored=mirrored)


def objects_of(scene: Scene, index: dict[str, int]) -> Things:
    """Return what the objects of a scene are; `index` gives the number of a name."""
    plain = scene.style in COLOURLESS_STYLES
    tints = [-1 if plain or not o.tint else list(TINTS).index(o.tint) for o in scene.objects]
    boxes = scene_boxes(scene)
    names = [index[o.concept] for o in scene.objects]
    return Things(np.array(names), np.array(tints), np.array(boxes, dtype=np.float32).reshape(-1, 4))


def dense_targets(batch: list[Things], shift: npt.NDArray[np.int64]) -> Targets:
    """Tell every patch what it shows: the object with whose box it shares most pixels, if at least a quarter of it."""
    edges = np.arange(GRID) * PATCH
    middle_points = edges + PATCH / 2
    size = (len(batch), GRID, GRID)
    names, tints = np.full(size, -1), np.full(size, -1)
    boxes, middle = np.zeros((*size, 4), dtype=np.float32), np.zeros(size, dtype=bool)
    for row, things in enumerate(batch):
        best = np.full((GRID, GRID), PATCH * PATCH / 4)
        for name, tint, box in zip(things.names, things.tints, things.boxes + np.tile(shift, 2), strict=True):
            x0, y0, x1, y1 = box.clip(0, SIDE)
            across = (np.minimum(edges + PATCH, x1) - np.maximum(edges, x0)).clip(0)
            down = (np.minimum(edges + PATCH, y1) - np.maximum(edges, y0)).clip(0)
            shared = down[:, None] * across[None]
            mine = shared > best
            best = np.maximum(best, shared)
            names[row][mine], tints[row][mine] = name, tint
            boxes[row][mine] = np.array([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0]) / SIDE
            near_x = abs(middle_points - (x0 + x1) / 2) <= max(PATCH / 2, (x1 - x0) / 5)
            near_y = abs(middle_points - (y0 + y1) / 2) <= max(PATCH / 2, (y1 - y0) / 5)
            middle[row] = np.where(mine, near_y[:, None] & near_x[None], middle[row])
    flat = (len(batch), GRID * GRID)
    return Targets(
        torch.from_numpy(names.reshape(flat)), torch.from_numpy(tints.reshape(flat)),
        torch.from_numpy(boxes.reshape(*flat, 4)), torch.from_numpy(middle.reshape(flat)),
    )  # fmt: skip
