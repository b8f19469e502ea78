"""A disk that is full, as a database meets it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

import snellen.memory.home


@contextmanager
def cramped(module: ModuleType, database: Path) -> Iterator[None]:
    """Let the databases that a module opens grow no larger than this one is now."""
    with sqlite3.connect(database) as rows:
        pages = rows.execute("PRAGMA page_count").fetchone()[0]
    rows.close()

    def connect(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
        connection = snellen.memory.home.connect(path, any_thread=any_thread)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "connect", connect)
        yield
