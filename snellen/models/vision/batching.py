"""Equal calls of several threads run as one forward pass."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Call = TypeVar("Call")
Result = TypeVar("Result")

WINDOW_SECONDS = 0.003
"""How long a call waits for others to join it: little beside a forward pass, enough for threads that start together."""

LARGEST_BATCH = 32


class _Ticket(Generic[Call, Result]):
    """One call that waits for its result."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.results: list[Result] = []
        self.error: Exception | None = None
        self.done = False

    def outcome(self) -> Result:
        if self.error is not None:
            raise self.error
        if not self.results:
            msg = "the batch was interrupted"
            raise RuntimeError(msg)
        return self.results[0]


class Batcher(Generic[Call, Result]):
    """Gathers calls of several threads and runs them together.

    A call joins a queue, waits a few milliseconds, and then for its turn to run; whoever's turn it is runs everything
    that waits. While one batch runs, the next one fills: the busier the model, the larger its batches. Batches never
    overlap, so ``run`` needs no lock of its own.

    Args:
        run: Takes up to ``largest`` calls and returns as many results, in their order.
        window: Seconds that a call waits for others.
        largest: Calls in one batch.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Call]], Sequence[Result]],
        *,
        window: float = WINDOW_SECONDS,
        largest: int = LARGEST_BATCH,
    ) -> None:
        self._run = run
        self._window = window
        self._largest = largest
        self._waiting: list[_Ticket[Call, Result]] = []
        self._queue = threading.Lock()
        self._turn = threading.Lock()

    def __call__(self, calls: Sequence[Call]) -> list[Result]:
        """Run the calls, together with those of other threads; blocks until all of them are done.

        Raises:
            Exception: Whatever ``run`` raised for one of these calls; calls of others do not suffer from it.
        """
        tickets: list[_Ticket[Call, Result]] = [_Ticket(call) for call in calls]
        if not tickets:
            return []
        with self._queue:
            self._waiting.extend(tickets)
        time.sleep(self._window)
        while not all(ticket.done for ticket in tickets):
            with self._turn:
                self._serve(tickets)
        return [ticket.outcome() for ticket in tickets]

    def _serve(self, own: Sequence[_Ticket[Call, Result]]) -> None:
        if all(ticket.done for ticket in own):
            return  # whoever had the turn before ran these too
        with self._queue:
            batch, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
        try:
            self._run_batch(batch)
        finally:
            for ticket in batch:
                ticket.done = True

    def _run_batch(self, batch: Sequence[_Ticket[Call, Result]]) -> None:
        try:
            results = self._run([ticket.call for ticket in batch])
        except Exception as error:  # noqa: BLE001 - handed to the thread whose call it was
            if len(batch) == 1:
                batch[0].error = error
                return
            # One bad call must not fail its neighbours: each runs alone.
            for ticket in batch:
                self._run_batch([ticket])
            return
        for ticket, result in zip(batch, results, strict=True):
            ticket.results.append(result)
