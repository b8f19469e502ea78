"""What the tools make of the models' results: labels, null classes, categories, answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.models.vision.detection import Detection, overlap, suppress, to_pixels
from snellen.models.vision.inpainting import canvas
from snellen.profiles import load_profile
from snellen.tools.registry import ToolContext
from snellen.tools.vision import Models, classify, locate, select
from snellen.tools.vision.ask import normalised
from snellen.tools.vision.context import softmax, widened
from snellen.values import Picture, PictureStore, Region

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
NAMES = {"dog": "red", "hen": "green", "chair": "blue"}
RED, GREEN, BLUE = (Region((10 * index, 0, 10 * index + 10, 10), 0.5) for index in range(3))


class ColourBlindfold(Models):
    """Models that take red for a dog, green for a hen and blue for a chair."""

    def similarity(self, pictures, texts, *, names=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        """Twenty for the right name, none otherwise."""
        seen = [picture.getpixel((0, 0)) for picture in pictures]
        wanted = [COLOURS.get(NAMES.get(text, text)) for text in texts]
        return np.array([[20.0 * (colour == name) for name in wanted] for colour in seen], dtype=np.float32)

    def detect(self, pictures, names):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        """A box for each name."""
        return [[Detection((0, 0, 5, 5), 0.9, name) for name in wanted] for wanted in names]


@pytest.fixture
def context(pictures: PictureStore, tmp_path: Path) -> ToolContext:
    concepts = [{"name": name, "group": "animals" if name != "chair" else "furniture"} for name in NAMES]
    groups = {"animals": {"singular": "animal"}, "furniture": {"singular": "piece of furniture"}}
    (tmp_path / "facts.json").write_text(json.dumps({"concepts": concepts, "groups": groups}))
    (tmp_path / "split.json").write_text(json.dumps({"known": list(NAMES)}))
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "embedded"\n[world]\nfacts = "facts.json"\nsplit = "split.json"\n'
        '[models.loc]\nfaces = ["animal", "moon"]\n'
    )
    models = ColourBlindfold(load_profile(file))
    return ToolContext(pictures, models, lambda _query, _max, _candidates: [], models.profile)


@pytest.fixture
def image(context: ToolContext) -> Picture:
    picture = PIL.Image.new("RGB", (30, 10))
    for index, colour in enumerate(COLOURS.values()):
        picture.paste(colour, (10 * index, 0, 10 * index + 10, 10))
    return context.pictures.put(picture)


def test_loc_labels_regions_with_the_members_of_a_group(context: ToolContext, image: Picture) -> None:
    regions = locate.locate(context, image, "animals")
    assert [(region.label, region.picture) for region in regions] == [("dog", image.id), ("hen", image.id)]


def test_facedet_expands_the_names_of_the_profile(context: ToolContext, image: Picture) -> None:
    assert [region.label for region in locate.detect_faces(context, image)] == ["dog", "hen", "moon"]


def test_classify_keeps_only_what_fits_a_category_best(context: ToolContext, image: Picture) -> None:
    labelled = classify.classify(context, image, [RED, GREEN, BLUE], ["dogs", "chair"])
    assert [(region.box, region.label) for region in labelled] == [(RED.box, "dogs"), (BLUE.box, "chair")]
    assert all(region.score > 0.99 for region in labelled)


def test_classify_takes_hypernyms(context: ToolContext, image: Picture) -> None:
    labelled = classify.classify(context, image, [RED, GREEN, BLUE], ["animals"])
    assert [(region.box, region.label) for region in labelled] == [(RED.box, "animals"), (GREEN.box, "animals")]


@pytest.mark.parametrize(("regions", "categories"), [([], ["dog"]), ([RED], []), ([RED], [" "])])
def test_classify_of_nothing_is_nothing(
    context: ToolContext, image: Picture, regions: list[Region], categories: list[str]
) -> None:
    assert classify.classify(context, image, regions, categories) == []


def test_select_by_a_group_takes_what_was_learned_of_it(
    context: ToolContext, image: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEG calls what it knows by its group, and what it has learned by its own name."""
    animal, dog, chair = (
        replace(each, label=name) for each, name in ((RED, "animal"), (GREEN, "dog"), (BLUE, "chair"))
    )
    assert select.select(context, image, [animal, dog, chair], "animals") == [animal]
    monkeypatch.setattr(
        ColourBlindfold, "learned", lambda _, pool: frozenset({"dog", "chair"} if pool == "SEG" else ())
    )
    assert select.select(context, image, [animal, dog, chair], "animals") == [animal, dog]


