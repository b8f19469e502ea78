"""The page over minutes: learning, memory, threads of the command line, an end in the middle of the work."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import Served, serving

Open = Callable[..., Page]

_ROOT = Path(__file__).parents[2]
BEACH = _ROOT / "examples" / "beach.png"

pytestmark = pytest.mark.slow


def run(home: Path, *words: str) -> str:
    """Run the command line in the page's home."""
    environment = os.environ | {"SNELLEN_HOME": str(home), "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "snellen", *words]
    return subprocess.run(command, env=environment, cwd=_ROOT, check=True, capture_output=True, text=True).stdout


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def test_what_is_learned_in_the_chat_is_approved_tried_carried_and_forgotten(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.get_by_label("Ask me before learning").check()
    page.locator("#chat-box textarea").fill("learn what a penguin is")
    page.keyboard.press("Enter")
    allow = page.locator("#chat-allow")
    expect(allow).to_be_visible()
    page.reload()
    expect(page.get_by_label("Ask me before learning")).to_be_checked()
    page.locator("#chat-decide label").filter(has_text="CLASSIFY").click()
    allow.click()
    expect(page.locator("#chat-log .bot.message")).to_contain_text("prompts kept", timeout=180_000)
    expect(page.locator("#chat-trace")).to_contain_text("LOC finds 'penguin' from now on")
    expect(page.locator("#chat-trace")).to_contain_text("It was not approved")

    tab(page, "Memory")
    known = page.locator("#memory-known th[scope=row]")
    expect(known).to_have_text(["penguin"])
    page.locator("#memory-concept input, #memory-concept textarea").first.fill("penguin")
    page.locator("#memory-picture input[type=file]").set_input_files(BEACH)
    expect(page.locator("#memory-picture img")).to_be_visible()
    page.locator("#memory-try").click()
    expect(page.locator("#memory-tried section")).to_have_count(2)
    page.get_by_text("Export and import").click()
    with page.expect_download() as download:
        page.get_by_text("Download the memory").click()
    archive = tmp_path / "learned.zip"
    download.value.save_as(archive)

    page.get_by_role("button", name="Forget", exact=True).or_(page.get_by_text("Forget", exact=True)).first.click()
    page.locator("#memory-chosen label").filter(has_text="penguin").click()
    page.locator("#memory-forget").click()
    page.locator("#memory-no").click()
    expect(known).to_have_text(["penguin"])
    page.locator("#memory-forget").click()
    expect(page.locator("#memory-warning")).to_contain_text("Forget 1 thing?")
    page.locator("#memory-yes").click()
    expect(page.locator("#memory-known")).to_contain_text("Nothing has been learned yet")

    page.locator("#memory-archive input[type=file]").set_input_files(archive)
    expect(page.locator("#memory-archive")).to_contain_text("learned")
    page.locator("#memory-import").click()
    expect(known).to_have_text(["penguin"])


def test_a_run_of_the_command_line_is_corrected_here_and_seen_there(opened: Open, served: Served) -> None:
    run(served.home, "ask", str(BEACH), "Is there a wave?", "--thread", "from-the-shell")
    page = opened("/?thread=from-the-shell")
    expect(page.locator("#thread-head")).to_contain_text("Is there a wave?")
    page.locator("#thread-correction").get_by_label("Or: the right answer").fill("yes")
    page.locator("#thread-correct").click()
    expect(page.locator("#thread-trace")).to_contain_text("What went wrong", timeout=180_000)
    expect(page.locator("#thread-head")).to_contain_text("finished", timeout=180_000)

    assert re.search(r"from-the-shell.*\bright\b", run(served.home, "threads"))


def test_models_are_taught_what_they_cannot_do(opened: Open) -> None:
    page = opened()
    tab(page, "Investigations")
    page.locator("#inquiry-query textarea").fill("Can llava-upright tell left from right?")
    page.keyboard.press("Enter")
    page.locator("#inquiry-teach").click(timeout=120_000)
    expect(page.locator("#inquiry-trace")).to_contain_text("teaching llava-upright", timeout=120_000)
    page.locator("#inquiry-stop").click()
    expect(page.locator("#inquiry-resume")).to_be_visible()


def test_when_the_page_is_ended_in_the_middle_the_shell_goes_on(tmp_path: Path, browser: Browser) -> None:
    with serving(tmp_path / "home", names=()) as served:
        context = browser.new_context(base_url=served.address)
        page = context.new_page()
        page.goto("/")
        tab(page, "Investigations")
        page.locator("#inquiry-query textarea").fill("Can llava-upright tell left from right?")
        page.locator("#inquiry-start").click()
        expect(page.locator("#inquiry-trace .sn-claim")).to_have_count(1)
        page.wait_for_url(re.compile("thread="))
        thread = page.url.partition("thread=")[2]
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(10) == 0
        context.close()

    assert "llava-upright is not good" in run(served.home, "resume", thread)
