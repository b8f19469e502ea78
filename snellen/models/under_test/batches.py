"""Batches of what is alike: it is computed together, without padding."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snellen.models.under_test.model import Question


def alike(places: Iterable[int], key: Callable[[int], Hashable]) -> list[list[int]]:
    """Group places by a key of each, in the order in which the keys come."""
    groups: dict[Hashable, list[int]] = {}
    for place in places:
        groups.setdefault(key(place), []).append(place)
    return list(groups.values())


def batches(places: Iterable[int], key: Callable[[int], Hashable], size: int) -> Iterator[list[int]]:
    """Yield places with the same key, so many at once, at most."""
    for group in alike(places, key):
        yield from (group[begun : begun + size] for begun in range(0, len(group), size))


def pictures_of(question: Question) -> tuple[int, ...]:
    """Return a key of a question's pictures, which are the same if they are the same objects: they are seen once."""
    return tuple(map(id, question.pictures))
