"""Routing of questions to the servers of one model: picture by picture, and to whichever server has room.

The questions about a picture belong to one server, chosen by rendezvous hashing (Thaler and Ravishankar 1998), which
then reads the picture once. A server that has nothing left takes over pictures that no other has begun, and after
these single questions, but only from servers that have no room. So none has more under way than its bound, none is
idle while a question waits that it may be asked, and a slow one holds up what it was given and nothing else.

A server that fails rests, and longer each time. Afterwards it is given one question at a time, of those for which the
others have no room, until it has answered one.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

LONGEST_REST: Final = 60.0
"""Seconds that a server rests, at most, however often it failed and whatever it asks for."""


class ServerFailedError(Exception):
    """A server failed at a question, and says in a phrase how; another server may do better.

    Args:
        phrase: Such as "does not answer (HTTP 503: overloaded)".
        again: Whether the same server may be asked the same once more.
        wait: Seconds that it asked to be left alone.
        alive: Whether it is certainly the server that it was, only busy.
    """

    def __init__(self, phrase: str, *, again: bool = True, wait: float = 0.0, alive: bool = False) -> None:
        super().__init__(phrase)
        self.again, self.wait, self.alive = again, wait, alive


@dataclass(eq=False)
class PooledServer:
    """A server of a model.

    Attributes:
        address: Where it is.
        under_way: Questions that it is asked now.
        answered: Questions that it has answered.
        failed: Questions that it has failed at.
        seconds: Time that it was asked for, over all questions.
        strikes: Failures since it last answered.
        struck: When the last of them was counted.
        rests_until: When it may be asked again.
        proved: Whether it has answered since it began, or since it last failed.
        interruptions: How often it may have become another server since it began.
        trouble: How it failed last.
    """

    address: str
    under_way: int = 0
    answered: int = 0
    failed: int = 0
    seconds: float = 0.0
    strikes: int = 0
    struck: float = float("-inf")
    rests_until: float = float("-inf")
    proved: bool = False
    interruptions: int = 0
    trouble: str = ""

    def room(self, now: float, at_once: int) -> int:
        """Return how many more questions it may be given."""
        return 0 if now < self.rests_until else (at_once if self.proved else 1) - self.under_way


@dataclass(eq=False)
class RoutedQuestion:
    """A question on its way to a server.

    Attributes:
        call: Whose it is.
        place: Where it stands among the questions of that call.
        pictures: Names what it is about: questions with the same pictures should go to the same server.
        tried: How often it was asked.
        failed: The servers that failed at it, and how.
        refused: Those of them that are not asked again.
    """

    call: object
    place: int
    pictures: str
    tried: int = 0
    failed: dict[PooledServer, str] = field(default_factory=dict)
    refused: set[PooledServer] = field(default_factory=set)


@dataclass(eq=False)
class _PictureGroup:
    """The waiting questions about the same pictures, the servers by whose turn it is, and the one that has begun."""

    ranked: Sequence[PooledServer]
    waiting: deque[RoutedQuestion] = field(default_factory=deque)
    taken: PooledServer | None = None

    @property
    def owner(self) -> PooledServer | None:
        """The server that these questions belong to; None where none is in service."""
        if self.taken is not None and not self.taken.strikes:
            return self.taken
        return next((server for server in self.ranked if not server.strikes), None)


Assignment = tuple[RoutedQuestion, PooledServer]


class ServerRouter:
    """Decides which server is asked what. It knows no clock and no threads; whoever calls it holds a lock.

    Args:
        addresses: Of the servers, all different.
        at_once: Questions of each that may be under way.
        pause: Seconds of a server's rest after its first failure; twice as many after each further one.
    """

    def __init__(self, addresses: Sequence[str], *, at_once: int, pause: float) -> None:
        self.servers: Final = tuple(PooledServer(address) for address in addresses)
        self._at_once, self._pause = at_once, pause
        self._groups: dict[str, _PictureGroup] = {}
        self._failed: list[RoutedQuestion] = []

    def add(self, questions: Iterable[RoutedQuestion]) -> None:
        """Have questions wait for a server, behind those that wait already."""
        for question in questions:
            if question.pictures not in self._groups:
                self._groups[question.pictures] = _PictureGroup(ranked(question.pictures, self.servers))
            self._groups[question.pictures].waiting.append(question)

    def drop(self, call: object) -> None:
        """Forget the questions of a call that wait."""
        self._failed = [question for question in self._failed if question.call is not call]
        for key, group in list(self._groups.items()):
            group.waiting = deque(question for question in group.waiting if question.call is not call)
            if not group.waiting:
                del self._groups[key]

    def assign(self, now: float) -> list[Assignment]:
        """Return which questions are to be asked now, and where; they count as under way."""
        made: list[Assignment] = []
        for way in (self._failed_questions, self._to_owners, self._whole_groups, self._single_questions):
            if any(server.room(now, self._at_once) > 0 for server in self.servers):
                made += way(now)
        return made

    def released(self, server: PooledServer) -> None:
        """Note that a server is asked a question no more, and that this says nothing about the server."""
        server.under_way -= 1

    def answered(self, server: PooledServer, *, began: float, now: float) -> None:
        """Note that a server has answered a question that it was given at a time."""
        server.under_way -= 1
        server.answered += 1
        server.seconds += now - began
        if began >= server.struck:  # an answer from before it failed proves nothing
            server.strikes, server.proved, server.trouble = 0, True, ""

    def failed(
        self, question: RoutedQuestion, server: PooledServer, error: ServerFailedError, *, began: float, now: float
    ) -> None:
        """Note that a server has failed at a question that it was given at a time; the question waits again."""
        server.under_way -= 1
        server.failed += 1
        server.seconds += now - began
        server.trouble = str(error)
        rest = 0.0
        if began >= server.struck:  # what was under way together fails together, and counts once
            rest = self._pause * 2 ** min(server.strikes, 20)
            server.strikes += 1
            server.struck, server.proved = now, False
            server.interruptions += not error.alive
        server.rests_until = max(server.rests_until, now + min(max(rest, error.wait), LONGEST_REST))
        question.failed[server] = str(error)
        if not error.again:
            question.refused.add(server)
        self._failed.append(question)

    def hopeless(self, question: RoutedQuestion, tries: int) -> bool:
        """Tell whether a question that waits has failed everywhere: so often, and at every server."""
        everywhere = len(question.failed) == len(self.servers) and question.tried >= tries
        return everywhere or len(question.refused) == len(self.servers)

    def wakes_at(self, now: float) -> float | None:
        """Return when the next server has rested; None where none rests."""
        return min((server.rests_until for server in self.servers if server.rests_until > now), default=None)

    def _failed_questions(self, now: float) -> Iterator[Assignment]:
        """Give questions that a server has failed at to another one before anything else.

        Those that a server has yet to be tried with go first: else servers that wake one at a time would each fail at
        the same questions again and again, and none would ever have failed everywhere.
        """
        for again in (False, True):
            for question in list(self._failed):
                servers = [each for each in self.servers if again or each not in question.failed]
                server = self._freest(question, servers, now)
                if server is not None:
                    self._failed.remove(question)
                    yield _begun(question, server)

    def _to_owners(self, now: float) -> Iterator[Assignment]:
        """Give servers what belongs to them, the oldest first."""
        for key, group in list(self._groups.items()):
            owner = group.owner
            if owner is not None:
                yield from self._taken(key, group, owner, now)

    def _whole_groups(self, now: float) -> Iterator[Assignment]:
        """Give pictures that none has begun, and whose owner has no room, to the server with the least to do."""
        for key, group in list(self._groups.items()):
            if group.taken is None or group.taken.strikes:
                server = self._freest(group.waiting[0], [each for each in self.servers if not each.strikes], now)
                if server is None:
                    return
                yield from self._taken(key, group, server, now)

    def _single_questions(self, now: float) -> Iterator[Assignment]:
        """Give what is left to whichever server has room; one that failed comes last."""
        for key, group in list(self._groups.items()):
            while group.waiting:
                server = self._freest(group.waiting[0], self.servers, now)
                if server is None:
                    return
                yield self._next(key, group, server)

    def _taken(self, key: str, group: _PictureGroup, server: PooledServer, now: float) -> Iterator[Assignment]:
        while group.waiting and server.room(now, self._at_once) > 0:
            group.taken = server
            yield self._next(key, group, server)

    def _next(self, key: str, group: _PictureGroup, server: PooledServer) -> Assignment:
        question = group.waiting.popleft()
        if not group.waiting:
            del self._groups[key]
        return _begun(question, server)

    def _freest(self, question: RoutedQuestion, servers: Sequence[PooledServer], now: float) -> PooledServer | None:
        """Return the server with the least to do that has room and may be asked; those in service come first."""
        free = [each for each in servers if each.room(now, self._at_once) > 0 and self._may(question, each, now)]
        return min(free, key=lambda server: (server.strikes > 0, server.under_way), default=None)

    def _may(self, question: RoutedQuestion, server: PooledServer, now: float) -> bool:
        """Tell whether a server may be asked: where it failed, others that are awake come first."""
        if server not in question.failed:
            return True
        awake = (each for each in self.servers if now >= each.rests_until and each not in question.refused)
        return server not in question.refused and all(each in question.failed for each in awake)


def _begun(question: RoutedQuestion, server: PooledServer) -> Assignment:
    server.under_way += 1
    question.tried += 1
    return question, server


def ranked(pictures: str, servers: Sequence[PooledServer]) -> list[PooledServer]:
    """Return servers in the order in which pictures belong to them.

    Each server's place depends on its own address and the pictures alone: when one is added or gone, only pictures
    that belong to that one move.
    """
    return sorted(
        servers, key=lambda server: hashlib.sha256(f"{pictures} {server.address}".encode()).digest(), reverse=True
    )
