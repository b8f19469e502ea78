"""SELECT: the regions that a description fits, by CLIP."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from snellen.errors import BadInput
from snellen.models.vision.name_expansion import singular
from snellen.profiles import ClipModel
from snellen.tools.regions.computing import check_count
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.context import crops, models_of, softmax
from snellen.values import Picture, Region, describe

_PLACES: dict[str, Callable[[Region], float]] = {
    "left": lambda region: region.box[0] + region.box[2],
    "right": lambda region: -region.box[0] - region.box[2],
    "top": lambda region: region.box[1] + region.box[3],
    "bottom": lambda region: -region.box[1] - region.box[3],
    "smallest": lambda region: (region.box[2] - region.box[0]) * (region.box[3] - region.box[1]),
    "largest": lambda region: -(region.box[2] - region.box[0]) * (region.box[3] - region.box[1]),
}
_FILLERS = frozenset({"the", "one", "object", "thing", "on", "at", "in", "side"})
_SUPERLATIVES = {
    "largest": "largest",
    "smallest": "smallest",
    "leftmost": "left",
    "rightmost": "right",
    "topmost": "top",
    "uppermost": "top",
    "highest": "top",
    "bottommost": "bottom",
    "lowest": "bottom",
    "biggest": "largest",
    "tiniest": "smallest",
}


_INSTEAD = {
    r"closest|nearest|farthest|furthest": "NEAREST(object=…, of=…)",
    r"next to|beside|close to": "NEXT_TO(object=…, of=…)",
    r"left of": "LEFT_OF(object=…, of=…), or AT(image=…, object=…, place='left')",
    r"right of": "RIGHT_OF(object=…, of=…), or AT(image=…, object=…, place='right')",
    r"above": "ABOVE(object=…, of=…)",
    r"below|beneath|underneath": "BELOW(object=…, of=…)",
    r"between": "BETWEEN(object=…, of=…, other=…)",
    r"second|third|fourth|fifth": "SORT(object=…, by='left') and an item such as SORTED0[1]",
}


def check_query(query: str) -> None:
    """Refuse a description that CLIP cannot see in one region: a relation, or a place in an order.

    Raises:
        BadInput: It is one; says which tool to take.
    """
    for words, remedy in _INSTEAD.items():
        match = re.search(rf"\b(?:{words})\b", query.casefold())
        if match:
            msg = f"SELECT knows what regions look like, not {match[0]!r} as in {describe(query)}; use {remedy}"
            raise BadInput(msg)


@tool("SELECT", texts={"query": check_query})
def select(
    context: ToolContext, image: Picture, object: list[Region], query: str, category: str | None = None
) -> list[Region]:
    """Select the regions that the query describes, one for each part between commas; empty if there are no regions.

    A part may be a label ("dog": all regions with it), a place ("leftmost", "largest"), or a description ("the
    president"): the best region by similarity. A category keeps only the regions labelled so, if there are any.
    """
    check_query(query)
    check_count(len(object))
    regions = _of_category(object, category)
    if not regions:
        return []
    chosen: list[Region] = []
    for part in (part.strip() for part in query.split(",") if part.strip()):
        chosen.extend(region for region in _select(context, image, regions, part) if region not in chosen)
    return chosen


def _of_category(regions: Sequence[Region], category: str | None) -> list[Region]:
    if not category:
        return list(regions)
    categories = {singular(part.strip()) for part in category.split(",")}
    return [region for region in regions if singular(region.label) in categories] or list(regions)


def _select(context: ToolContext, image: Picture, regions: Sequence[Region], query: str) -> list[Region]:
    names = _labels(context, query)
    labelled = [region for region in regions if region.label and singular(region.label) in names]
    if labelled:
        return labelled
    place = _place(query)
    if place is not None:
        words = {singular(word) for word in query.split()}
        return [min([each for each in regions if singular(each.label) in words] or regions, key=place)]
    return [_most_similar(context, image, regions, query)]


def _labels(context: ToolContext, query: str) -> frozenset[str]:
    """The labels that a query means: SEG calls what it knows by its group, and what it has learned by its own name."""
    learned = frozenset() if context.models is None else context.models.learned("SEG")
    members = learned & frozenset(models_of(context).expansion_of("SEG").names(query)) if learned else learned
    return frozenset({singular(query), *map(singular, members)})


def _place(query: str) -> Callable[[Region], float] | None:
    """The order of regions that a query means: a superlative anywhere in it, or a bare side (``on the left``)."""
    words = [word for word in query.casefold().split() if word not in _FILLERS]
    for word in words:
        if word in _SUPERLATIVES:
            return _PLACES[_SUPERLATIVES[word]]
    return _PLACES.get(words[0]) if len(words) == 1 else None


def _most_similar(context: ToolContext, image: Picture, regions: Sequence[Region], query: str) -> Region:
    """The region of the highest CLIP similarity; its score is the softmax over the regions (VisProg, Select)."""
    models = models_of(context)
    text = models.profile.entry(ClipModel).template.format(query)
    named = models.expansion.names(query)
    concept = named[0] if len(named) == 1 else query
    logits = models.similarity(crops(context, image, regions), [text], names=[concept])[:, 0].tolist()
    probabilities = softmax(logits)
    best = max(range(len(regions)), key=probabilities.__getitem__)
    return replace(regions[best], score=probabilities[best])
