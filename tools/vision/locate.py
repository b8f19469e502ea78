"""LOC and FACEDET: boxes from OWL-ViT."""

from __future__ import annotations

from snellen.profiles import LocModel
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.context import models_of
from snellen.values import Picture, Region


@tool("LOC")
def locate(context: ToolContext, image: Picture, object: str) -> list[Region]:
    """Locate all objects that the word names ("dog", "dogs", "animals"); best first, empty if there are none.

    Each region's label says what was found.
    """
    models = models_of(context)
    return _detect(context, image, models.expansion_of("LOC").names(object))


@tool("FACEDET")
def detect_faces(context: ToolContext, image: Picture) -> list[Region]:
    """Locate all faces; best first, empty if there are none."""
    models = models_of(context)
    wanted, expansion = models.profile.entry(LocModel).faces, models.expansion_of("LOC")
    names = dict.fromkeys(name for words in wanted for name in expansion.names(words))
    return _detect(context, image, list(names))


def _detect(context: ToolContext, image: Picture, names: list[str]) -> list[Region]:
    found = models_of(context).detect([context.pictures.get(image.id)], [names])[0]
    return [Region(each.box, each.score, label=each.name, picture=image.id) for each in found]
