"""``snellen correct REPORT_ID`` and ``investigate --correct``: models learn what they were found to be weak in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from snellen.cli.main import main
from snellen.experiments.class_groups import Subjects
from snellen.experiments.resources import Teaching
from snellen.experiments.templates import battery
from snellen.memory.adapters import WEIGHTS, AdapterStore
from snellen.models.under_test import AdapterOutcome, LocalModel
from snellen.profiles import CorrectionSettings, load_profile
from snellen.threads import investigate
from tests.experiments.investigating import Oracle, watched
from tests.graphs.test_teaching import FRAGILE, SOUND, Corrected
from tests.models.under_test import architectures

QUERY = "Are the models robust to noise?"


@pytest.fixture(autouse=True)
def examined(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examine models that are right as often as here, and teach them in no time."""
    make = investigate.examining

    def context(profile: str, folder: Path, pictures: str = "") -> object:
        teaching = Teaching(
            read=lambda _: architectures.local("llava"),
            fingerprint=lambda name: f"weights of {name}",
            adapters=AdapterStore(folder),
            battery=lambda: battery(Subjects.of(load_profile("embedded")))[1:2],
            settings=CorrectionSettings(lessons=4, others=4, held_out=2),
        )
        oracle = Oracle(Corrected({"clip": SOUND, "blip": FRAGILE}, SOUND))
        return replace(make(profile, folder, pictures), examination=watched(folder, oracle, teaching=teaching))

    def adapt(_model: LocalModel, _lessons: object, folder: Path, _settings: object, **_: object) -> AdapterOutcome:
        folder.mkdir(parents=True)
        (folder / WEIGHTS).write_bytes(b"weights")
        return AdapterOutcome(1, 2, 3.0, 0.5, 0.9, 0.8, 0.8)

    monkeypatch.setattr(investigate, "examining", context)
    monkeypatch.setattr("snellen.nodes.investigate.model_correction.adapt", adapt)


def _investigated(model: str, thread: str) -> None:
    assert main(["investigate", QUERY, "--models", model, "--thread", thread]) == 0


def test_a_weakness_is_corrected_measured_and_shown(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _investigated("blip", "t1")
    capsys.readouterr()
    out = tmp_path / "out"
    assert main(["correct", "t1", "--html", str(tmp_path / "page.html")]) == 0
    (adapter,) = AdapterStore(home)
    told = " ".join(capsys.readouterr().out.split())
    assert f"blip was corrected by {adapter.name}" in told
    assert "held out 0.50 → 0.90" in told
    page = (tmp_path / "page.html").read_text()
    assert f"blip was corrected by {adapter.name}" in page
    assert "where it was weak" in page
    assert page.count("<h2>Experiment") == 3
    assert main(["report", "t1", "--out", str(out)]) == 0
    assert {one.name for one in out.iterdir()} >= {"corrections.json", "report.json", "report.html", "report.md"}
    written = json.loads((out / "corrections.json").read_text())
    assert written["corrections"][0]["gain"]["mean"] > 0.2
    assert "## Measured again" in (out / "report.md").read_text()
    capsys.readouterr()
    assert main(["investigate", QUERY, "--models", adapter.name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["answers"][0]["holds"] is True


@pytest.mark.slow
def test_one_command_does_both(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["investigate", QUERY, "--models", "blip", "--correct", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"]["answers"][0]["holds"] is False
    (correction,) = told["corrections"]
    assert correction["called"] == next(iter(AdapterStore(home))).name
    assert told["after"]["answers"][0]["holds"] is True


@pytest.mark.slow
def test_exports_have_the_corrected_beside_the_uncorrected(home: Path, tmp_path: Path) -> None:
    from inspect_ai.log import list_eval_logs, read_eval_log
    from pyarrow import parquet

    assert main(["investigate", QUERY, "--models", "blip", "--correct", "--thread", "t"]) == 0
    corrected = next(iter(AdapterStore(home))).name
    assert main(["export", "t", "--to", "parquet", "--out", str(tmp_path / "t")]) == 0
    results = parquet.read_table(tmp_path / "t" / "results.parquet").to_pylist()
    after = {one["experiment"] for one in results if one["model"] == corrected}
    assert after
    assert min(after) > min(one["experiment"] for one in results), "they are counted on"
    samples = parquet.read_table(tmp_path / "t" / "samples.parquet").column("sample").to_pylist()
    assert len(set(samples)) == len(samples)
    trials = parquet.read_table(tmp_path / "t" / "trials.parquet").to_pylist()
    assert {one["sample"] for one in trials} <= set(samples)
    assert main(["export", "t", "--to", "inspect", "--no-pictures", "--out", str(tmp_path / "logs")]) == 0
    logs = [read_eval_log(one, header_only=True) for one in list_eval_logs(str(tmp_path / "logs"))]
    assert {one.eval.model for one in logs} == {"snellen/blip", f"snellen/{corrected}"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["correct", "sound"], "found nothing that a model cannot do"),
        (["correct", "weak", "--answer", "yes"], "is an investigation, which knows what is wrong"),
        (["correct", "weak", "that is wrong"], "is an investigation, which knows what is wrong"),
        (["correct", "nobody"], "no thread"),
        (["investigate", QUERY, "--models", "blip+12345678"], "no model 'blip+12345678'"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    _investigated("clip", "sound")
    if "weak" in words:
        _investigated("blip", "weak")
    capsys.readouterr()
    assert main(words) != 0
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


@pytest.mark.slow
def test_what_was_corrected_is_not_corrected_again(capsys: pytest.CaptureFixture[str]) -> None:
    _investigated("blip", "t")
    assert main(["correct", "t"]) == 0
    capsys.readouterr()
    assert main(["correct", "t"]) != 0
    assert "were corrected: `snellen report t` shows it" in capsys.readouterr().err


def test_a_person_is_asked_and_may_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    _investigated("blip", "t")
    assert main(["correct", "t", "--confirm"]) == 0
    assert "snellen resume t --approve" in capsys.readouterr().err
    assert main(["resume", "t", "--reject"]) == 0
    assert "It was not approved" in " ".join(capsys.readouterr().out.split())
