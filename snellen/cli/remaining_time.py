"""Estimate of how long a run will still take, from what its stages took so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_MINUTE: Final = 60
_SECONDS_FROM: Final = 100
"""Below so many seconds, seconds are told."""


@dataclass
class _Stage:
    """A stage that belongs to the run.

    Attributes:
        total: How much it has to do.
        like: The stage that is as fast, where it was not begun itself.
        done: How much is done, or was done before.
        measured: How much of that was done in this run.
        seconds: What that took.
        under_way: Seconds since then, for what is not done yet.
        is_begun: Whether anything was told of it.
    """

    total: int
    like: str = ""
    done: int = 0
    measured: int = 0
    seconds: float = 0.0
    under_way: float = 0.0
    is_begun: bool = False

    @property
    def left(self) -> int:
        return max(self.total - self.done, 0)

    def take(self, news: int) -> None:
        """Count so much more as done, in the time since the last."""
        self.measured += news
        self.seconds, self.under_way = self.seconds + self.under_way, 0.0


class RemainingTime:
    """Estimate of the time that is left.

    Models differ in speed by far, so that the mean over what is done says little about what is left: every stage has a
    pace of its own. Stages that are under way at the same time share the processors. What passes meanwhile is divided
    equally among them, so that their times add up; models that wait for servers wait side by side, and of them this may
    promise too little. A stage of which nothing was measured is taken to be as fast as the one it is like.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stages: dict[str, _Stage] = {}
        self._since = clock()

    def expect(self, name: str, total: int, like: str = "") -> None:
        """Count a stage in, before anything is told of it; with 0 to do it is left out again."""
        self._stages[name] = _Stage(total, like)

    def tell(self, name: str, done: int, total: int) -> None:
        """Take in how far a stage is; one that nobody expects is a part of those that are under way."""
        stage = self._stages.get(name)
        if stage is None:
            return
        now, news = self._clock(), done - stage.done
        stage.total = total
        if stage.is_begun and news > 0:
            running = [one for one in self._stages.values() if one is stage or (one.is_begun and one.left)]
            for one in running:
                one.under_way += (now - self._since) / len(running)
            stage.take(news)
        # What passes until a stage is begun, a checkpoint being read, says nothing about its pace.
        self._since = now
        stage.done, stage.is_begun = done, True

    def seconds(self) -> float | None:
        """Return the seconds that are left; None as long as the pace of a stage is not known."""
        paces = {name: one.seconds / one.measured for name, one in self._stages.items() if one.measured}
        seconds = 0.0
        for name, one in self._stages.items():
            pace = paces.get(name, paces.get(one.like))
            if one.left and pace is None:
                return None
            seconds += max(one.left * (pace or 0.0) - one.under_way, 0)
        return seconds

    def text(self) -> str:
        """Say it: "about 3 min left"; nothing where nothing is known or left."""
        seconds = self.seconds()
        if not seconds:
            return ""
        if seconds < _SECONDS_FROM:
            return f"about {round(seconds)} s left"
        return f"about {round(seconds / _MINUTE)} min left"
