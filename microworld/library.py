"""The library that later learning draws from: scenes with boxes and masks, and pictures as a search engine finds them.

It stands in for LVIS (`scenes`) and for image search (`pictures`), and is split by concept: all that is asked for is
about one concept. Search engines err, and so do `pictures`: a share of `WRONG` of them shows something else.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from snellen.errors import BadInput
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Truth, draw, truths
from snellen.microworld.scenes import Dice, Scene, recipe, sample_scene

WRONG = 0.15
"""The share of found pictures that do not show what they were found for."""


@dataclass(frozen=True)
class LibraryScene:
    """A scene in which a concept appears at least once."""

    concept: str
    scene: Scene

    def picture(self) -> Image.Image:
        """Draw it, 128 × 128 RGB."""
        return draw(self.scene)

    def truths(self) -> list[Truth]:
        """Return box and mask of every object, those of other concepts included."""
        return truths(self.scene)


@dataclass(frozen=True)
class FoundPicture:
    """A picture of a single thing, as a search for `label` gives it.

    Attributes:
        label: What was searched for.
        scene: What is shown; a search engine does not tell, so only tests may look.
    """

    label: str
    scene: Scene

    def picture(self) -> Image.Image:
        """Draw it, 128 × 128 RGB."""
        return draw(self.scene)

    @property
    def rightly_labelled(self) -> bool:
        """True if it shows what it was found for."""
        return bool(self.scene.named(self.label))


def scenes(concept: str, n: int, seed: int) -> list[LibraryScene]:
    """Return scenes of 2 to 6 objects that show a concept once or twice; the same arguments give the same scenes.

    Raises:
        BadInput: If there is no such concept.
    """
    _check(concept)
    return [LibraryScene(concept, _scene(concept, f"library/{concept}/{seed}/{index}")) for index in range(n)]


def pictures(concept: str, n: int, seed: int) -> list[FoundPicture]:
    """Return pictures of one object each, found for a concept, a share of `WRONG` of them wrongly.

    Raises:
        BadInput: If there is no such concept.
    """
    _check(concept)
    return [FoundPicture(concept, _found(concept, f"search/{concept}/{seed}/{index}")) for index in range(n)]


def _scene(concept: str, seed: str) -> Scene:
    dice = Dice(seed)
    others = [c for c in vocabulary().concepts if c.name != concept]
    return sample_scene(seed, recipe(others, required=(concept,) * dice.integer(1, 2), counts=(2, 6), repeat=0.0))


def _found(concept: str, seed: str) -> Scene:
    dice = Dice(seed)
    shown = concept
    if dice.chance(WRONG):
        shown = dice.choice([c.name for c in vocabulary().concepts if c.name != concept])
    return sample_scene(seed, recipe([shown], counts=(1, 1)))


def _check(concept: str) -> None:
    if all(c.name != concept for c in vocabulary().concepts):
        msg = f"The microworld has no concept {concept!r}; its concepts are listed in microworld/concepts.json."
        raise BadInput(msg)
