"""Loading with transformers: one checkpoint at a time, quietly, and known to those who would have to wait."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ALONE: Final = threading.RLock()
_BEING_LOADED: Final[list[object]] = []
"""One for each thread that loads something."""


def is_loading() -> bool:
    """Tell whether models are being loaded, for which whoever asks something now may have to wait."""
    return bool(_BEING_LOADED)


@contextmanager
def loading() -> Iterator[None]:
    """Have it known that models are being loaded."""
    token = object()
    _BEING_LOADED.append(token)
    try:
        yield
    finally:
        _BEING_LOADED.remove(token)


@contextmanager
def loading_alone() -> Iterator[None]:
    """Load while no other thread does, without the library's tables and bars.

    While it reads a model, transformers replaces methods of its classes and sets globals, and puts back what it found:
    of two threads that read at once, one may put back what the other had put there, and weights are tied no more.
    """
    with loading(), _ALONE, quietly():
        yield


@contextmanager
def quietly(name: str = "transformers") -> Iterator[None]:
    """Keep the tables and bars of a library's loader out of the user's terminal; downloads keep theirs.

    Args:
        name: ``transformers`` or ``diffusers``.
    """
    library = logging.getLogger(name)
    level = library.level
    library.setLevel(logging.CRITICAL)
    core = importlib.import_module(f"{name}.utils.logging")
    bars = core.is_progress_bar_enabled()
    # Not disable_progress_bar(): that of transformers would silence the download bars as well.
    vars(core)["_tqdm_active"] = False
    try:
        yield
    finally:
        vars(core)["_tqdm_active"] = bars
        library.setLevel(level)
