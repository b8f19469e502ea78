"""What becomes of a request's work: its turn, its limits, its end, and a client that goes away."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, BaseMessage
from starlette.applications import Starlette

from snellen.errors import BadInput, SnellenError
from snellen.graphs.states import ChatState
from snellen.serving.jobs import Job, JobLimits
from snellen.serving.openai_api import routes
from snellen.threads.events import Finished, NodeFinished, Started
from tests.servers.chat_server import chat_app
from tests.servers.snellen_server import listening

Json = dict[str, Any]


class Scripted:
    """A conversation that waits until it may go on, and then answers or fails."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.fails: SnellenError | None = None

    async def __call__(self, messages: Sequence[BaseMessage], *, thread: str, profile: str) -> AsyncGenerator[Any]:
        import asyncio

        yield Started(thread, ChatState())
        yield NodeFinished("recall", {})
        await asyncio.to_thread(self.go_on.wait)
        if self.fails is not None:
            raise self.fails
        usage = {"calls": 1, "input_tokens": 100, "output_tokens": 7}
        yield NodeFinished("plan", {"usage": usage})
        yield Finished(thread, ChatState(messages=[AIMessage("Two.")]))


async def forgotten(thread: str, messages: object) -> None:
    """Stands for ``remember``: scripted conversations have no checkpoints."""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    scripted = Scripted()
    monkeypatch.setattr(routes, "stream_messages", scripted)
    monkeypatch.setattr(routes, "remember", forgotten)
    monkeypatch.setattr(routes, "QUIET_SECONDS", 0.05)
    yield scripted
    scripted.go_on.set()


@pytest.fixture
def app(home: Path, script: Scripted) -> Starlette:
    return chat_app(home, limits=JobLimits(running=1, waiting=1, each=2))


@pytest.fixture
def server(app: Starlette, script: Scripted) -> Iterator[str]:
    with listening(app) as url:
        yield url
        script.go_on.set()


def body(**more: object) -> Json:
    return {"model": "embedded", "messages": [{"role": "user", "content": "How many?"}]} | more


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def only_job(app: Starlette) -> Job:
    (job,) = app.state.jobs._jobs
    found: Job = job
    return found


def test_a_stream_gives_signs_of_life_while_it_works(server: str, script: Scripted) -> None:
    seen = []
    with httpx.stream("POST", f"{server}/v1/chat/completions", json=body(stream=True), timeout=10) as stream:
        for line in stream.iter_lines():
            seen.append(line)
            if line == ": still at work":
                script.go_on.set()
    said = [json.loads(line.removeprefix("data: ")) for line in seen if line.startswith("data: {")]

    assert seen[-2:] == ["data: [DONE]", ""]
    assert [one["choices"][0]["delta"].get("content") for one in said][-2:] == ["Two.", None]
    assert "usage" not in said[-1]


def test_tokens_of_a_chat_model_are_told(server: str, script: Scripted) -> None:
    script.go_on.set()
    answer = httpx.post(f"{server}/v1/chat/completions", json=body()).json()

    assert answer["usage"] == {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


def test_work_that_nobody_waits_for_is_stopped(server: str, app: Starlette) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server}/v1/chat/completions", json=body(), timeout=0.5)
    until(lambda: only_job(app).is_over)

    assert only_job(app).status == "stopped"


def test_a_stream_that_nobody_reads_any_more_stops_its_work(server: str, app: Starlette) -> None:
    with httpx.stream("POST", f"{server}/v1/chat/completions", json=body(stream=True), timeout=10) as stream:
        next(stream.iter_lines())
    until(lambda: only_job(app).is_over)

    assert only_job(app).status == "stopped"


def test_work_on_a_thread_that_the_client_named_goes_on_without_it(
    server: str, app: Starlette, script: Scripted
) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server}/v1/chat/completions", json=body(), headers={"x-snellen-thread": "kept"}, timeout=0.5)
    again = httpx.post(f"{server}/v1/chat/completions", json=body(), headers={"x-snellen-thread": "kept"})
    script.go_on.set()
    until(lambda: only_job(app).is_over)

    assert (only_job(app).thread, only_job(app).status) == ("kept", "finished")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "busy")


def test_too_much_work_is_refused_for_a_while(server: str, app: Starlette, script: Scripted) -> None:
    def ask() -> None:
        httpx.post(f"{server}/v1/chat/completions", json=body(), timeout=30)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for one in askers:
        one.start()
    until(lambda: len(app.state.jobs._jobs) == 2)
    refused = httpx.post(f"{server}/v1/chat/completions", json=body())
    script.go_on.set()
    for one in askers:
        one.join()

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.json()["error"]["type"] == "rate_limit_error"


def test_a_failure_within_a_stream_is_told_in_it(server: str, script: Scripted) -> None:
    script.fails = BadInput("The picture is blank.")
    script.go_on.set()
    lines = httpx.post(f"{server}/v1/chat/completions", json=body(stream=True)).text.split("\n\n")

    told = json.loads(lines[-2].removeprefix("data: "))["error"]
    assert (told["message"], told["type"]) == ("The picture is blank.", "invalid_request_error")


def test_a_failure_of_the_server_is_a_500(server: str, script: Scripted) -> None:
    script.fails = SnellenError("The disk is full.")
    script.go_on.set()
    answer = httpx.post(f"{server}/v1/chat/completions", json=body())

    assert (answer.status_code, answer.json()["error"]["message"]) == (500, "The disk is full.")


@pytest.mark.parametrize(
    ("said", "param"),
    [
        (b"no json", None),
        (b'{"model": "embedded"}', "messages"),
        (b'{"model": "embedded", "messages": []}', "messages"),
        (b'{"model": "embedded", "messages": [{"role": "god", "content": ""}]}', "messages.0.role"),
        (b'{"model": "embedded", "messages": [{"role": "assistant", "content": "hm"}]}', "messages"),
        (
            b'{"model": "embedded", "messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}',
            "messages",
        ),
        (
            b'{"model": "embedded", "messages": [{"role": "user", "content": ""}], "response_format": {"type": "x"}}',
            "response_format",
        ),
    ],
)
def test_what_cannot_be_read_is_a_400_that_names_the_field(server: str, said: bytes, param: str | None) -> None:
    answer = httpx.post(f"{server}/v1/chat/completions", content=said)

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_other_addresses_are_told_to_be_none(server: str) -> None:
    answer = httpx.post(f"{server}/v1/embeddings", json={})

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_url")
