"""LOC, FACEDET and KNOWS: boxes from OWL-ViT, and the names that it was taught."""

from __future__ import annotations

from snellen.profiles import LocModel
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.context import models_of
from snellen.values import Picture, Region, Untaught


@tool("LOC")
def locate(context: ToolContext, image: Picture, object: str) -> list[Region]:
    """Locate all objects that the word names ("dog", "dogs", "animals"); best first, empty if there are none.

    Each region's label says what was found. A name that no tool was taught gives no region and a warning.
    """
    models = models_of(context)
    expansion = models.expansion_of("LOC")
    regions = _detect(context, image, expansion.names(object))
    unknown = expansion.untaught(object)
    if not unknown:
        return regions
    named = " and ".join(map(repr, unknown))
    if regions:
        context.warn(f"No tool was taught {named}: what was found for it is a guess.")
        return regions
    context.warn(f"No tool was taught {named}: that it was not found says nothing.")
    return Untaught(", ".join(unknown))


@tool("KNOWS")
def knows(context: ToolContext, name: str) -> bool:
    """Tell whether the tools were taught a name ("dog", "animals"); LOC finds nothing of what they were not taught."""
    return not models_of(context).expansion_of("LOC").untaught(name)


@tool("FACEDET")
def detect_faces(context: ToolContext, image: Picture) -> list[Region]:
    """Locate all faces; best first, empty if there are none."""
    models = models_of(context)
    faces, expansion = models.profile.entry(LocModel).faces, models.expansion_of("LOC")
    names = dict.fromkeys(name for words in faces for name in expansion.names(words))
    return _detect(context, image, list(names))


def _detect(context: ToolContext, image: Picture, names: list[str]) -> list[Region]:
    detections = models_of(context).detect([context.pictures.get(image.id)], [names])[0]
    return [Region(each.box, each.score, label=each.name, picture=image.id) for each in detections]
