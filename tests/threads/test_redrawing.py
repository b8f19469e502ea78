"""`snellen memory verify` draws again what an investigation drew from the profile's world."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen import page
from snellen.cli import main
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.checkpoints import DATABASE as CHECKPOINTS
from snellen.memory.samples import DATABASE, Sample, SampleTable
from snellen.runtime.context import Context
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.threads import investigate
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import make_context
from tests.threads.event_streams import gathered


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def scripted(_: str, folder: Path, *__: object) -> Context:
        oracle = Oracle({"clip": lambda *_: 0.99})
        return replace(make_context(folder), examination=watched(folder, oracle))

    monkeypatch.setattr(investigate, "examining", scripted)
    return home


@pytest.fixture
async def album(home: Path) -> list[Sample]:
    request = InvestigationRequest(query="Can clip recognize fruit?", models=["clip"], budget={"images": 60})
    await gathered(investigate.stream_investigate(request, thread="mine"))
    return SampleTable(home).of("mine", 0)


def verified(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main.main(("memory", "verify", "--json", *options)) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_pictures_of_a_world_are_drawn_again(
    home: Path, album: list[Sample], capsys: pytest.CaptureFixture[str]
) -> None:
    store = ArtifactStore(home / FOLDER)
    assert verified(capsys)["clean"]
    gone, spoilt = Path(store.place(album[0].picture)), Path(store.place(album[-1].picture))
    before = [gone.read_bytes(), spoilt.read_bytes()]
    gone.unlink()
    spoilt.write_bytes(before[1][:-20])

    seen = verified(capsys, "--dry-run")
    assert ([one["kind"] for one in seen["findings"]], seen["lost"]) == (["rebuilt", "rebuilt"], 0)
    assert not gone.exists()
    told = verified(capsys)
    assert [one["kind"] for one in told["findings"]] == ["rebuilt", "rebuilt"]
    assert (told["samples"] >= len(album), told["pictures"] > 0, told["trials"] > 0) == (True, True, True)
    assert [gone.read_bytes(), spoilt.read_bytes()] == before
    assert verified(capsys)["clean"]


def test_where_no_thread_can_be_read_all_else_is_still_looked_at(
    home: Path, album: list[Sample], capsys: pytest.CaptureFixture[str]
) -> None:
    for file in home.glob(f"{CHECKPOINTS}*"):
        file.unlink()
    (home / CHECKPOINTS).write_bytes(b"no database " * 500)
    Path(ArtifactStore(home / FOLDER).place(album[0].picture)).unlink()

    assert main.main(("memory", "verify", "--dry-run", "--json")) == 1
    told = json.loads(capsys.readouterr().out)

    assert [one["kind"] for one in told["findings"]] == ["lost", "lost"]
    assert [Path(one["place"]).stem for one in told["findings"]] == ["checkpoints", album[0].picture]


def test_samples_that_a_report_is_about_are_drawn_again(
    home: Path, album: list[Sample], capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(home / DATABASE)) as rows, rows:
        rows.execute("DELETE FROM samples WHERE round = 1 AND experiment = 0")

    (seen,) = verified(capsys, "--dry-run")["findings"]
    assert (seen["kind"], seen["place"]) == ("rebuilt", "experiment 1 of mine")
    assert len(SampleTable(home).of("mine", 0)) < len(album)
    verified(capsys)
    assert SampleTable(home).of("mine", 0) == album
    assert verified(capsys)["clean"]


def test_the_examples_of_the_page_are_stored_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ArtifactStore(home / FOLDER)
    example = store.ingest(Path(page.__file__).parent / "examples" / "scene.png").id
    SampleTable(home).add([Sample("mine", 0, 0, 0, example, example, "dog", "an example")])
    Path(store.place(example)).unlink()

    (found,) = verified(capsys)["findings"]

    assert (found["kind"], Path(found["place"]).stem) == ("rebuilt", example)
    assert store.is_whole(example)
