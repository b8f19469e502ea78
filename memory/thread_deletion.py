"""Deleting threads, with what belongs to them alone: pictures, samples, trials, and the turns of their conversations.

Whatever something else refers to stays: another thread, the samples of another investigation, a trial of a benchmark, a
learned prompt. What was learned stays in any case; ``snellen memory forget`` is for that.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.memory.artifacts import home_pictures
from snellen.memory.checkpoints import DATABASE, checkpoints, in_sqlite, serializer
from snellen.memory.conversations import DATABASE as CONVERSATIONS
from snellen.memory.conversations import ConversationTable
from snellen.memory.home import connect, storing
from snellen.memory.postgres.server import chosen_server, contents
from snellen.memory.prompts.rows import DATABASE as PROMPTS
from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.samples import SampleTable
from snellen.memory.store_tables import is_there
from snellen.memory.thread_locks import BeingRun, holder_of, running
from snellen.memory.thread_summaries import DATABASE as SUMMARIES
from snellen.memory.thread_summaries import ThreadSummaryTable
from snellen.memory.trials import DATABASE as TRIALS
from snellen.memory.trials import TrialTable

if TYPE_CHECKING:
    from pathlib import Path

_ID: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_AFTER: Final = "/after"
"""How the name of samples ends that measured corrections."""
_LONGEST: Final = 56
"""Characters of a conversation's name in the names of its investigations."""


@dataclass(frozen=True)
class Deleted:
    """The threads that were deleted, and counts of what went with them."""

    threads: tuple[str, ...] = ()
    pictures: int = 0
    samples: int = 0
    trials: int = 0


@dataclass(frozen=True)
class _Contents:
    """What saved states refer to: pictures by id, and every text that might name samples."""

    pictures: frozenset[str]
    albums: frozenset[str]


async def delete_threads(threads: Sequence[str], folder: Path) -> Deleted:
    """Delete threads that nobody runs, with what belongs to them alone.

    Args:
        threads: Their names; unknown ones change nothing.
        folder: The memory's home.

    Raises:
        BeingRun: somebody is running one; nothing was deleted, unless the run began in this very moment.
        MemoryTrouble: the home cannot be written, or Postgres cannot be reached.
    """
    names = tuple(dict.fromkeys(threads))
    for name in names:
        if (holder := await asyncio.to_thread(holder_of, name, folder)) is not None:
            msg = f"The thread {name!r} is being run by {holder}, so it cannot be deleted: stop it first."
            raise BeingRun(msg)
    albums = await asyncio.to_thread(_albums_of, names, folder)
    theirs = await asyncio.to_thread(_contents, folder, lambda thread: thread in names, albums)
    for name in names:
        async with running(name, folder):
            await _delete_states(name, folder)
    await asyncio.to_thread(_truncate_log, folder)
    return await asyncio.to_thread(_delete_rest, names, folder, theirs, albums)


async def _delete_states(name: str, folder: Path) -> None:
    if chosen_server() is not None:
        async with checkpoints(folder) as saver:
            await saver.adelete_thread(name)
    # Also where threads lie in Postgres: copying them there left the originals.
    if (folder / DATABASE).exists():
        async with in_sqlite(folder / DATABASE, serializer()) as saver:
            # SQLite would leave the bytes in the file until it needs their room.
            await saver.conn.execute("PRAGMA secure_delete = ON")
            await saver.adelete_thread(name)


