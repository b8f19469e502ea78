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
from typing import IO

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from snellen.serving.users import Tokens

_ROOT = Path(__file__).parents[2]
_STARTS = 120.0
_ENDS = 60.0
_NAMES = ("owner", "ann")

# What is expected is waited for, and no longer than it takes: the usual five seconds measure the machine's load.
expect.set_options(timeout=120_000)


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
    command = [sys.executable, "-m", "snellen", "chat", "--port", "0", "--no-browser"]
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

    def watch(self, page: Page) -> None:
        page.on("request", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.outside.append(request.url)


@pytest.fixture(scope="module")
def contexts(served: Served, browser: Browser) -> Iterator[Callable[[str], BrowserContext]]:
    """Returns the browser of a user, who is logged in."""
    known: dict[str, BrowserContext] = {}

    def context_of(user: str) -> BrowserContext:
        if user not in known:
            known[user] = browser.new_context(base_url=served.address)
            known[user].set_default_timeout(120_000)
            page = known[user].new_page()
            page.goto("/")
            page.fill("#token", served.tokens[user])
            page.keyboard.press("Enter")
            page.wait_for_selector("[role=tab]")
            page.close()
        return known[user]

    yield context_of
    for context in known.values():
        context.close()


@pytest.fixture
def opened(served: Served, contexts: Callable[[str], BrowserContext]) -> Iterator[Callable[..., Page]]:
    """Opens the page for a user; whatever it does, it asks nobody else for anything and trips over nothing."""
    watched = Watched(served.address, [], [])
    pages: list[Page] = []

    def open_page(path: str = "/", *, user: str = "owner") -> Page:
        page = contexts(user).new_page()
        pages.append(page)
        watched.watch(page)
        page.goto(path)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert watched.outside == []
    assert watched.errors == []
