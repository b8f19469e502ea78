"""Drawing ahead: the pictures of the next look at an experiment are drawn while models are asked about those before.

They stay in memory until that look begins. So where the experiment ends first, nothing of them is left.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from snellen.experiments.decisions import rounds_of_next_look
from snellen.experiments.rounds import drawn_round

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from snellen.experiments.drawn_rounds import DrawnRound
    from snellen.experiments.report import Report
    from snellen.experiments.resources import Examination

_MOST: Final = 64
"""Pictures that are drawn ahead, at most: as PNG files of 512 x 512 pixels some 30 MB, with those not transformed."""


class DrawingAhead:
    """Rounds of the next look, drawn on a worker thread one after the other.

    Args:
        investigation: The name that their samples are kept by.
        report: Its experiment under way has the rounds that models are asked about.
        examination: Where pictures are drawn.
    """

    def __init__(self, investigation: str, report: Report, examination: Examination) -> None:
        experiment = report.under_way
        count = min(rounds_of_next_look(report), _MOST // len(experiment.design.arms))
        self._investigation, self._report, self._examination = investigation, report, examination
        self._first = self._end = experiment.rounds
        if examination.draws_ahead and not experiment.stopped:
            self._end += count
        self._drawn: list[DrawnRound] = []
        self._work = asyncio.create_task(asyncio.to_thread(self._draw))

    async def keep(self, count: int) -> None:
        """Have those rounds wait for the next look that it will need; the others are dropped.

        Args:
            count: How many rounds it will have.
        """
        self._end = min(self._end, self._first + count)
        if count:
            # Where one cannot be drawn, it is tried again in its turn, and then whoever asked for it is told.
            await asyncio.wait([self._work])
        self._examination.ahead.replace(self._drawn[:count])

    def stop(self) -> None:
        """Draw no further round; the one that is being drawn is dropped."""
        self._end = self._first
        if self._work.done() and not self._work.cancelled():
            self._work.exception()  # looked at, or asyncio logs it
        self._work.cancel()

    def _draw(self) -> None:
        number = self._first
        while number < self._end:
            place = self._investigation, self._report, self._report.number, number
            self._drawn.append(drawn_round(*place, self._examination))
            number += 1


@asynccontextmanager
async def drawing_ahead(investigation: str, report: Report, examination: Examination) -> AsyncIterator[DrawingAhead]:
    """Draw ahead while the block runs; see `DrawingAhead`."""
    ahead = DrawingAhead(investigation, report, examination)
    try:
        yield ahead
    finally:
        ahead.stop()
