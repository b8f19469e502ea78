"""The errors that a user can cause, and the exit status each one ends with.

Every message is one sentence: what was wrong, where, and what to do. The command line prints it and
exits with ``exit_status``; no traceback reaches a user.
"""

from __future__ import annotations

import errno
import re
from typing import Final

_SHORTAGE: Final = re.compile(
    r"(?:can't|cannot|unable to|failed to) (?:allocate|map segment)|DefaultCPUAllocator|out of memory|"
    r"not enough memory|std::bad_alloc|can't start new thread|codec configuration error when writing",
    re.IGNORECASE,
)
"""How the system, torch, safetensors, FAISS, Python and Pillow (whose zlib gets no buffer) report a shortage."""
_ACCELERATORS: Final = re.compile(r"\b(?:CUDA|HIP|MPS|XPU)\b")


class SnellenError(RuntimeError):
    """Something failed that the user can do something about, such as a full disk or a missing checkpoint.

    It is a ``RuntimeError`` because servers, such as LangGraph's, tell their clients the words of that, and hide those
    of errors that they do not know.
    """

    exit_status = 1


class BadInput(SnellenError):  # noqa: N818 - read aloud as what happened: "bad input", not "bad input error"
    """Unusable input from the user: a broken picture, an unknown name, a program that does not check."""

    exit_status = 2


class OutOfMemory(SnellenError):  # noqa: N818 - reads as what happened
    """The machine has too little memory for what was asked: nothing is wrong with that, or with what is stored."""


def out_of_memory(error: BaseException) -> OutOfMemory | None:
    """Return what to tell of an error that too little memory is behind; None of any other.

    Libraries say it in many ways, and often something else that follows from it: a library that cannot be mapped is
    "not installed", a checkpoint that does not fit is "damaged". So causes are looked at as well.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OutOfMemory):
            return cause
        if _is_shortage(cause):
            return OutOfMemory(_remedy(cause))
        cause = cause.__cause__
    return None


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, SnellenError):  # its words may quote anybody
        return False
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return getattr(error, "errno", None) == errno.ENOMEM or _SHORTAGE.search(str(error)) is not None


def _remedy(error: BaseException) -> str:
    if _ACCELERATORS.search(str(error)):
        return (
            "The accelerator has too little memory for this: end other programs that use it, give smaller pictures, or "
            'take smaller checkpoints or `device = "cpu"` in the profile.'
        )
    return (
        "This machine has too little memory for this: end other programs, give smaller pictures, or take a profile "
        "with smaller checkpoints."
    )
