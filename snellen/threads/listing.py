"""The list of a home's threads. A thread that is unchanged since it was last listed is not read again.

Neither LangGraph nor any graph is imported where nothing has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.memory.checkpoints import newest_graphs, thread_graphs
from snellen.memory.home import MemoryTrouble, home_to_read
from snellen.memory.postgres.server import chosen_server
from snellen.memory.thread_locks import is_running
from snellen.memory.thread_summaries import ThreadSummaryTable, stamps
from snellen.threads import thread as threads
from snellen.threads.events import State
from snellen.threads.saved_threads import Headline, SavedThread, damaged_summary, saved_thread, summary_of
from snellen.threads.thread import ThreadSummary
from snellen.version import installed_version

if TYPE_CHECKING:
    from snellen.threads.thread_type import ThreadType


@dataclass(frozen=True)
class ThreadPage:
    """A page of the list of threads.

    Attributes:
        threads: The newest first.
        of: How many threads there are on all pages.
    """

    threads: list[ThreadSummary]
    of: int


async def list_threads() -> list[ThreadSummary]:
    """Return every thread of this home, the newest first.

    Raises:
        MemoryTrouble: the home cannot be used.
    """
    return (await thread_page()).threads


async def thread_page(*, limit: int | None = None, page: int = 1, graph: str = "") -> ThreadPage:
    """Return a page of the threads of this home; the states of other threads are not read.

    Args:
        limit: Threads on a page; None takes all.
        page: Its number, from 1 on.
        graph: Only threads of this graph.

    Raises:
        MemoryTrouble: the home cannot be used.
    """
    folder = await asyncio.to_thread(home_to_read)
    start = 0 if limit is None else (page - 1) * limit
    if limit is None or graph:
        written = await asyncio.to_thread(thread_graphs, folder)
        chosen = {name: of for name, one in written.items() if (of := threads.known_graph(one)) == graph or not graph}
        count = len(chosen)
        graph_by_thread = dict(list(chosen.items())[start : None if limit is None else start + limit])
    else:
        newest, count = await asyncio.to_thread(lambda: newest_graphs(folder, limit=limit, skipped=start))
        graph_by_thread = {name: threads.known_graph(one) for name, one in newest.items()}
    before = await asyncio.to_thread(_stamps, folder, list(graph_by_thread))
    saved: dict[str, SavedThread] = await asyncio.to_thread(_kept, folder, before, is_all=limit is None and not graph)
    unread = {name: of for name, of in graph_by_thread.items() if name not in saved}
    if unread:
        read = await _read(folder, unread)
        await asyncio.to_thread(_keep, folder, read, before)
        saved |= read
    lines = await asyncio.to_thread(
        lambda: [
            summary_of(name, of, one, is_running=bool(one.node) and is_running(name))
            if (one := saved.get(name)) is not None
            else damaged_summary(name, of)
            for name, of in graph_by_thread.items()
        ]
    )
    return ThreadPage(lines, count)


async def read_listed(kind: ThreadType[State], thread: str) -> State:
    """Return the latest saved state of a thread; what the list shows of it is kept from the same reading."""
    folder = await asyncio.to_thread(home_to_read)
    before = await asyncio.to_thread(_stamps_if_any, folder, thread)
    async with threads.reading(kind.graph, folder) as graph:
        snapshot = await graph.aget_state(kind.address(thread), subgraphs=True)
    state = kind.values(snapshot.values)
    with suppress(MemoryTrouble):  # nobody asked for the line: the thread itself is saved
        await asyncio.to_thread(_keep, folder, {thread: saved_thread(snapshot, kind.headline(state))}, before)
    return state


async def _read(folder: Path, unread: Mapping[str, threads.GraphName]) -> dict[str, SavedThread]:
    """Read the states of threads; those that are damaged are left out."""
    from snellen.threads.thread_types import THREAD_TYPES

    async with threads.reading_all(folder, set(unread.values())) as graphs:
        read = {name: await THREAD_TYPES[of].saved(graphs[of], name) for name, of in unread.items()}
    return {name: one for name, one in read.items() if one is not None}


def _stamps(folder: Path, names: Collection[str]) -> dict[str, str]:
    """Return the stamps of threads; what another version of this package kept is read anew."""
    if chosen_server() is not None:  # Postgres has no row numbers, by which a replaced row shows
        return {}
    version = installed_version()
    return {name: f"{version} {stamp}" for name, stamp in stamps(folder, names).items()}


def _stamps_if_any(folder: Path, thread: str) -> dict[str, str]:
    """Return the stamp of a thread; none where it cannot be read, and then nothing is kept of it."""
    try:
        return _stamps(folder, [thread])
    except MemoryTrouble:
        return {}


def _kept(folder: Path, before: Mapping[str, str], *, is_all: bool) -> dict[str, SavedThread]:
    """Return what is kept of threads as they are; where they are all, forget what is kept of others."""
    if not before:
        return {}
    try:
        table = ThreadSummaryTable(folder)
        kept = table.kept(before)
        if is_all and not table.is_read_only and (gone := table.threads() - before.keys()):
            table.forget(gone)
        return {name: SavedThread(**one | {"headline": Headline(**one["headline"])}) for name, one in kept.items()}
    except (MemoryTrouble, ValueError, TypeError, LookupError):
        # Damaged, or of a version to come: the checkpoints say it all again, and `snellen memory verify` mends it.
        return {}


def _keep(folder: Path, saved: Mapping[str, SavedThread], before: Mapping[str, str]) -> None:
    if not before:
        return
    try:
        table = ThreadSummaryTable(folder)
        if not table.is_read_only:
            table.keep({name: asdict(one) for name, one in saved.items()}, before)
    except (MemoryTrouble, ValueError, TypeError):
        return  # a full disk, or an answer that JSON cannot hold, keeps nobody from reading the list
