"""Draw a scene: integers only, so that the same description gives the same bytes everywhere.

Order of drawing: background, objects, style, weather. Masks come from the same sprites as the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image

from snellen.microworld.concepts import ART
from snellen.microworld.scenes import GROUND_COLOURS, SIDE, TINTS, Dice, Scene, SceneObject
from snellen.microworld.styles import StyleCanvas, styled

# The row at which the sky of a ground ends.
HORIZON = 52

Pixels = npt.NDArray[np.uint8]
Wide = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Sticker:
    """A thing that is drawn into a box of any shape, which its visible pixels fill.

    Attributes:
        file: An art picture.
        box: (x0, y0, x1, y1) in pixels, inside the picture.
        tint: A key of `TINTS`, or "" for its own colours.
    """

    file: str
    box: tuple[int, int, int, int]
    tint: str = ""


@dataclass(frozen=True)
class Truth:
    """Exact place of one object.

    Attributes:
        concept: Its name.
        box: (x0, y0, x1, y1) of its visible pixels, x1 and y1 exclusive.
        mask: Boolean array (128, 128), True on its pixels.
    """

    concept: str
    box: tuple[int, int, int, int]
    mask: npt.NDArray[np.bool_]


def draw(scene: Scene) -> Image.Image:
    """Return the picture of a scene, 128 × 128 RGB."""
    return Image.fromarray(draw_array(scene))


def draw_array(scene: Scene, stickers: Sequence[Sticker] = ()) -> Pixels:
    """Return the picture of a scene as an array (128, 128, 3) of bytes.

    Args:
        scene: What to draw.
        stickers: Further things, drawn over its objects; style and weather apply to them as well.
    """
    canvas = _background(scene).astype(np.int32)
    opacity = np.zeros(canvas.shape[:2], dtype=np.int32)
    for item in scene.objects:
        _lay(canvas, opacity, (item.left, item.top), _sprite(item.file, item.side, item.tint, item.mirrored))
    for sticker in stickers:
        _lay(canvas, opacity, sticker.box[:2], _stretched(sticker))
    shift = Dice("style", scene.seed).integer(0, 255)
    dice = Dice("noise", scene.seed)
    canvas = styled(StyleCanvas(canvas, opacity, shift), scene.style)
    return _as_bytes(_weathered(canvas, scene.weather, dice))


def _lay(canvas: Wide, opacity: Wide, place: tuple[int, int], sprite: tuple[Wide, Wide]) -> None:
    colour, alpha = sprite
    left, top = place
    part = slice(top, top + alpha.shape[0]), slice(left, left + alpha.shape[1])
    canvas[part] = (colour * alpha + canvas[part] * (255 - alpha) + 127) // 255
    opacity[part] = np.maximum(opacity[part], alpha[..., 0])


def truths(scene: Scene) -> list[Truth]:
    """Return box and mask of every object, in the scene's order."""
    return [_truth(item) for item in scene.objects]


def single(file: str, *, side: int = 56, tint: str = "", ground: tuple[int, int, int] = (250, 250, 250)) -> Image.Image:
    """Return one art picture centred on a plain ground, 64 × 64 RGB."""
    canvas = np.empty((64, 64, 3), dtype=np.int32)
    canvas[:] = ground
    colour, alpha = _sprite(file, side, tint, mirrored=False)
    edge = (64 - side) // 2
    view = canvas[edge : edge + side, edge : edge + side]
    view[:] = (colour * alpha + view * (255 - alpha) + 127) // 255
    return Image.fromarray(canvas.astype(np.uint8))


def sprite(file: str, side: int) -> tuple[Wide, Wide]:
    """Return colours (side, side, 3) and opacity (side, side, 1) of an art picture, both 0–255."""
    return _sprite(file, side, "", mirrored=False)


