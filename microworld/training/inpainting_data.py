"""Lessons of the painter: parts of scenes with a thing to be painted, as REPLACE will show them to it.

A scene is data, so the truth is drawn rather than photographed: the replaced thing is taken out of the scene and
another is drawn into its box, in the same style and weather. What is seen on the canvas is cut out by the very function
that the tool uses. Things are drawn upright from the first picture of their concept, stretched to the box: one thing to
know for each name, always at the same place of the canvas.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels, Sticker, draw_array
from snellen.microworld.scenes import SIDE, TINTS, Dice, article, sample_scene
from snellen.microworld.tasks.sampling import tintable
from snellen.microworld.training.corpus import training_recipe
from snellen.microworld.training.detection_targets import known_names, scene_boxes
from snellen.models.vision.inpainting import window
from snellen.tools.editing.replace import framed
from snellen.values import Region

CANVAS = 64
# As in the embedded profile: pixels around a region's box that are painted as well, and the share of its size shown.
FRAME, MARGIN = 2, 0.2
FACTOR = 4
CHUNK = 1000

Latents = npt.NDArray[np.float16]
Encode = Callable[[Pixels], Latents]


@dataclass(frozen=True)
class Painting:
    """A canvas as it should become.

    Attributes:
        pixels: (64, 64, 3) bytes.
        mask: (64, 64), True where it is to be painted.
        prompt: What to paint there.
    """

    pixels: Pixels
    mask: npt.NDArray[np.bool_]
    prompt: str


@dataclass(frozen=True)
class Paintings:
    """Canvases as the painter sees them, as arrays over canvases.

    Attributes:
        truth: Latents (n, 4, 16, 16) of how they should become.
        seen: Latents (n, 4, 16, 16) of the same with the mask's pixels left out.
        masks: (n, 1, 16, 16), 1 where it is to be painted.
        prompts: What to paint.
    """

    truth: Latents
    seen: Latents
    masks: npt.NDArray[np.uint8]
    prompts: list[str]


def painting(index: int) -> Painting:
    """Return one canvas; its number decides everything, and names take turns."""
    dice = Dice("painting", index)
    scene = sample_scene(f"train-painting/{index}", training_recipe())
    place = dice.integer(0, len(scene.objects) - 1)
    x0, y0, x1, y1 = scene_boxes(scene)[place]
    # A segmenter or detector is wrong by a pixel or two.
    box = (x0 - dice.integer(-1, 3), y0 - dice.integer(-1, 3), x1 + dice.integer(-1, 3), y1 + dice.integer(-1, 3))
    box = (max(box[0], 0), max(box[1], 0), min(box[2], SIDE), min(box[3], SIDE))
    names = known_names()
    name = names[index % len(names)]
    tint = dice.choice(tuple(TINTS)) if scene.shows_colour and tintable(name) and dice.chance(0.4) else ""
    rest = replace(scene, objects=tuple(o for number, o in enumerate(scene.objects) if number != place))
    pixels = draw_array(rest, [Sticker(vocabulary().concept(name).files[0], box, tint)])
    mask = framed([Region(box, 1.0)], (SIDE, SIDE), frame=FRAME)
    outline = mask.getbbox() or (0, 0, SIDE, SIDE)
    shown = window(outline, (SIDE, SIDE), margin=MARGIN)
    cut = Image.fromarray(pixels).crop(shown).resize((CANVAS, CANVAS), Image.Resampling.BICUBIC)
    inside = mask.crop(shown).resize((CANVAS, CANVAS), Image.Resampling.NEAREST)
    prompt = _prompt(f"{tint} {name}".strip(), scene.objects[place].size, dice)
    return Painting(np.asarray(cut), np.asarray(inside) > 127, prompt)


def _prompt(name: str, size: str, dice: Dice) -> str:
    """Word a request as programs do: mostly `a red dog`, or the name alone, or with a size."""
    roll = dice.integer(0, 99)
    if roll < 65:
        return article(name)
    return name if roll < 85 else article(f"{size} {name}")


def hidden(each: Painting) -> Pixels:
    """Return the canvas with the mask's pixels left out, in the gray that is 0 to the autoencoder."""
    return np.where(each.mask[..., None], np.uint8(127), each.pixels).astype(np.uint8)


def paintings(folder: Path, count: int, encode: Encode) -> Paintings:
    """Return `count` canvases, drawing and encoding those that `folder` does not have yet.

    Args:
        folder: Where chunks of 1000 are kept (about 4 MB each).
        count: How many.
        encode: Gives the latents (B, 4, 16, 16) of pictures (B, 64, 64, 3); of one autoencoder, so the folder belongs
            to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, count, CHUNK)
    absent = [start for start in starts if not _file(folder, start).exists()]
    if absent:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            jobs = [(start, min(CHUNK, count - start)) for start in absent]
            for start, drawn in zip(absent, pool.imap(_drawn, jobs), strict=True):
                _keep(_file(folder, start), drawn, encode)
                print(f"drawing canvases: {min(start + CHUNK, count)} of {count}", flush=True)
    return _read([_file(folder, start) for start in starts], count)


def _file(folder: Path, start: int) -> Path:
    return folder / f"canvases-{start:06d}.npz"


def _drawn(job: tuple[int, int]) -> list[Painting]:
    start, count = job
    return [painting(index) for index in range(start, start + count)]


def _keep(file: Path, drawn: list[Painting], encode: Encode) -> None:
    unfinished = file.with_suffix(".part")
    with unfinished.open("wb") as target:
        np.savez(
            target,
            truth=encode(np.stack([each.pixels for each in drawn])),
            seen=encode(np.stack([hidden(each) for each in drawn])),
            # The pipeline, too, takes the upper left pixel of each cell.
            masks=np.stack([each.mask[None, ::FACTOR, ::FACTOR] for each in drawn]).astype(np.uint8),
            prompts=np.frombuffer(json.dumps([each.prompt for each in drawn]).encode(), dtype=np.uint8),
        )
    unfinished.rename(file)


def _read(files: list[Path], count: int) -> Paintings:
    held = []
    for file in files:
        with np.load(file) as chunk:
            held.append({name: chunk[name] for name in chunk.files})
    prompts = [prompt for each in held for prompt in json.loads(each["prompts"].tobytes())]
    truth, seen, masks = (np.concatenate([each[name] for each in held])[:count] for name in ("truth", "seen", "masks"))
    return Paintings(truth, seen, masks, prompts[:count])


def scene_latents(file: Path, pictures: Pixels, encode: Encode) -> Latents:
    """Return the latents (n, 4, 32, 32) of whole scenes (n, 128, 128, 3), encoding them where `file` does not exist."""
    if not file.exists():
        parts = [encode(np.asarray(pictures[start : start + 32])) for start in range(0, len(pictures), 32)]
        unfinished = file.with_suffix(".part")
        with unfinished.open("wb") as target:
            np.save(target, np.concatenate(parts))
        unfinished.rename(file)
    latents: Latents = np.load(file, mmap_mode="r")
    return latents
