"""A server is ready once a question is answered at once, and says why it is not."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from snellen.errors import SnellenError
from snellen.page.trace import ThreadTrace
from snellen.profiles.exclusive_loading import is_loading, loading
from snellen.serving import ServerSettings, warm_up
from snellen.serving.app import create_app
from snellen.serving.jobs import Jobs
from snellen.serving.warm_up import Warming
from snellen.threads.events import ModelsLoading, Started
from snellen.threads.progress import ProgressLine
from tests.servers.snellen_server import listening


def app(load: Callable[[], object]) -> Starlette:
    return create_app(ServerSettings(port=0), checks={}, warming=Warming(load, "mine"))


def until(url: str, status: str) -> httpx.Response:
    """Ask whether it is ready until it is as far as that."""
    answer = httpx.get(f"{url}/ready")
    for _ in range(200):
        if answer.json()["status"] == status:
            break
        time.sleep(0.02)
        answer = httpx.get(f"{url}/ready")
    assert answer.json()["status"] == status
    return answer


def test_it_is_ready_once_the_models_are_loaded() -> None:
    go_on = threading.Event()
    with listening(app(lambda: go_on.wait(30))) as url:
        answer = until(url, "loading models")
        assert answer.status_code == 503
        assert answer.json() == {"ready": False, "failing": ["models"], "status": "loading models"}
        assert httpx.get(f"{url}/health").status_code == 200
        go_on.set()
        assert until(url, "ready").status_code == 200


@pytest.mark.parametrize("error", [SnellenError("models.loc in /home/ann/mine.toml is gone."), ValueError("/home/ann")])
def test_models_that_cannot_be_loaded_are_told_without_a_path_and_tried_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "_AGAIN_SECONDS", 0.3)
    tries = []

    def load() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise error

    with listening(app(load)) as url:
        answer = until(url, "not ready")
        assert answer.status_code == 503
        assert (
            answer.json()["reason"]
            == "The models of the profile 'mine' could not be loaded; the server's log says why."
        )
        assert "ann" not in answer.text
        assert until(url, "ready").status_code == 200


def test_a_server_ends_while_models_are_loaded() -> None:
    go_on = threading.Event()
    began = time.monotonic()
    with listening(app(lambda: go_on.wait(30))) as url:
        until(url, "loading models")
    assert time.monotonic() - began < 15
    go_on.set()


async def test_whoever_asks_meanwhile_is_told_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.serving.jobs._LOOK_SECONDS", 0.01)

    async def work() -> AsyncGenerator[Any]:
        yield Started("t", None)
        await asyncio.sleep(0.2)

    async def told() -> list[Any]:
        job = await Jobs().begin(home, work)
        return [event async for _, event in job.events()]

    assert ModelsLoading() not in await told()
    with loading():
        assert is_loading()
        assert (await told()).count(ModelsLoading()) == 1
    assert not is_loading()
    progress = ProgressLine()
    assert progress.take(ModelsLoading())
    assert (
        progress.line
        == ThreadTrace().with_event(ModelsLoading()).activity
        == "loading models: the first answer takes longer"
    )
