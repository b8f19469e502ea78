"""LangGraph's server with Snellen's graphs, as ``snellen studio`` starts it, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0


@contextmanager
def studio(home: Path, log: Path) -> Iterator[str]:
    """Run a server on a free port; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "snellen", "studio", "--port", str(port)]
    environment = os.environ | {"SNELLEN_HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, cwd=log.parent, env=environment, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            address = f"http://127.0.0.1:{port}"
            _await(address, process, log)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _await(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{address}/ok", headers={"authorization": ""}).status_code in {200, 401}:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(log.read_text()[-4_000:])


@dataclass(frozen=True)
class Caller:
    """Somebody who uses a server: by LangGraph's client, and by plain requests."""

    sdk: LangGraphClient
    http: httpx.AsyncClient

    async def thread(self) -> str:
        return str((await self.sdk.threads.create())["thread_id"])

    async def run(self, thread: str, graph: str, **given: object) -> dict[str, Any]:
        runs: Any = self.sdk.runs
        return cast("dict[str, Any]", await runs.wait(thread, graph, **given))

    async def values(self, thread: str) -> dict[str, Any]:
        return cast("dict[str, Any]", (await self.sdk.threads.get_state(thread))["values"])

    async def upload(self, picture: Path) -> dict[str, Any]:
        answer = await self.http.post("/artifacts", content=await asyncio.to_thread(picture.read_bytes))
        assert answer.status_code == 201
        return cast("dict[str, Any]", answer.json())


@asynccontextmanager
async def calling(address: str, token: str = "") -> AsyncIterator[Caller]:
    """Use a server; everything is closed afterwards."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        get_client(url=address, headers=headers) as sdk,
        httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as http,
    ):
        yield Caller(sdk, http)
