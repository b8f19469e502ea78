"""SEG learns from scenes with masks: what is collected, how masks are kept, what comes of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen import microworld
from snellen.collection import Annotated, WorldLibrary
from snellen.graphs.learn import graph
from snellen.graphs.states import LearnState
from snellen.learning.example_collection import gather_for
from snellen.learning.prompt_recall import PromptRecall
from snellen.learning.records import MAX_MASKS, Collected, LearningOutcome, Need, StoredExample
from snellen.learning.resources import Learning
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.profiles import CollectionSettings, Profile
from snellen.runtime.context import Context
from snellen.tools.vision import Models
from snellen.tuning import TuningExample
from tests.graphs.scripted import make_context
from tests.learning.collecting import on_both_sides
from tests.tools.vision.conftest import MemoryPictures
from tests.tuning.segmenters import save_segmenter

DOGS = Need("SEG", "dog", reason="It called it something else.")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    made = save_segmenter(tmp_path_factory.mktemp("segmenter"), extra="steps = 2\n")
    few = CollectionSettings(outlined=3, held_out_scenes=2, related=2)
    return made.model_copy(update={"collection": few})


@pytest.fixture
def context(profile: Profile, tmp_path: Path) -> Context:
    prompts, library = PromptPool(tmp_path), WorldLibrary(lambda: microworld, title="microworld")
    return replace(
        make_context(tmp_path),
        profile=profile,
        models=Models(profile, PromptRecall(prompts, profile), window=0),
        learning=Learning(prompts=prompts, drafts=Drafts(tmp_path), annotated=library, found=library),
    )


def gathered(context: Context, *, seed: int = 0) -> Collected:
    return asyncio.run(gather_for(DOGS, context, seed=seed))


def test_every_mask_is_collected_and_read_back(context: Context) -> None:
    collected = Collected.from_json(json.loads(json.dumps(gathered(context).to_json())))
    assert (len(collected.training), len(collected.held_out)) == (3, 2)
    scenes = {
        tuple(np.asarray(scene.picture).tobytes()): scene
        for scene in WorldLibrary(lambda: microworld, title="m").annotated("dog", 5, seed=0)
    }
    for stored in (*collected.training, *collected.held_out):
        example = stored.example(context.pictures)
        scene = scenes[tuple(np.asarray(example.picture).tobytes())]
        assert example.boxes == scene.boxes
        for mask, true in zip(example.masks, scene.masks, strict=True):
            assert (np.asarray(mask) == np.asarray(true)).all()


@pytest.mark.parametrize("seed", range(4))
def test_pictures_to_prove_on_are_not_those_to_train_on(context: Context, seed: int) -> None:
    collected = gathered(context, seed=seed)
    assert not on_both_sides(collected)
    assert all(one.concept != "dog" and one.masks for one in collected.others)


def test_scenes_without_masks_teach_nothing(context: Context) -> None:
    class Boxes:
        def annotated(self, concept: str, count: int, *, seed: int = 0) -> list[Annotated]:
            return [Annotated(PIL.Image.new("RGB", (9, 9), (n, 0, 0)), concept, ((1, 1, 5, 5),)) for n in range(count)]

    bare = replace(context, learning=replace(context.learner(), annotated=Boxes()))
    assert "no annotated scenes with masks of 'dog'" in gathered(bare).trouble


def test_prompts_are_tuned_and_each_is_kept_or_discarded_with_a_reason(context: Context) -> None:
    state = LearnState(needs=[DOGS.to_json()])
    (learned,) = [
        LearningOutcome.from_json(one) for one in asyncio.run(graph.ainvoke(state, context=context))["learned"]
    ]
    assert learned.kept + learned.discarded == 3
    assert not learned.trouble
    assert len(context.learner().prompts.rows()) == learned.kept


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=6))
def test_joined_masks_come_apart_where_they_do_not_overlap(squares: list[tuple[int, int, int]]) -> None:
    planes = []
    for x, y, side in squares:
        plane = np.zeros((8, 8), dtype=np.uint8)
        plane[y : y + side, x : x + side] = 255
        planes.append(plane)
    masks = tuple(PIL.Image.fromarray(plane) for plane in planes)
    boxes = tuple((x, y, x + side, y + side) for x, y, side in squares)
    pictures = MemoryPictures()
    stored = StoredExample.of(TuningExample(PIL.Image.new("RGB", (8, 8)), "dog", boxes, masks=masks), pictures)
    parts = [np.asarray(mask) > 0 for mask in stored.example(pictures).masks]
    assert len(parts) == len(planes)
    covered = np.sum([plane > 0 for plane in planes], axis=0)
    for part, plane in zip(parts, planes, strict=True):
        assert not (part & (plane == 0)).any()
        assert (part | (covered > 1))[plane > 0].all()


def test_more_masks_than_a_picture_can_name_are_left_out() -> None:
    plane = np.zeros((20, 20), dtype=np.uint8)
    masks = []
    for index in range(MAX_MASKS + 5):
        one = plane.copy()
        one.flat[index] = 255
        masks.append(PIL.Image.fromarray(one))
    example = TuningExample(PIL.Image.new("RGB", (20, 20)), "dog", ((0, 0, 1, 1),) * len(masks), masks=tuple(masks))
    pictures = MemoryPictures()
    assert len(StoredExample.of(example, pictures).example(pictures).masks) == MAX_MASKS