def sprite_box(file: str, side: int, *, mirrored: bool) -> tuple[int, int, int, int]:
    """Return the box of an art picture's visible pixels within its square of `side` pixels."""
    visible = _visible(file, side, mirrored=mirrored)
    rows, columns = np.flatnonzero(visible.any(axis=1)), np.flatnonzero(visible.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _truth(item: SceneObject) -> Truth:
    mask = np.zeros((SIDE, SIDE), dtype=np.bool_)
    visible = _visible(item.file, item.side, mirrored=item.mirrored)
    mask[item.top : item.top + item.side, item.left : item.left + item.side] = visible
    x0, y0, x1, y1 = sprite_box(item.file, item.side, mirrored=item.mirrored)
    return Truth(item.concept, (item.left + x0, item.top + y0, item.left + x1, item.top + y1), mask)


def _visible(file: str, side: int, *, mirrored: bool) -> npt.NDArray[np.bool_]:
    """Return where an art picture is more opaque than not."""
    _, alpha = _sprite(file, side, "", mirrored)
    shown: npt.NDArray[np.bool_] = alpha[..., 0] > 127
    return shown


@lru_cache(maxsize=8192)
def _sprite(file: str, side: int, tint: str, mirrored: bool) -> tuple[Wide, Wide]:  # noqa: FBT001
    """Return colours (side, side, 3) and opacity (side, side, 1) of an art picture, both 0–255."""
    with Image.open(ART / file) as art:
        picture = art.convert("RGBA").resize(
            (side, side), Image.Resampling.BOX if side >= 72 else Image.Resampling.BILINEAR
        )
    pixels = np.asarray(picture).astype(np.int32)
    if mirrored:
        pixels = pixels[:, ::-1]
    return _stained(pixels[..., :3], tint), pixels[..., 3:]


@lru_cache(maxsize=8192)
def _stretched(sticker: Sticker) -> tuple[Wide, Wide]:
    """Return colours and opacity of a sticker, its visible pixels stretched to its box."""
    x0, y0, x1, y1 = sticker.box
    with Image.open(ART / sticker.file) as art:
        whole = art.convert("RGBA")
    visible = sprite_box(sticker.file, whole.width, mirrored=False)
    picture = whole.resize((x1 - x0, y1 - y0), Image.Resampling.BILINEAR, box=visible)
    pixels = np.asarray(picture).astype(np.int32)
    return _stained(pixels[..., :3], sticker.tint), pixels[..., 3:]


def _stained(colour: Wide, tint: str) -> Wide:
    if not tint:
        return colour
    light = 70 + (colour @ np.array([77, 151, 28], dtype=np.int32) // 256) * 185 // 255
    stained = light[..., None] * np.array(TINTS[tint], dtype=np.int32) // 255
    mixed: Wide = (stained * 3 + colour) // 4
    return mixed


def _background(scene: Scene) -> Pixels:
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.int32)
    if scene.pattern in {"grass", "sand", "water", "road"}:
        return _ground(scene.pattern, x, y)
    base = np.array(GROUND_COLOURS[scene.colour], dtype=np.int32)
    shade = {
        "plain": np.zeros_like(x),
        "gradient": y * 90 // SIDE,
        "striped": ((x + y) // 8 % 2) * 34,
        "checked": ((x // 12 + y // 12) % 2) * 34,
        "dotted": ((x % 14 - 7) ** 2 + (y % 14 - 7) ** 2 <= 9) * 42,
    }[scene.pattern]
    return _as_bytes(base - shade[..., None])


def _ground(name: str, x: Wide, y: Wide) -> Pixels:
    """Sky above, ground below, each with the texture that tells it apart."""
    grain = (x * 37 + y * 91 + x * y * 13) % 23
    sky = np.stack([150 + y // 2, 200 + y // 4, np.full_like(x, 245)], axis=-1)
    below = {
        "grass": np.stack([70 + grain, 160 + grain * 2, 60 + grain], axis=-1),
        "sand": np.stack([225 + grain, 195 + grain, 130 + grain], axis=-1),
        "water": np.stack([40 + (y // 4 % 2) * 30, 110 + (y // 4 % 2) * 40, 200 + (y // 4 % 2) * 30], axis=-1),
        "road": np.stack([95 + grain, 95 + grain, 100 + grain], axis=-1),
    }[name]
    if name == "road":
        below = np.where(((abs(y - 96) < 3) & (x // 12 % 2 == 0))[..., None], 240, below)
    return _as_bytes(np.where((y < HORIZON)[..., None], sky, below))


def _as_bytes(canvas: Wide) -> Pixels:
    return canvas.clip(0, 255).astype(np.uint8)


def _weathered(canvas: Wide, weather: str, dice: Dice) -> Wide:
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.int32)
    if weather == "foggy":
        veil = (70 + (SIDE - y) // 2)[..., None]
        veiled: Wide = (canvas * (255 - veil) + 235 * veil) // 255
        return veiled
    if weather == "sunny":
        corner = (x**2 + y**2)[..., None]
        glow = (200 - corner // 20).clip(0, 160)
        lit: Wide = (canvas * (255 - glow) + np.array([255, 225, 90], dtype=np.int32) * glow) // 255
        return lit
    if weather == "rainy":
        for _ in range(70):
            left, top = dice.integer(0, SIDE - 1), dice.integer(0, SIDE - 1)
            rows = np.arange(top, min(top + 9, SIDE))
            canvas[rows, (left - (rows - top) // 3) % SIDE] = (110, 140, 200)
        return canvas
    if weather == "snowy":
        for _ in range(90):
            left, top = dice.integer(0, SIDE - 2), dice.integer(0, SIDE - 2)
            canvas[top : top + 2, left : left + 2] = 255
        return canvas
    return canvas
