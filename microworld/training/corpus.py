"""The pictures that checkpoints are trained on: drawn once, kept in a memory-mapped file, described by their scenes.

Only known concepts are ever drawn here; a test of the split holds this.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap
from PIL import Image

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels, draw, draw_array
from snellen.microworld.questions import view
from snellen.microworld.scenes import (
    SIDE,
    SIZES,
    STYLES,
    TINTS,
    WEATHERS,
    Dice,
    Recipe,
    Scene,
    Size,
    recipe,
    sample_object,
    sample_scene,
    tintable,
)

CHUNK = 500
_TINTS = (*TINTS, "")


@dataclass(frozen=True)
class Corpus:
    """Pictures (N, 128, 128, 3) as bytes and the N scenes they show.

    Attributes:
        pictures: Memory-mapped array.
        scenes: What each picture shows; in views of a part, only what lies within it.
    """

    pictures: Pixels
    scenes: list[Scene]


def training_recipe() -> Recipe:
    """Return the recipe of every training picture: known concepts, one to seven objects."""
    return recipe(vocabulary().share("known"), repeat=0.25)


def corpus(folder: Path, kind: str, count: int, *, series: str = "train") -> Corpus:
    """Return `count` pictures of one kind, drawing them where the folder does not have them yet.

    Args:
        folder: Where the files are kept (about 49 kB a picture).
        kind: `scenes` (whole scenes), `hard` (every other scene crowded, in any style and weather, often of things that
            are alike or tinted), `crowds` (4, 9 or 16 objects side by side, so that nearly every patch teaches a name)
            or `views` (crops round an object or on one side of it, resized to 128 × 128).
        count: How many.
        series: The first part of the scenes' seeds; another series has other scenes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{kind}-{count}" if series == "train" else f"{series}-{kind}-{count}"
    pixels, texts = folder / f"{name}.npy", folder / f"{name}.jsonl"
    if not (pixels.exists() and texts.exists()):
        draw_all(pixels, texts, count, partial(_draw_chunk, kind, series), what=kind)
    scenes = [Scene.from_json(json.loads(line)) for line in texts.read_text(encoding="utf-8").splitlines()]
    return Corpus(np.load(pixels, mmap_mode="r"), scenes)


def draw_all(
    pixels: Path, texts: Path, count: int, draw_chunk: Callable[[range], tuple[Pixels, list[str]]], *, what: str
) -> None:
    """Draw pictures in two processes, and write them and what is true of each beside them.

    Args:
        pixels: The file of the pictures (count, 128, 128, 3); it is there only once all of them are.
        texts: The file of their descriptions, a line each.
        count: How many.
        draw_chunk: Draws those of these numbers, and describes them; another process must be able to import it.
        what: They are, for whoever waits.
    """
    unfinished = pixels.with_suffix(".part")
    array = open_memmap(unfinished, mode="w+", dtype=np.uint8, shape=(count, SIDE, SIDE, 3))
    jobs = [range(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]
    lines: list[str] = []
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for job, (block, told) in zip(jobs, pool.imap(draw_chunk, jobs), strict=True):
            array[job.start : job.stop] = block
            lines += told
            print(f"drawing {what}: {len(lines)} of {count}", flush=True)
    array.flush()
    texts.write_text("\n".join(lines), encoding="utf-8")
    unfinished.rename(pixels)


def _draw_chunk(kind: str, series: str, numbers: range) -> tuple[Pixels, list[str]]:
    make = {"scenes": _whole, "hard": _hard, "views": _part, "crowds": _crowd}[kind]
    made = [make(series, index) for index in numbers]
    return np.stack([pixels for pixels, _ in made]), [json.dumps(scene.to_json()) for _, scene in made]


def _whole(series: str, index: int) -> tuple[Pixels, Scene]:
    scene = sample_scene(f"{series}/{index}", training_recipe())
    return draw_array(scene), scene


def _hard(series: str, index: int) -> tuple[Pixels, Scene]:
    """Draw an ordinary scene for even numbers, a hard one for odd numbers."""
    if index % 2 == 0:
        return _whole(series, index)
    seed = f"{series}-hard/{index}"
    dice, concepts = Dice("hard", seed), vocabulary().share("known")
    if dice.chance(0.5):
        group = dice.choice(concepts).group
        concepts = tuple(concept for concept in concepts if concept.group == group)
    scene = sample_scene(seed, recipe(concepts, counts=(3, 7), styles=STYLES, weathers=WEATHERS, repeat=0.35))
    if dice.chance(0.5):
        things = (replace(each, tint=dice.choice(_TINTS)) if tintable(each.concept) else each for each in scene.objects)
        scene = replace(scene, objects=tuple(things))
    return draw_array(scene), scene


def _crowd(series: str, index: int) -> tuple[Pixels, Scene]:
    """Fill a grid of 2, 3 or 4 cells a side with objects of the size that fits, each somewhere in its cell."""
    seed = f"{series}-crowd/{index}"
    dice, scene = Dice("crowd", seed), sample_scene(seed, training_recipe())
    side = dice.choice((2, 3, 3, 4, 4))
    size: Size = ("large", "medium", "small")[side - 2]
    cell, names = SIDE // side, training_recipe().concepts
    objects = []
    for row in range(side):
        for column in range(side):
            pixels = min(dice.integer(*SIZES[size]), cell)
            left, top = (dice.integer(0, cell - pixels) + cell * place for place in (column, row))
            objects.append(sample_object(dice.choice(names), left, top, pixels, size, dice))
    scene = replace(scene, objects=tuple(objects))
    return draw_array(scene), scene


def _part(series: str, index: int) -> tuple[Pixels, Scene]:
    for scene, box, shown in part_views(f"{series}-view/{index}"):
        crop = draw(scene).crop(box).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        return np.asarray(crop), shown
    return _whole(series, index)


def part_views(seed: str) -> Iterator[tuple[Scene, tuple[int, int, int, int], Scene]]:
    """Yield scenes with a crop that programs would make and what the crop shows, until one is clear."""
    dice = Dice("view", seed)
    for attempt in range(20):
        scene = sample_scene(f"{seed}/{attempt}", training_recipe())
        target = dice.choice(scene.objects)
        box = _crop_box(target.left, target.top, target.side, target.centre, dice)
        shown = view(scene, box)
        if shown is not None and shown.objects and min(box[2] - box[0], box[3] - box[1]) >= 20:
            yield scene, box, shown


def _crop_box(left: int, top: int, side: int, centre: tuple[int, int], dice: Dice) -> tuple[int, int, int, int]:
    """Half of the crops hold one object (with the slack a detector leaves), half are a side of the picture."""
    if dice.chance(0.55):
        slack = [dice.integer(-2, 4) for _ in range(4)]
        x0, y0 = max(0, left - slack[0]), max(0, top - slack[1])
        return x0, y0, min(SIDE, left + side + slack[2]), min(SIDE, top + side + slack[3])
    x, y = centre
    return dice.choice(((0, 0, x, SIDE), (x, 0, SIDE, SIDE), (0, 0, SIDE, y), (0, y, SIDE, SIDE)))
