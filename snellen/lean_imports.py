"""Imports of libraries without the libraries that they take along where those happen to be installed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


@contextmanager
def importing_without(*libraries: str) -> Iterator[None]:
    """Import something as it is imported where some libraries are not installed; other threads do not notice.

    Only for what works without them, and for good: whatever is imported inside the block never sees them.

    Args:
        libraries: Top-level names, such as ``pandas``. One that is imported already stays, since it costs nothing more.
    """
    absent = _Absent(frozenset(libraries), threading.get_ident())
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)


class _Absent(MetaPathFinder):
    """A finder that hides libraries from one thread."""

    def __init__(self, libraries: frozenset[str], thread: int) -> None:
        self._libraries, self._thread = libraries, thread

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse what is hidden, and leave the rest to other finders."""
        if threading.get_ident() == self._thread and fullname.partition(".")[0] in self._libraries:
            msg = f"No module named {fullname!r}"
            raise ModuleNotFoundError(msg, name=fullname)
        return None
