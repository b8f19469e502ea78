"""A lock on a folder of the memory, for threads and processes of one machine."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from snellen.memory.home import MemoryTrouble, is_read_only, storing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SECONDS: Final = 60.0


class FolderLock:
    """A lock that keeps all others from writing who ask for it as well; whoever holds it may take it again.

    Args:
        folder: The folder, made when the lock is taken.
        name: That of the lock's file in it.

    Attributes:
        is_read_only: Whether nobody here can write to the folder, so that nobody need be kept from it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._threads = threading.RLock()
        self._processes = FileLock(folder / name, thread_local=False)
        self.is_read_only = folder.is_dir() and is_read_only(folder)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock.

        Raises:
            MemoryTrouble: another process has held it for a minute, or the folder is not writable.
        """
        if self.is_read_only:
            yield
            return
        with storing(self._folder), self._threads:
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                self._processes.acquire(timeout=_SECONDS)
            except Timeout as error:
                msg = f"The memory at {self._folder} is being written by another process; try again when it has done."
                raise MemoryTrouble(msg) from error
            try:
                yield
            finally:
                self._processes.release()