def test_select_finds_a_description_by_similarity(context: ToolContext, image: Picture) -> None:
    chosen = select.select(context, image, [RED, GREEN, BLUE], "chair")
    assert [region.box for region in chosen] == [BLUE.box]


def test_select_takes_every_region_with_the_label(context: ToolContext, image: Picture) -> None:
    regions = [Region((0, 0, 5, 5), 0.5, "dog"), Region((5, 0, 9, 5), 0.5, "hen"), Region((9, 0, 12, 5), 0.4, "dog")]
    assert select.select(context, image, regions, "dogs") == [regions[0], regions[2]]


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ("leftmost", [RED]),
        ("the rightmost", [BLUE]),
        ("right one", [BLUE]),
        ("on the left", [RED]),
        ("the leftmost thing", [RED]),
        ("leftmost, rightmost", [RED, BLUE]),
        ("leftmost, left", [RED]),
    ],
)
def test_select_understands_places(context: ToolContext, image: Picture, query: str, chosen: list[Region]) -> None:
    assert select.select(context, image, [GREEN, BLUE, RED], query) == chosen


def test_select_looks_only_at_the_category(context: ToolContext, image: Picture) -> None:
    regions = [Region((0, 0, 5, 5), 0.5, "dog"), Region((25, 0, 30, 5), 0.5, "chair")]
    assert select.select(context, image, regions, "rightmost", category="dogs") == [regions[0]]
    assert select.select(context, image, regions, "rightmost", category="moon") == [regions[1]]


def test_select_of_no_regions_is_none(context: ToolContext, image: Picture) -> None:
    assert select.select(context, image, [], "dog") == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes.", "yes"),
        (" two ", "2"),
        ("2", "2"),
        ("a dog", "dog"),
        ("The  Red", "red"),
        ("", ""),
        ("anchor", "anchor"),
    ],
)
def test_answers_are_normalised(answer: str, expected: str) -> None:
    assert normalised(answer) == expected


def test_suppression_keeps_the_better_of_two_overlapping_boxes_whatever_their_names() -> None:
    worse, better = Detection((0, 0, 10, 10), 0.6, "dog"), Detection((1, 0, 10, 10), 0.9, "wolf")
    apart = Detection((20, 20, 30, 30), 0.2, "dog")
    assert suppress([worse, better, apart], iou=0.5) == [better, apart]
    assert suppress([worse, better, apart], iou=0.95) == [better, worse, apart]


def test_overlap_of_boxes() -> None:
    assert overlap((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)
    assert overlap((0, 0, 2, 2), (2, 0, 4, 2)) == 0
    assert overlap((0, 0, 0, 0), (0, 0, 0, 0)) == 0


def test_relative_boxes_become_pixels_inside_the_picture() -> None:
    assert to_pixels((0.5, 0.5, 0.5, 1.0), (100, 40)) == (25, 0, 75, 40)
    assert to_pixels((1.0, 1.0, 1.0, 1.0), (100, 40)) == (50, 20, 100, 40)
    assert to_pixels((0.5, 0.5, 0.0, 0.0), (100, 40)) is None


def test_widened_boxes_stay_inside_the_picture_and_hold_a_pixel() -> None:
    assert widened((10, 10, 20, 20), (100, 100), margin=0.5) == (5, 5, 25, 25)
    assert widened((0, 0, 100, 100), (100, 100), margin=0.5) == (0, 0, 100, 100)
    assert widened((100, 100, 100, 100), (100, 100), margin=0.0) == (99, 99, 100, 100)


def test_softmax_sums_to_one_and_survives_large_logits() -> None:
    assert sum(softmax([1000.0, 999.0, -1000.0])) == pytest.approx(1.0)
    assert softmax([]) == []


def test_the_canvas_keeps_the_shape_on_the_grid() -> None:
    assert canvas((1000, 500), longest=512) == (512, 256)
    assert canvas((10, 1000), longest=512) == (64, 512)
