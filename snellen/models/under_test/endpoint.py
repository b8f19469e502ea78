"""Models behind OpenAI-compatible endpoints: one server, or several that have the same model."""

from __future__ import annotations

import hashlib
import json
import string
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import httpx

from snellen.errors import BadInput
from snellen.models.picture_encoding import PictureForm, digest_of
from snellen.models.under_test.model import Card, Question, Ranking, check_question
from snellen.models.under_test.server_agreement import ServerAgreement
from snellen.models.under_test.server_client import EndpointSettings, ServerClient
from snellen.models.under_test.server_pool import ServerPool
from snellen.models.under_test.server_router import PooledServer


class EndpointModel:
    """A model behind an endpoint.

    Any number of threads may ask it: what is under way is bounded for each server.

    Args:
        name: As reports call it.
        settings: Where it is and how it is asked.
    """

    def __init__(self, name: str, settings: EndpointSettings) -> None:
        self._settings = settings
        self._pool = ServerPool(
            name, settings.urls, at_once=settings.at_once, tries=settings.tries, pause=settings.pause
        )
        self._agreement = ServerAgreement(name, len(settings.urls), settings.offer)
        self._http = _clients(settings)
        weakref.finalize(self, _close, tuple(self._http.values()))
        where = "an endpoint" if len(settings.urls) == 1 else f"{len(settings.urls)} servers"
        self._card = Card(
            name=name,
            fingerprint=_fingerprint(settings),
            architecture=f"{settings.model} at {where}",
            parameters=None,
            basis=settings.offer or "tokens",
            pictures=settings.pictures,
            answers=True,
            notes=("Which weights an endpoint serves is not known: it may change what it says.",),
        )

    @property
    def card(self) -> Card:
        """The model's card; what its rankings rest on is only certain after the first of them."""
        servers = self._pool.told if len(self._settings.urls) > 1 else ""
        return replace(self._card, basis=self._agreement.offer or "tokens", servers=servers)

    @property
    def at_once(self) -> int:
        """The number of questions that may be under way, at all servers together."""
        return len(self._settings.urls) * self._settings.at_once

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank each question's choices, several questions at a time.

        Raises:
            BadInput: A question has no choices, an empty one, too many, or too many pictures.
            SnellenError: No server can be reached, all refuse or say what cannot be read, or the servers differ.
        """
        for question in questions:
            self._check(question, ranked=True)
        if not questions:
            return []
        self._agreement.begin(questions[0])
        return self._pool.ask(
            self._pictures(questions),
            lambda place, server: self._agreement.rank(self._client(server), server, questions[place]),
        )

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:
        """Answer freely, at temperature 0.

        Raises:
            BadInput: A question has no pictures, or too many.
            SnellenError: As `rank`.
        """
        for question in questions:
            self._check(question, ranked=False)

        def said(place: int, server: PooledServer) -> str:
            client = self._client(server)
            answer = client.said(questions[place], questions[place].text, tokens)
            self._agreement.name(server, client.model)
            return answer

        return self._pool.ask(self._pictures(questions), said)

    def _client(self, server: PooledServer) -> ServerClient:
        return ServerClient(self._settings, server.address, self._http[server.address])

    def _pictures(self, questions: Sequence[Question]) -> list[str]:
        """Return a name of each question's pictures, by which they are kept together where there is a choice."""
        if len(self._settings.urls) == 1:
            return [""] * len(questions)
        return [" ".join(sorted(map(digest_of, question.pictures))) for question in questions]

    def _check(self, question: Question, *, ranked: bool) -> None:
        check_question(self._card.name, question, ranked=ranked, most=self._settings.pictures)
        most = len(string.ascii_uppercase)
        if ranked and len(question.choices) > most:
            msg = f"{self._card.name} ranks at most {most} choices: {question.text[:80]!r} has {len(question.choices)}."
            raise BadInput(msg)


def _clients(settings: EndpointSettings) -> dict[str, httpx.Client]:
    """Return what sends requests, by the address of the server.

    Each server has connections of its own: whoever takes one goes through all that are kept together, and holds up the
    others while he does, so that with hundreds of them little else is done.
    """
    limits = httpx.Limits(max_connections=settings.at_once, max_keepalive_connections=settings.at_once)
    certificates = httpx.create_ssl_context()  # takes longer to read than all else
    return {url: httpx.Client(follow_redirects=False, limits=limits, verify=certificates) for url in settings.urls}


def _close(clients: Iterable[httpx.Client]) -> None:
    for client in clients:
        client.close()


def _fingerprint(settings: EndpointSettings) -> str:
    """Return what trials of an endpoint are kept under: all that decides what the model there gets to see.

    The first address stands for all of them, unless the weights have a name.
    """
    where = ["weights", settings.weights] if settings.weights else [settings.urls[0].rstrip("/"), settings.model]
    asked: list[object] = [*where, settings.offer]
    # Left out where it is the usual one: trials from before pictures had a form stay valid.
    asked += [asdict(settings.form)] if settings.form != PictureForm() else []
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
