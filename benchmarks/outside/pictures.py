"""Pictures by which the truth about models is measured: scenes of the microworld, and changes with code of its own."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Dice, Scene, SceneObject, place, recipe, sample_scene

ChangedDrawing = Callable[[Scene, Dice], Image.Image]
"""Draws a scene, changed; the dice choose how."""
SceneTest = Callable[[Scene], bool]


def scene_of(
    seed: str, required: Sequence[str], *, beside: Sequence[str] = (), wanted: SceneTest = lambda _: True
) -> Scene:
    """Draw a scene in the plain style and clear weather.

    Args:
        seed: The same gives the same.
        required: Concepts that it shows, the first ones of its things.
        beside: Other concepts that it shows.
        wanted: What else must hold; scenes are drawn until one fits.
    """
    names = (*required, *beside)
    how = recipe(names, required=names, counts=(1, 1), styles=("flat",), weathers=("clear",))
    for attempt in count():
        scene = sample_scene(f"outside/{seed}/{attempt}", how)
        if len(scene.objects) == len(names) and wanted(scene):
            return scene
    raise AssertionError


def of_size(size: str) -> SceneTest:
    """Ask that the first thing has this size."""
    return lambda scene: scene.objects[0].size == size


def in_quarter(quarter: str) -> SceneTest:
    """Ask that the first thing lies in this quarter of the picture: "top left"."""
    return lambda scene: place(scene.objects[0]) == quarter


def tinted(scene: Scene, tints: Sequence[str]) -> Scene:
    """Give the things of a scene these tints, in order; "" is none."""
    things: list[SceneObject] = [replace(thing, tint=tint) for thing, tint in zip(scene.objects, tints, strict=True)]
    return replace(scene, objects=tuple(things))


def _turned(how: Image.Transpose) -> ChangedDrawing:
    return lambda scene, _: draw(scene).transpose(how)


def _between(dice: Dice, low: float, high: float) -> float:
    return low + (high - low) * dice.integer(0, 1_000) / 1_000


def _tilted(scene: Scene, dice: Dice) -> Image.Image:
    angle = _between(dice, 28, 45) * dice.choice((-1, 1))
    return draw(scene).rotate(angle, Image.Resampling.BICUBIC, fillcolor=(0, 0, 0))


def _noisy(scene: Scene, dice: Dice) -> Image.Image:
    clean = np.asarray(draw(scene), dtype=np.float64)
    noise = np.random.default_rng(dice.integer(0, 2**31)).normal(0, _between(dice, 35, 75), clean.shape)
    return Image.fromarray(np.clip(clean + noise, 0, 255).astype(np.uint8))


def _blurred(scene: Scene, dice: Dice) -> Image.Image:
    return draw(scene).filter(ImageFilter.GaussianBlur(_between(dice, 0.8, 1.8)))


def _compressed(scene: Scene, dice: Dice) -> Image.Image:
    written = io.BytesIO()
    draw(scene).save(written, "JPEG", quality=dice.integer(3, 9))
    return Image.open(written).convert("RGB")


def _enhanced(
    kind: Callable[[Image.Image], ImageEnhance.Brightness | ImageEnhance.Contrast], low: float, high: float
) -> ChangedDrawing:
    return lambda scene, dice: kind(draw(scene)).enhance(_between(dice, low, high))


def _weather(name: str) -> ChangedDrawing:
    return lambda scene, _: draw(replace(scene, weather=name))


def _style(name: str) -> ChangedDrawing:
    return lambda scene, _: draw(replace(scene, style=name))


CHANGES: Final[Mapping[str, ChangedDrawing]] = {
    "left rotation": _turned(Image.Transpose.ROTATE_90),
    "right rotation": _turned(Image.Transpose.ROTATE_270),
    "half turn": _turned(Image.Transpose.ROTATE_180),
    "vertical flip": _turned(Image.Transpose.FLIP_TOP_BOTTOM),
    "tilt": _tilted,
    "noise": _noisy,
    "blur": _blurred,
    "compression": _compressed,
    "darkness": _enhanced(ImageEnhance.Brightness, 0.25, 0.4),
    "brightness": _enhanced(ImageEnhance.Brightness, 1.8, 2.5),
    "low contrast": _enhanced(ImageEnhance.Contrast, 0.25, 0.4),
    "snow": _weather("snowy"),
    "rain": _weather("rainy"),
    "fog": _weather("foggy"),
    "grayscale": _style("grayscale"),
    "sketch": _style("sketch"),
    "pastel": _style("pastel"),
}
"""Changes that queries are about, each as strong as the milder to stronger half of what people call so."""
SAID: Final[Mapping[str, tuple[str, ...]]] = {
    "left rotation": ("turned to the left",),
    "right rotation": ("turned to the right",),
    "half turn": ("rotated by 180 degrees",),
    "vertical flip": ("mirrored from top to bottom",),
    "tilt": ("at an angle",),
    "noise": ("affected by gaussian noise",),
    "blur": ("affected by blur",),
    "compression": ("affected by jpeg compression",),
    "darkness": ("of low brightness",),
    "brightness": ("of high brightness",),
    "low contrast": ("of low contrast",),
    "snow": ("snowy",),
    "rain": ("rainy",),
    "fog": ("foggy",),
    "grayscale": ("in a grayscale style",),
    "sketch": ("in a sketch style",),
    "pastel": ("in a pastel style",),
}
"""What fits "Is the image …?", in words that the models' tokenizers have."""
