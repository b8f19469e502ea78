"""The end of a process that does not wait for its threads, and what is let go of even then.

On the standard library alone: the command line imports it before anything else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

_LEFT_TO_DO: Final[list[Callable[[], object]]] = []


def at_process_end(work: Callable[[], object]) -> None:
    """Have something done where a process ends by `end_process`, which runs nothing that `atexit` knows."""
    if work not in _LEFT_TO_DO:
        _LEFT_TO_DO.append(work)


def end_process(status: int) -> NoReturn:
    """End at once, whatever threads still do; a further Ctrl-C ends what is left to do, too."""
    try:
        for work in _LEFT_TO_DO:
            with suppress(Exception):  # nobody is there any more who could be told
                work()
    finally:
        os._exit(status)
