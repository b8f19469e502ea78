"""Is the server alive, can it work, and does it answer while it computes?"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from snellen.errors import SnellenError
from snellen.memory.checkpoints import DATABASE
from snellen.profiles import Profile, load_profile
from snellen.serving import Tokens
from snellen.serving.app import create_app
from snellen.serving.health import Readiness, usual_checks
from tests.servers.snellen_server import asked, free_port, listening


@pytest.fixture
def database(home: Path) -> Path:
    """Return the empty database of a home's checkpoints."""
    home.mkdir()
    place = home / DATABASE
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    return place


@pytest.fixture
def broken(tmp_path: Path) -> Profile:
    """Return a profile one of whose checkpoints is not there."""
    text = load_profile("embedded").path.read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("microworld/checkpoints/owlvit", "microworld/checkpoints/nowhere"))
    return load_profile(str(mine))


@pytest.mark.usefixtures("database")
async def test_a_usual_server_is_ready() -> None:
    async with asked(create_app(checks=usual_checks(load_profile("embedded")))) as client:
        assert (await client.get("/health")).json() == {"status": "alive"}
        answer = await client.get("/ready")

    assert (answer.status_code, answer.json()) == (200, {"ready": True, "failing": [], "status": "ready"})


async def test_what_fails_is_named_without_a_path(database: Path) -> None:
    await asyncio.to_thread(database.write_text, "no database, " * 100)
    async with asked(create_app()) as client:
        answer = await client.get("/ready")
        assert (await client.get("/health")).status_code == 200

    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "failing": ["checkpoints"], "status": "not ready"}
    assert str(database.parent) not in answer.text


async def test_a_home_that_cannot_be_written_fails(home: Path) -> None:
    await asyncio.to_thread(home.write_text, "a file where the folder should be")
    async with asked(create_app(tokens=Tokens(home.parent))) as client:
        assert "home" in (await client.get("/ready")).json()["failing"]


async def test_a_postgres_that_is_away_fails(in_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await Readiness(usual_checks()).failing() == []
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", f"{in_postgres}_gone")
    assert await Readiness(usual_checks()).failing() == ["checkpoints"]


async def test_a_store_that_cannot_be_used_fails(in_store: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_STORE", f"{in_store} {home.parent / 'shared'}")
    assert await Readiness(usual_checks()).failing() == []
    monkeypatch.setenv("SNELLEN_STORE", f"{in_store} nowhere://host/pictures")
    assert await Readiness(usual_checks()).failing() == ["files"]
    monkeypatch.setenv("SNELLEN_STORE", f"{in_store}_gone")
    assert await Readiness(usual_checks()).failing() == ["checkpoints", "store"]


async def test_missing_checkpoints_of_a_profile_fail(broken: Profile) -> None:
    assert await Readiness(usual_checks(broken)).failing() == ["models"]


async def test_checks_are_looked_at_once_for_all_who_ask() -> None:
    looks = 0
    now = 100.0

    def check() -> None:
        nonlocal looks
        looks += 1
        time.sleep(0.05)
        if looks > 1:
            msg = "gone"
            raise SnellenError(msg)

    ready = Readiness({"thing": check}, clock=lambda: now)
    assert await asyncio.gather(*(ready.failing() for _ in range(9))) == [[]] * 9
    assert looks == 1
    now += 5.1
    assert await ready.failing() == ["thing"]
    ready.close()


async def test_a_check_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.serving.health._PATIENCE_SECONDS", 0.1)
    go_on = threading.Event()

    def hang() -> None:
        go_on.wait(30)

    ready = Readiness({"disk": hang})
    assert await ready.failing() == ["slow"]
    assert await ready.failing() == ["slow"]
    go_on.set()
    ready.close()


def test_health_answers_within_200_ms_while_every_worker_computes() -> None:
    begun = threading.Semaphore(0)

    def compute() -> None:
        begun.release()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            sum(range(10_000))

    async def work(_: Request) -> Response:
        await asyncio.to_thread(compute)
        return PlainTextResponse("done")

    app = create_app(free_port(), routes=[Route("/work", work)])
    with listening(app) as url, httpx.Client(base_url=url) as probe:
        probe.get("/health")
        workers = [threading.Thread(target=httpx.get, args=(f"{url}/work",), kwargs={"timeout": 60}) for _ in range(3)]
        for one in workers:
            one.start()
        for _ in workers:
            assert begun.acquire(timeout=10)
        seconds = []
        for _ in range(10):
            began = time.monotonic()
            assert probe.get("/health").status_code == 200
            seconds.append(time.monotonic() - began)
        for one in workers:
            one.join()

    assert sorted(seconds)[len(seconds) // 2] < 0.2
