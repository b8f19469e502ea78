"""LOC weighs the detector's boxes against segments, and asks VQA for colours, where a profile says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import PIL.Image
import pytest

from snellen.models.vision.detection import Detection
from snellen.models.vision.segmentation import Segment
from snellen.profiles import Profile, load_profile
from snellen.tools.registry import ToolContext, catalogue
from snellen.tools.vision import Models
from snellen.tools.vision.support import supported
from snellen.values import Region
from tests.tools.vision.conftest import MemoryPictures

TAUGHT = ("dog", "cat", "horse")
DOG = Region((10, 10, 30, 30), 0.3, "dog")


def found(*regions: Region, things: tuple[Region, ...] = (), names: tuple[str, ...] = ("dog",)) -> list[Region]:
    return supported(regions, things, names, TAUGHT, sure=0.5)


def test_a_weak_box_needs_a_segment_called_so_and_a_sure_one_needs_none() -> None:
    assert found(DOG) == []
    assert found(DOG, things=(replace(DOG, label="horse"),)) == []
    assert found(replace(DOG, score=0.6)) == [replace(DOG, score=0.6)]
    elsewhere = replace(DOG, box=(60, 60, 80, 80), score=0.9)
    assert found(DOG, things=(elsewhere,)) == [elsewhere]


def test_a_supported_box_is_its_segments_where_they_mean_each_other_alone() -> None:
    outline = Region((12, 8, 32, 30), 0.9, "dog")
    assert found(DOG, things=(outline,)) == [replace(DOG, box=outline.box)]
    other = replace(DOG, box=(12, 12, 32, 28))
    assert found(DOG, other, things=(outline,)) == [DOG, other]


def test_a_segment_called_so_is_found_without_a_box_and_the_best_come_first() -> None:
    missed = Region((50, 50, 70, 70), 0.8, "cat")
    sure = replace(DOG, score=0.6)
    assert found(sure, things=(missed,), names=("dog", "cat")) == [missed, sure]
    assert found(sure, things=(missed,)) == [sure]


def test_a_name_with_a_colour_is_supported_by_the_thing_and_a_learned_name_by_none() -> None:
    red, learned = replace(DOG, label="red dog"), replace(DOG, label="wave")
    assert found(red, things=(DOG,), names=("red dog",)) == [red]
    assert found(red, names=("red dog",)) == []
    assert found(learned, names=("wave",)) == [learned]


class Seeing(Models):
    """Models that see a dog on the left, weakly, and segments of a dog on either side; the left one is red."""

    def detect(self, pictures, names):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        return [[Detection((0, 0, 10, 10), 0.3, name)] if (name := wanted[0]) else [] for wanted in names]

    def segment(self, pictures):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        mask = PIL.Image.new("L", pictures[0].size)
        return [[Segment(mask, box, 0.9, "animal") for box in ((0, 0, 10, 10), (20, 0, 30, 10))]]

    def similarity(self, pictures, texts, *, names=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        return np.array([[0.0 if text == "dog" else -50.0 for text in texts] for _ in pictures], dtype=np.float32)

    def answer(self, pictures, questions):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        red = [picture.getpixel((1, 1))[0] > 99 for picture in pictures]
        return ["yes" if is_red == ("red" in text) else "no" for is_red, text in zip(red, questions, strict=True)]


def located(pictures: MemoryPictures, profile: Profile, words: str) -> list[Region]:
    models = Seeing(profile)
    context = ToolContext(pictures, models, lambda _query, _max, _candidates: [], models.profile)
    image = PIL.Image.new("RGB", (30, 10), "blue")
    image.paste("red", (0, 0, 15, 10))
    tool = catalogue().find("LOC")
    assert tool is not None
    regions: list[Region] = tool(context, image=pictures.put(image), object=words)
    return regions


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dogs", [("dog", 0), ("dog", 20)]),
        ("red dog", [("red dog", 0)]),
        ("blue dogs", [("blue dog", 20)]),
        ("cat", []),
    ],
)
def test_loc_asks_segments_and_vqa_in_the_embedded_profile(
    pictures: MemoryPictures, words: str, expected: list[tuple[str, int]]
) -> None:
    regions = located(pictures, load_profile("embedded"), words)
    assert sorted((region.label, region.box[0]) for region in regions) == expected


def test_the_detector_alone_is_asked_where_the_profile_says_so(pictures: MemoryPictures) -> None:
    alone = load_profile("embedded").detecting_alone()
    assert [(one.label, one.box[0]) for one in located(pictures, alone, "red dog")] == [("red dog", 0)]
    assert [one.label for one in located(pictures, alone, "cat")] == ["cat"]
