"""The door: who is let in, with whose home, and what is said to the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from snellen.memory.home import home
from snellen.serving import ServerSettings, Tokens
from snellen.serving.app import create_app
from tests.servers.snellen_server import asked, free_port, listening, tokens_of


async def _who(request: Request) -> Response:
    there = await asyncio.to_thread(home)
    return JSONResponse({"user": request.state.user.name, "home": str(there)})


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(f"{socket.state.user.name}: {await socket.receive_text()}")
    await socket.close()


def _app(settings: ServerSettings | None = None, *, tokens: Tokens | None = None) -> Starlette:
    inner = Starlette(routes=[Route("/who", _who, methods=["GET", "POST"])])
    return create_app(
        settings,
        routes=[Route("/who", _who, methods=["GET", "POST"]), WebSocketRoute("/echo", _echo)],
        mounts=[Mount("/inner", inner)],
        tokens=tokens,
    )


@pytest.mark.parametrize("path", ["/who", "/inner/who"])
async def test_without_tokens_loopback_is_its_owners(path: str, home: Path) -> None:
    async with asked(_app()) as client:
        answer = await client.get(path)

    assert answer.json() == {"user": "owner", "home": str(home)}


@pytest.mark.parametrize("path", ["/who", "/inner/who"])
async def test_each_user_works_in_a_home_of_their_own(path: str, home: Path) -> None:
    tokens, (owners, anns) = tokens_of(home, "owner", "ann")
    app = _app(tokens=tokens)

    async with asked(app, token=owners) as owner, asked(app, token=anns) as ann:
        answers = await asyncio.gather(owner.get(path), ann.post(path))

    assert [one.json() for one in answers] == [
        {"user": "owner", "home": str(home)},
        {"user": "ann", "home": str(home / "users" / "ann")},
    ]


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer x", "Basic eDp5", "Bearer snellen_" + "A" * 43, "snellen_" + "A" * 43]
)
async def test_strangers_are_asked_for_a_token(home: Path, authorization: str) -> None:
    tokens, _ = tokens_of(home, "ann")
    headers = {"authorization": authorization} if authorization else {}

    async with asked(_app(tokens=tokens)) as client:
        refused = [await client.get(path, headers=headers) for path in ("/who", "/inner/who", "/metrics", "/nowhere")]
        alive = [await client.get(path) for path in ("/health", "/ready", "/login")]

    assert [one.status_code for one in refused] == [401] * 4
    assert all(one.headers["www-authenticate"] == 'Bearer realm="snellen"' for one in refused)
    assert refused[0].json()["error"]["code"] == "token"
    assert [one.status_code for one in alive] == [200] * 3


async def test_basic_will_do_and_revoking_ends_it(home: Path) -> None:
    tokens, (token,) = tokens_of(home, "ann")
    async with asked(_app(tokens=tokens)) as client:
        assert (await client.get("/who", auth=("whoever", token))).json()["user"] == "ann"
        Tokens(home).revoke("ann")
        assert (await client.get("/who", auth=("whoever", token))).status_code == 401


async def test_a_request_through_a_proxy_needs_a_token_even_on_loopback() -> None:
    async with asked(_app()) as client:
        assert (await client.get("/who", headers={"x-forwarded-for": "192.0.2.7"})).status_code == 401


async def test_a_request_from_another_machine_needs_a_token_wherever_the_server_thinks_it_listens() -> None:
    async with asked(_app(), client="192.0.2.7") as client:
        assert (await client.get("/who")).status_code == 401


async def test_cookies_of_other_servers_on_this_machine_do_no_harm(home: Path) -> None:
    tokens, (token,) = tokens_of(home, "ann")
    async with asked(_app(tokens=tokens)) as browser:
        value = (await browser.post("/login", data={"token": token})).cookies["snellen_session"]
        said = f'x={{"a": [1, "b"]}}; =; odd,name=3; snellen_session={value}; "'
        assert (await browser.get("/who", headers={"cookie": said})).json()["user"] == "ann"


async def test_beyond_loopback_nobody_is_let_in_without_a_token() -> None:
    async with asked(_app(ServerSettings(host="0.0.0.0")), host="192.0.2.1:7860") as client:
        assert (await client.get("/who")).status_code == 401


async def test_tokens_that_cannot_be_read_let_nobody_in(home: Path) -> None:
    tokens, (token,) = tokens_of(home, "ann")
    app = _app(tokens=tokens)
    tokens.path.write_text("{")

    async with asked(app, token=token) as client:
        refused = await client.get("/who")
        assert (await client.get("/health")).status_code == 200

    assert refused.status_code == 503
    assert str(home) not in refused.text


async def test_that_a_token_is_used_is_noted(home: Path) -> None:
    tokens, (token,) = tokens_of(home, "ann")
    async with asked(_app(tokens=tokens), token=token) as client:
        await client.get("/who")
        for _ in range(200):
            if tokens.all()[0].last_used:
                break
            await asyncio.sleep(0.01)

    assert tokens.all()[0].last_used


@pytest.mark.parametrize("token", [False, True])
async def test_a_page_that_drives_by_can_do_nothing(home: Path, token: bool) -> None:  # noqa: FBT001
    tokens, (mine,) = tokens_of(home, "owner") if token else (Tokens(home), [""])
    async with asked(_app(tokens=tokens), token=mine) as client:
        posted = await client.post("/who", headers={"origin": "http://evil.example"}, content="{}")
        embedded = await client.get("/who", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"})
        rebound = await client.get("/who", headers={"host": "evil.example:7860"})

    assert [one.status_code for one in (posted, embedded, rebound)] == [403, 403, 400]


async def test_an_allowed_page_gets_what_browsers_ask_for() -> None:
    app = _app(ServerSettings(origins=("https://studio.example",)))
    page = {"origin": "https://studio.example", "sec-fetch-site": "cross-site"}
    wish = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    async with asked(app) as client:
        asked_before = await client.options("/who", headers=page | wish)
        posted = await client.post("/who", headers=page)
        other = await client.post("/who", headers={"origin": "https://evil.example"})

    assert asked_before.status_code == 200
    assert posted.headers["access-control-allow-origin"] == "https://studio.example"
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


async def test_too_many_requests_are_told_when_to_come_again(home: Path) -> None:
    tokens, (anns, bobs) = tokens_of(home, "ann", "bob")
    app = _app(ServerSettings(burst=3, requests_per_second=0.1), tokens=tokens)
    async with asked(app, token=anns, client="192.0.2.1") as ann, asked(app, token=bobs, client="192.0.2.2") as bob:
        statuses = [(await ann.get("/who")).status_code for _ in range(4)]
        refused = await ann.get("/who")
        async with asked(app, token=anns, client="192.0.2.3") as elsewhere:
            assert (await elsewhere.get("/who")).status_code == 429
        assert (await bob.get("/who")).status_code == 200
        assert (await ann.get("/health")).status_code == 200

    assert statuses == [200, 200, 200, 429]
    assert 1 <= int(refused.headers["retry-after"]) <= 10


async def test_users_behind_one_address_do_not_use_it_up_and_strangers_do(home: Path) -> None:
    tokens, (anns, bobs) = tokens_of(home, "ann", "bob")
    app = _app(ServerSettings(burst=3, requests_per_second=0.1), tokens=tokens)
    async with asked(app, token=anns) as ann, asked(app, token=bobs) as bob, asked(app) as stranger:
        assert [(await one.get("/who")).status_code for one in (ann, bob) for _ in range(3)] == [200] * 6
        assert [(await stranger.get("/who")).status_code for _ in range(4)] == [401, 401, 401, 429]


async def test_guessing_tokens_is_limited_by_address(home: Path) -> None:
    tokens, _ = tokens_of(home, "ann")
    app = _app(ServerSettings(burst=3, requests_per_second=0.1), tokens=tokens)
    async with asked(app, token="snellen_" + "A" * 43) as client:
        assert [(await client.get("/who")).status_code for _ in range(4)] == [401, 401, 401, 429]


async def test_only_so_many_requests_are_under_way(home: Path) -> None:
    tokens, (anns, bobs, eves) = tokens_of(home, "ann", "bob", "eve")
    go_on = asyncio.Event()

    async def wait(_: Request) -> Response:
        await go_on.wait()
        return PlainTextResponse("done")

    app = create_app(ServerSettings(requests_each=1, requests_total=2), routes=[Route("/wait", wait)], tokens=tokens)
    async with asked(app, token=anns) as ann, asked(app, token=bobs) as bob, asked(app, token=eves) as eve:
        first = asyncio.create_task(ann.get("/wait"))
        await asyncio.sleep(0.05)
        assert (await ann.get("/wait")).status_code == 429
        second = asyncio.create_task(bob.get("/wait"))
        await asyncio.sleep(0.05)
        assert (await eve.get("/wait")).status_code == 503
        go_on.set()
        assert [(await one).status_code for one in (first, second)] == [200, 200]
        assert (await eve.get("/wait")).status_code == 200


async def test_a_stopping_server_lets_no_new_work_in() -> None:
    app = _app()
    app.state.serving.gate.closed = True
    async with asked(app) as client:
        refused, ready, alive = [await client.get(path) for path in ("/who", "/ready", "/health")]

    assert (refused.status_code, refused.headers["connection"]) == (503, "close")
    assert ready.status_code == 503
    assert alive.status_code == 200


def _socket(url: str) -> str:
    return url.replace("http://", "ws://") + "/echo"


async def test_websockets_pass_the_same_door(home: Path) -> None:
    tokens, (token,) = tokens_of(home, "ann")
    with listening(_app(free_port(), tokens=tokens)) as url:
        async with connect(_socket(url), additional_headers={"authorization": f"Bearer {token}"}) as socket:
            await socket.send("hello")
            assert await socket.recv() == "ann: hello"
        with pytest.raises(InvalidStatus) as stranger:
            await connect(_socket(url))
        with pytest.raises(InvalidStatus) as page:
            await connect(
                _socket(url),
                origin=Origin("http://evil.example"),
                additional_headers={"authorization": f"Bearer {token}"},
            )

    assert stranger.value.response.status_code == 401
    assert page.value.response.status_code == 403


async def test_a_page_of_the_server_itself_may_open_a_websocket() -> None:
    with listening(_app(free_port())) as url:
        async with connect(_socket(url), origin=Origin(url)) as socket:
            await socket.send("hello")
            assert await socket.recv() == "owner: hello"


async def test_two_hosts_in_one_request_are_refused() -> None:
    # h11 refuses them too; another server's parser may not.
    async with asked(_app()) as client:
        answer = await client.get("/who", headers=[("host", "127.0.0.1"), ("host", "evil.example")])

    assert answer.status_code == 400
