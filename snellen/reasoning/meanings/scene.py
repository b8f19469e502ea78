"""Scene graphs, the truth that meanings are evaluated on: things with kinds, colours, sizes and boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from snellen.reasoning.meanings.meanings import SettingAspect
from snellen.reasoning.meanings.things import PictureName
from snellen.tools.boxes import Box


@dataclass(frozen=True)
class Entity:
    """A thing that a picture shows.

    Attributes:
        name: Its name, the most exact one.
        box: Its box in pixels.
        kinds: All kinds that it is of, in the singular, its name among them: cat, animal.
        facts: The facts that hold of its kind, as verb phrases in the plural: "can fly".
        colour: Its colour; empty where it has the colours of its kind.
        size: Small, medium or large; empty where nobody said.
        picture: The picture that shows it.
    """

    name: str
    box: Box
    kinds: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    colour: str = ""
    size: str = ""
    picture: PictureName = "picture"

    @property
    def width(self) -> int:
        """Pixels from the left edge to the right one."""
        return self.box[2] - self.box[0]

    @property
    def height(self) -> int:
        """Pixels from the upper edge to the lower one."""
        return self.box[3] - self.box[1]

    @property
    def area(self) -> int:
        """Pixels of the box."""
        return self.width * self.height

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of the box, x and y in pixels."""
        return (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2


@dataclass(frozen=True)
class PictureGraph:
    """All that is true of one picture.

    Attributes:
        entities: Its things.
        size: Width and height in pixels.
        setting: Background, weather and style, as far as known.
    """

    entities: tuple[Entity, ...]
    size: tuple[int, int]
    setting: Mapping[SettingAspect, str] = field(default_factory=dict)


Graphs: TypeAlias = Mapping[PictureName, PictureGraph]
"""The scene graphs of a task: of ``picture``, or of ``left`` and ``right``."""
