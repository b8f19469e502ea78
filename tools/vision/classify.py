"""CLASSIFY: a name for each region, by CLIP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snellen.models.vision.name_expansion import singular
from snellen.profiles import ClipModel
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.context import crops, models_of, softmax
from snellen.values import Picture, Region

if TYPE_CHECKING:
    from snellen.models.vision.models import Models


@dataclass(frozen=True)
class _Candidate:
    """A name that CLIP compares a region with; an empty category means that it is none of the wanted ones."""

    name: str
    category: str


@tool("CLASSIFY")
def classify(context: ToolContext, image: Picture, object: list[Region], categories: list[str]) -> list[Region]:
    """Label each region with the category that fits it best, and keep only the regions that fit one.

    A category may be a hypernym ("fruit"). Regions that look like something else are dropped.
    """
    distinct = [category for category in dict.fromkeys(each.strip() for each in categories) if category]
    if not object or not distinct:
        return []
    models = models_of(context)
    clip = models.profile.entry(ClipModel)
    candidates = _candidates(models, distinct)
    texts = [clip.template.format(candidate.name) for candidate in candidates]
    names = [candidate.name for candidate in candidates]
    logits = models.similarity(crops(context, image, object), texts, names=names)
    judged = [_judge(region, row.tolist(), candidates) for region, row in zip(object, logits, strict=True)]
    return [region for region in judged if region is not None and region.score >= clip.threshold]


def _candidates(models: Models, categories: Sequence[str]) -> list[_Candidate]:
    """The members of the categories, and the null classes that compete with them.

    With nothing to compete, every region would fit one of the categories: a picture of a dog is a better tiger than
    a lion. The profile names the null classes, or lets every other name of the world compete.
    """
    expansion = models.expansion_of("CLIP")
    members = [_Candidate(name, category) for category in categories for name in expansion.names(category)]
    clip = models.profile.entry(ClipModel)
    null = [*clip.null, *(expansion.all_names() if clip.null_from_world else ())]
    taken = {singular(member.name) for member in members}
    return members + [_Candidate(name, "") for name in dict.fromkeys(null) if singular(name) not in taken]


def _judge(region: Region, logits: Sequence[float], candidates: Sequence[_Candidate]) -> Region | None:
    """Label a region with the category of its best name, scored by a softmax over all names; None for a null class."""
    probabilities = softmax(logits)
    best = max(range(len(candidates)), key=probabilities.__getitem__)
    category = candidates[best].category
    return replace(region, label=category, score=probabilities[best]) if category else None
