"""Patterns of failure and headlines in everything that is written about an investigation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from snellen.cli.main import main
from snellen.models.under_test import Question
from tests.cli.test_investigate import oracle  # noqa: F401 - a fixture
from tests.experiments.investigating import Oracle, named

TOLD = re.compile(r"Asked “Is the image noisy\?”, blip answers “yes” to (\d+) of (\d+) pictures, whatever they show")


@pytest.fixture
def always_yes(oracle: Oracle) -> Oracle:  # noqa: F811 - the fixture
    """Let blip say yes to everything, and clip be right."""

    def rate(question: Question, _: bool) -> float:  # noqa: FBT001 - as `Rate` is
        truths, _ = oracle.truths[named(question.pictures[0])]
        return float("yes" in truths)

    oracle.rates["blip"] = rate
    return oracle


def test_a_pattern_is_told_everywhere_with_its_pictures(
    always_yes: Oracle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["investigate", "Can clip and blip identify noise?", "--thread", "t1", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    times, n = map(int, TOLD.search(told).groups())  # type: ignore[union-attr]
    assert times == n >= 24
    assert not re.search(r"Asked “[^”]*”, clip", told)
    report = json.loads((out / "report.json").read_text())
    first = report["patterns"][0]
    assert (first["model"], first["kind"], first["said"], first["experiment"]) == ("blip", "preference", "yes", 1)
    assert first["sentence"] in report["conclusion"]
    for name in ("report.html", "report.md"):
        assert first["sentence"] in (out / name).read_text()
    page = (out / "report.html").read_text()
    block = page[page.index("<h2>Patterns of failure</h2>") : page.index("<h2>Models</h2>")]
    assert block.count("data-picture=") >= len(first["examples"]) == 4
    assert "right: no; answered: yes" in block
    assert main(["export", "t1", "--to", "parquet", "--out", str(tmp_path / "tables")]) == 0
    from pyarrow import parquet

    rows = parquet.read_table(tmp_path / "tables" / "patterns.parquet").to_pylist()
    assert [row["sentence"] for row in rows] == [one["sentence"] for one in report["patterns"]]
    assert rows[0]["pictures"] == [one["picture"] for one in first["examples"]]
    assert rows[0]["low"] > rows[0]["bar"]
    assert len(always_yes.asked) > n


def test_the_headline_says_for_whom_it_is_yes_and_for_whom_no(
    always_yes: Oracle, capsys: pytest.CaptureFixture[str]
) -> None:
    always_yes.rates["blip"] = lambda *_: 0.3
    assert main(["investigate", "Can clip and blip identify noise?", "--thread", "t1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert report["headline"] == "Can clip and blip identify Gaussian noise in pictures? Yes for clip; no for blip."
    assert report["conclusion"].startswith(report["headline"])
