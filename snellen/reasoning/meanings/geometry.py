"""Relations, places and lines of things by their boxes, as the tools document them and computed anew from the scene.

The tools (`snellen.tools.regions`) do the same on regions that models found; two computations that agree are the law
that a program means what its meaning says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from snellen.reasoning.meanings.scene import Entity
from snellen.reasoning.meanings.things import InLine, IsAt, Side, SizeRelation, SpatialRelation
from snellen.tools.boxes import distance, share_inside
from snellen.tools.regions.relations import NEXT, SIDE

_MIDDLE_THIRD: Final = 1 / 6
SAME_SIZE: Final = 0.67
"""The share of the larger area from which on two things are of the same size, as SAME takes it."""
_INSIDE: Final = 0.75


def relates(one: Entity, relation: SpatialRelation | SizeRelation, other: Entity) -> bool:
    """Tell whether one thing stands in a relation to another one; none stands in a place beside itself."""
    if relation in {"larger than", "smaller than"}:
        return one.area > other.area if relation == "larger than" else one.area < other.area
    return one != other and one.picture == other.picture and _PLACES[relation](one, other)


def _is_left(one: Entity, other: Entity) -> bool:
    return other.middle[0] - one.middle[0] > SIDE * (one.width + other.width) / 2


def _is_above(one: Entity, other: Entity) -> bool:
    return other.middle[1] - one.middle[1] > SIDE * (one.height + other.height) / 2


def _is_next(one: Entity, other: Entity) -> bool:
    longest = max(one.width, one.height, other.width, other.height)
    return distance(one.box, other.box) <= NEXT * longest


def _is_inside(one: Entity, other: Entity) -> bool:
    return one.area < other.area and share_inside(one.box, other.box) >= _INSIDE


def _is_on(one: Entity, other: Entity) -> bool:
    left, top, right, bottom = other.box
    touches = top - one.height / 4 <= one.box[3] <= bottom
    return touches and one.middle[1] < other.middle[1] and left <= one.middle[0] <= right


_PLACES: Final[dict[str, Callable[[Entity, Entity], bool]]] = {
    "left of": _is_left,
    "right of": lambda one, other: _is_left(other, one),
    "above": _is_above,
    "below": lambda one, other: _is_above(other, one),
    "next to": _is_next,
    "inside": _is_inside,
    "on": _is_on,
}


def lies_between(entity: Entity, one: Entity, other: Entity) -> bool:
    """Tell whether a thing lies between two others, not off the line between them by more than half its length."""
    if entity in {one, other}:
        return False
    (ax, ay), (bx, by), (x, y) = one.middle, other.middle, entity.middle
    length = math.hypot(bx - ax, by - ay)
    if not length:
        return False
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length**2
    off = abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length**2
    return 0 < along < 1 and off <= 1 / 2


def is_at(entity: Entity, place: IsAt, size: tuple[int, int]) -> bool:
    """Tell whether the middle of a thing lies at a place of a picture of a size."""
    return _is_along(entity.middle[0] / size[0], place.across, "left") and _is_along(
        entity.middle[1] / size[1], place.down, "top"
    )


def _is_along(share: float, side: str | None, first: str) -> bool:
    if side is None:
        return True
    if side == "middle":
        return abs(share - 1 / 2) <= _MIDDLE_THIRD
    return (share < 1 / 2) == (side == first)


def corner(entity: Entity, size: tuple[int, int]) -> str:
    """Name the quarter of the picture that the middle of a thing lies in: "top left"."""
    down = "top" if entity.middle[1] < size[1] / 2 else "bottom"
    return f"{down} {'left' if entity.middle[0] < size[0] / 2 else 'right'}"


def line(entities: Sequence[Entity], place: InLine) -> tuple[Entity, ...]:
    """Return the things of a row or a column, none where there are fewer lines.

    Things are in one line where their middles differ by less than half of their mean extent from one to the next.
    """
    axis = 1 if place.line == "row" else 0

    def extent(entity: Entity) -> int:
        return entity.height if axis else entity.width

    ordered = sorted(entities, key=lambda entity: (entity.middle[axis], extent(entity)))
    lines = [ordered[:1]] if ordered else []
    for before, entity in pairwise(ordered):
        if entity.middle[axis] - before.middle[axis] < (extent(before) + extent(entity)) / 4:
            lines[-1].append(entity)
        else:
            lines.append([entity])
    number = place.number - 1 if place.number > 0 else place.number
    return tuple(lines[number]) if -len(lines) <= number < len(lines) else ()


def nearness(entity: Entity, references: Iterable[Entity], side: Side | None) -> tuple[float, ...] | None:
    """Return the place of a thing in the order of nearness to one of several; straight on a side before the rest.

    None where it is on that side of none of them.
    """
    keys: list[tuple[float, ...]] = []
    for other in references:
        if side is None or relates(entity, side, other):
            gap = (distance(entity.box, other.box), math.dist(entity.middle, other.middle))
            keys.append(gap if side is None else (_is_aside(entity, other, side), *gap))
    return min(keys, default=None)


def _is_aside(entity: Entity, other: Entity, side: Side) -> bool:
    low, high = (1, 3) if side in {"left of", "right of"} else (0, 2)
    return entity.box[high] <= other.box[low] or other.box[high] <= entity.box[low]


def same_size(one: Entity, other: Entity) -> bool:
    """Tell whether the smaller of two boxes has at least two thirds of the larger one's area."""
    return min(one.area, other.area) >= SAME_SIZE * max(one.area, other.area)


def same_colour(one: Entity, other: Entity) -> bool:
    """Tell whether two things have the same colour; the colours of its kind are a colour of their own."""
    return (one.colour or one.name) == (other.colour or other.name)
