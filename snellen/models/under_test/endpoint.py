"""Models behind an OpenAI-compatible endpoint.

A ranking rests on the best that the endpoint offers:

tokens   it tells the log-probabilities of what it reads (vLLM's ``prompt_logprobs``): each choice is read as the
         beginning of the answer, as a checkpoint on this machine would read it
letters  it tells those of the likeliest next tokens (SGLang, OpenAI): the choices are listed, each with a letter
answer   it tells none: the choices are listed, and the one that it says is taken

What an endpoint replies is hostile input: it is cut off at a size and a time, and read as typed JSON.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import string
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

import httpx
from pydantic import BaseModel, Field, ValidationError

from snellen.errors import BadInput, SnellenError
from snellen.models.picture_encoding import PictureForm, encoded_once
from snellen.models.under_test.model import Card, Question, Ranking, check_question

if TYPE_CHECKING:
    import PIL.Image

Offer = Literal["tokens", "letters", "answer"]
Said = TypeVar("Said")

_LARGEST: Final = 8_000_000
"""Bytes of a reply: every prompt token's entry of a picture with thousands of tokens fits."""
_TOP: Final = 20
"""As many likeliest tokens as OpenAI tells at most."""
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MISSING: Final = -9999.0
"""What vLLM writes for a log-probability that is minus infinity."""


@dataclass(frozen=True)
class EndpointSettings:
    """Address of a model, and how it is asked.

    Attributes:
        base_url: Such as ``http://localhost:8000/v1``.
        model: Its name there.
        key: Sent as a bearer token; never shown.
        offer: What to rest rankings on; None takes the best that the endpoint has.
        timeout: Seconds for each reply, all of it.
        tries: How often a request is sent that fails for a passing reason.
        pause: Seconds before the second try; twice as many before each further one.
        at_once: Requests under way at a time.
        pictures: How many pictures a question may have.
        form: How large pictures are sent, and as what.
    """

    base_url: str
    model: str
    key: str = ""
    offer: Offer | None = None
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
    usage: _Usage | None = None
    prompt_logprobs: list[dict[str, _Seen] | None] | None = None


class _NotOfferedError(Exception):
    """The endpoint does not tell these log-probabilities."""


