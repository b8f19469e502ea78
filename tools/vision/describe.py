"""CAPTION, NAME, THINGS and SAME: descriptions of pictures and of regions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.models.vision.name_expansion import singular
from snellen.models.vision.segmentation import is_ground
from snellen.profiles import ClipModel
from snellen.tools.editing.regions import best
from snellen.tools.regions.computing import check_count
from snellen.tools.regions.sources import picture_of
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.ask import normalised, note_answer
from snellen.tools.vision.context import crops, models_of, softmax, widened
from snellen.tools.vision.segment import segment
from snellen.values import Picture, Region, describe

if TYPE_CHECKING:
    from snellen.models.vision.name_expansion import Expansion

_MARGIN: Final = 0.1
_ALIKE: Final = 0.67
"""The share of the larger area from which on two regions are of the same size."""


@tool("CAPTION", synonyms=("DESCRIBE",))
def caption(context: ToolContext, image: Picture, object: list[Region] | None = None) -> str:
    """Describe the picture in a sentence: its things and the background; with object, the best of these regions."""
    picture = context.pictures.get(image.id)
    if object is not None:
        if not object:
            msg = "CAPTION(object=…) got no region to describe; test len(…) first"
            raise BadInput(msg)
        picture = picture.crop(widened(best(object).box, picture.size, margin=_MARGIN))
    return models_of(context).caption([picture])[0]


@tool("NAME")
def name_regions(context: ToolContext, image: Picture, object: list[Region]) -> list[Region]:
    """Label each region with what it is, in their order: the classifier's names and the label it has, weighed together.

    The score is the certainty of the name. NAME0[0].label is the name of the first.
    """
    named = _name_each(context, image, object)
    for each in sorted(named, key=lambda each: -each.region.score):
        context.evidence.note_answer(each.region.label, each.region.score, each.rival)
    return [each.region for each in named]


@tool("THINGS")
def locate_things(context: ToolContext, image: Picture) -> list[Region]:
    """Locate everything in the picture but the background, each with its mask and its name; best first.

    These are the segments of SEG that are no ground, labelled by NAME.
    """
    things = [each for each in segment(context, image) if not each.ground]
    return sorted(name_regions(context, image, things), key=lambda region: -region.score)


@dataclass(frozen=True)
class RegionName:
    """A region labelled by its likeliest name, with the probabilities of all names."""

    region: Region
    probabilities: Mapping[str, float]

    @property
    def rival(self) -> str:
        """The next likeliest name; empty where there is no other."""
        others = [name for name in self.probabilities if name != self.region.label]
        return max(others, key=self.probabilities.__getitem__, default="")


def name_segments(context: ToolContext, image: Picture) -> list[RegionName]:
    """Return the segments that are no ground with their names, as THINGS does, but without masks."""
    segments = models_of(context).segment([context.pictures.get(image.id)])[0]
    things = [each for each in segments if not is_ground(each.name)]
    regions = [Region(each.box, each.score, each.name, picture=image.id) for each in things]
    return _name_each(context, image, regions)


def _name_each(context: ToolContext, image: Picture, regions: Sequence[Region]) -> list[RegionName]:
    check_count(len(regions))
    models = models_of(context)
    expansion = models.expansion_of("CLIP")
    names = expansion.all_names()
    if not regions or not names:
        return [RegionName(region, {}) for region in regions]
    template = models.profile.entry(ClipModel).template
    texts = [template.format(name) for name in names]
    logits = models.similarity(crops(context, image, regions), texts, names=names)
    return [
        _named(region, dict(zip(names, softmax(row.tolist()), strict=True)), expansion)
        for region, row in zip(regions, logits, strict=True)
    ]


def _named(region: Region, probabilities: Mapping[str, float], expansion: Expansion) -> RegionName:
    """Weigh the classifier's names evenly with the label; that of a group speaks for its members as they are likely."""
    members = [name for name in expansion.names(region.label) if name in probabilities] if region.label else []
    total = sum(probabilities[name] for name in members)
    certainty = region.score if math.isfinite(region.score) else 0.0
    weighed = {name: probability / (2 if members else 1) for name, probability in probabilities.items()}
    for name in members:
        share = probabilities[name] / total if total else 1 / len(members)
        weighed[name] += certainty * share / 2
    name = max(weighed, key=weighed.__getitem__)
    return RegionName(replace(region, label=name, score=weighed[name]), weighed)


def read_property(text: str) -> str:
    """Return the property that two regions are compared by: ``label``, ``colour`` or ``size``.

    Raises:
        BadInput: It is another.
    """
    known = {"label": "label", "name": "label", "kind": "label", "colour": "colour", "color": "colour", "size": "size"}
    if text.strip().casefold() not in known:
        msg = f"SAME cannot compare by {describe(text)}; write by='label', by='colour' or by='size'"
        raise BadInput(msg)
    return known[text.strip().casefold()]


@tool("SAME", texts={"by": read_property})
def same_property(context: ToolContext, object: list[Region], other: list[Region], by: str = "label") -> bool:
    """Tell whether two regions, the best of object and of other, are alike: by='label', 'colour' or 'size'.

    The colour is asked of VQA, in the picture that each was found in. Sizes are the same where the smaller box has at
    least two thirds of the larger one's area.
    """
    if not object or not other:
        msg = "SAME(…) compares two regions, but one list is empty; test len(…) first"
        raise BadInput(msg)
    regions = [best(object), best(other)]
    match read_property(by):
        case "label":
            return len({singular(region.label) for region in regions}) == 1
        case "size":
            small, large = sorted(region.area for region in regions)
            return small >= _ALIKE * large
        case _:
            return len(set(_colours(context, regions))) == 1


def _colours(context: ToolContext, regions: Sequence[Region]) -> list[str]:
    pictures = [picture_of(context, region) for region in regions]
    shown = [
        picture.crop(widened(region.box, picture.size, margin=_MARGIN))
        for region, picture in zip(regions, pictures, strict=True)
    ]
    questions = [f"what color is the {singular(region.label) or 'object'}?" for region in regions]
    answers = models_of(context).answer(shown, questions)
    for answer in answers:
        note_answer(context, answer)
    return [normalised(answer) for answer in answers]
