"""Health checks for probes and load balancers."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.memory.checkpoints import DATABASE
from snellen.memory.home import home, storing
from snellen.memory.postgres.server import chosen_server, opened, prepared, store_server
from snellen.memory.store import store_addresses
from snellen.memory.stored_files import files_of

if TYPE_CHECKING:
    from snellen.profiles import Profile

Check = Callable[[], None]
"""Raises a SnellenError where something is missing; runs on a worker thread."""

_CACHED_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 5.0
_DATABASE_SECONDS: Final = 2.0


class Readiness:
    """The readiness of the server: named checks, repeated every few seconds at most.

    Reasons go to the log; clients see only the names of the checks.
    """

    def __init__(self, checks: Mapping[str, Check], *, clock: Callable[[], float] = time.monotonic) -> None:
        """Look at ``checks``, each under the name that strangers may see."""
        self._checks, self._clock = dict(checks), clock
        # A thread of its own: others may all be busy computing, and that is no reason not to be ready.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snellen-serving-ready")
        self._looking: asyncio.Task[list[str]] | None = None
        self._found: list[str] = []
        self._until = 0.0

    async def failing(self) -> list[str]:
        """Return the names of the checks that fail; of many that ask at once, all wait for one look."""
        if self._until and self._clock() < self._until:
            return self._found
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._looked())
        done, _ = await asyncio.wait({self._looking}, timeout=_PATIENCE_SECONDS)
        return self._looking.result() if done else ["slow"]

    def close(self) -> None:
        """Let go of the worker thread; a check that hangs is not waited for."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _looked(self) -> list[str]:
        loop = asyncio.get_running_loop()
        self._found = [
            name
            for name, check in self._checks.items()
            if await loop.run_in_executor(self._worker, _fails, name, check)
        ]
        self._until = self._clock() + _CACHED_SECONDS
        return self._found


def usual_checks(profile: Profile | None = None) -> dict[str, Check]:
    """Return the usual checks: a writable home, checkpoints that open, the store, the files of a profile's models."""
    checks: dict[str, Check] = {"home": _check_home, "checkpoints": _check_checkpoints}
    if store_addresses().database:
        checks |= {"store": _check_store, "files": _check_files}
    if profile is not None:
        checks["models"] = lambda: _check_models(profile)
    return checks


def _fails(name: str, check: Check) -> bool:
    try:
        check()
    except Exception:
        # A check that breaks has failed, whatever it broke on.
        logging.getLogger(__name__).exception("not ready: %s", name)
        return True
    return False


def _check_home() -> None:
    home()


def _check_checkpoints() -> None:
    if (server := chosen_server()) is not None:
        prepared(server, home())
        return
    database = home() / DATABASE
    if not database.exists():
        return
    with storing(database), closing(sqlite3.connect(database, timeout=_DATABASE_SECONDS)) as connection:
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()


def _check_store() -> None:
    server = store_server()
    if server is not None:
        with opened(server) as connection:
            connection.execute("SELECT 1")


def _check_files() -> None:
    # No picture has this name: a place that can be read says that it has none.
    files_of(home()).read("00/none")


def _check_models(profile: Profile) -> None:
    from snellen.profiles.model_settings import ModelTable

    for key in ModelTable.model_fields:
        if getattr(profile.models, key) is None:
            continue
        source = profile.source(key)
        # What is on the hub is downloaded when it is first used.
        if source.local and not any(Path(source.location).glob("*")):
            msg = f"The files of the profile's model {key} are missing; install Snellen again or correct the profile."
            raise SnellenError(msg)
