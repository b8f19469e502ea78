"""The page of an investigation and its Markdown: what stands on them, and what does not."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import BboxBase

from snellen.cli.main import main
from snellen.reports import charts, evaluations, pairs
from snellen.reports.investigation_page import render
from snellen.reports.investigation_text import markdown
from snellen.threads.investigate import InvestigationResult
from tests.cli.test_investigate import oracle  # noqa: F401 - a fixture
from tests.experiments.investigating import Oracle
from tests.graphs.test_protocols import investigated

QUERY = "Are clip and blip good at recognizing birds?"


@pytest.fixture
def written(oracle: Oracle, tmp_path: Path) -> tuple[str, str]:  # noqa: F811 - the fixture
    """Return the page and the Markdown of an investigation of several hundred trials."""
    oracle.rates = {"clip": lambda *_: 0.76, "blip": lambda *_: 0.76}
    page, text = tmp_path / "page.html", tmp_path / "report.md"
    command = ["investigate", QUERY, "--thread", "t1", "--budget", "images=300"]
    with ThreadPoolExecutor(1) as elsewhere:  # a browser of another test may have an event loop in this thread
        assert elsewhere.submit(main, [*command, "--html", str(page)]).result() == 0
        assert elsewhere.submit(main, ["report", "t1", "--markdown", str(text)]).result() == 0
    assert sum(oracle.asked.values()) > 300
    return page.read_text(), text.read_text()


def test_all_trials_are_in_the_explorer_and_the_words_stand_above_it(written: tuple[str, str]) -> None:
    page, text = written
    evidence = json.loads(page.partition('id="explorer-evidence">')[2].partition("</script>")[0])
    trials = evidence["trials"]
    said = re.search(r"([\d,]+) answers with their pictures", page)
    assert said
    assert int(said[1].replace(",", "")) == len(trials["sample"]) > 300
    assert {evidence["models"][one] for one in trials["model"]} == {"clip", "blip"}
    words = [page.index(f">{title}<") for title in ("Models", "Reproduce", "Evidence")]
    assert words == sorted(words)
    assert page.index(html.escape(QUERY)) < words[0]
    assert page.index("snellen investigate") < words[2]
    assert "# Are clip and blip" in text


def test_drawings_are_not_called_photos(written: tuple[str, str]) -> None:
    for text in written:
        assert "TextToImageGeneration" not in text
        assert "photo" not in text
    assert "| drawn: bird" in written[1]


def test_models_are_listed_with_what_they_are(written: tuple[str, str]) -> None:
    for text in written:
        assert "a BLIP of 5.5 million parameters, trained in the microworld; not the public checkpoint" in text


async def test_of_a_pair_both_pictures_are_shown_and_its_figure_is_one(tmp_path: Path) -> None:
    report, _ = await investigated(tmp_path, "Can I trust honest and biased to judge similarity under blur?", "pairs")
    found = InvestigationResult("t", report)
    page, text = render(found, tmp_path), markdown(found)
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert figures
    assert all(figure.count("<img") == 2 for figure in figures)
    means = {one.claim.model: one.mean for one in report.findings if one.claim.measure == "order"}
    for name, mean in means.items():
        assert f"| {name} |" in text
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} | ") and " (" in line)
        assert row.split(" | ")[2].startswith(f"{mean:.2f} (")
        assert re.search(rf"<tr><td>{name}</td><td>[^<]*</td>\s*<td>{mean:.2f} \(", page)
    assert "concordance" in text
    assert "a drawing, and the same under blur" in text


def drawn(figure: Figure) -> tuple[list[BboxBase], list[BboxBase]]:
    """Return the places of a figure's legends and of its axes."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    inside = [axes.get_legend() for axes in figure.axes]
    legends = [one for one in [*figure.legends, *inside] if one is not None]
    return [one.get_window_extent() for one in legends], [axes.get_window_extent() for axes in figure.axes]


def scores() -> Figure:
    rows = [
        SimpleNamespace(condition="sensitive", truth=right, forward=score, backward=score)
        for right in (10, 6, 1)
        for score in range(1, 11)
    ]
    judges = [SimpleNamespace(name=name, encoder=False, of=lambda _: rows) for name in ("one", "two")]
    figure: Figure = pairs._scores(SimpleNamespace(judges=judges))  # type: ignore[arg-type]
    return figure


def curve() -> Figure:
    request = SimpleNamespace(without=(), family="vqa", share="novel", setting="online", seed=1)
    values = {"with": [0.0, 1.0] * 20, "without": [1.0, 0.0] * 20}
    figure: Figure = evaluations._curve(SimpleNamespace(curve=values, request=request))  # type: ignore[arg-type]
    return figure


def bars() -> Figure:
    figure: Figure
    figure, axes = charts.figure_of(6.0, 3.0)
    for place in range(5):
        axes.bar([place], [1.0], label=f"a judge with a long name, number {place}")
    charts.below(figure, axes, columns=2)
    return figure


@pytest.mark.parametrize("make", [scores, curve, bars])
def test_no_legend_covers_what_is_drawn(make: Callable[[], Figure]) -> None:
    legends, axes = drawn(make())
    assert legends
    assert not any(legend.overlaps(one) for legend in legends for one in axes)
