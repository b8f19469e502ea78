"""Threads deleted by name or by age, with what belongs to them alone (``snellen.memory.thread_deletion``)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.memory.checkpoints import saved_at, thread_heads
from snellen.memory.home import home
from snellen.reasoning.language.inflection import counted
from snellen.threads import thread

if TYPE_CHECKING:
    from snellen.memory.thread_deletion import Deleted

_AGE: Final = re.compile(r"(\d{1,6})([hdw])")
LONGEST: Final = timedelta(days=36_500)
"""The greatest age that threads are deleted by: a hundred years."""
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def read_age(said: str) -> timedelta:
    """Read an age such as ``30d``, ``12h`` or ``8w``.

    Raises:
        BadInput: It is none, or beyond a hundred years.
    """
    match = _AGE.fullmatch(said.strip().lower())
    if match is None:
        msg = f"{said[:40]!r} is no age: give hours, days or weeks, as in 12h, 30d or 8w."
        raise BadInput(msg)
    return _checked(int(match[1]) * _UNITS[match[2]])


def _checked(age: timedelta) -> timedelta:
    if timedelta() <= age <= LONGEST:
        return age
    msg = f"An age is from 0 to {LONGEST.days} days: give another one."
    raise BadInput(msg)


async def delete(names: Sequence[str]) -> Deleted:
    """Delete threads of the home at hand.

    Args:
        names: All of them must exist.

    Raises:
        BadInput: There is no such thread, or somebody runs it (``BeingRun``, which says who); nothing was deleted.
        MemoryTrouble: The home cannot be written.
    """
    from snellen.memory.thread_deletion import delete_threads

    folder = await asyncio.to_thread(home)
    for name in names:
        await thread.known_thread(name, folder)
    return await delete_threads(names, folder)


async def older_than(age: timedelta) -> list[str]:
    """Return the threads of the home at hand to which nothing was saved for so long, the oldest first.

    Those that somebody runs, and those that do not say when they were saved, are not among them.

    Raises:
        BadInput: The age is negative, or beyond a hundred years.
        MemoryTrouble: The home cannot be read.
    """
    from snellen.memory.thread_locks import is_running

    folder = await asyncio.to_thread(home)
    latest = datetime.now(UTC) - _checked(age)
    heads = await asyncio.to_thread(thread_heads, folder)
    saved = {name: saved_at(checkpoint) for name, (_, checkpoint) in heads.items()}
    old = [name for name, moment in saved.items() if moment is not None and moment < latest]
    return [name for name in reversed(old) if not await asyncio.to_thread(is_running, name, folder)]


async def delete_older_than(age: timedelta) -> Deleted:
    """Delete the threads of the home at hand to which nothing was saved for so long.

    Raises:
        BeingRun: Somebody took one up in this moment.
        MemoryTrouble: The home cannot be written.
    """
    return await delete(await older_than(age))


def in_words(deleted: Deleted) -> str:
    """Say what was deleted."""
    beside = {"picture": deleted.pictures, "sample": deleted.samples, "trial": deleted.trials}
    parts = [counted(count, name) for name, count in beside.items() if count]
    return counted(len(deleted.threads), "thread") + (f", with {', '.join(parts)}" if parts else "")
