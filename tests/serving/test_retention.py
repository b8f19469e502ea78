"""What a request leaves behind: nothing after a while, unless it is asked to; and threads of a certain age go."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, NoReturn

import pytest

from snellen.cli.server_app import server_app
from snellen.errors import SnellenError
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.home import using_home
from snellen.memory.thread_locks import running
from snellen.serving import ServerSettings, Tokens, retention
from snellen.serving.jobs import Jobs
from snellen.threads import chat
from snellen.threads.chat import stream_chat
from snellen.threads.listing import list_threads
from tests.servers.chat_server import data_url
from tests.servers.snellen_server import asked
from tests.threads.event_streams import gathered
from tests.threads.test_deletion import home, stored

__all__ = ["home"]


async def listed() -> list[str]:
    return sorted(one.thread for one in await list_threads())


async def until_listed(*names: str) -> None:
    for _ in range(600):
        if await listed() == list(names):
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"{names} are not all that is left")


async def transient(thread: str, seconds: float = 0.0) -> None:
    await retention.begin_transient(thread, seconds)
    await gathered(stream_chat("Hello there?", thread=thread))
    await retention.end_transient(thread, seconds)


async def test_a_transient_thread_goes_when_its_time_is_over(home: Path) -> None:
    await gathered(stream_chat("Hello there?", thread="kept"))
    await transient("over")
    await transient("later", 100.0)
    await transient("adopted")
    await gathered(stream_chat("And now?", thread="adopted"))
    await transient("named")
    await retention.keep("named")
    await transient("busy")
    await retention.begin_transient("never", 0.0)

    async with running("busy", home):
        assert await retention.delete_expired() == ["over"]
    assert await listed() == ["adopted", "busy", "kept", "later", "named"]
    assert [await retention.is_kept(one) for one in ("kept", "later", "adopted", "gone")] == [True, False, True, False]
    assert await retention.delete_expired() == ["busy"]


async def test_a_server_looks_after_every_home(home: Path) -> None:
    ann = home / "users" / "ann"
    for folder in (home, ann):
        folder.mkdir(parents=True, exist_ok=True)
        with using_home(folder):
            await transient("over")
            await gathered(stream_chat("Hello there?", thread="kept"))

    watching = asyncio.create_task(retention.watch(ServerSettings(transient_seconds=0.05)))
    for folder in (home, ann):
        with using_home(folder):
            await until_listed("kept")
    watching.cancel()

    # A moment is far less than a day.
    watching = asyncio.create_task(retention.watch(ServerSettings(thread_days=1e-7)))
    await until_listed()
    watching.cancel()


def body(text: str, *before: Any, **more: object) -> dict[str, Any]:  # noqa: ANN401 - messages
    picture = {"type": "image_url", "image_url": {"url": data_url()}}
    said = {"role": "user", "content": [{"type": "text", "text": text}, *([] if before else [picture])]}
    return {"model": "embedded", "messages": [*before, said]} | more


@pytest.fixture
async def app(home: Path) -> Any:  # noqa: ANN401 - an application
    await asyncio.to_thread(home.mkdir)
    return server_app(Jobs(), ServerSettings(), {"embedded": "embedded"}, page=False, tokens=Tokens(home))


async def completed(app: Any, said: dict[str, Any], **headers: str) -> str:  # noqa: ANN401
    async with asked(app) as client:
        answer = await client.post("/v1/chat/completions", json=said, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.headers["x-snellen-thread"])


async def test_a_request_leaves_nothing_unless_it_is_asked_to(app: Any, home: Path) -> None:  # noqa: ANN401
    await completed(app, body("Hello there?", store=False))
    kept = await completed(app, body("How are you?", store=True))
    named = await completed(app, body("Who are you?"), **{"X-Snellen-Thread": "mine"})
    waiting = await completed(app, body("Good morning?"))
    assert len(await retention.delete_expired()) == 1
    assert await listed() == sorted([kept, named, waiting])
    before = stored(home)

    # It was asked to be kept, and the message that follows does not say otherwise.
    first = body("How are you?")["messages"][0]
    followed = await completed(app, body("And now?", first, {"role": "assistant", "content": "Fine."}, store=False))
    assert followed == kept
    assert await retention.delete_expired() == []
    assert stored(home) == before
    assert all(map(ArtifactStore(home / FOLDER).is_whole, before))


async def test_threads_are_deleted_over_http(app: Any, home: Path) -> None:  # noqa: ANN401
    thread = await completed(app, body("Hello there?", store=True))
    async with asked(app) as client:
        async with running(thread, home):
            busy = await client.delete(f"/threads/{thread}")
        gone = await client.delete(f"/threads/{thread}")
        again = await client.delete(f"/threads/{thread}")

    assert (busy.status_code, gone.status_code, again.status_code) == (409, 200, 404)
    assert "is being run by" in busy.json()["error"]["message"]
    assert gone.json()["threads"] == [thread]
    assert await listed() == []
    assert stored(home) == set()


async def test_one_user_deletes_nothing_of_another(home: Path) -> None:
    await asyncio.to_thread(home.mkdir)
    tokens = {name: Tokens(home).add(name) for name in ("owner", "ann")}
    app = server_app(Jobs(), ServerSettings(), {"embedded": "embedded"}, page=False, tokens=Tokens(home))
    for folder in (home, home / "users" / "ann"):
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        with using_home(folder):
            await gathered(stream_chat("Hello there?", thread=folder.name))
    await gathered(stream_chat("Hello there?", thread="shared"))
    with using_home(home / "users" / "ann"):
        await gathered(stream_chat("Hello there?", thread="shared"))

    async with asked(app, token=tokens["ann"]) as ann:
        foreign = await ann.delete(f"/threads/{home.name}")
        own = await ann.delete("/threads/shared")
        outside = await ann.delete("/threads/..%2F..%2Fhome")

    assert (foreign.status_code, own.status_code, outside.status_code) == (404, 200, 404)
    assert await listed() == sorted([home.name, "shared"])


async def test_a_failed_request_leaves_nothing_either(app: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    def broken(*_: object) -> NoReturn:
        msg = "The models are gone."
        raise SnellenError(msg)

    monkeypatch.setattr(chat, "resources", broken)
    async with asked(app) as client:
        answer = await client.post("/v1/chat/completions", json=body("How many dogs are there?", store=False))
    assert answer.status_code == 500
    assert len(await listed()) == 1

    assert len(await retention.delete_expired()) == 1
    assert await listed() == []
