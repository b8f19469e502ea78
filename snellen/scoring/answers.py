"""Comparison of answers: forgiving where visual question answering needs it, strict elsewhere.

``"3"``, ``3`` and ``"three"`` are the same number; text compares without case or surrounding blanks; ``yes``,
``no``, ``true`` and ``false`` are booleans; a region compares to text by its label.
"""

from __future__ import annotations

from typing import Final

from snellen.errors import BadInput
from snellen.values import Region, as_number, describe

_YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}


def same(left: object, right: object) -> bool:
    """Tell whether two values are the same answer.

    A number never equals text that reads as no number, and a list never equals a single value.
    """
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Region) and isinstance(right, str):
        return same(left.label, right)
    if isinstance(left, str) and isinstance(right, Region):
        return same(left, right.label)
    if isinstance(left, bool) or isinstance(right, bool) or (_is_yes_no(left) and _is_yes_no(right)):
        return _as_bool(left) is not None and _as_bool(left) == _as_bool(right)
    if as_number(left) is not None and as_number(right) is not None:
        return as_number(left) == as_number(right)
    if isinstance(left, str) and isinstance(right, str):
        return left.strip().casefold() == right.strip().casefold()
    return type(left) is type(right) and left == right


def before(left: object, right: object) -> bool:
    """Tell whether ``left`` is less than ``right``: numbers by size, other texts alphabetically.

    Raises:
        BadInput: The two have no common order, such as a list and a number.
    """
    one, other = as_number(left), as_number(right)
    if one is not None and other is not None:
        return one < other
    if isinstance(left, str) and isinstance(right, str):
        return left.strip().casefold() < right.strip().casefold()
    hint = (
        "use len(…) to count a list" if isinstance(left, list) or isinstance(right, list) else "compare like with like"
    )
    msg = f"{describe(left)} and {describe(right)} have no order; {hint}"
    raise BadInput(msg)


def contains(whole: object, part: object) -> bool:
    """Tell whether a list has an item that is the same answer as ``part``, or a text contains it.

    Raises:
        BadInput: ``whole`` is neither a list nor a text.
    """
    if isinstance(whole, list | tuple):
        return any(same(item, part) for item in whole)
    if isinstance(whole, str) and isinstance(part, str):
        return part.strip().casefold() in whole.casefold()
    msg = f"'in' looks into a list or a text, not for {describe(part)} in {describe(whole)}"
    raise BadInput(msg)


def _is_yes_no(value: object) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _YES_NO


def _as_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and _is_yes_no(value):
        return _YES_NO[value.strip().casefold()]
    number = as_number(value)
    return bool(number) if number in {0, 1} else None
