"""What every answer of a server has in common."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from snellen.errors import BadInput, SnellenError
from snellen.serving import Refusal, ServerSettings
from snellen.serving.app import create_app
from tests.servers.snellen_server import HOST, asked, tokens_of


async def _data(_: Request) -> Response:
    return JSONResponse({})


async def _page(_: Request) -> Response:
    return HTMLResponse("<p>hello</p>")


async def _own(_: Request) -> Response:
    return Response("x", headers={"content-security-policy": "default-src 'self'", "cache-control": "max-age=60"})


async def _style(_: Request) -> Response:
    return Response("p {}", media_type="text/css")


async def _bad(_: Request) -> Response:
    msg = "The picture is broken."
    raise BadInput(msg)


async def _trouble(_: Request) -> Response:
    msg = "The memory at /somewhere/private cannot be used: the disk is full."
    raise SnellenError(msg)


async def _fails(_: Request) -> Response:
    msg = "at /somewhere/private"
    raise RuntimeError(msg)


async def _full(_: Request) -> Response:
    msg = "All places are taken; try again in a moment."
    raise Refusal(503, "jobs", msg, retry_after=4.2)


_DOCUMENT = Path(__file__).parents[2] / "docs" / "serving.md"

_ROUTES = [
    Route(f"/{one.__name__.strip('_')}", one) for one in (_data, _page, _own, _style, _bad, _trouble, _fails, _full)
]


@pytest.mark.parametrize("path", ["/data", "/page", "/health", "/nowhere", "/fails", "/style"])
async def test_every_answer_has_the_headers_that_protect(path: str) -> None:
    async with asked(create_app(routes=_ROUTES)) as client:
        headers = (await client.get(path)).headers
        refused = (await client.get(path, headers={"host": "evil.example"})).headers

    for one in (headers, refused) if path != "/health" else (headers,):
        assert one["x-content-type-options"] == "nosniff"
        assert one["cross-origin-resource-policy"] == "same-origin"
        assert one["referrer-policy"] == "same-origin"
        assert "frame-ancestors" in one["content-security-policy"]
        assert "unsafe-eval" not in one["content-security-policy"]
        assert one["x-request-id"]
    assert ("'none'" in headers["content-security-policy"].split(";")[0]) == (path != "/page")
    assert headers.get("cache-control") == (None if path == "/style" else "no-store")


async def test_a_handler_may_say_otherwise() -> None:
    async with asked(create_app(routes=_ROUTES)) as client:
        headers = (await client.get("/own")).headers
        assert headers.get_list("content-security-policy") == ["default-src 'self'"]
        assert headers["cache-control"] == "max-age=60"
        assert "strict-transport-security" not in headers
        assert "strict-transport-security" in (await client.get(f"https://{HOST}/own")).headers


async def test_errors_tell_the_owner_why_and_others_only_what(home: Path) -> None:
    tokens, (owners, anns) = tokens_of(home, "owner", "ann")
    app = create_app(routes=_ROUTES, tokens=tokens)
    async with asked(app, token=owners) as owner, asked(app, token=anns) as ann:
        bad = await ann.get("/bad")
        mine, theirs = await owner.get("/trouble"), await ann.get("/trouble")
        surprise = await owner.get("/fails")

    assert (bad.status_code, bad.json()["error"]["message"]) == (400, "The picture is broken.")
    assert (mine.status_code, theirs.status_code, surprise.status_code) == (500, 500, 500)
    assert "/somewhere/private" in mine.json()["error"]["message"]
    assert "/somewhere/private" not in theirs.text + surprise.text
    assert surprise.headers["x-request-id"] in surprise.json()["error"]["message"]


async def test_a_handler_may_refuse_as_the_guard_does() -> None:
    app = create_app(routes=_ROUTES)
    async with asked(app) as client:
        answer = await client.get("/full")

    assert (answer.status_code, answer.headers["retry-after"], answer.json()["error"]["code"]) == (503, "5", "jobs")
    assert app.state.serving.metrics.registry.get_sample_value("snellen_refusals_total", {"limit": "jobs"}) == 1


def test_the_document_has_every_setting_with_its_default() -> None:
    told = _DOCUMENT.read_text()
    units = {"body_bytes": "32 MiB", "picture_bytes": "10 MiB"}
    for field in dataclasses.fields(ServerSettings):
        assert f"`{field.name}`" in told or field.name in {"host", "port", "session_seconds"}
        if isinstance(field.default, int | float) and field.name not in {"port", "session_seconds"}:
            (row,) = [
                line for line in told.splitlines() if line.startswith("|") and f"`{field.name}`" in line.split("|")[1]
            ]
            assert units.get(field.name, f"{field.default:g}") in row.split("|")[2]


def test_the_document_names_metrics_that_exist() -> None:
    metrics = create_app().state.serving.metrics
    served = metrics.page()[0].decode()
    named = re.findall(r"`(snellen_\w+)(?:{[\w,]+})?`", _DOCUMENT.read_text())
    assert len(named) >= 8
    for name in named:
        assert f"# TYPE {name} " in served
