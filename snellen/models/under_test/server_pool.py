"""A pool of servers with the same model: each question is asked at one of them, and elsewhere if that one fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from snellen.errors import SnellenError
from snellen.models.under_test.server_router import PooledServer, RoutedQuestion, ServerFailedError, ServerRouter
from snellen.profiles.addresses import shown_address

Answered = TypeVar("Answered")

_TOLD: Final = 8
"""Servers that a sentence lists."""


@dataclass(eq=False)
class _Call(Generic[Answered]):
    """Questions that are asked together, and what has become of them."""

    work: Callable[[int, PooledServer], Answered]
    changed: threading.Condition
    total: int
    found: dict[int, Answered] = field(default_factory=dict)
    error: Exception | None = None

    @property
    def ended(self) -> bool:
        return len(self.found) == self.total or self.error is not None


class ServerPool:
    """Asks questions at servers that have the same model. Any number of threads may call it.

    Args:
        name: Of the model, as reports call it.
        addresses: Of the servers, all different.
        at_once: Questions of each that may be under way.
        tries: How often a question is asked that fails for passing reasons, and at each server at least once.
        pause: Seconds of a server's rest after its first failure; twice as many after each further one.
    """

    def __init__(self, name: str, addresses: Sequence[str], *, at_once: int, tries: int, pause: float) -> None:
        self._name, self._tries = name, tries
        self._router = ServerRouter(addresses, at_once=at_once, pause=pause)
        self._lock = threading.Lock()
        self._calls: set[_Call[Any]] = set()

    def ask(self, pictures: Sequence[str], work: Callable[[int, PooledServer], Answered]) -> list[Answered]:
        """Ask questions, each at one server, and return the answers in the order of the questions.

        Args:
            pictures: For each question a name of its pictures; those with the same go to the same server.
            work: Asks the question at a place of a server. It raises a `ServerFailedError` where another server may do
                better; whatever else it raises ends the call.

        Raises:
            SnellenError: A question failed at every server.
        """
        call = _Call(work, threading.Condition(self._lock), len(pictures))
        with self._lock:
            self._calls.add(call)
            self._router.add(RoutedQuestion(call, place, each) for place, each in enumerate(pictures))
            try:
                wakes_at = self._start()
                while not call.ended:
                    call.changed.wait(None if wakes_at is None else max(wakes_at - time.monotonic(), 0.0))
                    wakes_at = self._start()
            finally:
                self._router.drop(call)
                self._calls.discard(call)
        if call.error is not None:
            raise call.error
        return [call.found[place] for place in range(len(pictures))]

    @property
    def told(self) -> str:
        """A sentence about what each server did, those that failed most first; nothing if nothing was asked."""
        with self._lock:
            servers = sorted(self._router.servers, key=lambda server: -server.failed)
            if not any(server.answered or server.failed for server in servers):
                return ""
            said = [_told(server) for server in servers[:_TOLD]]
        more = [f"and {len(servers) - _TOLD} more"] if len(servers) > _TOLD else []
        return f"{self._name} was asked at {len(servers)} servers: {'; '.join([*said, *more])}."

    def _start(self) -> float | None:
        """Begin what can be begun, each question in a thread that ends with it: no thread outlives the questions.

        Returns:
            When the next server has rested, seen from the moment for which this was decided: one that has rested since
            then has still to be given something. None where there is nothing to wait for but answers.
        """
        now = time.monotonic()
        for question, server in self._router.assign(now):
            threading.Thread(target=self._ask, args=(question, question.call, server), daemon=True).start()
        return self._router.wakes_at(now)

    def _ask(self, question: RoutedQuestion, call: _Call[Any], server: PooledServer) -> None:
        began = time.monotonic()
        try:
            found = call.work(question.place, server)
        except ServerFailedError as error:
            with self._lock:
                self._router.failed(question, server, error, began=began, now=time.monotonic())
                self._failed(question, call)
        except Exception as error:  # noqa: BLE001 - raised where the question came from
            with self._lock:
                self._router.released(server)
                call.error = call.error or error
                call.changed.notify()
        else:
            with self._lock:
                self._router.answered(server, began=began, now=time.monotonic())
                call.found[question.place] = found
                if call.ended:
                    call.changed.notify()
        with self._lock:
            self._start()

    def _failed(self, question: RoutedQuestion, call: _Call[Any]) -> None:
        if call not in self._calls:
            self._router.drop(call)
        elif self._router.hopeless(question, self._tries):
            call.error = SnellenError(self._given_up(question))
            if all(server.strikes for server in self._router.servers):  # others would find out the same, one by one
                for each in self._calls:
                    each.error = each.error or call.error
        for each in self._calls:  # how long they wait depends on who rests
            each.changed.notify()

    def _given_up(self, question: RoutedQuestion) -> str:
        server, *others = question.failed
        if not others:
            told = f"The endpoint of {self._name} ({shown_address(server.address)}) {question.failed[server]}"
        else:
            said = [f"{shown_address(each.address)} {phrase}" for each, phrase in question.failed.items()]
            told = f"No server of {self._name} can be asked: {'; '.join(said[:_TOLD])}"
        return f"{told}. Its url, model and key are in the profile."


def _told(server: PooledServer) -> str:
    each = f" in {server.seconds / server.answered:.2g} s each" if server.answered else ""
    failures = f", {server.failed} failures" if server.failed else ""
    trouble = f" ({server.trouble})" if server.trouble else ""
    return f"{shown_address(server.address)} answered {server.answered:,} questions{each}{failures}{trouble}"
