"""Make the pictures of docs/chat.md anew: ``python docs/pictures/page.py``, with Chromium installed.

The page is served from a memory of its own, and used as a person would.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_HERE: Final = Path(__file__).resolve().parent
_ROOT: Final = _HERE.parents[1]
_PATIENCE: Final = 180_000
"""Milliseconds that models may take."""


def main() -> None:
    """Serve the page, use it, and keep what it looks like."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "snellen", "chat", "--port", "0", "--no-browser"]
        environment = os.environ | {"SNELLEN_HOME": home}
        server = subprocess.Popen(  # noqa: S603 - our own program
            command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            found = re.search(r"http://\S+", server.stdout.readline() if server.stdout else "")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                _use(browser, found[0] if found else "")
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate()


def _use(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 820})
    page.set_default_timeout(_PATIENCE)
    _open(page, address)
    page.get_by_role("button", name="What color is the house left of the dog?").click()
    page.locator("#chat-log .bot.message", has_text="Purple").wait_for()
    page.locator("#chat-stop").wait_for(state="detached")
    conversation = page.url
    _keep(page, "page-chat")

    page.get_by_role("tab", name="Investigations").click()
    page.locator("#inquiry-query textarea").fill("Can llava-upright tell left from right?")
    page.locator("#inquiry-approve input").check()
    page.locator("#inquiry-start").click()
    page.locator("#inquiry-allow").click()
    page.locator("#inquiry-teach").wait_for()
    _keep(page, "page-investigation")

    page.get_by_role("tab", name="Chat").click()
    page.locator("#chat-new").click()
    page.get_by_label("Ask me before learning").check()
    page.locator("#chat-box textarea").fill("learn what a penguin is")
    page.keyboard.press("Enter")
    page.locator("#chat-allow").wait_for()
    _keep(page, "page-approval")
    page.locator("#chat-allow").click()
    page.locator("#chat-log .bot.message", has_text="kept").wait_for()

    page.emulate_media(color_scheme="dark")
    page.get_by_role("tab", name="Memory").click()
    page.locator("#memory-known th", has_text="penguin").wait_for()
    _keep(page, "page-memory-dark")
    page.get_by_role("tab", name="Threads").click()
    page.locator("#threads-found label", has_text="left from right").click()
    page.locator("#thread-story .sn-claim").wait_for()
    _keep(page, "page-threads-dark")

    _edit_design(browser, address)

    phone = browser.new_page(viewport={"width": 360, "height": 740})
    _open(phone, conversation)
    phone.locator("#chat-log .bot.message").wait_for()
    _keep(phone, "page-phone")


def _edit_design(browser: Browser, address: str) -> None:
    """Keep what an experiment looks like that is asked about, with the form of its design."""
    page = browser.new_page(viewport={"width": 1200, "height": 1500})
    page.set_default_timeout(_PATIENCE)
    _open(page, address)
    page.get_by_role("tab", name="Investigations").click()
    page.locator("#inquiry-query textarea").fill("Are clip and llava-upright robust to blur?")
    page.locator("#inquiry-approve input").check()
    page.locator("#inquiry-start").click()
    page.locator("#inquiry-allow").wait_for()
    page.get_by_text("Change the design").click()
    page.locator("#inquiry-form fieldset").first.wait_for()
    _keep(page, "page-design")


def _open(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-ready]")


def _keep(page: Page, name: str) -> None:
    from PIL import Image

    page.wait_for_timeout(1_500)
    file = _HERE / f"{name}.png"
    page.screenshot(path=file)
    # A palette is enough for a page, and a quarter of the size.
    Image.open(file).convert("RGB").quantize(256).save(file, optimize=True)


if __name__ == "__main__":
    main()
