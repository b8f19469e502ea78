"""Training and validation pictures, which never overlap.

A prompt that is validated on the picture it was trained on has proved nothing. Pictures are told apart by what they
show, not by their names: a search engine gives the same picture at several addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from snellen.collection.sources import Annotated, SearchedPicture, digest

Item = TypeVar("Item", Annotated, SearchedPicture)
One = TypeVar("One")
Other = TypeVar("Other")


@dataclass(frozen=True, eq=False)
class Split(Generic[One]):
    """Pictures to train on, and others to validate on."""

    training: tuple[One, ...]
    validation: tuple[One, ...]

    def each(self, change: Callable[[One], Other]) -> Split[Other]:
        """Return the same division of what each one is changed to."""
        return Split(tuple(map(change, self.training)), tuple(map(change, self.validation)))


def split(items: Sequence[Item], *, held_out: int) -> Split[Item]:
    """Divide pictures into training and validation.

    Args:
        items: Pictures as collected; of those that show the very same, the first is kept.
        held_out: How many are kept for validation: the first ones, as the paper does (section 8.4.2). With fewer than
            two different pictures nothing can be held out, and the validation is empty.

    Returns:
        No picture is in both parts; every different picture is in one, and at least one is for training.
    """
    seen: dict[str, Item] = {}
    for item in items:
        seen.setdefault(digest(item.picture), item)
    different = tuple(seen.values())
    kept = min(held_out, max(len(different) - 1, 0))
    return Split(training=different[kept:], validation=different[:kept])
