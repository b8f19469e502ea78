"""The entry of the command line: what may go wrong before its modules are there.

On the standard library alone, apart from them.
"""

from __future__ import annotations

import os
import sys
from typing import Final

try:
    from snellen.cli.main import main as run
except KeyboardInterrupt:  # while modules are imported
    os.write(2, b"snellen: Interrupted.\n")
    sys.exit(130)

_STREAMS: Final = (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_WRONLY, "w"), ("stderr", os.O_WRONLY, "w"))
"""Names of the standard streams in the order of their descriptors, and how they are opened."""


def main() -> int:
    """Run the command line with the words of the process, and return its exit status."""
    open_closed_streams()
    return run()


def open_closed_streams() -> None:
    """Have streams that the shell closed (``>&-``) lead nowhere: a file opened next would get their descriptors."""
    for descriptor, (name, flags, mode) in enumerate(_STREAMS):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, flags)  # the lowest that is free
            os.set_inheritable(opened, True)  # noqa: FBT003 - named by the function
            setattr(sys, name, os.fdopen(opened, mode, closefd=False))
