from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import PIL.Image
import PIL.ImageDraw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput, SnellenError
from snellen.tools.editing import blur_background, colour_pop, cover_with_emoji, tag
from snellen.tools.editing.regions import clipped
from snellen.tools.registry import ToolContext, catalogue
from snellen.values import Picture, Region
from tests.tools.doubles import Shelf

OBJECT = Region((20, 30, 40, 60), 0.9, "dog")


@pytest.fixture
def image(shelf: Shelf) -> Picture:
    """A picture of 100x80 whose every pixel is its own colour."""
    rows, columns = np.mgrid[0:80, 0:100]
    pixels = np.stack([columns * 2, rows * 3, (rows * 7 + columns * 13) % 256], axis=-1).astype(np.uint8)
    return shelf.put(PIL.Image.fromarray(pixels))


def pixels_of(shelf: Shelf, picture: Picture) -> npt.NDArray[np.int_]:
    return np.asarray(shelf.get(picture.id)).astype(int)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CROP", (20, 30, 40, 60)),
        ("CROP_LEFTOF", (0, 0, 30, 80)),
        ("CROP_LEFT", (0, 0, 30, 80)),
        ("CROP_RIGHTOF", (30, 0, 100, 80)),
        ("CROP_ABOVE", (0, 0, 100, 45)),
        ("CROP_OVER", (0, 0, 100, 45)),
        ("CROP_BELOW", (0, 45, 100, 80)),
        ("CROP_UNDER", (0, 45, 100, 80)),
        ("CROP_FRONTOF", (10, 30, 50, 80)),
        ("CROP_INFRONTOF", (10, 30, 50, 80)),
        ("CROP_BEHIND", (10, 0, 50, 60)),
    ],
)
def test_crops_keep_their_part(
    name: str, expected: tuple[int, int, int, int], shelf: Shelf, context: ToolContext, image: Picture
) -> None:
    tool = catalogue().find(name)
    assert tool is not None
    worse = Region((0, 0, 5, 5), 0.1)
    cropped = tool(context, image=image, box=[worse, OBJECT])
    x0, y0, x1, y1 = expected
    assert (cropped.width, cropped.height) == (x1 - x0, y1 - y0)
    np.testing.assert_array_equal(pixels_of(shelf, cropped), pixels_of(shelf, image)[y0:y1, x0:x1])
    assert tool(context, image=image, box=[]) == image
    assert "whole picture" in context.warnings[0]


boxes = st.tuples(*[st.integers(-50, 150)] * 4)


@given(boxes, st.tuples(st.integers(1, 100), st.integers(1, 100)))
def test_a_box_is_clipped_to_at_least_one_pixel_of_the_picture(
    box: tuple[int, int, int, int], size: tuple[int, int]
) -> None:
    x0, y0, x1, y1 = clipped(box, size)
    assert 0 <= x0 < x1 <= size[0]
    assert 0 <= y0 < y1 <= size[1]
    assert clipped((x0, y0, x1, y1), size) == (x0, y0, x1, y1)


def round_mask(shelf: Shelf, size: tuple[int, int]) -> PIL.Image.Image:
    mask = PIL.Image.new("L", size, 0)
    PIL.ImageDraw.Draw(mask).ellipse(OBJECT.box, fill=255)
    return mask


def test_colour_pop_keeps_the_object_and_greys_the_rest(shelf: Shelf, context: ToolContext, image: Picture) -> None:
    before, after = pixels_of(shelf, image), pixels_of(shelf, colour_pop(context, image, [OBJECT]))
    inside = np.zeros((80, 100), bool)
    inside[30:60, 20:40] = True
    np.testing.assert_array_equal(after[inside], before[inside])
    assert (np.ptp(after[~inside], axis=-1) == 0).all()


def test_colour_pop_follows_the_mask_where_there_is_one(shelf: Shelf, context: ToolContext, image: Picture) -> None:
    mask = round_mask(shelf, (100, 80))
    masked = replace(OBJECT, mask=shelf.put(mask).id)
    before, after = pixels_of(shelf, image), pixels_of(shelf, colour_pop(context, image, [masked]))
    inside = np.asarray(mask) == 255
    np.testing.assert_array_equal(after[inside], before[inside])
    assert (np.ptp(after[~inside], axis=-1) == 0).all()
    assert (np.ptp(after[30:33, 20:23], axis=-1) == 0).all()


def test_background_blur_keeps_the_object_sharp(shelf: Shelf, context: ToolContext, image: Picture) -> None:
    before, after = pixels_of(shelf, image), pixels_of(shelf, blur_background(context, image, [OBJECT]))
    np.testing.assert_array_equal(after[30:60, 20:40], before[30:60, 20:40])
    assert np.abs(np.diff(after[:, 45:], axis=1)).mean() < np.abs(np.diff(before[:, 45:], axis=1)).mean() / 2


@pytest.mark.parametrize("name", ["face_with_tongue", "face with tongue", "Face-With-Tongue", ":face_with_tongue:"])
def test_an_emoji_covers_the_object_only(name: str, shelf: Shelf, context: ToolContext, image: Picture) -> None:
    before, after = pixels_of(shelf, image), pixels_of(shelf, cover_with_emoji(context, image, [OBJECT], name))
    changed = (before != after).any(axis=-1)
    assert changed[30:60, 20:40].mean() > 0.6
    changed[30:60, 20:40] = False
    assert not changed.any()


@pytest.mark.parametrize("name", ["face_with_tung", "../../etc/passwd", "/", "", "x" * 2_000])
def test_an_unknown_emoji_is_refused_with_near_names(name: str, context: ToolContext, image: Picture) -> None:
    with pytest.raises(BadInput, match=r"There is no emoji named .*; (did you mean|take one such as)"):
        cover_with_emoji(context, image, [OBJECT], name)


def test_without_a_folder_of_art_the_profile_key_is_named(context: ToolContext, image: Picture) -> None:
    with pytest.raises(SnellenError, match=r"set art under \[world\]"):
        cover_with_emoji(replace(context, profile=None), image, [OBJECT], "cat")


def test_tags_are_drawn_within_a_picture_of_the_same_size(shelf: Shelf, context: ToolContext, image: Picture) -> None:
    at_the_edge = Region((90, 0, 130, 90), 0.5, "a label that is longer than the picture is wide")
    tagged = tag(context, image, [OBJECT, at_the_edge, replace(OBJECT, label="")])
    assert (tagged.width, tagged.height) == (100, 80)
    changed = (pixels_of(shelf, image) != pixels_of(shelf, tagged)).any(axis=-1)
    assert changed[30:60, 20].all()
    assert changed[30, 20:40].all()
    assert not changed[35:55, 25:35].any()


def test_without_regions_edits_warn(context: ToolContext, image: Picture) -> None:
    assert tag(context, image, []) == image
    assert cover_with_emoji(context, image, [], "cat") == image
    colour_pop(context, image, [])
    blur_background(context, image, [])
    assert len(context.warnings) == 4
