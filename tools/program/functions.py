"""Functions that expressions may call, with the types of what they take and give."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, Final

from snellen import values
from snellen.scoring.answers import before, same
from snellen.tools.program.expression_limits import MAX_ITEMS, ExpressionError, read_number
from snellen.tools.program.fields import distance_between, overlap_between
from snellen.values import as_number, as_text, describe, truth


@dataclass(frozen=True)
class Function:
    """A call that expressions may make.

    Attributes:
        apply: What it does.
        arguments: How many values it takes, least and most.
        gives: The type name of its result; None stands for the type of what it is given.
        refuses: The types that it never takes, and what to do instead.
    """

    apply: Callable[..., Any]
    arguments: tuple[int, int] = (1, 1)
    gives: str | None = values.ANY
    refuses: tuple[frozenset[str], str] = (frozenset(), "")


def _length(value: object) -> int:
    if isinstance(value, list | str):
        return len(value)
    msg = f"len(…) counts lists and texts, not {describe(value)}"
    raise ExpressionError(msg)


def _items(arguments: tuple[object, ...]) -> list[Any]:
    items = arguments[0] if len(arguments) == 1 else list(arguments)
    if isinstance(items, list) and items:
        return items
    msg = "min(…), max(…) and sorted(…) take a list with items, or several values"
    raise ExpressionError(msg)


def order(left: object, right: object) -> int:
    """Compare two values for a sort: negative where ``left`` comes first, 0 where they are the same answer."""
    if same(left, right):
        return 0
    return -1 if before(left, right) else 1


def _sorted(*arguments: object) -> list[Any]:
    if arguments == ([],):
        return []
    return sorted(_items(arguments), key=cmp_to_key(order))


def _sum(value: object) -> int | float:
    if not isinstance(value, list):
        msg = f"sum(…) adds the numbers of a list, not {describe(value)}"
        raise ExpressionError(msg)
    return sum(map(read_number, value))


def _every(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    msg = f"all(…) and any(…) take a list, not {describe(value)}"
    raise ExpressionError(msg)


def _rounded(value: object, digits: object = None) -> int | float:
    places = None if digits is None else max(-15, min(15, int(read_number(digits))))
    return round(read_number(value), places)


def identity(value: object) -> Hashable:
    """Return what two values have in common where they are the same answer: for sets of them."""
    if isinstance(value, str | int | float):
        read = as_number(value)
        return str(value).strip().casefold() if read is None else read
    if isinstance(value, list | tuple):
        return tuple(map(identity, value))
    hashable: Hashable = value  # the other values are records, and hash as what they hold
    return hashable


def _set_of(function: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        msg = f"{function}(…) takes lists, not {describe(value)}"
        raise ExpressionError(msg)
    if len(value) > MAX_ITEMS:
        msg = f"{function}(…) takes lists of at most {MAX_ITEMS} items, not {len(value)}"
        raise ExpressionError(msg)
    return value


def _unique(value: object) -> list[Any]:
    items = _set_of("unique", value)
    return list({identity(item): item for item in reversed(items)}.values())[::-1]


def _common(first: object, second: object) -> list[Any]:
    there = {identity(item) for item in _set_of("common", second)}
    return [item for item in _unique(_set_of("common", first)) if identity(item) in there]


def _without(first: object, second: object) -> list[Any]:
    gone = {identity(item) for item in _set_of("without", second)}
    return [item for item in _set_of("without", first) if identity(item) not in gone]


def _count(value: object, target: object) -> int:
    return sum(same(item, target) for item in _set_of("count", value))


_LISTS: Final = frozenset({values.REGIONS, values.GROUPS, values.TEXTS, values.LABELS, values.NUMBERS})
_SINGLE: Final = frozenset({values.PICTURE, values.REGION, values.NUMBER, values.BOOL})
_NO_LIST: Final = (_SINGLE | {values.TEXT, values.LABEL}, "it takes lists")
_NO_REGION: Final = (frozenset(_LISTS | _SINGLE | {values.TEXT, values.LABEL}) - {values.REGIONS, values.REGION},
                     "it takes two regions")  # fmt: skip
UNORDERED: Final[dict[str, str]] = {
    values.LABEL: "compare labels with == or !=, and numbers such as .area, .score or .left with <",
    values.LABELS: "labels have no order; use unique(…), or SORT(object=…, by='left') for the regions",
    values.REGION: "compare a field, such as .area or .left",
    values.REGIONS: "use SORT(object=…, by='area'), or a field such as .area",
    values.GROUPS: "use len(…) of one group",
    values.PICTURE: "compare its width, height or area",
}
"""The types whose values have no order, and what to write instead."""
_ORDERED: Final = (frozenset(UNORDERED), "")
_NUMERIC: Final = (frozenset(UNORDERED) | _LISTS, "it takes a number")

FUNCTIONS: Final[dict[str, Function]] = {
    "abs": Function(lambda value: abs(read_number(value)), gives=values.NUMBER, refuses=_NUMERIC),
    "all": Function(lambda value: all(map(truth, _every(value))), gives=values.BOOL, refuses=_NO_LIST),
    "any": Function(lambda value: any(map(truth, _every(value))), gives=values.BOOL, refuses=_NO_LIST),
    "bool": Function(truth, gives=values.BOOL),
    "common": Function(_common, (2, 2), gives=None, refuses=_NO_LIST),
    "count": Function(_count, (2, 2), gives=values.NUMBER),
    "distance": Function(distance_between, (2, 2), gives=values.NUMBER, refuses=_NO_REGION),
    "float": Function(lambda value: float(read_number(value)), gives=values.NUMBER, refuses=_NUMERIC),
    "int": Function(lambda value: math.trunc(read_number(value)), gives=values.NUMBER, refuses=_NUMERIC),
    "len": Function(_length, gives=values.NUMBER, refuses=(_SINGLE, "it counts lists and texts")),
    "max": Function(lambda *arguments: max(_items(arguments), key=cmp_to_key(order)), (1, 64), refuses=_ORDERED),
    "min": Function(lambda *arguments: min(_items(arguments), key=cmp_to_key(order)), (1, 64), refuses=_ORDERED),
    "overlap": Function(overlap_between, (2, 2), gives=values.NUMBER, refuses=_NO_REGION),
    "round": Function(_rounded, (1, 2), gives=values.NUMBER, refuses=_NUMERIC),
    "sorted": Function(_sorted, gives=None, refuses=_ORDERED),
    "str": Function(as_text, gives=values.TEXT),
    "sum": Function(
        _sum, gives=values.NUMBER, refuses=(frozenset(UNORDERED) | _SINGLE, "it adds the numbers of a list")
    ),
    "unique": Function(_unique, gives=None, refuses=_NO_LIST),
    "without": Function(_without, (2, 2), gives=None, refuses=_NO_LIST),
}


def kind_of_call(name: str, kinds: Sequence[str]) -> str:
    """Return the type name of a function's result for arguments of these types.

    Raises:
        ExpressionError: It never takes such an argument.
    """
    function = FUNCTIONS[name]
    refused, remedy = function.refuses
    for kind in kinds:
        if kind in refused:
            hint = UNORDERED[kind] if function.refuses is _ORDERED else remedy
            msg = f"{name}(…) cannot take {kind}; {hint}"
            raise ExpressionError(msg)
    if function.gives is not None:
        return function.gives
    return kinds[0] if kinds[0] in _LISTS else values.ANY
