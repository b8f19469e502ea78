"""Every class of the hub profile is read from a folder and run, through the tools that programs call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import PIL.Image
import pytest

import snellen.tools.editing.replace as replace_tool
from snellen.models.vision.language import Captioner
from snellen.profiles import CaptionModel, Profile
from snellen.tools.registry import ToolContext
from snellen.tools.vision import Models, ask, classify, locate, segment, select
from snellen.values import Region

Noise = Callable[[int], PIL.Image.Image]


def test_loc_gives_labelled_boxes_inside_the_picture(context: ToolContext, noise: Noise) -> None:
    picture = noise(1)
    regions = locate.locate(context, context.pictures.put(picture), "cats")
    assert regions
    assert {region.label for region in regions} == {"cat"}
    assert [region.score for region in regions] == sorted((region.score for region in regions), reverse=True)
    for x0, y0, x1, y1 in (region.box for region in regions):
        assert 0 <= x0 < x1 <= picture.width
        assert 0 <= y0 < y1 <= picture.height


def test_detection_equals_the_models_own_forward_pass(hub_models: Models, noise: Noise) -> None:
    import torch

    detector = hub_models.detector()
    checkpoint = detector.checkpoint
    names = ["cat", "dog", "small dog"]
    tokens = checkpoint.tokens([f"a photo of a {name}" for name in names] * 2)
    with torch.inference_mode():
        sight = detector.look([noise(1), noise(2)])
        scores = detector.logits(sight.patches, detector.queries(detector.tokens(names))).sigmoid()
        whole = checkpoint.model(pixel_values=checkpoint.pixels([noise(1), noise(2)]), **tokens)
    np.testing.assert_allclose(scores.numpy(), whole.logits.sigmoid().numpy(), atol=1e-5)
    np.testing.assert_allclose(sight.boxes.numpy(), whole.pred_boxes.numpy(), atol=1e-5)


def test_facedet_asks_for_the_faces_of_the_profile(context: ToolContext, noise: Noise) -> None:
    regions = locate.detect_faces(context, context.pictures.put(noise(1)))
    assert {region.label for region in regions} == {"human face"}


def test_vqa_answers_in_text(context: ToolContext, noise: Noise) -> None:
    answer = ask.answer_question(context, context.pictures.put(noise(1)), "Is there a dog?")
    assert isinstance(answer, str)
    assert answer == answer.casefold().strip()


def test_seg_gives_masks_with_their_boxes(context: ToolContext, noise: Noise) -> None:
    picture = noise(1)
    regions = segment.segment(context, context.pictures.put(picture))
    assert regions
    for region in regions:
        assert region.mask is not None
        mask = context.pictures.get(region.mask)
        assert mask.mode == "L"
        assert mask.size == picture.size
        assert mask.getbbox() == region.box
        assert set(np.unique(np.asarray(mask))) <= {0, 255}


def test_select_scores_the_best_region_against_the_others(context: ToolContext, noise: Noise) -> None:
    image = context.pictures.put(noise(1))
    regions = [Region((0, 0, 30, 30), 0.9), Region((30, 20, 70, 80), 0.8), Region((10, 50, 40, 90), 0.7)]
    chosen = select.select(context, image, regions, "a dog of two colours")
    assert len(chosen) == 1
    assert chosen[0].box in [region.box for region in regions]
    assert 1 / 3 <= chosen[0].score <= 1


def test_classify_labels_regions_with_categories(context: ToolContext, noise: Noise) -> None:
    image = context.pictures.put(noise(1))
    regions = [Region((5 * index, 0, 5 * index + 30, 60), 0.9) for index in range(8)]
    labelled = classify.classify(context, image, regions, ["cat", "dog"])
    assert {region.label for region in labelled} <= {"cat", "dog"}
    assert all(0 <= region.score <= 1 for region in labelled)


def test_replace_paints_only_inside_the_mask(context: ToolContext, noise: Noise) -> None:
    picture = noise(1)
    image = context.pictures.put(picture)
    painted = replace_tool.replace(context, image, [Region((10, 10, 40, 50), 1.0)], "a dog")
    before, after = np.asarray(picture), np.asarray(context.pictures.get(painted.id))
    assert after.shape == before.shape
    changed = (before != after).any(axis=2)
    assert changed[10:50, 10:40].any()
    changed[10:50, 10:40] = False
    assert not changed.any()


def test_replace_paints_the_same_twice(context: ToolContext, noise: Noise) -> None:
    image = context.pictures.put(noise(2))
    regions = [Region((10, 10, 40, 50), 1.0)]
    first, second = (replace_tool.replace(context, image, regions, "a cat") for _ in range(2))
    assert context.pictures.get(first.id).tobytes() == context.pictures.get(second.id).tobytes()


def test_captions_and_matching_run(hub_models: Models, noise: Noise) -> None:
    assert all(isinstance(caption, str) for caption in hub_models.caption([noise(1), noise(2)]))
    probabilities = hub_models.match([noise(1), noise(2)], ["a dog", "two cats in the picture"])
    assert all(0 <= probability <= 1 for probability in probabilities)


def test_of_several_captions_the_matching_head_chooses(hub_profile: Profile, noise: Noise) -> None:
    settings = hub_profile.entry(CaptionModel).model_copy(update={"drafts": 4})
    models = Models(
        hub_profile.model_copy(update={"models": hub_profile.models.model_copy(update={"caption": settings})})
    )
    pictures = [noise(1), noise(2)]

    drafted = Captioner(models.profile, settings)(pictures)

    assert [len(texts) for texts in drafted] == [4, 4]
    for picture, texts, caption in zip(pictures, drafted, models.caption(pictures), strict=True):
        scores = dict(zip(texts, models.match([picture] * 4, list(texts)), strict=True))
        assert scores[caption] == pytest.approx(max(scores.values()), abs=1e-5)


@pytest.mark.parametrize("count", [2, 5])
def test_batched_results_equal_single_ones(hub_models: Models, noise: Noise, count: int) -> None:
    pictures = [noise(number) for number in range(count)]
    texts = ["is there a dog ?", "how many cats are in the picture ?", "what colour ?", "a dog", "no"][:count]
    names = [["dog"], ["cat", "small dog"], ["cat"], ["a", "b", "c"], ["dog", "cat"]][:count]
    assert hub_models.answer(pictures, texts) == [
        hub_models.answer([picture], [text])[0] for picture, text in zip(pictures, texts, strict=True)
    ]
    assert hub_models.caption(pictures) == [hub_models.caption([picture])[0] for picture in pictures]
    np.testing.assert_allclose(
        hub_models.match(pictures, texts),
        [hub_models.match([picture], [text])[0] for picture, text in zip(pictures, texts, strict=True)],
        atol=1e-5,
    )
    np.testing.assert_allclose(
        hub_models.similarity(pictures, texts),
        np.concatenate([hub_models.similarity([picture], texts) for picture in pictures]),
        atol=1e-4,
    )
    for together, picture, wanted in zip(hub_models.detect(pictures, names), pictures, names, strict=True):
        alone = hub_models.detect([picture], [wanted])[0]
        assert [each.name for each in together] == [each.name for each in alone]
        np.testing.assert_allclose([each.score for each in together], [each.score for each in alone], atol=1e-5)


@pytest.mark.slow  # half precision is slow on a CPU
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_every_class_runs_in_half_precision(hub_profile: Profile, noise: Noise, dtype: str) -> None:
    models = Models(hub_profile.model_copy(update={"dtype": dtype}))
    picture, mask = noise(1), PIL.Image.new("L", noise(1).size, 255)
    assert models.detect([picture], [["dog"]])[0]
    assert models.answer([picture], ["is there a dog ?"])
    assert models.caption([picture])
    assert 0 <= models.match([picture], ["a dog"])[0] <= 1
    assert models.segment([picture])[0]
    assert models.similarity([picture], ["a dog"]).dtype == np.float32
    assert models.inpaint([picture], [mask], ["a dog"])[0].size == picture.size
