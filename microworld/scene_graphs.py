"""Scenes with all that can be said of them: a caption, and the tuples of their scene graph in DOCCI's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from PIL import Image

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw
from snellen.microworld.questions import RELATION_WORDS
from snellen.microworld.scenes import GROUNDS, Scene, detailed_caption, place, recipe, relations, sample_scene

_COUNTS = (2, 6)
_REPEAT = 0.25
"""Objects of a scene, and how often one repeats a concept."""


@dataclass(frozen=True)
class Described:
    """A picture of which everything is known.

    Attributes:
        scene: What it shows.
    """

    scene: Scene

    def picture(self) -> Image.Image:
        """Draw it, 128 × 128 RGB."""
        return draw(self.scene)

    @property
    def caption(self) -> str:
        """All of it in sentences."""
        return detailed_caption(self.scene)

    @property
    def tuples(self) -> list[str]:
        """All of it as tuples: ``attribute - color (dog, red)``; a second dog is ``dog (2)``.

        Colours that the style takes away are not among them: nobody can see them.
        """
        return list(_tuples(self.scene))


def described(number: int, seed: int) -> Described:
    """Return one of any number of scenes of known concepts; the same arguments give the same scene."""
    concepts = vocabulary().share("known")
    name = f"described/{seed}/{number}"
    return Described(sample_scene(name, recipe(concepts, counts=_COUNTS, repeat=_REPEAT)))


def _tuples(scene: Scene) -> Iterator[str]:
    words, counts = vocabulary(), Counter(item.concept for item in scene.objects)
    seen: Counter[str] = Counter()
    keys = []
    for item in scene.objects:
        seen[item.concept] += 1
        number = seen[item.concept]
        key = item.concept if number == 1 else f"{item.concept} ({number})"
        keys.append(key)
        yield f"entity - whole ({key})"
        if number == 1:
            yield f"attribute - count ({key}, {counts[item.concept]})"
        group = words.groups[words.concept(item.concept).group]
        yield f"attribute - category ({key}, {group.singular})"
        yield f"attribute - size ({key}, {item.size})"
        if item.tint and scene.shows_colour:
            yield f"attribute - color ({key}, {item.tint})"
        yield f"attribute - place ({key}, {place(item)})"
    for one, relation, other in relations(scene):
        yield f"relation - spatial ({keys[one]}, {keys[other]}, {RELATION_WORDS[relation][0]})"
    yield f"attribute - pattern (background, {scene.pattern})"
    if scene.pattern not in GROUNDS and scene.shows_colour:
        yield f"attribute - color (background, {scene.colour})"
    yield f"attribute - state (weather, {scene.weather})"
    yield f"attribute - state (style, {scene.style})"
