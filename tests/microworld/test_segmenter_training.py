"""What the segmenter is taught: targets, anchors, the class's loss; and that a saved one is read by the tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import MaskFormerForInstanceSegmentation

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw_array, truths
from snellen.microworld.scenes import recipe, sample_scene
from snellen.microworld.training import maskformer, segmentation_targets
from snellen.microworld.training.corpus import Corpus
from snellen.microworld.training.detection_targets import known_names
from snellen.microworld.training.maskformer import SegmenterInTraining, SegmenterShape, SegmenterTraining
from snellen.microworld.training.maskformer_decoder import Apart, Decoder, Maps, begin_decoder
from snellen.microworld.training.segmentation_targets import labels, panoptic, stuff
from snellen.profiles import Profile, load_profile
from snellen.tools.vision import Models

TINY = SegmenterShape(widths=(16, 16, 16), depths=(1, 1, 1), features=32, hidden=32, layers=2)
SCENES = [sample_scene(f"segmenter/{index}", recipe(vocabulary().share("known"))) for index in range(12)]


@pytest.fixture(scope="module")
def pictures() -> Corpus:
    return Corpus(np.stack([draw_array(scene) for scene in SCENES]), SCENES)


@pytest.fixture
def pupil() -> SegmenterInTraining:
    torch.manual_seed(3)
    return SegmenterInTraining(maskformer.config(TINY), len(known_names()))


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
    cells = segmentation_targets.thing_map(panoptic(scene), len(scene.objects), side=16)
    for index, truth in enumerate(truths(scene)):
        rows, columns = np.nonzero(cells == index)
        assert len(rows)
        assert all(truth.mask[8 * r : 8 * r + 8, 8 * c : 8 * c + 8].any() for r, c in zip(rows, columns, strict=True))


def test_place_codes_follow_the_middle_and_turn_with_a_flip() -> None:
    masks = np.zeros((2, 128, 128), dtype=np.bool_)
    masks[0, 10:30, 40:60] = True
    masks[1, 60:68, 60:68] = True
    codes = segmentation_targets.place_codes(masks)
    flipped = segmentation_targets.place_codes(masks[:, :, ::-1])
    assert codes.shape == (2, segmentation_targets.PLACES)
    assert not np.allclose(codes[0], flipped[0])
    np.testing.assert_allclose(codes[1], flipped[1], atol=1e-6)


@pytest.fixture
def begun(pictures: Corpus) -> SegmenterInTraining:
    """A pupil whose decoder is ready to tell things apart."""
    torch.manual_seed(3)
    pupil = SegmenterInTraining(maskformer.config(TINY), len(known_names())).eval()
    begin_decoder(pupil.segmenter, Maps.of(pupil.segmenter, pictures, range(12)).pixels)
    return pupil


def test_anchored_queries_look_at_their_places() -> None:
    torch.manual_seed(0)
    model = MaskFormerForInstanceSegmentation(maskformer.config()).eval()
    begin_decoder(model, torch.randn(4, 64, 12, 12))
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


def test_what_cells_contain_never_moves_the_first_look(begun: SegmenterInTraining, pictures: Corpus) -> None:
    maps = Maps.of(begun.segmenter, pictures, range(12))
    decoder = Decoder(begun.segmenter)
    lesson = Apart(decoder, maps)
    learned = [each for each in decoder.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=1e-2)
    attention = decoder.transformer.decoder.layers[0].encoder_attn
    channels = attention.k_proj.weight.abs().sum(0) > 0
    before = attention.k_proj.weight.clone()
    for step in range(3):
        torch.autograd.backward(lesson.loss(step)[0])
        optimizer.step()
        optimizer.zero_grad()

    assert torch.equal(attention.k_proj.weight, before)
    assert 0 < channels.sum() < len(channels)
    assert (decoder.transformer.input_projection is None) or not (
        decoder.transformer.input_projection.weight[channels].any()
    )
    assert not decoder.transformer.decoder.layers[0].self_attn_layer_norm.weight[channels].any()


def test_features_of_pixels_have_one_size_and_a_constant(begun: SegmenterInTraining, pictures: Corpus) -> None:
    pixels = Maps.of(begun.segmenter, pictures, range(12)).pixels.float()
    flat = pixels.permute(0, 2, 3, 1).reshape(-1, pixels.shape[1])
    sizes = torch.linalg.eigvalsh(torch.cov(flat.T))
    assert flat.mean(0).norm() == pytest.approx(3.0, abs=0.1)
    assert sizes[0] < 1e-3
    assert sizes[-1] < 1.2


def test_every_segment_is_owned_once_by_the_query_nearest_to_it() -> None:
    for scene in SCENES:
        truth = panoptic(scene)
        wanted = segmentation_targets.wanted_of(truth, side=48)
        owned = wanted.lying[wanted.owns].tolist()
        assert sorted(owned) == list(range(len(truth.labels)))
        assert (wanted.labels[wanted.owns] == torch.from_numpy(truth.labels)[owned]).all()
        assert (wanted.labels[wanted.lying < 0] == len(labels())).all()


def test_each_lesson_teaches_its_part(begun: SegmenterInTraining, pictures: Corpus) -> None:
    lesson = SegmenterTraining(begun, pictures, pictures)
    maps = Maps.of(begun.segmenter, pictures, range(12))
    losses = {"seeing": lesson.seeing, "apart": Apart(Decoder(begun.segmenter), maps).loss, "together": lesson.together}
    taught = {}
    for name, loss_of in losses.items():
        begun.zero_grad(set_to_none=True)
        loss, parts = loss_of(2)
        torch.autograd.backward(loss)
        assert torch.isfinite(loss)
        assert ("thing IoU" in parts) is (name != "seeing")
        moved = [each for each, parameter in begun.named_parameters() if parameter.grad is not None]
        taught[name] = {part for part in ("pixel_level", "transformer", "head") if any(part in one for one in moved)}
    assert taught["seeing"] == {"pixel_level", "head"}
    assert taught["apart"] == {"transformer"}
    assert taught["together"] == {"pixel_level", "transformer", "head"}


def test_queries_learn_to_tell_things_apart(begun: SegmenterInTraining, pictures: Corpus) -> None:
    decoder = Decoder(begun.segmenter)
    lesson = Apart(decoder, Maps.of(begun.segmenter, pictures, range(12)))
    optimizer = torch.optim.AdamW([each for each in decoder.parameters() if each.requires_grad], lr=3e-3)
    first = lesson.loss(0)[0].item()
    for step in range(30):
        loss, _ = lesson.loss(step)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    assert lesson.loss(0)[0].item() < 0.8 * first
    states = decoder.transformer(lesson.maps.cells[:4].float(), output_hidden_states=True).hidden_states[-1]
    assert states[:, :25].std(dim=1).mean() > 5e-3, "queries that are all equal tell nothing apart"


def test_a_step_is_the_same_whenever_it_is_made(begun: SegmenterInTraining, pictures: Corpus) -> None:
    begun.eval()
    lesson = SegmenterTraining(begun, pictures, pictures)
    for loss_of in (lesson.seeing, lesson.together):
        assert loss_of(7)[0].item() == pytest.approx(loss_of(7)[0].item())


def test_the_tool_reads_what_training_writes(pupil: SegmenterInTraining, pictures: Corpus, tmp_path: Path) -> None:
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
