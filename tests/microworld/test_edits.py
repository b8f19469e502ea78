"""Edited pictures are judged region by region: those edited by truth masks pass, those edited carelessly do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageFilter

from snellen import microworld
from snellen.microworld.concepts import ART
from snellen.microworld.drawing import draw, draw_array, truths
from snellen.microworld.scenes import SceneObject
from snellen.microworld.tasks.edits import Mask, required_changes
from snellen.microworld.tasks.task import EditAnswer, EditStep, TaskOutcome, WorldTask


def kept(task: WorldTask, step: EditStep) -> Mask:
    return np.asarray(np.logical_or.reduce([truths(task.scenes[0])[i].mask for i in step.objects]))


def pasted(top: Image.Image, bottom: Image.Image, mask: Mask) -> Image.Image:
    return Image.composite(top, bottom, Image.fromarray(mask.astype(np.uint8) * 255))


def edited(task: WorldTask, picture: Image.Image, step: EditStep) -> Image.Image:
    """Do one step to a picture, as a perfect tool would."""
    if step.operation == "colorpop":
        return pasted(picture, picture.convert("L").convert("RGB"), kept(task, step))
    if step.operation == "bgblur":
        return pasted(picture, picture.filter(ImageFilter.GaussianBlur(4)), kept(task, step))
    for index in step.objects:
        picture = _painted_over(task, picture, index, step)
    return picture


def _painted_over(task: WorldTask, picture: Image.Image, index: int, step: EditStep) -> Image.Image:
    box = truths(task.scenes[0])[index].box
    file = "ghost.png" if step.operation == "replace" else step.becomes.replace(" ", "_") + ".png"
    art = Image.open(ART / file).convert("RGBA").resize((box[2] - box[0], box[3] - box[1]))
    clean = picture.copy()
    if step.operation == "replace":
        clean.paste((128, 128, 128), box)
    clean.paste(art, box, art)
    return clean


def solved(task: WorldTask) -> Image.Image:
    picture = task.pictures()[0]
    assert isinstance(task.expected, EditAnswer)
    for step in task.expected.steps:
        picture = edited(task, picture, step)
    return picture


TASKS = microworld.sample_tasks("edit", "test", "known", 50, 5)


def of_type(name: str) -> list[WorldTask]:
    return [task for task in TASKS if task.type == name]


def correct(task: WorldTask, picture: Image.Image) -> bool:
    return microworld.score(task, TaskOutcome(picture=picture)).correct


@pytest.mark.parametrize("name", ["color pop", "background blur", "chained"])
def test_pictures_edited_by_truth_masks_pass(name: str) -> None:
    scores = [microworld.score(task, TaskOutcome(picture=solved(task))) for task in of_type(name)]
    assert sum(score.correct for score in scores) >= 0.9 * len(scores), [score.reason for score in scores]


@pytest.mark.parametrize("name", ["replace", "emoji"])
def test_regions_that_are_painted_over_pass(name: str) -> None:
    scores = [microworld.score(task, TaskOutcome(picture=solved(task))) for task in of_type(name)]
    assert sum(score.correct for score in scores) >= 0.8 * len(scores), [score.reason for score in scores]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda picture: picture,
        lambda picture: picture.convert("L"),
        lambda picture: picture.filter(ImageFilter.GaussianBlur(4)),
        lambda picture: picture.resize((64, 64)),
        lambda picture: Image.new("RGB", picture.size, (90, 10, 200)),
        lambda picture: Image.new("RGB", picture.size, (128, 128, 128)),
    ],
    ids=["untouched", "all gray", "all blurred", "smaller", "all purple", "one gray"],
)
def test_careless_edits_fail(spoil: Callable[[Image.Image], Image.Image]) -> None:
    for task in TASKS:
        assert not correct(task, spoil(task.pictures()[0]))


def test_an_edit_of_the_wrong_object_fails() -> None:
    for task in of_type("color pop") + of_type("background blur"):
        assert isinstance(task.expected, EditAnswer)
        (step,) = task.expected.steps
        other = (
            next(i for i in range(len(task.scenes[0].objects)) if i not in step.objects) if _has_other(task) else None
        )
        if other is not None:
            wrong = replace(step, objects=(other,))
            assert not correct(task, edited(task, task.pictures()[0], wrong))


def _has_other(task: WorldTask) -> bool:
    assert isinstance(task.expected, EditAnswer)
    return len(task.scenes[0].objects) > len(task.expected.steps[0].objects)


def test_masks_that_are_a_pixel_or_two_off_still_pass() -> None:
    tasks = of_type("color pop")
    passed = 0
    for task in tasks:
        assert isinstance(task.expected, EditAnswer)
        picture = task.pictures()[0]
        grown = Image.fromarray(kept(task, task.expected.steps[0]).astype(np.uint8) * 255).filter(
            ImageFilter.MaxFilter(3)
        )
        passed += correct(task, Image.composite(picture, picture.convert("L").convert("RGB"), grown))
    assert passed >= 0.9 * len(tasks)


def test_an_emoji_elsewhere_fails() -> None:
    for task in of_type("emoji"):
        assert isinstance(task.expected, EditAnswer)
        picture = task.pictures()[0]
        picture.paste((255, 0, 255), (0, 0, 40, 40))
        done = edited(task, picture, task.expected.steps[0])
        assert not correct(task, done)


def test_what_replaces_a_region_is_recognised_by_the_callers_classifier() -> None:
    task = next(task for task in of_type("replace") if correct(task, solved(task)))
    outcome = TaskOutcome(picture=solved(task))
    asked: list[str] = []

    def recognise(crop: Image.Image, name: str) -> bool:
        asked.append(name)
        return crop.size < (128, 128) and name == "never"

    score = microworld.tasks.score(task, outcome, recognise=recognise)
    assert isinstance(task.expected, EditAnswer)
    assert asked == [task.expected.steps[0].becomes]
    assert score.reason == f"no {asked[0]} can be recognised"
    assert microworld.tasks.score(task, outcome, recognise=lambda *_: True).correct


def test_the_order_of_chained_steps_decides_what_is_left() -> None:
    scene = TASKS[0].scenes[0]
    cover, pop = EditStep("emoji", (0,), "ghost"), EditStep("colorpop", (1,))
    assert required_changes(scene, EditAnswer((cover, pop)))[0].gray
    assert not required_changes(scene, EditAnswer((pop, cover)))[0].gray
    assert required_changes(scene, EditAnswer((cover, pop)))[0].changed


def test_an_outcome_without_a_picture_is_wrong() -> None:
    assert microworld.score(TASKS[0], TaskOutcome()).reason == "no picture came out"


def test_a_replaced_object_drawn_anew_passes() -> None:
    task = of_type("replace")[0]
    assert isinstance(task.expected, EditAnswer)
    (index,) = task.expected.steps[0].objects
    old = task.scenes[0].objects[index]
    new = SceneObject("ghost", "pizza.png", old.left, old.top, old.side, old.size, "green", mirrored=False)
    objects = tuple(new if i == index else o for i, o in enumerate(task.scenes[0].objects))
    drawn = draw(replace(task.scenes[0], objects=objects))
    assert not np.array_equal(np.asarray(drawn), draw_array(task.scenes[0]))
    assert correct(task, drawn)