def _truncate_log(folder: Path) -> None:
    """Empty the write-ahead log, which holds what was deleted; where somebody reads, it is emptied later."""
    if (folder / DATABASE).exists():
        with storing(folder), closing(connect(folder / DATABASE)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _delete_rest(names: tuple[str, ...], folder: Path, theirs: _Contents, albums: frozenset[str]) -> Deleted:
    others = _contents(folder, lambda _: True, albums)
    if (folder / CONVERSATIONS).exists():
        ConversationTable(folder).forget(names)
    if (folder / SUMMARIES).exists():
        ThreadSummaryTable(folder).forget(names)
    samples, shown = _delete_samples(folder, albums - others.albums)
    trials = _delete_trials(folder, shown)
    pictures = _delete_pictures(folder, theirs.pictures | shown)
    return Deleted(names, pictures=pictures, samples=samples, trials=trials)


def _delete_samples(folder: Path, albums: frozenset[str]) -> tuple[int, frozenset[str]]:
    """Delete samples; return how many there were, and their pictures that no other sample has."""
    if not albums:
        return 0, frozenset()
    table = SampleTable(folder)
    before = set(table.pictures())
    count = table.forget_albums(albums)
    return count, frozenset(before - set(table.pictures()))


def _delete_trials(folder: Path, pictures: frozenset[str]) -> int:
    return TrialTable(folder).forget_about(pictures) if pictures and is_there(folder, TRIALS) else 0


def _delete_pictures(folder: Path, pictures: frozenset[str]) -> int:
    """Delete those pictures that nothing refers to any more."""
    store = home_pictures(folder)
    unused = (pictures & store.ids()) - _referred(folder)
    for one in unused:
        store.set_aside(one)
    # A run that began meanwhile may have been given one of them, and have found its file still there.
    wanted = unused & _referred(folder) if unused else set()
    for one in unused:
        store.settle(one, keep=one in wanted)
    return len(unused - wanted)


def _referred(folder: Path) -> set[str]:
    """Return the pictures that anything in a home refers to."""
    pictures = set(_contents(folder, lambda _: True, frozenset()).pictures)
    if is_there(folder, SAMPLES):
        pictures |= set(SampleTable(folder).pictures())
    if is_there(folder, TRIALS):
        pictures |= TrialTable(folder).pictures()
    if (folder / PROMPTS).exists():
        with storing(folder), closing(connect(folder / PROMPTS)) as connection:
            pictures |= {str(one) for (one,) in connection.execute("SELECT DISTINCT picture FROM prompts")}
    return pictures


def _albums_of(names: tuple[str, ...], folder: Path) -> frozenset[str]:
    """Return the names that samples of these threads are kept by."""
    if not is_there(folder, SAMPLES):
        return frozenset()
    prefixes = tuple(f"{name[:_LONGEST].rstrip('._-')}." for name in names)
    return frozenset(
        album
        for album in SampleTable(folder).albums()
        if (owner := album.removesuffix(_AFTER).partition("~")[0]) in names
        or any(owner.startswith(prefix) and owner[len(prefix) :].isdecimal() for prefix in prefixes)
    )


def _contents(folder: Path, chosen: Callable[[str], bool], albums: frozenset[str]) -> _Contents:
    """Return what the saved states of some threads refer to; they are read as bytes, which is quick."""
    names = {album: _written(album.removesuffix(_AFTER)) for album in albums}
    pictures: set[bytes] = set()
    mentioned: set[str] = set()
    for thread, content in _states(folder):
        if chosen(thread):
            pictures.update(_ID.findall(content))
            mentioned |= {album for album, forms in names.items() if any(form in content for form in forms)}
    return _Contents(frozenset(one.decode() for one in pictures), frozenset(mentioned))


def _written(text: str) -> tuple[bytes, ...]:
    """Return a text as it stands in a saved state: in msgpack, and in JSON."""
    import ormsgpack

    return ormsgpack.packb(text), json.dumps(text).encode()


def _states(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what is saved of every thread of a home, wherever it lies."""
    server = chosen_server()
    if server is not None:
        yield from contents(server, folder)
    if not (folder / DATABASE).exists():
        return
    with storing(folder), closing(connect(folder / DATABASE)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table, column in (("checkpoints", "checkpoint"), ("writes", "value")):
            if table in tables:
                # Our own names only.
                rows: Iterable[tuple[str, bytes | str | None]] = connection.execute(
                    f"SELECT thread_id, {column} FROM {table}"  # noqa: S608
                )
                for thread, content in rows:
                    yield str(thread), content.encode() if isinstance(content, str) else content or b""