class EndpointModel:
    """A model behind an endpoint.

    Args:
        name: As reports call it.
        settings: Where it is and how it is asked.
    """

    def __init__(self, name: str, settings: EndpointSettings) -> None:
        self._settings = settings
        self._offer = settings.offer
        self._choosing = threading.Lock()
        self._card = Card(
            name=name,
            fingerprint=_fingerprint(settings),
            architecture=f"{settings.model} at an endpoint",
            parameters=None,
            basis=settings.offer or "tokens",
            pictures=settings.pictures,
            answers=True,
            notes=("Which weights an endpoint serves is not known: it may change what it says.",),
        )

    @property
    def card(self) -> Card:
        """The model's card; what its rankings rest on is only certain after the first of them."""
        return replace(self._card, basis=self._offer or "tokens")

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank each question's choices, several questions at a time.

        Raises:
            BadInput: A question has no choices, an empty one, too many, or too many pictures.
            SnellenError: The endpoint cannot be reached, refuses, or says what cannot be read.
        """
        for question in questions:
            self._check(question, ranked=True)
        with self._line() as line:
            begun = self._choose(line, questions[0]) if questions and self._offer is None else []
            offer = self._offer or "answer"
            return begun + self._each(lambda question: line.ranked(question, offer), questions[len(begun) :])

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:
        """Answer freely, at temperature 0.

        Raises:
            BadInput: A question has no pictures, or too many.
            SnellenError: As `rank`.
        """
        for question in questions:
            self._check(question, ranked=False)
        with self._line() as line:
            return self._each(lambda question: line.said(question, question.text, tokens), questions)

    @contextmanager
    def _line(self) -> Iterator[_Line]:
        with httpx.Client(follow_redirects=False) as client:
            yield _Line(self._settings, f"The endpoint of {self._card.name} ({self._settings.base_url})", client)

    def _each(self, work: Callable[[Question], Said], questions: Sequence[Question]) -> list[Said]:
        with ThreadPoolExecutor(self._settings.at_once) as workers:
            return list(workers.map(work, questions))

    def _choose(self, line: _Line, question: Question) -> list[Ranking]:
        """Find the best that the endpoint offers, once; return the ranking that showed it."""
        with self._choosing:
            for offer, way in _WAYS.items():
                if self._offer is not None:
                    break
                try:
                    ranking = way(line, question)
                except _NotOfferedError:
                    continue
                self._offer = offer
                return [ranking]
        return []

    def _check(self, question: Question, *, ranked: bool) -> None:
        check_question(self._card.name, question, ranked=ranked, most=self._settings.pictures)
        most = len(string.ascii_uppercase)
        if ranked and len(question.choices) > most:
            msg = f"{self._card.name} ranks at most {most} choices: {question.text[:80]!r} has {len(question.choices)}."
            raise BadInput(msg)


def _fingerprint(settings: EndpointSettings) -> str:
    """Return what trials of an endpoint are kept under: all that decides what the model there gets to see."""
    asked: list[object] = [settings.base_url.rstrip("/"), settings.model, settings.offer]
    # Left out where it is the usual one: trials from before pictures had a form stay valid.
    asked += [asdict(settings.form)] if settings.form != PictureForm() else []
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


class _Line:
    """An open line to an endpoint."""

    def __init__(self, settings: EndpointSettings, where: str, client: httpx.Client) -> None:
        self._settings, self._where, self._client = settings, where, client

    def ranked(self, question: Question, offer: Offer) -> Ranking:
        """Rank by what was chosen, and by nothing else: rankings of one kind only can be compared."""
        try:
            return _WAYS[offer](self, question)
        except _NotOfferedError as error:
            msg = f"{self._where} does not tell what offer = {offer!r} needs ({error}): leave it out, or name another."
            raise SnellenError(msg) from error

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
                f"{self._where} miscounts: {before} tokens without the choice {choice!r}, {count} with it, "
                f"log-probabilities of {len(read)}. Set offer = 'letters' for it."
            )
            raise SnellenError(msg)
        own = [next(iter(entry.values())) for entry in read[before:] if entry]
        told = "".join(seen.decoded_token or "" for seen in own)
        if len(own) < count - before or (told.strip() and told.strip() != choice.strip()):
            msg = f"{self._where} reads {told[:80]!r} where the choice {choice!r} is: set offer = 'letters' for it."
            raise SnellenError(msg)
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
        listed = "\n".join(f"- {choice}" for choice in question.choices)
        text = f"{question.text}\n{listed}\nAnswer with one of these, word for word."
        said = self.said(question, text, 48)
        place = _meant(said, question.choices)
        scores = ((0.0,) if at == place else (-math.inf,) for at in range(len(question.choices)))
        return Ranking(tuple(scores), basis="answer", text=said[:400])

    def said(self, question: Question, text: str, tokens: int) -> str:
        reply = self._reply([_spoken("user", text, question.pictures, self._settings.form)], max_tokens=tokens)
        return (reply.choices[0].message.content or "").strip()

    def _reply(self, messages: Sequence[Any], **options: Any) -> _Reply:  # noqa: ANN401 - JSON
        body = {"model": self._settings.model, "messages": list(messages), "temperature": 0, **options}
        data = self._sent(body)
        try:
            return _Reply.model_validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the reply"
            msg = f"{self._where} replies what is no chat completion ({where}: {first['msg'].lower()})."
            raise SnellenError(msg) from error

    def _sent(self, body: Any) -> bytes:  # noqa: ANN401 - JSON
        """Send a request, again where that may help."""
        trouble = ""
        for turn in range(self._settings.tries):
            if turn:
                time.sleep(self._settings.pause * 2 ** (turn - 1))
            try:
                status, data = self._received(body)
            except (httpx.TransportError, TimeoutError) as error:
                trouble = str(error) or type(error).__name__
                continue
            if status == httpx.codes.OK:
                return data
            trouble = f"HTTP {status}: {_message(data)}"
            if status not in _AGAIN:
                break
        msg = f"{self._where} does not answer ({trouble}). Its base_url, model and key are in the profile."
        raise SnellenError(msg)

    def _received(self, body: Any) -> tuple[int, bytes]:  # noqa: ANN401 - JSON
        """Return status and body of a reply, which may be neither too long nor too slow."""
        settings, ends = self._settings, time.monotonic() + self._settings.timeout
        headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}
        address = f"{settings.base_url.rstrip('/')}/chat/completions"
        data = bytearray()
        with self._client.stream("POST", address, json=body, headers=headers, timeout=settings.timeout) as response:
            for piece in response.iter_bytes():
                data += piece
                if len(data) > _LARGEST:
                    msg = f"{self._where} replies without end: more than {_LARGEST:,} bytes."
                    raise SnellenError(msg)
                if time.monotonic() > ends:
                    msg = f"no whole reply within {settings.timeout:g} s"
                    raise TimeoutError(msg)
        return response.status_code, bytes(data)


_WAYS: Final[dict[Offer, Callable[[_Line, Question], Ranking]]] = {
    "tokens": _Line.by_tokens,
    "letters": _Line.by_letters,
    "answer": _Line.by_answer,
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
    return " ".join(str(told).split())[:200]
