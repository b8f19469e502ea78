"""Retention of threads: those of single requests are kept for a while, all others as configured.

A request that names no thread and does not ask for one to be kept leaves a *transient* thread, so that the messages
that follow find their conversation. It is deleted when nothing was saved to it for
``ServerSettings.transient_seconds``. One that is taken up elsewhere meanwhile, on the page or the command line, stays.
"""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput, SnellenError
from snellen.memory.checkpoints import thread_graph, thread_heads
from snellen.memory.conversations import DATABASE, ConversationTable
from snellen.memory.home import home, home_folder, using_home
from snellen.memory.thread_locks import BeingRun, is_running
from snellen.serving.users import user_homes
from snellen.threads import deletion, directory

if TYPE_CHECKING:
    from snellen.serving.settings import ServerSettings

_EVERY: Final = 60.0
"""Seconds between two looks for threads whose time is over, at most."""
_DAY: Final = 24 * 3600.0

_LOG: Final = logging.getLogger(__name__)


async def is_kept(thread: str) -> bool:
    """Tell whether a thread of the home at hand exists and is not transient."""
    folder = await asyncio.to_thread(home)
    there = await asyncio.to_thread(thread_graph, thread, folder) is not None
    return there and not await asyncio.to_thread(lambda: ConversationTable(folder).is_transient(thread))


async def begin_transient(thread: str, seconds: float) -> None:
    """Note that a thread of the home at hand, which is about to begin or go on, is transient."""
    await asyncio.to_thread(lambda: ConversationTable(home()).expire(thread, "", time.time() + seconds))


async def end_transient(thread: str, seconds: float) -> None:
    """Note that a transient thread stands still now, and is to be deleted after so many seconds."""
    try:
        checkpoint = await directory.standing(thread)
    except BadInput:  # it was never begun
        checkpoint = ""
    await asyncio.to_thread(lambda: ConversationTable(home()).expire(thread, checkpoint, time.time() + seconds))


async def keep(thread: str) -> None:
    """Note that a thread of the home at hand is not transient."""
    await asyncio.to_thread(lambda: ConversationTable(home()).keep_for_good(thread))


async def delete_expired() -> list[str]:
    """Delete the transient threads of the home at hand whose time is over; return their names.

    Raises:
        MemoryTrouble: The home cannot be used.
    """
    folder = await asyncio.to_thread(home_folder)
    if not await asyncio.to_thread((folder / DATABASE).exists):
        return []
    expired = await asyncio.to_thread(lambda: ConversationTable(folder).expired(time.time()))
    if not expired:
        return []
    heads = await asyncio.to_thread(thread_heads, folder)
    deleted = []
    for thread, noted in expired.items():
        if thread in heads and noted in {"", heads[thread][1]}:
            if await asyncio.to_thread(is_running, thread, folder):
                continue
            await deletion.delete([thread])
            deleted.append(thread)
        await asyncio.to_thread(ConversationTable(folder).keep_for_good, thread)
    return deleted


async def watch(settings: ServerSettings) -> None:
    """Delete threads whose time is over, of all homes, again and again until cancelled; those of an age once a day.

    Args:
        settings: ``transient_seconds`` and ``thread_days``.
    """
    aged = -_DAY
    while True:
        daily = settings.thread_days > 0 and time.monotonic() - aged >= _DAY
        for folder in (await asyncio.to_thread(user_homes)).values():
            with using_home(folder):
                await _sweep(settings.thread_days if daily else 0)
        aged = time.monotonic() if daily else aged
        await asyncio.sleep(min(_EVERY, settings.transient_seconds))


async def _sweep(days: float) -> None:
    try:
        await delete_expired()
        if days:
            await deletion.delete_older_than(timedelta(days=days))
    except BeingRun:  # somebody took one up in this very moment: the others are for the next time
        return
    except SnellenError as error:
        _LOG.warning("threads whose time is over were not deleted: %s", error)
