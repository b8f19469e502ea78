"""Browsers log in by a form, and stay in by a cookie that no script and no other page can use."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from snellen.serving.app import create_app
from snellen.serving.login import _local
from tests.servers.snellen_server import HOST, asked, tokens_of


async def _who(request: Request) -> Response:
    return PlainTextResponse(request.state.user.name)


@pytest.fixture
def tokens(home: Path) -> list[str]:
    return tokens_of(home, "ann")[1]


def _client() -> httpx.AsyncClient:
    return asked(create_app(routes=[Route("/who", _who, methods=["GET", "POST"])]))


async def test_a_browser_is_led_to_the_form_and_back(tokens: list[str]) -> None:
    async with _client() as browser:
        sent_away = await browser.get("/who", headers={"accept": "text/html,*/*"})
        form = await browser.get(sent_away.headers["location"])
        logged_in = await browser.post("/login", data={"token": f" {tokens[0]} ", "next": "/who"})
        there = await browser.get(logged_in.headers["location"])

    assert (sent_away.status_code, sent_away.headers["location"]) == (303, "/login?next=/who")
    assert 'name="next" value="/who"' in form.text
    assert (logged_in.status_code, there.text) == (303, "ann")
    cookie = logged_in.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie
    assert tokens[0] not in cookie


async def test_over_tls_the_cookie_stays_on_tls(tokens: list[str]) -> None:
    async with _client() as browser:
        answer = await browser.post(f"https://{HOST}/login", data={"token": tokens[0]})

    assert "secure" in answer.headers["set-cookie"].lower()
    assert "strict-transport-security" in answer.headers


async def test_a_wrong_token_is_told_and_gives_no_cookie(tokens: list[str]) -> None:
    async with _client() as browser:
        answer = await browser.post("/login", data={"token": "snellen_" + "A" * 43})
        huge = await browser.post("/login", data={"token": tokens[0], "x": "y" * 5000})

    assert answer.status_code == huge.status_code == 401
    assert "set-cookie" not in answer.headers
    assert 'role="alert"' in answer.text


async def test_another_page_cannot_log_a_browser_in_or_use_its_cookie(tokens: list[str]) -> None:
    evil = {"origin": "http://evil.example"}
    async with _client() as browser:
        assert (await browser.post("/login", data={"token": tokens[0]}, headers=evil)).status_code == 403
        await browser.post("/login", data={"token": tokens[0]})
        assert (await browser.post("/who")).status_code == 200
        assert (await browser.post("/who", headers=evil)).status_code == 403


async def test_a_wrong_token_is_not_made_good_by_a_cookie(tokens: list[str]) -> None:
    async with _client() as browser:
        await browser.post("/login", data={"token": tokens[0]})
        assert (await browser.get("/who", headers={"authorization": "Bearer wrong"})).status_code == 401


async def test_logging_out_ends_it(tokens: list[str]) -> None:
    async with _client() as browser:
        await browser.post("/login", data={"token": tokens[0]})
        assert (await browser.get("/login")).status_code == 303
        await browser.post("/logout")
        assert (await browser.get("/who")).status_code == 401


async def test_where_nobody_needs_a_token_there_is_nothing_to_log_in_to() -> None:
    async with _client() as browser:
        answer = await browser.get("/login?next=/who")
    assert (answer.status_code, answer.headers["location"]) == (303, "/who")


@given(st.text() | st.from_regex(r"[/\\]{1,3}[a-z.]{1,9}[\r\n]?.*"))
@pytest.mark.parametrize("prefix", ["", "/", "//", "/\\", "\\/", "https://"])
def test_after_logging_in_nobody_is_sent_elsewhere(prefix: str, text: str) -> None:
    there = _local(prefix + text)
    assert there.startswith("/")
    assert there[1:2] not in {"/", "\\"}
    assert there.isprintable()
    assert httpx.URL(f"http://{HOST}").join(there.replace(" ", "%20")).host == "127.0.0.1"


async def test_what_the_form_repeats_is_escaped(tokens: list[str]) -> None:
    async with _client() as browser:
        answer = await browser.get("/login", params={"next": '/"><script>alert(1)</script>'})
    assert "<script>" not in answer.text
