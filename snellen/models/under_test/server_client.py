"""A client of one server with an OpenAI-compatible endpoint, which ranks and answers one question after the other.

A ranking rests on the best that the server offers:

tokens   it tells the log-probabilities of what it reads (vLLM's ``prompt_logprobs``): each choice is read as the
         beginning of the answer, as a checkpoint on this machine would read it
letters  it tells those of the likeliest next tokens (SGLang, OpenAI): the choices are listed, each with a letter
answer   it tells none: the choices are listed, and the one that it says is taken

What a server replies is hostile input: it is cut off at a size and a time, and read as typed JSON.
"""

from __future__ import annotations

import json
import math
import re
import string
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import httpx
from pydantic import BaseModel, Field, ValidationError

from snellen.errors import SnellenError
from snellen.models.picture_encoding import PictureForm, encoded_once
from snellen.models.under_test.model import Question, Ranking
from snellen.models.under_test.server_router import ServerFailedError
from snellen.profiles.addresses import shown_address

if TYPE_CHECKING:
    import PIL.Image

Offer = Literal["tokens", "letters", "answer"]

_LARGEST: Final = 8_000_000
"""Bytes of a reply: every prompt token's entry of a picture with thousands of tokens fits."""
_TOP: Final = 20
"""As many likeliest tokens as OpenAI tells at most."""
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""What may pass: a server that says so may be asked again."""
_ELSEWHERE: Final = frozenset({401, 403, 404})
"""What is wrong with the server, its key or its model rather than with the question."""
_NOT_UNDERSTOOD: Final = frozenset({400, 422})
_MISSING: Final = -9999.0
"""What vLLM writes for a log-probability that is minus infinity."""
_CONNECTING: Final = 10.0
"""Seconds to wait for a connection, at most."""


@dataclass(frozen=True)
class EndpointSettings:
    """Addresses of a model, and how it is asked.

    Attributes:
        urls: Of the servers that have it, such as ``http://localhost:8000/v1``.
        model: Its name there.
        key: Sent as a bearer token; never shown.
        offer: What to rest rankings on; None takes the best that the servers have.
        weights: Names what all the servers have, if trials are to be kept whatever the addresses are.
        timeout: Seconds for each reply, all of it.
        tries: How often a question is asked that fails for a passing reason.
        pause: Seconds of a server's rest after its first failure; twice as many after each further one.
        at_once: Questions under way at a time, of each server.
        pictures: How many pictures a question may have.
        form: How large pictures are sent, and as what.
    """

    urls: tuple[str, ...]
    model: str
    key: str = ""
    offer: Offer | None = None
    weights: str = ""
    timeout: float = 60.0
    tries: int = 4
    pause: float = 0.5
    at_once: int = 4
    pictures: int = 2
    form: PictureForm = field(default_factory=PictureForm)


class _Seen(BaseModel):
    """A token that was read, as vLLM tells it."""

    logprob: float
    decoded_token: str | None = None


class _Likely(BaseModel):
    token: str
    logprob: float


class _Next(BaseModel):
    top_logprobs: list[_Likely] = Field(default_factory=list)


class _Written(BaseModel):
    content: list[_Next] | None = None


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    logprobs: _Written | None = None


class _Usage(BaseModel):
    prompt_tokens: Annotated[int, Field(ge=0)]


class _Reply(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: str | None = None
    usage: _Usage | None = None
    prompt_logprobs: list[dict[str, _Seen] | None] | None = None


class _NotOfferedError(Exception):
    """The server does not tell these log-probabilities."""


class _NotUnderstoodError(_NotOfferedError):
    """The server refuses a request with options that not all servers know, for them or for something else."""


class ServerClient:
    """A client of one server, for one thread.

    Args:
        settings: How the server is asked.
        address: Its own address.
        http: Sends the requests; threads may share it.

    Attributes:
        model: What the server called the model in its last reply; empty before that, or where it does not say.
    """

    def __init__(self, settings: EndpointSettings, address: str, http: httpx.Client) -> None:
        self._settings, self._address, self._http = settings, address, http
        self.model = ""

    def best(self, question: Question) -> tuple[Offer, Ranking]:
        """Rank by the best that the server offers, and say what that is.

        Raises:
            ServerFailedError: It fails.
            SnellenError: It refuses the question.
        """
        for offer, way in _WAYS.items():
            try:
                return offer, way(self, question)
            except _NotOfferedError:
                continue
        msg = "offers nothing that a ranking could rest on"
        raise ServerFailedError(msg, again=False)

    def ranked(self, question: Question, offer: Offer) -> Ranking:
        """Rank by what was chosen, and by nothing else: rankings of one kind only can be compared.

        Raises:
            ServerFailedError: The server fails, or does not tell what it takes.
            SnellenError: It refuses the question.
        """
        try:
            return _WAYS[offer](self, question)
        except _NotUnderstoodError as error:
            raise SnellenError(self._refusing(str(error))) from error
        except _NotOfferedError as error:
            msg = f"does not tell what offer = {offer!r} needs ({error}): leave it out, or name another"
            raise ServerFailedError(msg, again=False) from error

    def by_tokens(self, question: Question) -> Ranking:
        """Read each choice as the beginning of the answer: its tokens are those beyond the prompt's own."""
        asked = [_spoken("user", question.text, question.pictures, self._settings.form)]
        before = self._length(self._reply(asked, max_tokens=1))
        rows = [self._row(self._reply_to_read(asked, choice), before, choice) for choice in question.choices]
        return Ranking(tuple(rows), basis="tokens")

    def _reply_to_read(self, asked: Sequence[Any], choice: str) -> _Reply:
        begun = {"add_generation_prompt": False, "continue_final_message": True, "prompt_logprobs": 0}
        return self._reply([*asked, {"role": "assistant", "content": choice}], max_tokens=1, **begun)

    def _row(self, reply: _Reply, before: int, choice: str) -> tuple[float, ...]:
        read = reply.prompt_logprobs
        if read is None:
            msg = "no prompt_logprobs"
            raise _NotOfferedError(msg)
        count = self._length(reply)
        if not before < count == len(read):
            msg = (
                f"miscounts: {before} tokens without the choice {choice!r}, {count} with it, "
                f"log-probabilities of {len(read)}; offer = 'letters' does without"
            )
            raise ServerFailedError(msg, again=False)
        own = [next(iter(entry.values())) for entry in read[before:] if entry]
        told = "".join(seen.decoded_token or "" for seen in own)
        if len(own) < count - before or (told.strip() and told.strip() != choice.strip()):
            msg = f"reads {told[:80]!r} where the choice {choice!r} is; offer = 'letters' does without"
            raise ServerFailedError(msg, again=False)
        return tuple(-math.inf if seen.logprob <= _MISSING else seen.logprob for seen in own)

    def _length(self, reply: _Reply) -> int:
        if reply.usage is None:
            msg = "no usage"
            raise _NotOfferedError(msg)
        return reply.usage.prompt_tokens

    def by_letters(self, question: Question) -> Ranking:
        """List the choices with letters; a letter that is not among the likeliest gets the least of these."""
        letters = string.ascii_uppercase[: len(question.choices)]
        listed = "\n".join(f"{letter}. {choice}" for letter, choice in zip(letters, question.choices, strict=True))
        text = f"{question.text}\n{listed}\nAnswer with the letter alone."
        asked = [_spoken("user", text, question.pictures, self._settings.form)]
        reply = self._reply(asked, max_tokens=1, logprobs=True, top_logprobs=_TOP)
        written = reply.choices[0].logprobs
        if written is None or not written.content or not written.content[0].top_logprobs:
            msg = "no logprobs"
            raise _NotOfferedError(msg)
        likely = written.content[0].top_logprobs
        least = min(each.logprob for each in likely)
        rows = [
            _together((each.logprob for each in likely if _letter(each.token) == letter), least) for letter in letters
        ]
        return Ranking(tuple((row,) for row in rows), basis="letters")

    def by_answer(self, question: Question) -> Ranking:
        """List the choices, and read the answer for the one that it names."""
        listed = "\n".join(f"- {choice}" for choice in question.choices)
        text = f"{question.text}\n{listed}\nAnswer with one of these, word for word."
        said = self.said(question, text, 48)
        place = _meant(said, question.choices)
        scores = ((0.0,) if at == place else (-math.inf,) for at in range(len(question.choices)))
        return Ranking(tuple(scores), basis="answer", text=said[:400])

    def said(self, question: Question, text: str, tokens: int) -> str:
        """Answer a text about a question's pictures freely, in at most so many tokens.

        Raises:
            ServerFailedError: The server fails.
            SnellenError: It refuses the question.
        """
        reply = self._reply([_spoken("user", text, question.pictures, self._settings.form)], max_tokens=tokens)
        return (reply.choices[0].message.content or "").strip()

    def _reply(self, messages: Sequence[Any], *, max_tokens: int, **options: Any) -> _Reply:  # noqa: ANN401 - JSON
        body = {"model": self._settings.model, "messages": list(messages), "temperature": 0, "max_tokens": max_tokens}
        status, headers, data = self._sent({**body, **options})
        if status != httpx.codes.OK:
            told = f"HTTP {status}: {_message(data)}"
            if status in _NOT_UNDERSTOOD and options:
                raise _NotUnderstoodError(told)
            raise _failure(status, headers, told) or SnellenError(self._refusing(told))
        try:
            reply = _Reply.model_validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the reply"
            msg = f"replies what is no chat completion ({where}: {first['msg'].lower()})"
            raise ServerFailedError(msg, again=False) from error
        self.model = _plain_text(reply.model or "")
        return reply

    def _refusing(self, told: str) -> str:
        return f"{shown_address(self._address)} refuses what {self._settings.model} is asked ({told})."

    def _sent(self, body: Any) -> tuple[int, httpx.Headers, bytes]:  # noqa: ANN401 - JSON
        """Send a request and return its reply, which may be neither too long nor too slow."""
        try:
            return self._received(body)
        except (httpx.RequestError, TimeoutError) as error:
            msg = f"does not answer ({_plain_text(str(error)) or type(error).__name__})"
            raise ServerFailedError(msg) from error

    def _received(self, body: Any) -> tuple[int, httpx.Headers, bytes]:  # noqa: ANN401 - JSON
        seconds = self._settings.timeout
        ends, patience = time.monotonic() + seconds, httpx.Timeout(seconds, connect=min(seconds, _CONNECTING))
        headers = {"Authorization": f"Bearer {self._settings.key}"} if self._settings.key else {}
        address = f"{self._address.rstrip('/')}/chat/completions"
        data = bytearray()
        with self._http.stream("POST", address, json=body, headers=headers, timeout=patience) as response:
            for piece in response.iter_bytes():
                data += piece
                if len(data) > _LARGEST:
                    msg = f"replies without end: more than {_LARGEST:,} bytes"
                    raise ServerFailedError(msg, again=False)
                if time.monotonic() > ends:
                    msg = f"no whole reply within {seconds:g} s"
                    raise TimeoutError(msg)
        return response.status_code, response.headers, bytes(data)


