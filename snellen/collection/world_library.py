"""The library of a world: scenes with their truth, and pictures as a search engine finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from snellen.collection.sources import Annotated, SearchedPicture
from snellen.profiles import BadInput


class WorldLibrary:
    """Stands in for LVIS and for image search, where a profile has a world (``Profile.world()``).

    Args:
        world: Gives the world's module, with ``scenes`` and ``pictures``, which refuse unknown concepts as bad input.
            It is asked for when something is collected: most runs learn nothing and need not import it.
        title: The world's name, for people.
    """

    def __init__(self, world: Callable[[], Any], *, title: str) -> None:
        self._world = world
        self._title = title

    def __str__(self) -> str:
        """Name it, for people."""
        return f"the {self._title} library"

    def annotated(self, concept: str, count: int, *, seed: int = 0) -> list[Annotated]:
        """Draw scenes that show a concept once or twice among other things; none of what the world does not know."""
        try:
            scenes = self._world().scenes(concept, count, seed)
        except BadInput:
            return []
        return [self._annotated(concept, scene) for scene in scenes]

    def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:
        """Draw pictures of single things found for a concept; some show something else, as with every search."""
        try:
            pictures = self._world().pictures(concept, count, seed)
        except BadInput:
            return []
        return [SearchedPicture(picture.picture(), concept, f"{self._title} library") for picture in pictures]

    def _annotated(self, concept: str, scene: Any) -> Annotated:  # noqa: ANN401
        import PIL.Image

        things = scene.truths()
        matching = [thing for thing in things if thing.concept == concept]
        return Annotated(
            picture=scene.picture(),
            concept=concept,
            boxes=tuple(thing.box for thing in matching),
            masks=tuple(PIL.Image.fromarray(thing.mask.astype("uint8") * 255) for thing in matching),
            others=tuple(dict.fromkeys(thing.concept for thing in things if thing.concept != concept)),
            origin=f"{self._title} library",
        )
