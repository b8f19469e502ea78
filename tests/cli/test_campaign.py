"""``snellen campaign``: one query asked of many things."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from snellen.cli.main import main
from snellen.errors import SnellenError
from snellen.evaluation.campaigns import (
    Campaign,
    CellResult,
    load_campaign,
    names,
    rank_correlation,
    row_means,
    run_campaign,
)
from snellen.experiments.class_groups import Subjects
from snellen.experiments.examination_plan import planned
from snellen.experiments.understanding import understood
from snellen.memory.home import using_home
from snellen.memory.samples import SampleTable
from snellen.profiles import load_profile
from snellen.reports.campaigns import markdown
from snellen.threads import investigate
from snellen.threads.investigate import InvestigationEvent, InvestigationRequest
from tests.cli.test_investigate import oracle  # noqa: F401 - a fixture
from tests.experiments.investigating import Oracle

MINE = """
title = "Some groups"
query = "Can models recognize {row}?"
rows = ["birds", "quarks", "vehicles"]
images = 120
[groups]
living = ["birds"]
[paper]
living = 0.7
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    return file


@pytest.mark.parametrize("name", names())
def test_every_cell_of_the_shipped_campaigns_leads_to_experiments(name: str) -> None:
    profile = load_profile("embedded")
    for cell in load_campaign(name).cells:
        asked = understood(cell.query, ["clip"], profile).query
        assert planned(asked, Subjects.of(profile), ["clip"]).parts, cell.query


