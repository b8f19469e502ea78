"""Fields of regions and pictures: ``BOX0[0].label``, ``B.area``, ``IMAGE.width``; of a list, the list of each one's.

In a ``where`` or a ``by`` the fields of the region in question stand by themselves: ``area > 100``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from snellen import values
from snellen.scoring.detection import iou
from snellen.tools.boxes import distance
from snellen.tools.program.expression_limits import MAX_ITEMS, ExpressionError
from snellen.values import Picture, Region, Value, describe

ITSELF: Final = "region"
"""In a ``where`` or a ``by``, the region in question: ``by='distance(region, HOUSE)'``."""


@dataclass(frozen=True)
class Field:
    """A field of a value: its type name, and how it is read."""

    kind: str
    read: Callable[[Any], Any]


def _score(region: Region) -> float:
    if math.isfinite(region.score):
        return region.score
    msg = f"the score of {describe(region)} is no number ({region.score}); leave this region out"
    raise ExpressionError(msg)


REGION_FIELDS: Final[dict[str, Field]] = {
    "label": Field(values.LABEL, lambda region: region.label),
    "score": Field(values.NUMBER, _score),
    "box": Field(values.NUMBERS, lambda region: list(region.box)),
    "left": Field(values.NUMBER, lambda region: region.box[0]),
    "top": Field(values.NUMBER, lambda region: region.box[1]),
    "right": Field(values.NUMBER, lambda region: region.box[2]),
    "bottom": Field(values.NUMBER, lambda region: region.box[3]),
    "x": Field(values.NUMBER, lambda region: region.centre[0]),
    "y": Field(values.NUMBER, lambda region: region.centre[1]),
    "centre": Field(values.NUMBERS, lambda region: list(region.centre)),
    "center": Field(values.NUMBERS, lambda region: list(region.centre)),
    "width": Field(values.NUMBER, lambda region: region.width),
    "height": Field(values.NUMBER, lambda region: region.height),
    "area": Field(values.NUMBER, lambda region: region.area),
    "ground": Field(values.BOOL, lambda region: region.ground),
    "mask": Field(values.TEXT, lambda region: region.mask or ""),
    "picture": Field(values.TEXT, lambda region: region.picture),
}
PICTURE_FIELDS: Final[dict[str, Field]] = {
    "width": Field(values.NUMBER, lambda picture: picture.width),
    "height": Field(values.NUMBER, lambda picture: picture.height),
    "area": Field(values.NUMBER, lambda picture: picture.width * picture.height),
}
_KINDS_OF_LISTS: Final = {values.LABEL: values.LABELS, values.NUMBER: values.NUMBERS}
SCOPE: Final = {name: field.kind for name, field in REGION_FIELDS.items()} | {ITSELF: values.REGION}
"""The names that a ``where`` or a ``by`` may use besides the program's variables, and their types."""


def check_field(name: str) -> None:
    """Raise an ``ExpressionError`` where no value has a field of this name."""
    if name in REGION_FIELDS:
        return
    close = get_close_matches(name[:64], REGION_FIELDS, n=1, cutoff=0.55)
    remedy = f"did you mean .{close[0]}?" if close else f"regions have {', '.join(REGION_FIELDS)}; pictures a size"
    msg = f"there is no field .{name[:60]}; {remedy}"
    raise ExpressionError(msg)


def kind_of_field(kind: str, name: str) -> str:
    """Return the type name of a field of a value of type ``kind``.

    Raises:
        ExpressionError: Such a value has no such field.
    """
    check_field(name)
    field = REGION_FIELDS[name]
    match kind:
        case values.REGION:
            return field.kind
        case values.REGIONS if field.kind != values.NUMBERS:
            return _KINDS_OF_LISTS.get(field.kind, values.TEXTS)
        case values.PICTURE if name in PICTURE_FIELDS:
            return PICTURE_FIELDS[name].kind
        case values.ANY:
            return values.ANY
    several = f"; take one, as in NAME[0].{name}" if kind in {values.REGIONS, values.GROUPS} else ""
    msg = f"{kind} has no field .{name}{several}"
    raise ExpressionError(msg)


def field_of(value: object, name: str) -> Any:  # noqa: ANN401 - any value
    """Return a field of a region or a picture, of a list of regions the list of each one's.

    Raises:
        ExpressionError: The value has no such field.
    """
    if isinstance(value, Region):
        return REGION_FIELDS[name].read(value)
    if isinstance(value, Picture) and name in PICTURE_FIELDS:
        return PICTURE_FIELDS[name].read(value)
    if isinstance(value, list) and all(isinstance(item, Region) for item in value):
        if REGION_FIELDS[name].kind == values.NUMBERS:
            msg = f"a list of regions has no field .{name}; take one, as in NAME[0].{name}"
            raise ExpressionError(msg)
        if len(value) > MAX_ITEMS:
            msg = f".{name} reads at most {MAX_ITEMS} regions, not {len(value)}; take FIRST(object=…, n={MAX_ITEMS})"
            raise ExpressionError(msg)
        return [REGION_FIELDS[name].read(item) for item in value]
    msg = f"{describe(value)} has no field .{name}; regions and pictures have fields"
    raise ExpressionError(msg)


class RegionScope(Mapping[str, Value]):
    """The names of a ``where`` or a ``by``: the fields of a region, then the variables of the program."""

    def __init__(self, region: Region, variables: Mapping[str, Value]) -> None:
        """Look names up in the region first."""
        self._region = region
        self._variables = variables

    def __getitem__(self, name: str) -> Value:
        """Return the value of a name."""
        if name == ITSELF:
            return self._region
        field = REGION_FIELDS.get(name)
        value: Value = self._variables[name] if field is None else field.read(self._region)
        return value

    def __contains__(self, name: object) -> bool:
        """Tell whether a name has a value."""
        return name in SCOPE or name in self._variables

    def __iter__(self) -> Iterator[str]:
        """Go through all names."""
        return iter({**SCOPE, **self._variables})

    def __len__(self) -> int:
        """Count all names."""
        return len({**SCOPE, **self._variables})


def distance_between(one: object, other: object) -> float:
    """Return the pixels between two regions' boxes, 0 where they touch; of lists, the smallest distance."""
    return min(distance(a.box, b.box) for a in _regions("distance", one) for b in _regions("distance", other))


def overlap_between(one: object, other: object) -> float:
    """Return the share in [0, 1] that two regions' boxes have in common (IoU); of lists, the largest."""
    return max(iou(a.box, b.box) for a in _regions("overlap", one) for b in _regions("overlap", other))


def _regions(function: str, value: object) -> list[Region]:
    items = value if isinstance(value, list) else [value]
    regions = [region for region in items if isinstance(region, Region)]
    if len(regions) < len(items):
        msg = f"{function}(…) takes regions, not {describe(value)}"
        raise ExpressionError(msg)
    if not regions:
        msg = f"{function}(…) got a list without regions; test len(…) first"
        raise ExpressionError(msg)
    most = 32
    if len(regions) > most:
        msg = f"{function}(…) takes lists of at most {most} regions, not {len(regions)}; use NEAREST(object=…, of=…)"
        raise ExpressionError(msg)
    return regions
