"""NAME, SAME, CAPTION, BACKGROUND, THINGS, KNOWS and a profile's scope, with models that say what they are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen.errors import BadInput
from snellen.models.vision.detection import Detection
from snellen.models.vision.segmentation import Segment, is_ground
from snellen.profiles import load_profile
from snellen.tools.knowledge.scope import catalogue_for, scope_of
from snellen.tools.registry import ToolContext, catalogue
from snellen.tools.vision import Models
from snellen.values import Region, Untaught
from tests.tools.vision.conftest import MemoryPictures


class Scripted(Models):
    """Models that take everything for a dog with probability 0.6 and for a cat with 0.4."""

    def similarity(self, pictures, texts, *, names=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        logits = {"dog": np.log(0.6), "cat": np.log(0.4)}
        return np.array([[logits.get(name, -50.0) for name in texts] for _ in pictures], dtype=np.float32)

    def detect(self, pictures, names):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        return [[Detection((0, 0, 9, 9), 0.9, "dog")] if "dog" in wanted else [] for wanted in names]

    def answer(self, pictures, questions):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        return ["Red." if picture.getpixel((0, 0))[0] > 99 else "blue" for picture in pictures]

    def caption(self, pictures):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        return [f"a picture of {picture.width} pixels" for picture in pictures]

    def segment(self, pictures):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
        mask = PIL.Image.new("L", pictures[0].size)
        mask.paste(255, (0, 0, 9, 9))
        ground = PIL.Image.new("L", pictures[0].size, 255)
        return [
            [Segment(mask, (0, 0, 9, 9), 0.8, "animal"), Segment(ground, (0, 0, 30, 10), 0.7, "striped background")]
        ]


@pytest.fixture
def context(pictures: MemoryPictures) -> ToolContext:
    models = Scripted(load_profile("embedded"))
    return ToolContext(pictures, models, lambda _query, _max, _candidates: [], models.profile)


def call(context: ToolContext, tool: str, **arguments: Any) -> Any:  # noqa: ANN401 - whatever the tool takes and gives
    found = catalogue().find(tool)
    assert found is not None
    image = PIL.Image.new("RGB", (30, 10), "red")
    image.paste((0, 0, 255), (15, 0, 30, 10))
    if found.parameter("image") is not None:
        arguments = {"image": context.pictures.put(image), **arguments}
    return found(context, **arguments)


def test_a_name_weighs_the_classifier_with_the_label(context: ToolContext) -> None:
    unlabelled, cat, animal = (Region((0, 0, 5, 5), 0.9, label) for label in ("", "cat", "animal"))
    named = call(context, "NAME", object=[unlabelled, cat, animal])
    assert [region.label for region in named] == ["dog", "cat", "dog"]
    assert [region.score for region in named] == pytest.approx([0.6, 0.65, 0.57])


def test_regions_are_the_same_by_label_size_or_colour(context: ToolContext) -> None:
    picture = PIL.Image.new("RGB", (30, 10), "red")
    picture.paste((0, 0, 255), (15, 0, 30, 10))
    stored = context.pictures.put(picture).id
    red, blue = Region((0, 0, 9, 9), 0.5, "dogs", picture=stored), Region((20, 0, 25, 9), 0.5, "dog", picture=stored)
    same = {by: call(context, "SAME", object=red, other=blue, by=by) for by in ("label", "size", "colour")}
    assert same == {"label": True, "size": False, "colour": False}
    with pytest.raises(BadInput, match="one list is empty"):
        call(context, "SAME", object=[], other=blue)


def test_a_caption_is_of_the_picture_or_of_a_region(context: ToolContext) -> None:
    assert call(context, "DESCRIBE") == "a picture of 30 pixels"
    assert call(context, "CAPTION", object=Region((10, 0, 20, 10), 0.5)) == "a picture of 12 pixels"
    with pytest.raises(BadInput, match="no region to describe"):
        call(context, "CAPTION", object=[])


def test_segments_tell_things_from_ground(context: ToolContext) -> None:
    assert [(region.label, region.ground) for region in call(context, "SEG")] == [
        ("animal", False),
        ("striped background", True),
    ]
    (ground,) = call(context, "BACKGROUND")
    assert (ground.label, ground.ground, ground.box) == ("striped background", True, (0, 0, 30, 10))
    mask = context.pictures.get(ground.mask)
    assert (mask.getpixel((3, 3)), mask.getpixel((20, 3))) == (0, 255)
    masked = call(context, "MASK", object=[Region((0, 0, 9, 8), 0.5), Region((20, 0, 29, 9), 0.5)])
    assert [region.mask is not None for region in masked] == [True, False]


@pytest.mark.parametrize(("name", "ground"), [("grass", True), ("wall-brick", True), ("sky-other-merged", True),
                                              ("dog", False), ("", False), ("plain background", True)])  # fmt: skip
def test_grounds_are_known_by_their_names(name: str, *, ground: bool) -> None:
    assert is_ground(name) is ground


def test_things_are_all_names_and_what_nobody_was_taught_is_no_absence(context: ToolContext) -> None:
    assert [region.label for region in call(context, "THINGS")] == ["dog"]
    assert call(context, "LOC", object="cats") == []
    assert not isinstance(call(context, "LOC", object="cats"), Untaught)
    assert isinstance(call(context, "LOC", object="unicorns"), Untaught)
    assert call(context, "LOC", object="dog and unicorn")[0].label == "dog"
    assert context.warnings == [
        "No tool was taught 'unicorn': that it was not found says nothing.",
        "No tool was taught 'unicorn': what was found for it is a guess.",
    ]
    assert (call(context, "KNOWS", name="animals"), call(context, "KNOWS", name="unicorn")) == (True, False)


def test_the_catalogue_says_what_a_profile_knows() -> None:
    text = str(catalogue_for(load_profile("embedded")))
    assert "sea animals (dolphin, fish" in text
    assert "It was taught to say: whether a thing is there" in text
    assert scope_of(load_profile("hub")) == {}
