"""Agreement of the servers of one model: that all of them have the same one, and that rankings rest on the same.

Before a server's rankings count it is asked a question that another one has answered: the first that was ranked at
all. It must tell as much about it, read the choices in the same tokens, and give them nearly the same
log-probabilities. A server that was interrupted is asked once more, since it may have come back with another model.
Servers that differ from the beginning are an error: which of them is right is not for us to choose.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from snellen.errors import SnellenError
from snellen.models.under_test.model import Question, Ranking
from snellen.models.under_test.server_client import Offer, ServerClient
from snellen.models.under_test.server_router import PooledServer, ServerFailedError
from snellen.profiles.addresses import shown_address

TOLERANCE: Final = 1.0
"""Nats by which servers' log-probabilities of a token may differ: half precision, and the other questions of a batch,
move them by some tenths where a token is very unlikely; another model moves them by more."""


@dataclass(frozen=True)
class _Reference:
    """The ranking that those of other servers are compared with, and who gave it."""

    address: str
    question: Question
    offer: Offer
    ranking: Ranking


class ServerAgreement:
    """Compares the servers of a model.

    Args:
        name: Of the model, as reports call it.
        servers: How many there are.
        offer: What rankings rest on; None takes the best that the servers have.
    """

    def __init__(self, name: str, servers: int, offer: Offer | None) -> None:
        self._name, self._alone, self._wanted = name, servers == 1, offer
        self._lock = threading.Lock()
        self._first: Question | None = None
        self._reference: _Reference | None = None
        self._met: dict[str, int] = {}
        self._named: tuple[str, str] | None = None
        self._refusal = ""

    @property
    def offer(self) -> Offer | None:
        """The offer that rankings rest on; None until a server has shown it."""
        return self._reference.offer if self._reference is not None else self._wanted

    def begin(self, question: Question) -> None:
        """Name a question that servers can be compared by, unless there is one.

        Raises:
            SnellenError: The servers differ.
        """
        with self._lock:
            self._first = self._first or question
            if self._refusal:
                raise SnellenError(self._refusal)

    def rank(self, client: ServerClient, server: PooledServer, question: Question) -> Ranking:
        """Rank at a server, once it is known to have what the others have.

        Raises:
            ServerFailedError: It fails, or is no longer the one that it was.
            SnellenError: The servers differ, or the question is refused.
        """
        offer = self.offer
        if offer is None or (not self._alone and self._met.get(server.address) != server.interruptions):
            first = self._first or question
            interruptions = server.interruptions
            wanted = self._wanted
            offer, ranking = client.best(first) if wanted is None else (wanted, client.ranked(first, wanted))
            self.name(server, client.model)
            self._meet(server, interruptions, _Reference(server.address, first, offer, ranking))
            if question is first:
                return ranking
        ranking = client.ranked(question, offer)
        self.name(server, client.model)
        return ranking

    def name(self, server: PooledServer, told: str) -> None:
        """Compare what a server calls the model with what the others call it.

        Raises:
            SnellenError: They differ.
        """
        if self._alone or not told:
            return
        with self._lock:
            address, known = self._named = self._named or (server.address, told)
            if known != told:
                self._differ(
                    f"{shown_address(address)} says that it is {known!r}, {shown_address(server.address)} {told!r}"
                )

    def _meet(self, server: PooledServer, interruptions: int, found: _Reference) -> None:
        with self._lock:
            known = self._reference = self._reference or found
            difference = _difference(known, found)
            if difference and server.address in self._met:
                msg = f"came back as another model ({difference})"
                raise ServerFailedError(msg, again=False)
            if difference:
                self._differ(difference)
            self._met[server.address] = interruptions

    def _differ(self, how: str) -> None:
        self._refusal = (
            f"The servers of {self._name} differ: {how}. Leave one of them out of its url, or have all of them serve "
            "the same in the same way; `offer` names what rankings are to rest on."
        )
        raise SnellenError(self._refusal)


def _difference(one: _Reference, other: _Reference) -> str:
    """Say in what two servers' rankings of one question differ; nothing where they do not."""
    here, there = shown_address(one.address), shown_address(other.address)
    if one.offer != other.offer:
        return f"rankings could rest on {one.offer!r} at {here}, and on {other.offer!r} at {there}"
    pairs = zip(one.question.choices, one.ranking.scores, other.ranking.scores, strict=True)
    for choice, mine, theirs in pairs if one.offer != "answer" else ():
        if len(mine) != len(theirs):
            return f"{choice!r} is {len(mine)} tokens to {here} and {len(theirs)} to {there}"
        for first, second in zip(mine, theirs, strict=True):
            apart = 0.0 if first == second else abs(first - second)
            if apart > TOLERANCE:
                return f"{choice!r} has a log-probability of {first:.2f} at {here} and of {second:.2f} at {there}"
    return ""
