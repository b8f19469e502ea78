"""Locks of threads: one process runs a thread at a time, and the one that comes second is told which, and since when.

The lock is the truth: the operating system's on a file of the home, or Postgres's where checkpoints lie there. Both let
go when the process dies, however it dies. What is noted beside it says who holds it, and nothing where nobody does.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import time
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from filelock import FileLock, Timeout

from snellen.errors import BadInput
from snellen.memory.home import home, home_to_read, is_read_only, storing, write_atomically
from snellen.memory.postgres.server import chosen_server

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

_MAX_NOTE: Final = 4096
"""Bytes of a note; a longer one is none of ours."""
_MAX_NAME: Final = 120
_LOOKING_SECONDS: Final = 0.5
"""How long the lock of a thread may be held by somebody who only looks whether it is held."""

_UNITS: Final = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))


class BeingRun(BadInput):
    """Somebody else runs the thread at the moment."""


@dataclass(frozen=True)
class Holder:
    """The process that runs a thread.

    Attributes:
        interface: What they run, such as ``snellen investigate``; empty where it is not known.
        process: The process's number; 0 where it is not known.
        host: The machine's name.
        since: When they began, in UTC; None where it is not known.
    """

    interface: str = ""
    process: int = 0
    host: str = ""
    since: datetime | None = None

    def __str__(self) -> str:
        if self.since is None:
            return "another process"
        seconds = max(0, int((datetime.now(UTC) - self.since).total_seconds()))
        size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
        count = seconds // size
        day = "" if seconds < _UNITS[0][0] else f"{self.since:%Y-%m-%d} "
        ago = f"{count} {unit}{'s' * (unit == 'day' and count != 1)} ago"
        return (
            f"`{self.interface}` (process {self.process} on {self.host}) since {day}{self.since:%H:%M:%S} UTC ({ago})"
        )


_myself = Holder(interface="snellen")


def introduce(interface: str) -> None:
    """Say what this process is called where it runs threads: ``snellen investigate``, ``snellen chat``."""
    global _myself  # noqa: PLW0603 - a process has one name
    _myself = replace(_myself, interface=_plain(interface))


@asynccontextmanager
async def running(thread: str, folder: Path | None = None) -> AsyncIterator[None]:
    """Hold a thread, so that nobody else runs it at the same time: no process, and no task of this one.

    The lock ends with the process, however it ends.

    Args:
        thread: Its name.
        folder: The memory's home; None takes ``home()``.

    Raises:
        BeingRun: somebody else is running the thread; the sentence says who, and since when.
        MemoryTrouble: the lock's file cannot be made, or Postgres cannot be reached.
    """
    place, server = folder or home(), chosen_server()
    me = replace(_myself, process=os.getpid(), host=_plain(platform.node()), since=datetime.now(UTC))
    if server is None:
        holding = _holding_file(place, thread, me)
    else:
        from snellen.memory.postgres import locks

        holding = locks.holding(server, place, thread, asdict(me))
    async with holding as held:
        if not held:
            other = await asyncio.to_thread(holder_of, thread, place) or Holder()
            msg = f"The thread {thread!r} is being run by {other}; wait for it, or begin another thread."
            raise BeingRun(msg)
        yield


def holder_of(thread: str, folder: Path | None = None) -> Holder | None:
    """Return who runs a thread at this moment; None where nobody does.

    Args:
        thread: Its name.
        folder: The memory's home; None takes ``home()``.

    Raises:
        BadInput: ``SNELLEN_CHECKPOINTS`` names no database that can be used.
        MemoryTrouble: the home cannot be read, or Postgres cannot be reached.
    """
    place, server = folder or home_to_read(), chosen_server()
    if server is None:
        return _read(_note(place, thread)) if holds_file(thread, place) else None
    from snellen.memory.postgres import locks

    found = locks.found_holder(server, place, thread)
    return None if found is None else _known(found)


def is_running(thread: str, folder: Path | None = None) -> bool:
    """Tell whether somebody runs the thread at this moment.

    Raises:
        BadInput: as ``holder_of``.
        MemoryTrouble: as ``holder_of``.
    """
    return holder_of(thread, folder) is not None


def holds_file(thread: str, folder: Path) -> bool:
    """Tell whether a process holds the thread in a home's own SQLite, wherever this process keeps its checkpoints.

    Raises:
        MemoryTrouble: the lock's file cannot be read.
    """
    place = _lock_file(folder, thread)
    if not place.exists():
        return False
    lock = FileLock(place, thread_local=False)
    with storing(place):
        if is_read_only(place.parent):
            return _is_held(place)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
    return False


def _is_held(place: Path) -> bool:
    """Tell whether a lock is held whose file cannot be written, which a ``FileLock`` would do."""
    if fcntl is None:  # Windows, where such a file cannot be locked
        return False
    with place.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _note_holder(place: Path, me: Holder) -> None:
    with storing(place):
        write_atomically(place, json.dumps(asdict(me), default=datetime.isoformat).encode())


@asynccontextmanager
async def _holding_file(folder: Path, thread: str, me: Holder) -> AsyncIterator[bool]:
    place = _lock_file(folder, thread)
    lock = FileLock(place, thread_local=False)
    with storing(place):
        await asyncio.to_thread(place.parent.mkdir, parents=True, exist_ok=True)
        taken = await _taken(lock)
    if not taken:
        yield False
        return
    note = _note(folder, thread)
    try:
        await asyncio.to_thread(_note_holder, note, me)
        yield True
    finally:
        await asyncio.shield(asyncio.to_thread(_let_go, note, lock))


def _let_go(note: Path, lock: FileLock) -> None:
    note.unlink(missing_ok=True)
    lock.release()


async def _taken(lock: FileLock) -> bool:
    """Take a lock, with patience for those who only look: they hold it for a moment."""
    until = time.monotonic() + _LOOKING_SECONDS
    while True:
        try:
            await asyncio.to_thread(lock.acquire, timeout=0)
        except Timeout:
            if time.monotonic() > until:
                return False
            await asyncio.sleep(_LOOKING_SECONDS / 10)
        else:
            return True


def _read(note: Path) -> Holder:
    """Read who holds a lock; one who has not yet said so is not known."""
    try:
        with note.open("rb") as file:
            said = json.loads(file.read(_MAX_NOTE))
        return _known(said | {"since": datetime.fromisoformat(said["since"])})
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return Holder()


def _known(said: Mapping[str, Any]) -> Holder:
    """Make a holder of what was noted; other versions and other machines note it, so it is taken with care."""
    since = said["since"]
    if not isinstance(since, datetime) or since.tzinfo is None:
        return Holder()
    return Holder(
        _plain(str(said["interface"])), int(said["process"]), _plain(str(said["host"])), since.astimezone(UTC)
    )


def _plain(name: str) -> str:
    """Keep a name on one line, without what would move the cursor of a terminal."""
    return "".join(letter for letter in name if letter.isprintable() and letter != "`")[:_MAX_NAME]


def _lock_file(folder: Path, thread: str) -> Path:
    return folder / "running" / f"{thread}.lock"


def _note(folder: Path, thread: str) -> Path:
    return folder / "running" / f"{thread}.json"
