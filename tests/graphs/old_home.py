"""Makes a home as a release left it: threads of every graph that ended, that were stopped, and that wait for somebody.

    git worktree add ../old COMMIT
    cd ../old && PYTHONPATH=. python …/tests/graphs/old_home.py …/tests/graphs/fixtures/home-RELEASE.zip

It is run with the code of that release, on its own models, and never again: later versions must read what is there.
``home-0.1.zip`` was made at commit 7bd39cc, ``home-before-the-move.zip`` at 5dfe072, the last one before everything was
imported as ``snellen.…``. Left out is what is made again: locks, and search indexes.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

LEFT_OUT = (".lock", ".faiss", "-wal", "-shm")
SCENE = "examples/scene.png"
UNKNOWN = "examples/beach.png"
QUESTION = "What color is the house to the left of the dog?"
QUERY = "Is clip robust to rotation?"


async def until(events: AsyncIterator[Any], node: str = "") -> None:
    """Follow a thread to its end, or leave it once a node has finished."""
    async with aclosing(events) as following:  # type: ignore[type-var]
        async for event in following:
            if node and getattr(event, "node", "") == node:
                return


async def make() -> None:
    from snellen.threads import ask, investigate, learn

    await until(ask.stream_ask([SCENE], QUESTION, thread="ask-ended"))
    await until(ask.stream_ask([SCENE], QUESTION, thread="ask-stopped"), "write")
    await until(
        ask.stream_ask(
            [UNKNOWN], "Is there a wave in the picture?", expected="yes", learn="approved", thread="ask-waiting"
        )
    )
    teach: dict[str, Any] = {"tools": ("CLASSIFY",)}
    await until(learn.stream_learn("wave", **teach, thread="learn-ended"))
    await until(learn.stream_learn("penguin", **teach, thread="learn-stopped"), "collect")
    await until(learn.stream_learn("tiger", **teach, thread="learn-waiting", approve=True))
    order: dict[str, Any] = {"query": QUERY, "models": ["clip"], "budget": {"images": 24}}
    await until(investigate.stream_investigate(investigate.InvestigationRequest(**order), thread="investigate-ended"))
    await until(
        investigate.stream_investigate(investigate.InvestigationRequest(**order), thread="investigate-stopped"),
        "measure",
    )
    order |= {"approve": True}
    await until(investigate.stream_investigate(investigate.InvestigationRequest(**order), thread="investigate-waiting"))


def pack(home: Path, archive: Path) -> None:
    for database in home.glob("*.sqlite"):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("VACUUM")
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as packed:
        for path in sorted(home.rglob("*")):
            if path.is_file() and not path.name.endswith(LEFT_OUT):
                packed.write(path, path.relative_to(home))


def main() -> None:
    """Make the home and pack it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SNELLEN_HOME"] = folder
        asyncio.run(make())
        pack(Path(folder), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
