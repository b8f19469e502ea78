"""Judging an edited picture against the scene's own truth, region by region.

The regions are the scene's objects and the rest of the picture. Each edit says what must become of each; what a
segmentation may get wrong by a pixel or two along outlines does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PIL import Image

from snellen.microworld.drawing import draw_array, truths
from snellen.microworld.scenes import Scene
from snellen.microworld.tasks.task import Box, EditAnswer, EditStep, Score

Mask = npt.NDArray[np.bool_]
Channels = npt.NDArray[np.int16]

# Pixels along outlines that are not judged.
OUTLINE = 2
# The share of a region's pixels that must be as asked for; a segmentation is never quite right.
ENOUGH = 0.85
# A smile over a smile changes few pixels, but never as few as a picture left as it was.
COVERED_ENOUGH = 0.3
# What nobody asked to change is judged more strictly, but not within this distance of what is painted over: an emoji
# may cover a face's whole box and a little more.
UNTOUCHED_ENOUGH = 0.97
AROUND = 6
SAME = 24
GRAY = 18
# How far the mean lightness of a blurred region may move: small things take on a good deal of what is around them.
DRIFT = 60
CHANGED = 16
BLURRED = 0.65
# The share of its details that something must keep to count as sharp, its outline included.
KEPT = 0.6


@dataclass(frozen=True)
class RegionChange:
    """Change of a region that an edit must have made.

    Attributes:
        changed: Whether it must show something else.
        gray: Whether it must have lost its colours.
        blurred: Whether it must have lost its details.
        becomes: What it must show instead, if that matters.
    """

    changed: bool = False
    gray: bool = False
    blurred: bool = False
    becomes: str = ""


def judge_edit(
    scene: Scene, edit: EditAnswer, picture: Image.Image, *, recognise: Callable[[Image.Image, str], bool] | None = None
) -> Score:
    """Judge an edited picture of a scene.

    Args:
        scene: What the picture showed before.
        edit: What was asked for.
        picture: What came out; it must have the size of the scene's picture.
        recognise: Tells whether a crop shows a name, for regions that were to be replaced.

    Returns:
        1 where every region is as asked for, else 0 with the first region that is not.
    """
    before = draw_array(scene)
    if picture.size != (before.shape[1], before.shape[0]):
        return Score(0.0, correct=False, reason="the picture has another size")
    for index, fault in faults(scene, edit, picture):
        name = scene.objects[index].concept if index < len(scene.objects) else "background"
        return Score(0.0, correct=False, reason=f"the {name} {fault}")
    for index, change in enumerate(required_changes(scene, edit)):
        if change.becomes and recognise and not recognise(_crop(picture, truths(scene)[index].box), change.becomes):
            return Score(0.0, correct=False, reason=f"no {change.becomes} can be recognised")
    return Score(1.0, correct=True)


def faults(scene: Scene, edit: EditAnswer, picture: Image.Image) -> Iterator[tuple[int, str]]:
    """Find the regions of an edited picture that are not as asked for.

    Args:
        scene: What the picture showed before.
        edit: What was asked for.
        picture: What came out, of the same size.

    Yields:
        The object's index, or the number of objects for the rest of the picture, and what is wrong with it.
    """
    before = draw_array(scene).astype(np.int16)
    after = np.asarray(picture.convert("RGB")).astype(np.int16)
    changes = required_changes(scene, edit)
    for index, change in enumerate(changes):
        region = _region(scene, index, changes)
        is_object = index < len(scene.objects)
        outlined = truths(scene)[index].mask if is_object else region
        fault = _fault(
            before, after, region, change, outlined=outlined, enough=ENOUGH if is_object else UNTOUCHED_ENOUGH
        )
        if fault:
            yield index, fault


def required_changes(scene: Scene, edit: EditAnswer) -> tuple[RegionChange, ...]:
    """Return what an edit must do to each object, and last to the rest of the picture."""
    changes = [RegionChange() for _ in range(len(scene.objects) + 1)]
    for step in edit.steps:
        changes = [_after(step, index, change) for index, change in enumerate(changes)]
    return tuple(changes)


def _after(step: EditStep, index: int, change: RegionChange) -> RegionChange:
    meant = index in step.objects
    if step.operation == "colorpop":
        return change if meant else replace(change, gray=True)
    if step.operation == "bgblur":
        return change if meant else replace(change, blurred=True)
    if not meant:
        return change
    # What is painted over has its own colours and details again.
    return RegionChange(changed=True, becomes=step.becomes if step.operation == "replace" else "")


def _region(scene: Scene, index: int, changes: Sequence[RegionChange]) -> Mask:
    """Return the pixels of an object, or of the rest, by which it is judged: those away from every outline."""
    objects = truths(scene)
    if index < len(objects):
        inner = _shrunk(objects[index].mask, OUTLINE)
        region = inner if inner.any() else objects[index].mask.copy()
    else:
        region = _shrunk(~np.logical_or.reduce([truth.mask for truth in objects]), OUTLINE)
    for other, (truth, change) in enumerate(zip(objects, changes, strict=False)):
        if change.changed and other != index:
            x0, y0, x1, y1 = truth.box
            region[max(y0 - AROUND, 0) : y1 + AROUND, max(x0 - AROUND, 0) : x1 + AROUND] = False
    return region


def _shrunk(mask: Mask, pixels: int) -> Mask:
    import cv2

    kernel = np.ones((2 * pixels + 1, 2 * pixels + 1), dtype=np.uint8)
    return np.asarray(cv2.erode(mask.astype(np.uint8), kernel)).astype(np.bool_)


def _fault(
    before: Channels, after: Channels, region: Mask, change: RegionChange, *, outlined: Mask, enough: float = ENOUGH
) -> str:
    """Say what is wrong with a region; "" where nothing is. `outlined` is the same with its outline."""
    difference = np.abs(after - before).max(axis=-1)
    if change.gray and _share(_chroma(after) <= GRAY, region) < ENOUGH:
        return "has kept its colors"
    if change.changed:
        return "" if _share(_lightness_moved(before, after), region) >= COVERED_ENOUGH else "was not covered"
    if change.blurred:
        return _blur_fault(before, after, region, outlined)
    if change.gray:
        same = np.abs(_lightness(after) - _lightness(before)) <= SAME
        return "" if _share(same, region) >= ENOUGH else "was changed"
    if _share(difference <= SAME, region) < enough:
        return "was changed"
    return "has lost its details" if _detail(after)[outlined].sum() < KEPT * _detail(before)[outlined].sum() else ""


def _lightness_moved(before: Channels, after: Channels) -> Mask:
    """Tell where another thing is shown: the colour differs, or, once it is gray, the lightness."""
    moved = np.abs(after - before).max(axis=-1) > CHANGED
    grayed = np.abs(_lightness(after) - _lightness(before)) > CHANGED // 2
    return np.where(_chroma(after) <= GRAY, grayed, moved).astype(np.bool_)


def _blur_fault(before: Channels, after: Channels, region: Mask, outlined: Mask) -> str:
    detail, left = _detail(before)[outlined].sum(), _detail(after)[outlined].sum()
    # Where there is hardly any detail there is nothing to lose.
    if left > BLURRED * detail and detail > outlined.sum():
        return "was not blurred"
    drift = abs(float(_lightness(after)[region].mean()) - float(_lightness(before)[region].mean()))
    return "was changed" if drift > DRIFT else ""


def _detail(pixels: Channels) -> npt.NDArray[np.float64]:
    """Return how much the lightness changes from each pixel to its neighbours."""
    light = _lightness(pixels)
    down = np.abs(np.diff(light, axis=0, append=light[-1:]))
    right = np.abs(np.diff(light, axis=1, append=light[:, -1:]))
    return np.asarray(down + right, dtype=np.float64)


def _lightness(pixels: Channels) -> npt.NDArray[np.float64]:
    return np.asarray(pixels @ np.array([0.299, 0.587, 0.114]), dtype=np.float64)


def _chroma(pixels: Channels) -> Channels:
    return np.asarray(pixels.max(axis=-1) - pixels.min(axis=-1), dtype=np.int16)


def _share(fits: npt.NDArray[np.bool_], region: Mask) -> float:
    return float(fits[region].mean()) if region.any() else 1.0


def _crop(picture: Image.Image, box: Box) -> Image.Image:
    return picture.convert("RGB").crop(box)
