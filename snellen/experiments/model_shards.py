"""Shards of trials, asked of several models side by side.

Who is asked when depends on how fast models answer; what is asked of each, and in which shards, does not. So trials,
and whatever is weighed once all are there, are those of asking one model after the other.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from snellen.errors import SnellenError
from snellen.memory.home import MemoryTrouble
from snellen.memory.trials import TrialTime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractContextManager

    from snellen.memory.trials import Trial, TrialKey, TrialTable


class ShardMeasurer(Protocol):
    """Whoever measures shards, and has the table that trials are kept in."""

    @property
    def trials(self) -> TrialTable:
        """The table."""
        ...

    def measured(self, model: str, shard: Sequence[TrialKey]) -> list[Trial]:
        """Return the trials of a shard, which are not kept yet; any number of threads may ask.

        Raises:
            SnellenError: The model cannot.
        """
        ...


@dataclass(frozen=True)
class ModelShards:
    """Shards that a model is asked.

    Attributes:
        model: Its name in the profile.
        shards: The shards, in the order in which they are begun.
        at_once: How many of them may be under way at a time.
    """

    model: str
    shards: Sequence[Sequence[TrialKey]]
    at_once: int


@dataclass
class AskedModels:
    """Outcome of asking models.

    Attributes:
        trials: How many were measured.
        troubles: Why models could not be asked to the end, by their names.
    """

    trials: int = 0
    troubles: dict[str, SnellenError] = field(default_factory=dict)


@dataclass
class _UnderWay:
    """A shard that a model is asked.

    Attributes:
        model: Its name.
        shard: The shard.
        seconds: Its part of the time since it began: what several are asked at once, they share.
    """

    model: str
    shard: Sequence[TrialKey]
    seconds: float = 0.0


async def ask_side_by_side(
    measurer: ShardMeasurer, asked: Sequence[ModelShards], told: Callable[[str, int], None]
) -> AskedModels:
    """Ask models side by side, each in the order of its shards, and keep what they say.

    A model that fails is asked no more; the others are. What several say while the disk is busy is kept together.

    Args:
        measurer: Asks them.
        asked: What each is asked.
        told: Called with the name of a model, and how many trials of it were measured and kept.

    Raises:
        MemoryTrouble: Pictures cannot be read, or trials not kept; what was told is kept.
    """
    asking = _Asking(measurer, asked)
    async with _entered(measurer.trials.kept_open()):
        try:
            while asking.under_way:
                measured, failure = await asking.finished()
                times = [TrialTime(one.model, one.shard[0], one.seconds / len(one.shard)) for one, _ in measured]
                if measured:
                    trials = [trial for _, each in measured for trial in each]
                    await asyncio.to_thread(measurer.trials.add, trials, times)
                for one, _ in measured:
                    asking.outcome.trials += len(one.shard)
                    told(one.model, len(one.shard))
                if failure is not None:
                    raise failure
        finally:
            asking.stop()
    return asking.outcome


class _Asking:
    """The shards that are under way, and those that wait for them."""

    def __init__(self, measurer: ShardMeasurer, asked: Sequence[ModelShards]) -> None:
        self.outcome = AskedModels()
        self.under_way: dict[asyncio.Future[list[Trial]], _UnderWay] = {}
        self._measurer = measurer
        self._waiting = {one.model: deque(one.shards) for one in asked}
        at_once = {one.model: max(min(one.at_once, len(one.shards)), 1) for one in asked}
        # Threads of their own, one for each shard: nobody who waits for an endpoint keeps another from a thread.
        self._workers = ThreadPoolExecutor(sum(at_once.values()) or 1, thread_name_prefix="asking")
        self._since = time.perf_counter()
        for name, count in at_once.items():
            for _ in range(count):
                self._begin(name)

    async def finished(self) -> tuple[list[tuple[_UnderWay, list[Trial]]], BaseException | None]:
        """Wait for shards, and begin those that waited for them; return the trials, and what nobody can help.

        A model goes on while its trials are kept.
        """
        ended, _ = await asyncio.wait(self.under_way, return_when=asyncio.FIRST_COMPLETED)
        self._share_time()
        measured, failure = [], None
        for future in [one for one in self.under_way if one in ended]:
            one, error = self.under_way.pop(future), future.exception()
            if error is None:
                measured.append((one, future.result()))
                self._begin(one.model)
            elif isinstance(error, SnellenError) and not isinstance(error, MemoryTrouble):
                self.outcome.troubles.setdefault(one.model, error)
                self._waiting[one.model].clear()
            else:
                failure = error
        return measured, failure

    def stop(self) -> None:
        """Begin nothing more; what is under way is not waited for, and dropped."""
        for future in self.under_way:
            future.cancel()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _begin(self, name: str) -> None:
        if not self._waiting[name]:
            return
        shard = self._waiting[name].popleft()
        work = asyncio.get_running_loop().run_in_executor(
            self._workers, copy_context().run, self._measurer.measured, name, shard
        )
        self.under_way[work] = _UnderWay(name, shard)

    def _share_time(self) -> None:
        """Divide the time since the last shard ended among those that were under way.

        The times of all shards then add up to the time that all of them took, which is what forecasts are made of.
        """
        now = time.perf_counter()
        for one in self.under_way.values():
            one.seconds += (now - self._since) / len(self.under_way)
        self._since = now


@asynccontextmanager
async def _entered(manager: AbstractContextManager[None]) -> AsyncIterator[None]:
    """Enter and leave a context on worker threads, since it waits for the disk."""
    await asyncio.to_thread(manager.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)
