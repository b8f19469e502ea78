"""What Prometheus reads: everything is counted, in a bounded number of series."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from snellen.serving import ServerSettings
from snellen.serving.app import create_app
from snellen.serving.metrics import Metrics
from tests.servers.snellen_server import asked, tokens_of


async def _work(_: Request) -> Response:
    return PlainTextResponse("done")


def _value(metrics: Metrics, name: str, **labels: str) -> float | None:
    found: float | None = metrics.registry.get_sample_value(f"snellen_{name}", labels)
    return found


async def test_requests_are_counted_by_template_whatever_they_ask_for() -> None:
    app = create_app(routes=[Route("/work/{thread}", _work)], mounts=[Mount("/page", app=_work_app)])
    async with asked(app) as client:
        for number in range(30):
            await client.get(f"/work/{number}")
            await client.get(f"/page/{number}")
            await client.request(f"ODD{number}", f"/nowhere/{number}")
        page = await client.get("/metrics")

    metrics: Metrics = app.state.serving.metrics
    assert _value(metrics, "requests_total", route="/work/{thread}", method="GET", status="200") == 30
    assert _value(metrics, "requests_total", route="/page/…", method="GET", status="200") == 30
    assert _value(metrics, "refusals_total", limit="origin") is None
    families = {one.name: one for one in text_string_to_metric_families(page.text)}
    routes = {sample.labels["route"] for sample in families["snellen_requests"].samples}
    assert routes == {"/work/{thread}", "/page/…", "(none)"}
    methods = {sample.labels["method"] for sample in families["snellen_requests"].samples}
    assert methods == {"GET", "OTHER"}
    assert families["snellen_build_info"].samples[0].labels["version"]
    assert "process_resident_memory_bytes" in families
    assert not any("user" in sample.labels for one in families.values() for sample in one.samples)


async def _work_app(scope: object, receive: object, send: object) -> None:
    await PlainTextResponse("done")(scope, receive, send)  # type: ignore[arg-type]


async def test_refusals_are_counted_by_what_refused(home: Path) -> None:
    tokens, (token,) = tokens_of(home, "ann")
    app = create_app(
        ServerSettings(burst=3, requests_per_second=0.001, body_bytes=10),
        routes=[Route("/work", _body, methods=["POST"])],
        tokens=tokens,
    )
    async with asked(app, token=token) as client:
        await client.post("/work", content="x" * 11)
        await client.post("/work", headers={"host": "evil.example"})
        await client.post("/work", headers={"origin": "http://evil.example"})
        await client.post("/work", headers={"authorization": "Bearer x"})
        for _ in range(3):
            await client.post("/work")

    for limit in ("body_bytes", "host", "origin", "token", "rate"):
        assert _value(app.state.serving.metrics, "refusals_total", limit=limit) == 1


async def _body(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def test_work_that_outlives_a_request_is_asked_for_when_the_metrics_are_read() -> None:
    app = create_app()
    jobs = [1, 5]
    app.state.serving.metrics.watch_jobs(running=lambda: jobs[0], waiting=lambda: jobs[1])
    async with asked(app) as client:
        jobs[0] = 2
        page = (await client.get("/metrics")).text

    assert 'snellen_jobs{state="running"} 2.0' in page
    assert 'snellen_jobs{state="waiting"} 5.0' in page


async def test_a_late_event_loop_is_seen() -> None:
    metrics = Metrics(version="1")
    watch = asyncio.create_task(metrics.watch_loop())
    await asyncio.sleep(0.01)
    time.sleep(0.6)  # noqa: ASYNC251 - that is what is to be seen
    await asyncio.sleep(0.02)
    watch.cancel()

    assert (_value(metrics, "event_loop_lag_seconds_sum") or 0) > 0.3


@pytest.mark.parametrize("count", [2])
def test_each_application_counts_for_itself(count: int) -> None:
    found = [create_app().state.serving.metrics for _ in range(count)]
    found[0].refused("host")
    assert [_value(one, "refusals_total", limit="host") for one in found] == [1.0, None]
