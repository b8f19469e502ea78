"""Pictures are the same bytes everywhere, and boxes and masks are exactly what is drawn."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.microworld.concepts import ART, vocabulary
from snellen.microworld.drawing import draw, draw_array, single, truths
from snellen.microworld.scenes import (
    FURTHER_STYLES,
    GROUND_COLOURS,
    GROUNDS,
    PATTERNS,
    SIDE,
    STYLES,
    WEATHERS,
    Scene,
    SceneObject,
    recipe,
    sample_scene,
)

SCENE = Scene(
    seed="golden",
    pattern="checked",
    colour="yellow",
    style="flat",
    weather="clear",
    objects=(
        SceneObject("dog", "dog.png", 8, 70, 40, "medium", "red", mirrored=True),
        SceneObject("house", "house.png", 60, 10, 56, "large", "", mirrored=False),
        SceneObject("bee", "honeybee.png", 12, 12, 28, "small", "blue", mirrored=False),
    ),
)
SEEDS = st.integers(0, 10_000)


def digest(scene: Scene) -> str:
    return hashlib.sha256(draw_array(scene).tobytes()).hexdigest()[:16]


GOLDEN_STYLES: dict[str, str] = {
    "flat": "0169631678946ceb",
    "sketch": "844f67f460ccb16b",
    "pastel": "3a0cf689fc7c1e5e",
    "mosaic": "3fb8d9ba3e8df69d",
    "embossed": "a7c6648e0660f179",
    "grayscale": "8808b577758e73a5",
    "posterized": "85181d5df809d848",
    "cartoon": "ae03f6bbda9ce06c",
    "plushie": "d21148e3e19214f5",
    "graffiti": "a54a0a7e11b06e5e",
    "embroidery": "c3636964123027b5",
    "origami": "7810514710100b5e",
    "sculpture": "5dd1756bc7a0bb49",
    "tattoo": "b969d4b886521255",
    "tiger stripes": "dc73af539788ee2f",
}
GOLDEN_WEATHERS: dict[str, str] = {
    "clear": "0169631678946ceb",
    "sunny": "6efda0acdfabfa18",
    "rainy": "7b5e5add4b112da3",
    "snowy": "0b412959a05de53e",
    "foggy": "d9274396702e65b9",
}
GOLDEN_PATTERNS: dict[str, str] = {
    "plain": "afc8d959bd502b66",
    "gradient": "62b714bb89fef3b4",
    "striped": "2bc321c144e93c94",
    "checked": "d64bb45ccd072e93",
    "dotted": "6ed2d71e3adfc17e",
    "grass": "ea81a170854317a6",
    "sand": "fb2551cf46745df7",
    "water": "d619580db9e29446",
    "road": "ab202a199913b2f4",
}


@pytest.mark.parametrize("style", STYLES + FURTHER_STYLES)
def test_every_style_draws_the_same_bytes_on_any_machine(style: str) -> None:
    assert digest(replace(SCENE, style=style)) == GOLDEN_STYLES[style]


@pytest.mark.parametrize("weather", WEATHERS)
def test_every_weather_draws_the_same_bytes_on_any_machine(weather: str) -> None:
    assert digest(replace(SCENE, weather=weather)) == GOLDEN_WEATHERS[weather]


@pytest.mark.parametrize("pattern", PATTERNS + GROUNDS)
def test_every_background_draws_the_same_bytes_on_any_machine(pattern: str) -> None:
    colour = "" if pattern in GROUNDS else "blue"
    assert digest(replace(SCENE, pattern=pattern, colour=colour)) == GOLDEN_PATTERNS[pattern]


def test_another_process_draws_the_same_scene_from_a_seed() -> None:
    code = (
        "import hashlib;from snellen.microworld.concepts import vocabulary;"
        "from snellen.microworld.drawing import draw_array;"
        "from snellen.microworld.scenes import recipe, sample_scene;"
        "scenes=[sample_scene(s, recipe(vocabulary().concepts)) for s in range(20)];"
        "print(hashlib.sha256(b''.join(draw_array(s).tobytes() for s in scenes)).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    scenes = [sample_scene(seed, recipe(vocabulary().concepts)) for seed in range(20)]
    here = hashlib.sha256(b"".join(draw_array(scene).tobytes() for scene in scenes)).hexdigest()
    assert other.stdout.strip() == here


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_box_is_the_extent_of_its_mask_and_lies_in_the_objects_square(seed: int) -> None:
    scene = sample_scene(seed, recipe(vocabulary().concepts))
    for item, truth in zip(scene.objects, truths(scene), strict=True):
        rows, columns = np.nonzero(truth.mask)
        assert truth.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        assert truth.concept == item.concept
        assert item.left <= truth.box[0] < truth.box[2] <= item.left + item.side
        assert item.top <= truth.box[1] < truth.box[3] <= item.top + item.side


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_masks_of_a_scene_do_not_overlap(seed: int) -> None:
    masks = [truth.mask for truth in truths(sample_scene(seed, recipe(vocabulary().concepts)))]
    assert np.sum(masks, axis=0).max() <= 1


def test_outside_the_objects_squares_only_the_background_is_drawn() -> None:
    empty = draw_array(replace(SCENE, objects=()))
    drawn = draw_array(SCENE)
    outside = np.ones((SIDE, SIDE), dtype=bool)
    for item in SCENE.objects:
        outside[item.top : item.top + item.side, item.left : item.left + item.side] = False
    assert np.array_equal(drawn[outside], empty[outside])


def test_a_picture_is_rgb_of_the_scenes_size() -> None:
    picture = draw(SCENE)
    assert (picture.mode, picture.size) == ("RGB", (SIDE, SIDE))
    assert (single("dog.png").mode, single("dog.png").size) == ("RGB", (64, 64))


def test_every_concept_can_be_drawn() -> None:
    for concept in vocabulary().concepts:
        for file in concept.files:
            assert (ART / file).is_file(), f"{concept.name} has no picture {file}"
            item = SceneObject(concept.name, file, 40, 40, 44, "medium", "", mirrored=False)
            (truth,) = truths(Scene("0", "plain", "white", "flat", "clear", (item,)))
            assert truth.mask.sum() > 100, f"{file} is nearly invisible"


def test_background_colours_differ_from_one_another() -> None:
    drawn = {name: draw_array(replace(SCENE, pattern="plain", colour=name, objects=())) for name in GROUND_COLOURS}
    assert len({pixels.tobytes() for pixels in drawn.values()}) == len(GROUND_COLOURS)
