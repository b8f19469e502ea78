"""Values kept while a process runs: what is asked for again is not computed again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from cachetools import LRUCache

Call = TypeVar("Call")
Value = TypeVar("Value")


class ComputedOnce(Generic[Value]):
    """Values by names of what they were computed from, the least recently used dropped first; safe for threads.

    Args:
        most: Bytes that are kept at most.
        size: Returns the bytes of a value.
    """

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        self._most, self._size = most, size
        self._kept: LRUCache[str, Value] = LRUCache(most, getsizeof=size)
        self._lock = threading.Lock()

    def values(self, calls: Mapping[str, Call], compute: Callable[[list[Call]], Sequence[Value]]) -> dict[str, Value]:
        """Return the value of each call; those that are not kept are computed together.

        Args:
            calls: By names that stand for all that a value depends on.
            compute: Returns the values of calls, in their order.
        """
        with self._lock:
            found = {name: self._kept[name] for name in calls if name in self._kept}
        missing = {name: call for name, call in calls.items() if name not in found}
        if missing:
            made = dict(zip(missing, compute(list(missing.values())), strict=True))
            with self._lock:
                self._kept.update((name, one) for name, one in made.items() if self._size(one) <= self._most)
            found |= made
        return found
