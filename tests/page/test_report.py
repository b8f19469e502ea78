"""The page of an investigation in a real browser: as long as one reads, with its words whole."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from tests.cli.test_investigate import oracle  # noqa: F401 - a fixture
from tests.reports.test_investigation_page import written  # noqa: F401 - a fixture

BROKEN = """() => {
    const broken = [];
    for (const cell of document.querySelectorAll("th, td")) {
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let text = walker.nextNode(); text; text = walker.nextNode())
            for (const word of text.data.matchAll(/[\\p{L}]+/gu)) {
                const range = document.createRange();
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                const lines = new Set([...range.getClientRects()].map(one => Math.round(one.top)));
                if (lines.size > 1) broken.push(word[0]);
            }
    }
    return broken;
}"""
"""The words in tables that stand on more than one line."""


def test_a_report_of_many_trials_is_no_longer_than_one_reads(
    browser: Browser,
    written: tuple[str, str],  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    file = tmp_path / "seen.html"
    file.write_text(written[0])
    for width in (1_200, 390):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("#explorer[data-ready]")
        assert page.evaluate("document.documentElement.scrollHeight") < 9_000
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BROKEN) == []
        page.close()
