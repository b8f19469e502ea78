"""Pictures of a class for experiments: one thing each, in a style and a weather that can be changed afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from PIL import Image

from microworld.concepts import Share, vocabulary
from microworld.drawing import draw, sprite
from microworld.scenes import STYLES, WEATHERS, Dice, Scene, recipe, sample_scene
from profiles.errors import BadInput

ANY = "random"
"""Asks for any class at all (APEX, section 3.4)."""

_STYLE_WORDS = {
    "photo": "flat", "photograph": "flat", "photography": "flat", "picture": "flat", "image": "flat",
    "illustration": "flat", "cartoon": "flat", "drawing": "sketch", "pencil sketch": "sketch", "sketched": "sketch",
    "relief": "embossed", "black and white": "grayscale", "gray": "grayscale", "monochrome": "grayscale",
    "poster": "posterized",
}  # fmt: skip
_WEATHER_WORDS = {"rain": "rainy", "snow": "snowy", "fog": "foggy", "sun": "sunny", "mist": "foggy", "misty": "foggy"}


@dataclass(frozen=True)
class Portrait:
    """A picture of one thing.

    Attributes:
        class_name: The concept that it shows.
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
            style=_read("style", style, STYLES, _STYLE_WORDS) if style else self.scene.style,
            weather=_read("weather", weather, WEATHERS, _WEATHER_WORDS) if weather else self.scene.weather,
        )
        return Portrait(self.class_name, new)


def portrait(class_name: str, seed: str, *, image_type: str = "photo", share: Share = "known") -> Portrait:
    """Draw one thing of a class on some background, in clear weather.

    Args:
        class_name: A concept, a group of them ("birds", "bird"), or "random".
        seed: The same arguments give the same picture.
        image_type: A style; "photo" is the plain one.
        share: Which concepts groups and "random" stand for; a concept may be any.

    Raises:
        BadInput: There is no such class, or no such style.
    """
    style = _read("style", image_type, STYLES, _STYLE_WORDS)
    name = Dice("portrait", seed).choice(members(class_name, share=share))
    scene = sample_scene(f"portrait/{seed}", recipe([name], counts=(1, 1), styles=(style,), weathers=("clear",)))
    return Portrait(name, scene)


def cut_out(class_name: str, side: int, seed: str, *, share: Share = "known") -> Image.Image:
    """Return one thing of a class on nothing: RGBA, `side` pixels high and wide.

    Raises:
        BadInput: There is no such class.
    """
    dice = Dice("cut out", seed)
    concept = vocabulary().concept(dice.choice(members(class_name, share=share)))
    colour, opacity = sprite(dice.choice(concept.files), side)
    return Image.fromarray(np.concatenate([colour, opacity], axis=2).astype(np.uint8))


def members(class_name: str, *, share: Share = "known") -> tuple[str, ...]:
    """Return the concepts that a class stands for.

    Raises:
        BadInput: There is no such class.
    """
    known, asked = vocabulary(), " ".join(class_name.casefold().split())
    asked = asked.removeprefix("a ").removeprefix("an ").removeprefix("the ")
    if asked == ANY:
        return tuple(concept.name for concept in known.share(share))
    if any(concept.name == asked for concept in known.concepts):
        return (asked,)
    groups = {name: group for group in known.groups.values() for name in (group.name, group.singular)}
    if asked in groups:
        found = known.members(groups[asked].name)
        return tuple(concept.name for concept in found if concept in known.share(share))
    near = get_close_matches(asked, [*(concept.name for concept in known.concepts), *groups], n=3)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    msg = f"The microworld has no class {class_name[:80]!r}.{hint}"
    raise BadInput(msg)


def _read(kind: str, words: str, known: Sequence[str], synonyms: dict[str, str]) -> str:
    asked = " ".join(words.casefold().split())
    asked = synonyms.get(asked, asked)
    if asked not in known:
        msg = f"The microworld has no {kind} {words[:80]!r}: there are {', '.join(known)}."
        raise BadInput(msg)
    return asked
