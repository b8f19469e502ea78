"""The names that tools were taught, which readers know besides those of the facts file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.memory.home import MemoryTrouble
from snellen.tuning import POOLS

if TYPE_CHECKING:
    from snellen.learning.resources import Learning


def taught_names(learning: Learning | None) -> frozenset[str]:
    """Return the names that tools were taught; none of a memory that cannot be read, which other nodes tell."""
    if learning is None:
        return frozenset()
    prompts = learning.prompts
    try:
        names = [
            name
            for pool in POOLS
            for checkpoint in prompts.fingerprints(pool)
            for name in prompts.concepts(pool, checkpoint)
        ]
    except MemoryTrouble:
        return frozenset()
    return frozenset(filter(None, names))
