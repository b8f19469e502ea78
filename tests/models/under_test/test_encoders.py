"""Encoders and adapters under test: what a profile names is what is read."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image
from transformers import BitImageProcessorPil, Dinov2Config, Dinov2Model

from snellen.models.under_test import EncoderModel, Question, model_under_test
from snellen.profiles import BadInput, SnellenError, load_profile

RED, BLUE = Image.new("RGB", (28, 28), "red"), Image.new("RGB", (28, 28), "blue")


def profile(tmp_path: Path, text: str) -> Path:
    place = tmp_path / "mine.toml"
    place.write_text(f'extends = "embedded"\n{text}')
    return place


def test_an_encoder_compares_pictures_and_refuses_the_rest(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = Dinov2Config(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14)
    Dinov2Model(config).save_pretrained(tmp_path / "dino")
    BitImageProcessorPil(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}).save_pretrained(
        tmp_path / "dino"
    )
    mine = profile(tmp_path, f'[tested.dino]\nclass = "Dinov2Model"\nfolder = "{tmp_path / "dino"}"\n')
    model = model_under_test(load_profile(str(mine)), "dino")
    assert isinstance(model, EncoderModel)
    assert not model.card.answers
    same, other, back = model.alike([Question((RED, RED), ""), Question((RED, BLUE), ""), Question((BLUE, RED), "")])
    assert same == pytest.approx(1, abs=1e-5)
    assert other == pytest.approx(back)
    assert other < same
    with pytest.raises(BadInput, match="compares two pictures"):
        model.alike([Question((RED,), "a red picture")])
    for refused in (lambda: model.rank([]), lambda: model.answer([])):
        with pytest.raises(SnellenError, match="compares pictures with pictures"):
            refused()


def test_clip_compares_pictures_with_pictures_and_texts() -> None:
    model = model_under_test(load_profile("embedded"), "clip")
    same, text, other = model.alike(  # type: ignore[attr-defined]
        [Question((RED, RED), ""), Question((RED,), "dog"), Question((RED, BLUE), "")]
    )
    assert same == pytest.approx(1, abs=1e-5)
    assert max(text, other) < same
    with pytest.raises(BadInput, match="two pictures, or a picture with a text"):
        model.alike([Question((RED,), "")])  # type: ignore[attr-defined]


def test_an_adapter_that_is_not_there_is_said(tmp_path: Path) -> None:
    text = '[tested.mine]\nclass = "LlavaForConditionalGeneration"\nfolder = "microworld/checkpoints/llava-upright"\n'
    mine = profile(tmp_path, f'{text}adapter = "{tmp_path}"\n')
    with pytest.raises(SnellenError, match=r"tested\.mine\.adapter in .* is no folder that peft wrote"):
        model_under_test(load_profile(str(mine)), "mine")


def test_an_adapter_makes_another_model(tmp_path: Path) -> None:
    judge = model_under_test(load_profile("embedded"), "llava-judge")
    base = model_under_test(load_profile("embedded"), "llava-upright")
    assert judge.card.fingerprint != base.card.fingerprint
    assert judge.card.pictures == 2
    request = Question((RED, RED), "Rate from 1 (unrelated) to 10 (the same) how similar the pictures are.")
    (said,) = judge.answer([request])
    assert said.startswith("score :")
