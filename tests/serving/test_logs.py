"""Logs: one line of JSON each, and never a secret."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from snellen.serving.app import create_app
from snellen.serving.logs import FIELDS, JsonLines, configure_logging, redact
from snellen.serving.users import PREFIX
from tests.servers.snellen_server import asked, tokens_of

_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_secret = st.text(alphabet=_letters, min_size=20, max_size=60)
_around = st.text(alphabet=" \n.,;:()<>é", max_size=10)


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the process logs, in place of wherever it logs to."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging(stream=stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def _read(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@given(_around, _secret, _around)
@pytest.mark.parametrize(
    "form",
    [PREFIX + "{}", "sk-{}", "sk-proj-{}", "Bearer {}", "bearer  {}", "Basic {}", "hf_{}", "ghp_{}", "lsv2_pt_{}",
     "postgresql://snellen:{}@host/base", "https://{}@host/", "password={}", "PASSWORD: {}", '{{"api_key": "{}"}}',
     "OPENAI_API_KEY='{}'", "token={}&x=1", "Cookie: {}", "Authorization: Bearer {}", "data:image/png;base64,{}",
     "client_secret={}", '"password": "{} with words"'],
)  # fmt: skip
def test_whatever_looks_like_a_secret_is_struck_out(form: str, before: str, secret: str, after: str) -> None:
    assert secret not in redact(before + form.format(secret) + after)


@given(st.text(alphabet=_letters + "+/", min_size=120, max_size=3000))
def test_pictures_are_struck_out(content: str) -> None:
    assert content[:120] not in redact(f"got {content}=")


@pytest.mark.parametrize(
    "text",
    [
        "request",
        "a request failed",
        "/v1/chat/completions",
        "not ready: checkpoints",
        "3f2a9c0011bd",
        "http://127.0.0.1:7860",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=3000), st.dictionaries(st.text(max_size=20), st.text() | st.integers() | st.lists(st.text())))
def test_every_record_is_one_line_of_json(message: str, fields: dict[str, Any]) -> None:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, message, (), None)
    setattr(record, FIELDS, fields)
    line = JsonLines().format(record)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["logger"] in {"x", fields.get("logger"), *map(redact, map(str, fields.values()))}


def test_long_texts_are_looked_at_in_little_time() -> None:
    began = time.thread_time()
    for text in ("A" * 10**6, "://" + "a" * 10**6, "token" * 10**5, "data:" * 10**5, "api_key=" * 10**5, "-" * 10**6):
        JsonLines().format(logging.LogRecord("x", logging.INFO, __file__, 1, text, (), None))
    assert time.thread_time() - began < 1.0


def _log_failure(words: str) -> None:
    def fail() -> None:
        raise ValueError(words)

    try:
        fail()
    except ValueError:
        logging.getLogger("x").exception("it failed")


def test_an_exception_is_logged_by_kind_and_place_not_by_its_words(lines: io.StringIO) -> None:
    _log_failure("how many dogs are in the garden of ann")

    (said,) = _read(lines)
    assert said["error"] == "ValueError"
    assert said["where"][-1].startswith("serving/test_logs.py:")
    assert "dogs" not in lines.getvalue()
    assert str(Path(__file__).parents[2]) not in lines.getvalue()


def test_debugging_shows_the_words_without_secrets(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_DEBUG", "1")
    _log_failure("Bearer abcdefghijkl is wrong")

    (said,) = _read(lines)
    assert said["detail"] == "Bearer [removed] is wrong"


def test_a_record_whose_arguments_do_not_fit_is_not_lost() -> None:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "%d of %d", ("one",), None)
    assert json.loads(JsonLines().format(record))["message"] == "%d of %d"


def test_a_field_that_is_called_a_secret_is_struck_out(lines: io.StringIO) -> None:
    logging.getLogger("x").info("made", extra={FIELDS: {"api_key": "short", "kept": "short"}})
    (said,) = _read(lines)
    assert (said["api_key"], said["kept"]) == ("[removed]", "short")


async def test_a_request_is_logged_without_what_it_says(lines: io.StringIO, home: Path) -> None:
    async def work(request: Request) -> Response:
        logging.getLogger("work").info("at work")
        await request.body()
        return Response("a secret answer")

    async def fail(_: Request) -> Response:
        msg = "a secret word"
        raise ValueError(msg)

    tokens, (token,) = tokens_of(home, "ann")
    app = create_app(routes=[Route("/work/{thread}", work, methods=["POST"]), Route("/fail", fail)], tokens=tokens)
    async with asked(app, token=token) as client:
        answer = await client.post("/work/my-secret-thread?key=secret", content="a secret question")
        failed = await client.get("/fail")
        await client.get("/nowhere/secret")
        await client.get("/fail", headers={"authorization": "Bearer secret"})

    assert "secret" not in lines.getvalue()
    assert token not in lines.getvalue()
    at_work, done, surprise, failure, *_, stranger = _read(lines)
    assert at_work["request"] == done["request"] == answer.headers["x-request-id"]
    assert {name: done[name] for name in ("user", "method", "route", "status", "bytes")} == {
        "user": "ann", "method": "POST", "route": "/work/{thread}", "status": 200, "bytes": 15,
    }  # fmt: skip
    assert done["ms"] > 0
    assert (surprise["error"], failure["status"], failed.status_code) == ("ValueError", 500, 500)
    assert surprise["request"] in failed.text
    assert (stranger["user"], stranger["status"], stranger["refused"]) == ("", 401, "token")
