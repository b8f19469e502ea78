"""The rule by which LOC weighs the detector's boxes against segments: two models that look in different ways."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from snellen.models.vision.detection import covered
from snellen.models.vision.name_expansion import without_adjective
from snellen.values import Region

ONE_THING: Final = 0.5
"""The share of the smaller of two boxes that lies in the other from which on both show one thing."""


def supported(
    regions: Sequence[Region], things: Sequence[Region], names: Collection[str], taught: Collection[str], *, sure: float
) -> list[Region]:
    """Return the regions that are sure or that a thing called so supports, and the things that were missed; best first.

    Where one region and one thing mean each other alone, the region gets the thing's box: outlines are sharper. Names
    that the models were not taught (those learned since among them) are the detector's alone.

    Args:
        regions: What the detector found, labelled with names.
        things: Segments, labelled with what they are.
        names: What was looked for.
        taught: The names that the models were taught.
        sure: The score from which on a region needs no support.
    """
    kept = [one for one in regions if _called(one, taught) is None or one.score >= sure or _meant(one, things, taught)]
    missed = [thing for thing in things if thing.label in names and not any(is_one(one, thing) for one in kept)]
    placed = [_placed(one, _meant(one, things, taught), kept) for one in kept]
    return sorted([*placed, *missed], key=lambda one: -one.score)


def seen_by_one(
    located: Sequence[Region], regions: Sequence[Region], things: Sequence[Region], taught: Collection[str]
) -> int:
    """Return how many of the located regions only one of the two models saw; learned names are the detector's alone."""
    known = [one for one in located if _called(one, taught) is not None]
    detected = [any(is_one(one, region) for region in regions) for one in known]
    return sum(not (seen and _meant(one, things, taught)) for one, seen in zip(known, detected, strict=True))


def _called(region: Region, taught: Collection[str]) -> str | None:
    """Return the taught name in a label ("red dog": dog); None where there is none."""
    name = without_adjective(region.label)
    return next((each for each in (region.label, name) if each in taught), None)


def _meant(region: Region, things: Sequence[Region], taught: Collection[str]) -> list[Region]:
    name = _called(region, taught)
    return [thing for thing in things if thing.label == name and is_one(region, thing)]


def is_one(region: Region, thing: Region) -> bool:
    """Tell whether two regions show one thing."""
    return covered(region.box, thing.box) >= ONE_THING


def _placed(region: Region, things: Sequence[Region], regions: Sequence[Region]) -> Region:
    alone = len(things) == 1 and sum(is_one(each, things[0]) for each in regions) == 1
    return replace(region, box=things[0].box) if alone else region
