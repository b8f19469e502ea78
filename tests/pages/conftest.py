"""The real page in a real browser: one server process and one Chromium for all tests of a module."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from interfaces.serving.users import Tokens

_ROOT = Path(__file__).parents[2]
_STARTS = 120.0
_ENDS = 15.0
_NAMES = ("owner", "ann")


@dataclass(frozen=True)
class Served:
    """A running page."""

    address: str
    home: Path
    tokens: dict[str, str]
    process: subprocess.Popen[str]


@contextmanager
def serving(home: Path, *, names: tuple[str, ...] = _NAMES) -> Iterator[Served]:
    """Serve the page of a home in a process of its own until the block ends."""
    home.mkdir(parents=True, exist_ok=True)
    tokens = {name: Tokens(home).add(name) for name in names}
    environment = os.environ | {"SNELLEN_HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "interfaces.cli", "chat", "--port", "0", "--no-browser"]
    with (home.parent / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, cwd=_ROOT, text=True)
    try:
        yield Served(_address(process), home, tokens, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=_ENDS)


def _address(process: subprocess.Popen[str]) -> str:
    output: IO[str] | None = process.stdout
    assert output is not None
    said = output.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+", said)
    assert found, said
    return found[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    _refuse_without_browser()
    with serving(tmp_path_factory.mktemp("served") / "home") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    _refuse_without_browser()
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])


def _chromium() -> str | None:
    return shutil.which("chromium")


def _refuse_without_browser() -> None:
    if _chromium():
        return
    if os.environ.get("CI") == "true":
        pytest.fail("The page is tested in Chromium, which is not installed.")
    pytest.skip("no Chromium")


@dataclass
class Watched:
    """What pages asked for and complained about while a test ran."""

    address: str
    outside: list[str]
    errors: list[str]

    def watch(self, context: BrowserContext) -> None:
        context.on("request", self._note)
        context.on("weberror", lambda one: self.errors.append(str(one.error)))

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.outside.append(request.url)


@pytest.fixture
def opened(served: Served, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens the page for a user; whatever it does, it asks nobody else for anything and trips over nothing."""
    watched, contexts = Watched(served.address, [], []), []

    def open_page(path: str = "/", *, user: str = "owner", **options: Any) -> Page:
        context = browser.new_context(base_url=served.address, **options)
        contexts.append(context)
        watched.watch(context)
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.goto(path)
        page.fill("#token", served.tokens[user])
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=tab]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert watched.outside == []
    assert watched.errors == []
