"""Further training: other scenes than the first run's, and targets of pictures that are cut and stretched."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertTokenizer, BlipConfig

from snellen.microworld.concepts import HERE, vocabulary
from snellen.microworld.scenes import Scene
from snellen.microworld.training import __main__ as command
from snellen.microworld.training import corpus
from snellen.microworld.training.blip import BlipTraining
from snellen.microworld.training.blip_model import Blip, save_weights
from snellen.microworld.training.corpus import Corpus
from snellen.microworld.training.detection_targets import Things, cut, known_names, within
from snellen.microworld.training.loop import TrainingOutcome

BLIP = HERE / "checkpoints" / "blip"


def drawn(kind: str, series: str, count: int) -> Corpus:
    pictures, lines = corpus._draw_chunk(kind, series, range(count))
    return Corpus(pictures, [Scene.from_json(json.loads(line)) for line in lines])


def test_another_series_has_other_scenes_of_known_things() -> None:
    known = {concept.name for concept in vocabulary().share("known")}
    for kind in ("hard", "crowds", "views"):
        first, again, other = (drawn(kind, series, 8) for series in ("continued", "continued", "train"))
        assert np.array_equal(first.pictures, again.pictures)
        assert not {scene.seed for scene in first.scenes} & {scene.seed for scene in other.scenes}
        assert {thing.concept for scene in first.scenes for thing in scene.objects} <= known


def test_every_other_hard_scene_is_crowded_and_in_any_style() -> None:
    scenes = drawn("hard", "continued", 60).scenes[1::2]
    assert min(len(scene.objects) for scene in scenes) >= 3
    assert len({scene.style for scene in scenes}) > 4
    assert len({scene.weather for scene in scenes}) > 3


def test_a_cut_picture_shows_the_things_of_which_a_third_is_left() -> None:
    boxes = np.array([[0, 0, 40, 40], [50, 50, 90, 90], [60, 0, 100, 20]], dtype=np.float32)
    things = Things(np.array([3, 4, 5]), np.array([-1, 2, 0]), boxes)
    left = within(things, (64, 0, 128, 128))
    assert left.names.tolist() == [4, 5]
    assert left.tints.tolist() == [2, 0]
    # Half as wide a part is stretched to twice its width.
    assert left.boxes.tolist() == [[0, 50, 52, 90], [0, 0, 72, 20]]


def test_a_cut_picture_is_stretched_to_the_whole_side() -> None:
    picture = np.zeros((128, 128, 3), dtype=np.uint8)
    picture[:, 64:] = 255
    assert cut(picture, (64, 0, 128, 64)).min() == 255
    assert cut(picture, (0, 0, 128, 128)).mean() == pytest.approx(127.5)


def test_probes_that_teach_are_not_saved(tmp_path: Path) -> None:
    tokenizer = BertTokenizer.from_pretrained(BLIP)
    model = Blip(BlipConfig.from_pretrained(BLIP), names=len(known_names()))
    model.load_state_dict(load_file(BLIP / "model.safetensors"), strict=False)
    scenes, views = drawn("hard", "test", 16), drawn("views", "test", 4)
    lesson = BlipTraining(model, tokenizer, scenes, views, steps=2, continued=True)
    with torch.no_grad():
        loss, parts = lesson.loss(1)
    assert torch.isfinite(loss)
    assert {"answers", "caption", "match", "name"} <= set(parts)
    save_weights(model, tmp_path)
    saved, shipped = load_file(tmp_path / "model.safetensors"), load_file(BLIP / "model.safetensors")
    assert saved.keys() == shipped.keys()
    assert all(torch.equal(saved[name], weights) for name, weights in shipped.items())


def test_a_further_run_is_recorded_beside_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = TrainingOutcome(5, 1.5, 7, "float32", 1)
    module = SimpleNamespace(continue_training=lambda *_, **__: outcome)
    monkeypatch.setattr(command, "import_module", lambda _: module)
    (tmp_path / "blip").mkdir()
    (tmp_path / "blip" / "training.json").write_text('{"steps": 9}', encoding="utf-8")
    call = ["training", "blip", "--continued", "--steps", "5", "--out", str(tmp_path), "--work", str(tmp_path)]
    for runs in (1, 2):
        monkeypatch.setattr("sys.argv", call)
        command.main()
        record = json.loads((tmp_path / "blip" / "training.json").read_text(encoding="utf-8"))
        assert record["steps"] == 9
        assert [run["steps"] for run in record["continued"]] == [5] * runs


def test_what_has_no_recipe_for_it_is_not_trained_further(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["training", "clip", "--continued"])
    with pytest.raises(SystemExit):
        command.main()
    assert "no recipe" in capsys.readouterr().err


def test_every_training_names_a_module_that_trains() -> None:
    for name, training in command.TRAININGS.items():
        file = HERE / "training" / f"{training.module or name}.py"
        text = file.read_text(encoding="utf-8")
        assert "def train(" in text
        assert ("def continue_training(" in text) == bool(training.continued)