def test_cells_are_investigations_shown_as_a_table_and_a_page(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(
            [
                "campaign",
                str(mine),
                "--models",
                "clip",
                "--out",
                str(tmp_path / "out"),
                "--html",
                str(tmp_path / "page.html"),
            ]
        )
        == 0
    )
    told = capsys.readouterr().out
    assert (tmp_path / "page.html").read_text() == (tmp_path / "out" / "campaign.html").read_text()
    assert "birds: clip 0.9" in told or "birds: clip 1.0" in told
    assert "quarks: This cannot be examined here" in told
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"campaign.html", "campaign.md", "campaign.json"}
    page = (tmp_path / "out" / "campaign.html").read_text()
    assert "Some groups" in page
    assert "hsl(" in page
    assert "0.70" in page
    found = json.loads((tmp_path / "out" / "campaign.json").read_text())
    assert [cell["row"] for cell in found["cells"]] == ["birds", "quarks", "vehicles"]
    assert found["cells"][0]["models"]["clip"]["holds"] is True
    assert found["cells"][0]["models"]["clip"]["answer"] == "yes"
    assert found["cells"][0]["models"]["clip"]["property"] == "good at recognizing birds"
    assert found["groups"][0]["paper"] == 0.7
    asked = sum(oracle.asked.values())
    assert main(["campaign", str(mine), "--models", "clip", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == found["cells"]
    assert sum(oracle.asked.values()) == asked, "what was answered is not asked again"
    assert main(["reports"]) == 0
    assert "mine-birds-" in capsys.readouterr().out


def test_rows_are_compared_with_those_of_the_paper_in_their_order() -> None:
    rows = [f"row {number}" for number in range(8)]
    made = Campaign(
        name="c", title="t", query="{row}", rows=rows, paper_rows={row: n / 8 for n, row in enumerate(rows)}
    )

    def results(order: list[int]) -> list[CellResult]:
        cells = zip(made.cells, order, strict=True)
        return [CellResult(cell, {"a": (0.5 + n / 100, 9), "b": (0.4 + n / 100, 9)}, {}) for cell, n in cells]

    same, opposite = rank_correlation(made, results([*range(8)])), rank_correlation(made, results([*range(8)][::-1]))
    assert same is not None
    assert opposite is not None
    assert same[0] == pytest.approx(1)
    assert opposite[0] == pytest.approx(-1)
    assert same[1] < 0.005
    unrelated = rank_correlation(made, results([3, 7, 1, 5, 0, 6, 2, 4]))
    assert unrelated is not None
    assert unrelated[1] > 0.2
    assert rank_correlation(made, results([0] * 8)) is None
    assert rank_correlation(made, results([*range(8)])[:2]) is None
    assert "| row 7 | 0.52 | 0.88 |" in markdown(made, results([*range(8)]))
    assert row_means(results([*range(8)]))["row 0"] == pytest.approx(0.45)


def test_the_shipped_ones_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("data-types", "type-groups", "classes", "classes-by-types"))
    assert len(load_campaign("data-types").cells) == 27
    assert len(load_campaign("classes-by-types").cells) == 36


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = ", "cannot be read"),
        ('title = "t"\nquery = "Can they see?"\nrows = ["a"]', "needs {row}"),
        ('title = "t"\nquery = "{row} {column}"\nrows = ["a"]', "{column} if there are columns"),
        ('title = "t"\nquery = "{row}"\nrows = []', "its key 'rows' is wrong"),
        ('title = "t"\nquery = "{row}"\nrows = ["a", "A"]', "two of its cells have one name"),
        ('title = "t"\nquery = "{row}"\nrows = ["a"]\n[groups]\ng = ["b"]', "'b', which is no row"),
        ('title = "t"\nquery = "{row}"\nrows = ["a"]\n[paper_rows]\nb = 1', "'b', which is no row"),
        ('title = "t"\nquery = "{row}"\nrows = ["a"]\ncode = "import os"', "its key 'code' is wrong"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_one_sentence(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    assert main(["campaign", str(tmp_path / "bad.toml")]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1


def test_no_such_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "nothing"]) == 2
    assert "name a TOML file, or one of classes" in capsys.readouterr().err


def test_what_is_changed_is_asked_anew(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["campaign", str(mine), "--json", "--models", "clip"]
    found = []
    for changes in ([], [], ["--images", "24"], ["--models", "blip"], ["--seed", "3"]):
        assert main([*command, *changes]) == 0
        found.append(json.loads(capsys.readouterr().out)["cells"][0])
    threads = [one["thread"] for one in found]
    assert threads[0] == threads[1]
    assert len(set(threads)) == 4
    assert found[2]["images"] <= 24
    assert set(found[3]["models"]) == {"clip", "blip"}


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--images", "-1"], "its key 'images' is wrong"), (["--models", "nosuch"], "There is no model 'nosuch'")],
)
def test_what_no_cell_could_do_is_said_once(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    options: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["campaign", str(mine), *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.count(said) == 1
    assert not captured.out


async def test_every_cell_ends_before_the_next_begins(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = []
    stream = investigate.stream_investigate

    async def watched(request: InvestigationRequest, *, thread: str) -> AsyncGenerator[InvestigationEvent]:
        running.append("begun")
        async with aclosing(stream(request, thread=thread)) as events:
            try:
                async for event in events:
                    yield event
            finally:
                running.append("ended")

    monkeypatch.setattr(investigate, "stream_investigate", watched)
    async for _ in run_campaign(load_campaign(str(mine), models=["clip"])):
        assert running[-1] == "ended"
    assert running == ["begun", "ended"] * 3


async def test_cells_that_are_answered_at_a_time_are_those_of_one_after_the_other(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running, most = 0, 0
    stream = investigate.stream_investigate

    async def watched(request: InvestigationRequest, *, thread: str) -> AsyncGenerator[InvestigationEvent]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            async with aclosing(stream(request, thread=thread)) as events:
                async for event in events:
                    yield event
        finally:
            running -= 1

    monkeypatch.setattr(investigate, "stream_investigate", watched)
    rows = ["birds", "quarks", "vehicles"]
    made = load_campaign(str(mine), models=["clip"], rows=rows, images=24)
    with using_home(tmp_path / "alone"):
        alone = [one async for one in run_campaign(made)]
    assert most == 1
    asked = oracle.asked.copy()
    oracle.asked.clear()
    with using_home(tmp_path / "together"):
        together = [one async for one in run_campaign(made, at_once=2)]
    assert most == 2
    assert [one.cell.row for one in together] == rows
    assert together == alone
    assert oracle.asked == asked


async def test_where_a_cell_fails_no_further_one_is_begun_and_the_campaign_goes_on_later(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []
    stream = investigate.stream_investigate

    async def failing(request: InvestigationRequest, *, thread: str) -> AsyncGenerator[InvestigationEvent]:
        begun.append(request.query)
        if "vehicles" in request.query:
            msg = "The disk is full."
            raise SnellenError(msg)
        async with aclosing(stream(request, thread=thread)) as events:
            async for event in events:
                yield event

    rows = ["birds", "vehicles", "fruit"]
    made = load_campaign(str(mine), models=["clip"], rows=rows, images=24)
    with monkeypatch.context() as patch:
        patch.setattr(investigate, "stream_investigate", failing)
        with pytest.raises(SnellenError, match="disk is full"):
            _ = [one async for one in run_campaign(made, at_once=2)]
    assert len(begun) == 2
    assert [one.cell.row async for one in run_campaign(made, at_once=2)] == rows
    assert max(oracle.asked.values()) == 1, "what was measured before is looked up"


def test_an_error_rate_is_of_a_cell_or_of_the_whole_table(
    oracle: Oracle,  # noqa: F811 - the fixture
    mine: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["campaign", str(mine), "--models", "clip", "--images", "24", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    said = "On average at most 5 % of the verdicts of a cell are wrong"
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in (tmp_path / "out" / "campaign.html").read_text()
    assert said in (tmp_path / "out" / "campaign.md").read_text()
    assert main([*command, "--alpha-over", "table"]) == 0
    said = "On average at most 5 % of the verdicts of the whole table are wrong."
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in (tmp_path / "out" / "campaign.html").read_text()
    whole = load_campaign(str(mine), alpha_over="table")
    assert whole.alpha_of_cell == pytest.approx(0.05 / 3)
    assert {cell.thread for cell in whole.cells}.isdisjoint(cell.thread for cell in load_campaign(str(mine)).cells)


@pytest.mark.parametrize("seed", [None, 3])
async def test_cells_share_no_pictures(
    oracle: Oracle,  # noqa: F811 - the fixture
    home: Path,
    mine: Path,
    seed: int | None,
) -> None:
    campaign = load_campaign(str(mine), models=["clip"], images=24, seed=seed)
    async for _ in run_campaign(campaign):
        pass
    samples, threads = SampleTable(home), [cell.thread for cell in campaign.cells]
    birds, _, vehicles = ({one.picture for number in (0, 1) for one in samples.of(name, number)} for name in threads)
    assert birds
    assert vehicles
    assert not birds & vehicles


def test_threads_of_campaigns_from_before_the_ledger_keep_their_names() -> None:
    """Named by the release before it, with the seed 0 that every campaign had."""
    assert load_campaign("classes").cells[0].thread == "classes-animals-c831c0e7"


def test_a_profile_that_the_file_names_is_not_overruled_by_a_default(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine.write_text('profile = "nowhere"\n' + MINE)
    assert main(["campaign", str(mine)]) == 2
    assert "nowhere" in capsys.readouterr().err
