"""The source of pictures that a world draws, and what it can change of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.tools.samples.select import Selected
from snellen.tools.transforms import ANY, OTHER, SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import PIL.Image

    from snellen.profiles.world import World, WorldPortrait


class WorldSource:
    """Draws pictures of one thing each (`Profile.world()`).

    Args:
        world: The world's module, with `portrait`, `cut_out` and `members`.
        title: Its name, for people.
    """

    def __init__(self, world: World, *, title: str) -> None:
        self._world, self._title = world, title

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Draw a picture; see `SampleSource`."""
        drawn = self._world.portrait(class_name, seed, image_type=image_type)
        return Selected(drawn.picture(), drawn.class_name, WorldStudio(self._world, drawn), self._title)


class WorldStudio:
    """Studio of a world, which changes pictures that it drew.

    Args:
        world: As above.
        drawn: What it drew: with `picture`, `boxes` and `restyled`.
    """

    def __init__(self, world: World, drawn: WorldPortrait) -> None:
        self._world, self._drawn = world, drawn

    def another(self, dice: np.random.Generator) -> PIL.Image.Image:
        """Draw anything; see `snellen.tools.transforms.Studio`."""
        return self._world.portrait(ANY, str(dice.integers(2**62))).picture()

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> PIL.Image.Image:
        """Draw a thing on nothing."""
        own, wanted = self._drawn.class_name, class_name
        if class_name == SAME:
            wanted = own
        elif class_name == OTHER:
            others = [name for name in self._world.members(ANY) if name != own]
            wanted = others[int(dice.integers(len(others)))]
        return self._world.cut_out(wanted, side, str(dice.integers(2**62)))

    def occupied(self) -> Sequence[tuple[int, int, int, int]]:
        """Say where its things are."""
        return self._drawn.boxes()

    def restyled(self, *, style: str, weather: str) -> PIL.Image.Image:
        """Draw the same scene in that style or weather."""
        return self._drawn.restyled(style=style, weather=weather).picture()
