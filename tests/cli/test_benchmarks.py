"""``snellen prove`` and ``snellen pairs``, over models that say what the test says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from snellen.cli.main import main
from snellen.cli.pairs import read_table
from snellen.errors import BadInput
from snellen.evaluation import resources
from snellen.models.under_test import Card, Question, Ranking

JUDGES = {"idefics3-judge", "llava-judge"}


class Scripted:
    """Every model answers "red", or scores 7."""

    def __init__(self) -> None:
        self.asked = 0

    def card(self, model: str) -> Card:
        pictures = 2 if model in JUDGES else 1
        return Card(model, f"print of {model}", "Scripted", None, "answer", pictures, answers=model != "clip")

    def at_once(self, model: str) -> int:
        return 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        return [Ranking(tuple((0.0,) for _ in one.choices)) for one in questions]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        self.asked += len(questions)
        return ["Score: 7" if len(one.pictures) == 2 else "red" for one in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        return [0.5 + 0.01 * place for place, _ in enumerate(questions)]


@pytest.fixture
def scripted(home: Path, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Ask these models instead of the checkpoints."""
    known, opened = Scripted(), resources.opened

    def made(profile: str) -> resources.BenchmarkResources:
        bench = opened(profile)
        return replace(bench, runner=replace(bench.runner, executor=known))

    monkeypatch.setattr(resources, "opened", made)
    return known


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_free_answers_from_building_to_the_page(
    scripted: Scripted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, out = tmp_path / "bench", tmp_path / "out"
    assert main(["prove", "build", "--out", str(bench), "-n", "5"]) == 0
    said = told(capsys)
    for name in ("program fails", "ambiguous", "kept", "18.3 %", "sample.html", "snellen prove run --bench"):
        assert name in said
    sample = (bench / "sample.html").read_text()
    assert "def verify(scene_graph)" in sample
    assert "data:image/png;base64," in sample
    assert (bench / "funnel.png").stat().st_size > 2_000
    assert main(["prove", "run", "--bench", str(bench), "--out", str(out), "--json"]) == 0
    found = json.loads(told(capsys))
    assert set(found) >= {"models", "funnel", "correlation"}
    assert set(found["models"]) == {"blip", "llava-upright", "blip2-clean", "idefics3-mirrored"}
    assert set(found["models"]["blip"]) >= {"hscore", "tscore", "average", "n", "intervals"}
    assert found["funnel"]["kept"] == found["models"]["blip"]["n"]
    assert any("clip is left out: it compares pictures with texts" in note for note in found["notes"])
    assert {path.name for path in out.iterdir()} == {
        "prove.html",
        "prove.md",
        "prove.json",
        "prove.png",
        "answers.jsonl",
    }
    page = (out / "prove.html").read_text()
    assert "http" not in page.replace("http-equiv", "")
    asked = scripted.asked
    assert main(["prove", "run", "--bench", str(bench), "--metric", "calibrated", "--models", "blip"]) == 0
    assert "oracle" in told(capsys)
    assert scripted.asked == asked, "what was answered is not asked again"


def test_pairs_from_building_to_the_page(
    scripted: Scripted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, out, table = tmp_path / "bench", tmp_path / "out", tmp_path / "others.csv"
    table.write_text("model,other\nclip,3\nidefics3-judge,2\nllava-judge,x\n")
    assert main(["pairs", "build", "--out", str(bench), "-n", "5"]) == 0
    assert "75 pairs of 5 originals" in told(capsys)
    options = ["--bench", str(bench), "--table", str(table)]
    assert main(["pairs", "run", *options, "--out", str(out), "--json"]) == 0
    found = json.loads(told(capsys))
    assert set(found["models"]) == {"clip", *JUDGES}
    judge = found["models"]["llava-judge"]
    assert set(judge) >= {"mmscore", "relaxsym", "smoothness", "controllability", "invalid"}
    assert judge["mmscore"]["pooled"]["sensitive"]["both"]["undefined"] == "all scores are the same"
    assert judge["relaxsym"]["pooled"]["1"]["value"] == 1
    assert judge["smoothness"]["CJ"]["value"] == 0
    assert "knows only one score" in judge["verdict"]
    assert "three models" in found["correlations"]["mmscore"]["other"]["undefined"]
    assert any("blip is left out: it reads one picture at once" in note for note in found["notes"])
    assert {path.name for path in out.iterdir()} == {
        "pairs.html",
        "pairs.md",
        "pairs.json",
        "scores.jsonl",
        "metrics.png",
        "scores.png",
    }
    assert main(["pairs", "run", *options, "--compat"]) == 0
    assert "llava-judge: It cannot be trusted" in told(capsys)


def test_answers_without_a_score_are_shown_escaped(
    scripted: Scripted, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, out, replies = tmp_path / "bench", tmp_path / "out", ("7 or\n8", "`<b>no\x1b[31m", "x" * 900, "", "1,5")
    said = iter(range(10_000))
    monkeypatch.setattr(scripted, "answer", lambda _, asked: [replies[next(said) % 5] for _ in asked])
    assert main(["pairs", "build", "--out", str(bench), "-n", "5"]) == 0
    words = ["pairs", "run", "--bench", str(bench), "--models", "llava-judge"]
    assert main([*words, "--out", str(out)]) == 0
    shown = told(capsys)
    assert "no score in “7 or 8”" in shown
    found = json.loads((out / "pairs.json").read_text())["models"]["llava-judge"]
    assert found["invalid"]["pooled"]["value"] == 1
    assert found["not_understood"] == ["7 or 8", "`<b>no\\x1b[31m", "x" * 119 + "…"]
    assert "&lt;b&gt;no" in (out / "pairs.html").read_text()
    assert "`` '<b>no\\x1b[31m ``" in (out / "pairs.md").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prove", "build"], "required: --out"),
        (["pairs", "build"], "required: --out"),
        (["prove", "run"], "required: --bench"),
        (["pairs", "run"], "required: --bench"),
        (["prove", "run", "--bench", "nowhere"], "no benchmark of questions"),
        (["pairs", "run", "--bench", "nowhere"], "no benchmark of pairs"),
        (["prove", "build", "--out", "b", "--data", "nowhere"], "There is no data 'nowhere'"),
        (["pairs", "build", "--out", "b", "--data", "nowhere"], "There is no data 'nowhere'"),
        (["prove", "build", "--out", "b", "-n", "0"], "needs a picture at least"),
        (["pairs", "build", "--out", "b", "-n", "1"], "two originals at least"),
        (["investigate", "Does blip lie?", "--pictures", "."], "draws from the profile's world"),
        (["investigate", "Does blip lie?", "--correct"], "is not taught yet"),
        (["investigate", "Does clip lie?"], "compares vectors"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], said: str, scripted: Scripted, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_programs_are_never_run_without_their_box(
    scripted: Scripted, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from snellen.scoring.verification import Verifier

    monkeypatch.setattr(Verifier, "available", staticmethod(lambda: False))
    assert main(["prove", "build", "--out", str(tmp_path / "b"), "-n", "1"]) == 1
    assert "pip install 'snellen[prove]'" in capsys.readouterr().err
    assert not (tmp_path / "b" / "questions.jsonl").exists()


@pytest.mark.parametrize("content", ["", "model\nblip\n", "model,other\nblip,high\n", "\x00\xff"])
def test_a_table_without_numbers_is_refused(content: str, tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput, match="The table"):
        read_table(place)


def test_things_in_places_are_read_in_the_form_of_whats_up(
    scripted: Scripted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "whatsup"
    data.mkdir()
    rows = []
    for number in range(3):
        for side, color in (("left", "red"), ("right", "blue")):
            Image.new("RGB", (30, 30), color).resize((30 + number, 30)).save(data / f"{side}{number}.jpeg")
            right = f"A mug {number} to the {side} of a plate."
            rows.append({"image_path": f"{side}{number}.jpeg", "caption_options": [right, "A mug under a plate."]})
    rows += [{"image_path": "../x.jpeg", "caption_options": ["a cup above a bed"]}, {"image_path": "gone.jpeg"}]
    (data / "controlled.json").write_text(json.dumps(rows))
    assert (
        main(["pairs", "build", "--data", str(data), "--kind", "captions", "--out", str(tmp_path / "b"), "-n", "6"])
        == 0
    )
    assert "18 pairs of 6 originals (things in places of whatsup)" in told(capsys)
    pairs = [json.loads(line) for line in (tmp_path / "b" / "pairs.jsonl").read_text().splitlines()]
    texts = {pair["kind"]: pair["text"] for pair in pairs[:3]}
    assert texts["identical"].replace("left", "right") == texts["transformed"].replace("left", "right")
    assert texts["identical"] != texts["transformed"]
    (data / "controlled.json").write_text(json.dumps(rows[:1]))
    words = ["pairs", "build", "--data", str(data), "--kind", "positions", "--out", str(tmp_path / "c"), "-n", "2"]
    assert main(words) == 2
    assert "the other way round" in capsys.readouterr().err
