"""``snellen serve``: what it refuses, what it serves, how it ends."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from snellen.cli import main
from snellen.cli.server_app import limited, offered, server_app
from snellen.errors import BadInput
from snellen.serving import ServerSettings, Tokens
from snellen.serving.jobs import Jobs
from tests.servers.chat_server import SCENE, data_url
from tests.servers.snellen_server import asked

Json = Any
PICTURE = SCENE.read_bytes()
ROOT = Path(__file__).parents[2]


def options(*limits: str) -> argparse.Namespace:
    none: list[str] = []
    return argparse.Namespace(
        host="127.0.0.1", port=0, allow_host=none, allow_origin=none, proxy=none, picture_host=none, limit=limits
    )


def test_beyond_this_machine_it_wants_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["serve", "--host", "0.0.0.0", "--port", "0", "--no-page"]) == 2
    assert "snellen tokens add owner" in capsys.readouterr().err


def test_limits_are_set_by_name() -> None:
    settings, jobs = limited(options("requests_each=8", "body_seconds=0.5", "jobs_running=2"))

    assert (settings.requests_each, settings.body_seconds, jobs.running) == (8, 0.5, 2)
    assert isinstance(settings.requests_each, int)
    assert limited(options("thread_days=0"))[0].thread_days == 0


@pytest.mark.parametrize(
    "said", ["nosuch=1", "port=80", "burst", "burst=0", "burst=many", "jobs_nosuch=1", "jobs_each=-1"]
)
def test_other_limits_are_refused(said: str) -> None:
    with pytest.raises(BadInput, match="limit"):
        limited(options(said))


def test_profiles_are_offered_by_plain_names(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "embedded"\n')
    other = tmp_path / "embedded.toml"
    other.write_text('extends = "embedded"\n')

    assert offered(["embedded", str(mine)]) == {"embedded": "embedded", "mine": str(mine)}
    with pytest.raises(BadInput, match="rename"):
        offered(["embedded", str(other)])
    with pytest.raises(BadInput):
        offered(["nosuch"])


async def test_what_programs_need_is_served_to_each_user_alone(home: Path) -> None:
    await asyncio.to_thread(home.mkdir)
    tokens = {name: Tokens(home).add(name) for name in ("owner", "ann")}
    app = server_app(Jobs(), ServerSettings(), {"embedded": "embedded"}, page=False, tokens=Tokens(home))
    async with asked(app, token=tokens["ann"]) as ann, asked(app, token=tokens["owner"]) as owner:
        stored = (await ann.post("/artifacts", content=PICTURE)).json()
        again = (await ann.post("/artifacts", json={"picture": data_url()})).json()
        seen = await ann.get(f"/artifacts/{stored['id']}.png")
        hidden = await owner.get(f"/artifacts/{stored['id']}.png")
        listed = (await ann.get("/threads")).json()
        ready = await ann.get("/ready")
        metrics = (await ann.get("/metrics")).text
        missing = await ann.get("/reports/none.json")

    assert stored["id"] == again["id"]
    assert (seen.status_code, hidden.status_code, missing.status_code) == (200, 404, 404)
    assert seen.headers["etag"] == f'"{stored["id"]}"'
    assert listed == {"threads": [], "of": 0}
    assert ready.json() == {"ready": True, "failing": [], "status": "ready"}
    assert 'snellen_jobs{state="running"} 0.0' in metrics


@contextmanager
def served(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``snellen serve`` until the block ends; yields the process and where it listens."""
    env = os.environ | {"SNELLEN_HOME": str(home), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "snellen", "serve", "--port", "0", "--no-page", "--no-warm-up", *words]
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            assert first.startswith("Snellen listens on http://127.0.0.1:"), first
            yield process, first.split(",")[0].rpartition(" ")[2]
        finally:
            process.kill()


def snellen(home: Path, *words: str) -> Json:
    env = os.environ | {"SNELLEN_HOME": str(home), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "snellen", *words], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_an_investigation_that_the_end_of_the_server_stopped_is_resumed(home: Path) -> None:
    """A token is needed and believed, SIGTERM ends it within 10 seconds, and the command line goes on."""
    home.mkdir()
    token = Tokens(home).add("owner")
    with served(home) as (process, url):
        body = {
            "model": "embedded",
            "messages": [{"role": "user", "content": "Is clip robust to rotation?"}],
            "stream": True,
        }
        headers = {"authorization": f"Bearer {token}"}
        seen: list[str] = []
        with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, headers=headers, timeout=120) as stream:
            thread = stream.headers["x-snellen-thread"]
            began = 0.0
            for line in stream.iter_lines():
                seen.append(line)
                if "asking" in line and not began:
                    began = time.monotonic()
                    process.send_signal(signal.SIGTERM)
        assert process.wait(12) == 0
        assert time.monotonic() - began < 10
    assert any('"code": "stopped"' in line for line in seen), seen[-3:]
    (before,) = snellen(home, "threads", "--json")
    ended = snellen(home, "resume", thread, "--json")

    assert (before["thread"], before["graph"]) == (thread, "chat")
    assert before["status"].startswith("stopped")
    assert ended["last"]["graph"] == "investigate"
    assert ended["messages"][-1]["who"] == "ai"


@pytest.mark.slow
def test_probes_are_answered_at_once_while_it_works(home: Path) -> None:
    with served(home) as (_, url):
        question = {"role": "user", "content": [
            {"type": "text", "text": "How many dogs are there?"},
            {"type": "image_url", "image_url": {"url": data_url()}},
        ]}  # fmt: skip
        asking = threading.Thread(
            target=httpx.post, args=(f"{url}/v1/chat/completions",),
            kwargs={"json": {"model": "embedded", "messages": [question]}, "timeout": 120},
        )  # fmt: skip
        waits: list[float] = []
        asking.start()
        while asking.is_alive():
            began = time.monotonic()
            assert httpx.get(f"{url}/health", timeout=60).status_code == 200
            waits.append(time.monotonic() - began)
            time.sleep(0.02)

    # A loaded machine slows both the work and the probes: a probe that waited for the work would take most of it.
    assert len(waits) > 10
    assert max(waits) < sum(waits) / 2


@pytest.mark.slow
def test_two_servers_of_one_home_go_on_with_each_others_conversations(home: Path) -> None:
    with served(home) as (_, one), served(home) as (_, other):

        def sent(url: str, thread: str, *messages: Json, stream: bool = False) -> Json:
            return {
                "url": f"{url}/v1/chat/completions",
                "json": {"model": "embedded", "messages": messages, "stream": stream},
                "headers": {"x-snellen-thread": thread},
                "timeout": 120,
            }

        question = {"role": "user", "content": [
            {"type": "text", "text": "How many dogs are there?"},
            {"type": "image_url", "image_url": {"url": data_url()}},
        ]}  # fmt: skip
        answer = httpx.post(**sent(one, "held", question)).json()["choices"][0]["message"]
        reasons = httpx.post(**sent(other, "held", question, answer, {"role": "user", "content": "why?"})).json()
        investigation = {"role": "user", "content": "Is clip robust to rotation?"}
        with httpx.stream("POST", **sent(one, "long", investigation, stream=True)) as stream:
            next(line for line in stream.iter_lines() if "asking" in line)
            meanwhile = httpx.post(**sent(other, "long", investigation))
        threads = httpx.get(f"{other}/threads").json()["threads"]

    assert "dog" in reasons["choices"][0]["message"]["content"]
    assert (meanwhile.status_code, meanwhile.json()["error"]["code"]) == (409, "busy")
    assert {each["thread"] for each in threads} == {"held", "long"}
