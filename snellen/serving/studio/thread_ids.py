"""Ids of threads: UUIDs on LangGraph's server, readable names on the command line and the pages.

A thread that was begun on the server is named by its UUID everywhere. One that was begun elsewhere has a UUID on the
server that follows from its name and its user.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from snellen.memory.checkpoints import thread_heads
from snellen.memory.home import owners_home
from snellen.serving.users import OWNER, USERS, user_homes

_SPACE: Final = uuid.UUID("b7a0b0f6-5d0c-5f43-9c5e-5f6a5e11e100")


@dataclass(frozen=True)
class KnownThread:
    """A thread of a home.

    Attributes:
        user: Whose home it is.
        home: The home.
        name: Its name there.
        graph: The graph that it belongs to; empty where it does not say.
        checkpoint: The id of its latest checkpoint; empty where it has none.
    """

    user: str
    home: Path
    name: str
    graph: str = ""
    checkpoint: str = ""

    @property
    def uuid(self) -> str:
        """Its id on the server."""
        return server_id(self.user, self.name)


def server_id(user: str, name: str) -> str:
    """Return the id of a thread on LangGraph's server."""
    try:
        return str(uuid.UUID(name))
    except ValueError:
        return str(uuid.uuid5(_SPACE, f"{user}/{name}"))


def home_of(user: str) -> Path:
    """Return the home that a user works in; that of the owner where nobody is named."""
    # Not home(): who asks may be another user than the one whose home it is.
    folder = owners_home()
    return folder if user in {"", OWNER} else folder / USERS / user


def known_threads() -> list[KnownThread]:
    """Return the threads of every home, the latest of each first.

    Raises:
        MemoryTrouble: A home cannot be read.
    """
    return [
        KnownThread(user, folder, name, graph, checkpoint)
        for user, folder in user_homes().items()
        for name, (graph, checkpoint) in thread_heads(folder).items()
    ]


class ThreadIds:
    """Finds the thread that the server means; shared by all that the server runs."""

    def __init__(self) -> None:
        self._found: dict[str, KnownThread] = {}
        self._written: dict[str, str] = {}

    async def find(self, thread: str, *, user: str = "") -> KnownThread:
        """Return the thread of a UUID; a new one is the user's.

        Raises:
            MemoryTrouble: A home cannot be read.
        """
        if thread not in self._found:
            await self.refresh()
        return self._found.get(thread) or self._taken(thread, user)

    async def refresh(self) -> list[KnownThread]:
        """Look again which threads there are, and return them."""
        threads = await asyncio.to_thread(known_threads)
        self._found |= {one.uuid: one for one in threads}
        return threads

    def note_written(self, thread: str, checkpoint: str) -> None:
        """This process has saved a checkpoint of a thread, whose UUID is given."""
        self._written[thread] = checkpoint

    def is_ours(self, known: KnownThread) -> bool:
        """Tell whether the latest checkpoint of a thread was saved by this process."""
        return self._written.get(known.uuid) == known.checkpoint

    def forget(self, thread: str) -> None:
        """A thread was deleted."""
        self._found.pop(thread, None)
        self._written.pop(thread, None)

    def _taken(self, thread: str, user: str) -> KnownThread:
        # A thread without a user is not kept: whoever writes to it first is its user.
        known = KnownThread(user or OWNER, home_of(user), thread)
        if user:
            self._found[thread] = known
        return known


THREAD_IDS: Final = ThreadIds()
"""Those of this process."""
