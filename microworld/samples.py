"""Pictures for experiments, in a style and a weather that can be changed afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from snellen.errors import BadInput
from snellen.microworld.arrangements import arranged, members, read
from snellen.microworld.concepts import Share, vocabulary
from snellen.microworld.drawing import draw, sprite, truths
from snellen.microworld.scenes import (
    COLOURLESS_STYLES,
    FURTHER_STYLES,
    SIDE,
    STYLES,
    WEATHERS,
    Dice,
    Relation,
    Scene,
    SceneObject,
    relations,
)

_STYLE_WORDS = {
    "photo": "flat", "photograph": "flat", "photography": "flat", "picture": "flat", "image": "flat",
    "illustration": "flat", "drawing": "sketch", "pencil sketch": "sketch", "sketched": "sketch",
    "comic": "cartoon", "comic-style": "cartoon", "plush": "plushie", "plush toy": "plushie", "soft toy": "plushie",
    "embroidered": "embroidery", "folded paper": "origami", "statue": "sculpture", "tattoos": "tattoo",
    "tiger-striped": "tiger stripes", "relief": "embossed", "black and white": "grayscale",
    "gray": "grayscale", "monochrome": "grayscale", "poster": "posterized",
}  # fmt: skip
_ALL_STYLES = STYLES + FURTHER_STYLES
_WEATHER_WORDS = {"rain": "rainy", "snow": "snowy", "fog": "foggy", "sun": "sunny", "mist": "foggy", "misty": "foggy"}
_OPPOSITE = {
    "to the left of": "to the right of",
    "to the right of": "to the left of",
    "above": "below",
    "below": "above",
}
_OPPOSITES: dict[Relation, Relation] = {"left": "right", "right": "left", "above": "below", "below": "above"}


@dataclass(frozen=True)
class Portrait:
    """A picture that was asked for.

    Attributes:
        class_name: What it shows: a concept, or an arrangement of several in words.
        scene: All that is true of it.
    """

    class_name: str
    scene: Scene

    def picture(self) -> Image.Image:
        """Draw it, 128 × 128 RGB."""
        return draw(self.scene)

    def restyled(self, *, style: str = "", weather: str = "") -> Portrait:
        """Return the same in another style or weather; the empty one stays.

        Raises:
            BadInput: There is no such style or weather here.
        """
        new = replace(
            self.scene,
            style=_read("style", style, _ALL_STYLES, _STYLE_WORDS) if style else self.scene.style,
            weather=_read("weather", weather, WEATHERS, _WEATHER_WORDS) if weather else self.scene.weather,
        )
        return Portrait(self.class_name, new)

    def boxes(self) -> list[tuple[int, int, int, int]]:
        """Return where its things are: (x0, y0, x1, y1) in pixels, those of their visible parts."""
        return [truth.box for truth in truths(self.scene)]

    def exchanged(self) -> Portrait:
        """Return the same with its two things in each other's places, and described so.

        Raises:
            BadInput: It does not show two things side by side or one above the other, or they have no room for it.
        """
        words = next((word for word in _OPPOSITE if f" {word} " in self.class_name), "")
        if not words or len(self.scene.objects) != 2:  # noqa: PLR2004 - two of them change places
            msg = f"{self.class_name[:80]!r} has no two things that could change places."
            raise BadInput(msg)
        first, second = self.scene.objects
        moved = replace(self.scene, objects=(_centred(first, second.centre), _centred(second, first.centre)))
        if _overlap(*moved.objects) or _held(moved) != {_OPPOSITES[one] for one in _held(self.scene)}:
            msg = f"The things in {self.class_name[:80]!r} have no room to change places."
            raise BadInput(msg)
        return Portrait(self.class_name.replace(f" {words} ", f" {_OPPOSITE[words]} "), moved)


def _centred(item: SceneObject, centre: tuple[int, int]) -> SceneObject:
    left, top = (min(max(place - item.side // 2, 0), SIDE - item.side) for place in centre)
    return replace(item, left=left, top=top)


def _overlap(one: SceneObject, other: SceneObject) -> bool:
    room = (one.side + other.side) / 2
    return all(abs(here - there) < room for here, there in zip(one.centre, other.centre, strict=True))


def _held(scene: Scene) -> set[Relation]:
    """Return the relations of the first of two things to the second."""
    return {name for number, name, _ in relations(scene) if number == 0}


def portrait(class_name: str, seed: str, *, image_type: str = "photo", share: Share = "known") -> Portrait:
    """Draw what a description says, on some background, in clear weather.

    Args:
        class_name: A concept, a group of them ("birds", "bird"), "random", or an arrangement of them: "two dogs",
            "a red car", "a dog to the left of a cat", "a dog in the top left".
        seed: The same arguments give the same picture.
        image_type: A style; "photo" is the plain one.
        share: Which concepts groups and "random" stand for; a concept may be any.

    Raises:
        BadInput: There is no such class or style, or it cannot be drawn.
    """
    style = _read("style", image_type, _ALL_STYLES, _STYLE_WORDS)
    arrangement = read(class_name, share=share)
    if style in COLOURLESS_STYLES and any(part.tint for part in arrangement.parts):
        msg = f"There is no color in the style {style!r}: leave out one of the two in {class_name[:80]!r}."
        raise BadInput(msg)
    return Portrait(*arranged(arrangement, seed, style=style))


def cut_out(class_name: str, side: int, seed: str, *, share: Share = "known") -> Image.Image:
    """Return one thing of a class on nothing: RGBA, `side` pixels high and wide.

    Raises:
        BadInput: There is no such class.
    """
    dice = Dice("cut out", seed)
    concept = vocabulary().concept(dice.choice(members(class_name, share=share)))
    colour, opacity = sprite(dice.choice(concept.files), side)
    return Image.fromarray(np.concatenate([colour, opacity], axis=2).astype(np.uint8))


def _read(kind: str, words: str, known: Sequence[str], synonyms: dict[str, str]) -> str:
    text = " ".join(words.casefold().split())
    text = synonyms.get(text, text)
    if text not in known:
        msg = f"The microworld has no {kind} {words[:80]!r}: there are {', '.join(known)}."
        raise BadInput(msg)
    return text