def _failure(status: int, headers: httpx.Headers, told: str) -> ServerFailedError | None:
    """Return the failure of a server that a status means; None where it is the question that is at fault."""
    if status in _AGAIN:
        busy = status == httpx.codes.TOO_MANY_REQUESTS
        return ServerFailedError(f"does not answer ({told})", wait=_wait(headers.get("Retry-After", "")), alive=busy)
    if status in _ELSEWHERE or not httpx.codes.is_client_error(status):
        return ServerFailedError(f"does not answer ({told})", again=False)
    return None


def _wait(told: str) -> float:
    """Return the seconds that a header ``Retry-After`` asks for, as a number or as a date; 0 where it says neither."""
    if re.fullmatch(r"[0-9]{1,9}", told.strip()):
        return float(told)
    try:
        then = parsedate_to_datetime(told)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


_WAYS: Final[dict[Offer, Callable[[ServerClient, Question], Ranking]]] = {
    "tokens": ServerClient.by_tokens,
    "letters": ServerClient.by_letters,
    "answer": ServerClient.by_answer,
}
"""The best first."""


def _spoken(role: str, text: str, pictures: Sequence[PIL.Image.Image], form: PictureForm) -> dict[str, Any]:
    urls = [encoded_once(picture, form).url for picture in pictures]
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return {"role": role, "content": [*shown, {"type": "text", "text": text}]}


def _letter(token: str) -> str:
    return token.strip().strip("().:*▁Ġ").upper()


def _together(scores: Iterable[float], least: float) -> float:
    found = [score for score in scores if not math.isnan(score)]
    if not found:
        return least
    best = max(found)
    return best + math.log(sum(math.exp(score - best) for score in found)) if best > -math.inf else best


def _meant(said: str, choices: Sequence[str]) -> int | None:
    """Return the place of the choice that an answer names: the whole of it, or the only one of them in it."""
    plain = [_plain(choice) for choice in choices]
    told = _plain(said)
    if told in plain:
        return plain.index(told)
    inside = [place for place, choice in enumerate(plain) if re.search(rf"\b{re.escape(choice)}\b", told)]
    longest = [one for one in inside if not any(one != other and plain[one] in plain[other] for other in inside)]
    return longest[0] if len(longest) == 1 else None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _message(data: bytes) -> str:
    """Return what an error says, shortened."""
    try:
        told = json.loads(data)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        told = data.decode(errors="replace")
    return _plain_text(str(told))


def _plain_text(told: str) -> str:
    """Return a server's own words as messages repeat them."""
    return "".join(sign for sign in " ".join(told[:2_000].split()) if sign.isprintable())[:200]
