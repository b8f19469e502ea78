"""What the segmenter is taught: targets, anchors, the class's loss; and that a saved one is read by the tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import MaskFormerForInstanceSegmentation

from microworld.concepts import vocabulary
from microworld.drawing import draw_array, truths
from microworld.scenes import recipe, sample_scene
from microworld.training import maskformer
from microworld.training.corpus import Corpus
from microworld.training.maskformer import Lesson, Pupil, Shape, labels, panoptic, stuff
from microworld.training.owlvit import known_names
from profiles import Profile, load_profile
from tools.vision import Models

TINY = Shape(widths=(16, 16, 16), depths=(1, 1, 1), features=32, hidden=32, layers=2)
SCENES = [sample_scene(f"segmenter/{index}", recipe(vocabulary().share("known"))) for index in range(12)]


@pytest.fixture(scope="module")
def pictures() -> Corpus:
    return Corpus(np.stack([draw_array(scene) for scene in SCENES]), SCENES)


@pytest.fixture
def pupil() -> Pupil:
    torch.manual_seed(3)
    return Pupil(maskformer.config(TINY), len(known_names()))


def test_segments_are_disjoint_and_fill_the_picture() -> None:
    for scene in SCENES:
        truth = panoptic(scene)
        assert (truth.masks.sum(axis=0) == 1).all()
        assert truth.masks.any(axis=(1, 2)).all()
        things = [labels()[label] for label in truth.labels if labels()[label] not in stuff()]
        words = vocabulary()
        assert things == [words.groups[words.concept(o.concept).group].singular for o in scene.objects]


def test_labels_can_be_selected_by_the_singular_of_a_group() -> None:
    assert {"animal", "fruit", "person", "grass", "striped background"} <= set(labels())
    assert len(set(labels())) == len(labels())
    assert "animal" not in stuff()
    assert "sky" in stuff()


def test_a_thing_map_names_what_covers_a_cell() -> None:
    scene = SCENES[0]
    cells = maskformer.thing_map(panoptic(scene), len(scene.objects), side=16)
    for index, truth in enumerate(truths(scene)):
        rows, columns = np.nonzero(cells == index)
        assert len(rows)
        assert all(truth.mask[8 * r : 8 * r + 8, 8 * c : 8 * c + 8].any() for r, c in zip(rows, columns, strict=True))


def test_place_codes_follow_the_middle_and_turn_with_a_flip() -> None:
    masks = np.zeros((2, 128, 128), dtype=np.bool_)
    masks[0, 10:30, 40:60] = True
    masks[1, 60:68, 60:68] = True
    codes = maskformer.place_codes(masks)
    flipped = maskformer.place_codes(masks[:, :, ::-1])
    assert codes.shape == (2, maskformer.PLACES)
    assert not np.allclose(codes[0], flipped[0])
    np.testing.assert_allclose(codes[1], flipped[1], atol=1e-6)


def test_anchored_queries_begin_by_looking_at_their_places() -> None:
    torch.manual_seed(0)
    model = MaskFormerForInstanceSegmentation(maskformer.config())
    maskformer.anchor_queries(model)
    module = model.model.transformer_module
    width, side = 128, 12
    codes = module.position_embedder(torch.Size((1, width, side, side)), torch.device("cpu"), torch.float32)[0]
    attention = module.decoder.layers[0].encoder_attn
    queries = attention.q_proj(module.queries_embedder.weight[:25]).view(25, 4, -1)
    keys = attention.k_proj(codes.flatten(1).T).view(side * side, 4, -1)
    seen = (torch.einsum("qhd,khd->qhk", queries, keys) * attention.scaling).softmax(-1).mean(1).view(25, side, side)
    middles = torch.arange(side) + 0.5
    down, across = seen.sum(2) @ middles / side, seen.sum(1) @ middles / side
    wanted = (torch.arange(5) + 0.5) / 5
    assert (down.view(5, 5) - wanted[:, None]).abs().max() < 0.12
    assert (across.view(5, 5) - wanted[None]).abs().max() < 0.12


@pytest.mark.parametrize("step", [0, 9])
def test_both_lessons_give_gradients(pupil: Pupil, pictures: Corpus, step: int) -> None:
    loss, parts = Lesson(pupil, pictures, pictures, 10).loss(step)
    torch.autograd.backward(loss)
    assert torch.isfinite(loss)
    assert ("dice" in parts) is (step == 9)
    taught = {name for name, parameter in pupil.named_parameters() if parameter.grad is not None}
    assert any(name.startswith("segmenter.model.transformer_module") for name in taught) is (step == 9)


def test_a_step_is_the_same_whenever_it_is_made(pupil: Pupil, pictures: Corpus) -> None:
    pupil.eval()
    lesson = Lesson(pupil, pictures, pictures, 10)
    assert lesson.loss(7)[0].item() == pytest.approx(lesson.loss(7)[0].item())


def test_the_tool_reads_what_training_writes(pupil: Pupil, pictures: Corpus, tmp_path: Path) -> None:
    with torch.no_grad():
        pupil.segmenter.class_predictor.bias[-1] = -10.0
    maskformer.save(pupil.segmenter, tmp_path / "maskformer")
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "embedded"\nname = "mine"\n[models.seg]\nclass = "MaskFormerForInstanceSegmentation"\n'
        'folder = "maskformer"\nthreshold = 0.1\noverlap = 0.0\nobjectness = true\n'
    )
    profile: Profile = load_profile(file)
    from PIL import Image

    found = Models(profile).segment([Image.fromarray(pictures.pictures[0])])[0]
    assert found
    assert {each.name for each in found} <= set(labels())
