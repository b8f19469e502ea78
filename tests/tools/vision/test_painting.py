"""What is painted where: windows, parts, frames; and the scores of segments by objectness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from snellen.models.vision.inpainting import canvas, parts, window
from snellen.models.vision.segmentation import by_objectness
from snellen.profiles import Profile
from snellen.tools.editing.replace import framed, replace
from snellen.tools.registry import ToolContext
from snellen.tools.vision import Models
from snellen.values import PictureStore, Region

Noise = Callable[[int], PIL.Image.Image]
SIDES = st.integers(1, 200)


def drawn(size: tuple[int, int], *boxes: tuple[int, int, int, int]) -> PIL.Image.Image:
    mask = PIL.Image.new("L", size, 0)
    for box in boxes:
        mask.paste(255, box)
    return mask


@st.composite
def boxes_in_pictures(draw: Any) -> tuple[tuple[int, int, int, int], tuple[int, int]]:  # noqa: ANN401
    width, height = draw(SIDES), draw(SIDES)
    x, y = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
    return (x, y, draw(st.integers(x + 1, width)), draw(st.integers(y + 1, height))), (width, height)


@given(boxes_in_pictures(), st.floats(0, 2))
def test_a_window_holds_its_box_and_stays_inside_the_picture(
    drawn_box: tuple[tuple[int, int, int, int], tuple[int, int]], margin: float
) -> None:
    box, size = drawn_box
    x0, y0, x1, y1 = window(box, size, margin=margin)
    assert 0 <= x0 <= box[0] < box[2] <= x1 <= size[0]
    assert 0 <= y0 <= box[1] < box[3] <= y1 <= size[1]


def test_a_window_keeps_a_share_around_and_does_not_stretch_beyond_two() -> None:
    assert window((40, 40, 60, 80), (200, 200), margin=0.25) == (35, 30, 65, 90)
    assert window((40, 40, 42, 80), (200, 200), margin=0.0) == (31, 40, 51, 80)
    assert window((0, 0, 20, 20), (200, 200), margin=0.5) == (0, 0, 40, 40)


def test_parts_are_found_by_themselves() -> None:
    mask = drawn((50, 40), (2, 3, 10, 12), (30, 20, 45, 39))
    found = parts(mask)
    assert [each.box for each in found] == [(2, 3, 10, 12), (30, 20, 45, 39)]
    assert [each.mask.getbbox() for each in found] == [each.box for each in found]
    assert parts(drawn((50, 40))) == []


def test_the_canvas_follows_the_grid_of_the_network() -> None:
    assert canvas((128, 128), longest=128, grid=16) == (128, 128)
    assert canvas((50, 25), longest=64, grid=16) == (64, 32)


def test_a_frame_covers_boxes_and_a_little_more_within_the_picture() -> None:
    mask = framed([Region((10, 10, 20, 20), 1.0), Region((0, 30, 5, 40), 1.0)], (50, 40), frame=3)
    assert mask.getbbox() == (0, 7, 23, 40)
    assert np.asarray(mask)[7:23, 7:23].all()
    assert not np.asarray(mask)[:7].any()


@pytest.fixture(scope="module")
def part_painters(hub_profile: Profile) -> Models:
    settings = hub_profile.models.replace
    assert settings is not None
    closely = settings.model_copy(update={"margin": 0.25, "frame": 2, "size": 64, "steps": 2})
    models = hub_profile.models.model_copy(update={"replace": closely})
    return Models(hub_profile.model_copy(update={"models": models}))


def test_parts_are_painted_from_close_by_and_nothing_else_is_touched(
    part_painters: Models, pictures: PictureStore, noise: Noise
) -> None:
    context = ToolContext(pictures, part_painters, lambda *_: [], part_painters.profile)
    picture = noise(1)
    regions = [Region((5, 5, 20, 30), 1.0), Region((40, 50, 60, 75), 1.0)]
    painted = replace(context, pictures.put(picture), regions, "a dog")
    changed = (np.asarray(picture) != np.asarray(pictures.get(painted.id))).any(axis=2)
    asked = np.asarray(framed(regions, picture.size, frame=2)) > 0
    assert changed[5:30, 5:20].any()
    assert changed[50:75, 40:60].any()
    assert not changed[~asked].any()


def test_an_empty_mask_changes_nothing(part_painters: Models, noise: Noise) -> None:
    picture = noise(2)
    assert part_painters.inpaint([picture], [drawn(picture.size)], ["a dog"])[0].tobytes() == picture.tobytes()


def test_whole_pictures_are_made_from_text(part_painters: Models) -> None:
    made = part_painters.imagine(["a dog"], size=(64, 64))[0]
    assert made.size == (64, 64)
    assert np.asarray(made).std() > 0


def test_objectness_keeps_the_label_and_scores_that_there_is_anything() -> None:
    logits = torch.randn(2, 5, 8)
    probabilities = by_objectness(logits).softmax(-1)
    something = 1 - logits.softmax(-1)[..., -1]
    best, label = probabilities[..., :-1].max(-1)
    torch.testing.assert_close(best, something)
    torch.testing.assert_close(label, logits[..., :-1].argmax(-1))
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(2, 5))


def test_objectness_finds_what_has_no_label_of_its_own() -> None:
    unsure = torch.tensor([[[1.0, 1.0, 1.0, 1.0, 0.0]]])
    assert unsure.softmax(-1).max() < 0.5 < by_objectness(unsure).softmax(-1)[..., :-1].max()


def test_objectness_of_certain_nothing_is_finite() -> None:
    certain = torch.tensor([[[0.0, 0.0, 300.0], [300.0, 0.0, 0.0]]])
    assert torch.isfinite(by_objectness(certain).softmax(-1)).all()
