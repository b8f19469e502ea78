"""Short garbage collections: most objects belong to models and libraries, and are never freed."""

from __future__ import annotations

import gc
import time
from typing import Final

_TOO_LONG: Final = 0.05
_MOST: Final = 50
"""The most times that objects are set aside: cyclic garbage among them is never collected."""


def keep_collections_short() -> None:
    """From now on, set aside what outlived a full collection that took more than 50 ms, so that the next one is short.

    A full collection looks at every object, holds all threads up meanwhile, and takes a second once models are read.
    """
    began, times = 0.0, 0

    def watch(phase: str, info: dict[str, int]) -> None:
        nonlocal began, times
        if phase == "start":
            began = time.monotonic()
        elif info["generation"] == 2 and time.monotonic() - began > _TOO_LONG and times < _MOST:  # noqa: PLR2004
            times += 1
            gc.freeze()

    gc.callbacks.append(watch)
