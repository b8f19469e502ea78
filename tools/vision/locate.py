"""LOC, FACEDET and KNOWS: boxes from OWL-ViT, weighed with segments, and the names that it was taught."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.models.vision.detection import Detections
from snellen.models.vision.name_expansion import split_colour, without_adjective
from snellen.profiles import LocModel
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.ask import note_answer
from snellen.tools.vision.context import models_of, widened
from snellen.tools.vision.describe import name_segments
from snellen.tools.vision.support import is_one, seen_by_one, supported
from snellen.values import Picture, Region, Untaught

if TYPE_CHECKING:
    from snellen.models.vision.models import Models

_MARGIN: Final = 0.1
"""The share of a thing's width and height that VQA sees around it."""


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
    # Of several kinds ("sailboat, ship, speedboat") those that were taught are an answer, as they are for a group.
    if all(expansion.untaught(region.label) for region in regions):
        context.evidence.note_untaught(unknown)
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
    """Detect what names mean; colours before them are asked of VQA where the profile says so."""
    models = models_of(context)
    coloured = {}
    if models.profile.entry(LocModel).colours == "vqa":
        coloured = {name: split_colour(name) for name in names if _is_coloured(models, name)}
    plain = dict.fromkeys(coloured[name][1] if name in coloured else name for name in names)
    regions = _detect_plain(context, image, list(plain))
    kept = [region for region in regions if region.label in names]
    for name, (colour, thing) in coloured.items():
        alike = [region for region in regions if region.label == thing and region not in kept]
        kept += [replace(region, label=name) for region in alike if _has_colour(context, image, region, colour)]
    return sorted(kept, key=lambda region: -region.score)


def _is_coloured(models: Models, name: str) -> bool:
    colour, thing = split_colour(name)
    taught = models.expansion.all_names()
    return bool(colour) and thing in taught and name not in {*taught, *models.learned("LOC")}


def _has_colour(context: ToolContext, image: Picture, region: Region, colour: str) -> bool:
    picture = context.pictures.get(image.id)
    shown = picture.crop(widened(region.box, picture.size, margin=_MARGIN))
    answer = models_of(context).answer([shown], [f"is the {region.label} {colour}?"])[0]
    note_answer(context, answer)
    return answer.strip().casefold() == "yes"


def _detect_plain(context: ToolContext, image: Picture, names: list[str]) -> list[Region]:
    models = models_of(context)
    detections = models.detect([context.pictures.get(image.id)], [names])[0]
    regions = [Region(each.box, each.score, label=each.name, picture=image.id) for each in detections]
    if isinstance(detections, Detections):
        context.evidence.note_rejected([detections.rejected])
    sure, taught = models.profile.entry(LocModel).sure, models.expansion.all_names()
    if sure is None or not any(without_adjective(name) in taught for name in names):
        return regions
    segments = name_segments(context, image)
    things = [each.region for each in segments]
    located = supported(regions, things, names, taught, sure=sure)
    others = [each for each in segments if each.region.label not in names]
    context.evidence.note_resemblance(each.probabilities.get(name, 0.0) for each in others for name in names)
    context.evidence.note_rejected(each.score for each in regions if not any(is_one(each, one) for one in located))
    context.evidence.alone += seen_by_one(located, regions, things, taught)
    return located
