"""Train the autoencoder of the painter: 64 × 64 pixels to 16 × 16 vectors of four numbers and back.

Things of 26 pixels do not survive the usual factor of eight, so this one halves twice. Afterwards each of the four
numbers is brought to mean 0 and deviation 1 over real pictures, folded into the layers beside the latents, so that the
scheduler's noise means the same for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL
from PIL import Image
from torch.nn import functional

from snellen.microworld.drawing import Pixels
from snellen.microworld.scenes import SIDE
from snellen.microworld.training.corpus import Corpus
from snellen.microworld.training.detection_targets import as_input, scene_boxes
from snellen.microworld.training.inpainting_data import CANVAS, FRAME, MARGIN
from snellen.microworld.training.loop import TrainingSchedule, run
from snellen.models.vision.inpainting import window

BATCH = 16
# The shares of batches that show an enlarged thing rather than a piece of a scene as it is, and that are partly masked.
ENLARGED, MASKED = 0.6, 0.15
# How much the latents' spread counts: just enough that the decoder bears the painter's errors.
DIVERGENCE = 3e-4
LEAST_LOG_VARIANCE = -20.0


def config() -> dict[str, object]:
    """Return the autoencoder's shape: about 0.8 million weights, a factor of four."""
    return {
        "block_out_channels": (24, 48, 64), "down_block_types": ("DownEncoderBlock2D",) * 3,
        "up_block_types": ("UpDecoderBlock2D",) * 3, "layers_per_block": 1, "norm_num_groups": 8,
        "latent_channels": 4, "sample_size": CANVAS, "scaling_factor": 1.0,
    }  # fmt: skip


def train_autoencoder(pictures: Corpus, work: Path, *, seed: int, steps: int) -> AutoencoderKL:
    """Train the autoencoder, or read it where `work` has it already.

    Args:
        pictures: Scenes to learn from.
        work: Folder for the state of the run and the result.
        seed: Seed of the run.
        steps: Optimizer steps of 16 pieces of 64 × 64.
    """
    done = work / "done"
    if done.exists():
        return AutoencoderKL.from_pretrained(done)
    torch.manual_seed(seed)
    model = AutoencoderKL(**config())
    lesson = AutoencoderTraining(model, pictures)
    run(model, lesson.loss, TrainingSchedule(steps, weight_decay=0.0), rates={"": 1e-3}, work=work, seed=seed)
    standardise(model, torch.cat([lesson.pieces(10_000_000 + index) for index in range(16)]))
    model.save_pretrained(done)
    return model


class AutoencoderTraining:
    """Batches of pieces of scenes and the loss on them."""

    def __init__(self, model: AutoencoderKL, pictures: Corpus) -> None:
        self.model, self.pictures = model, pictures

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts: pixels, their differences to neighbours, and the spread."""
        pixels = self.pieces(step)
        posterior = self.model.encode(pixels).latent_dist
        again = self.model.decode(posterior.sample()).sample
        error = functional.l1_loss(again, pixels)
        across, down = (functional.l1_loss(again.diff(dim=axis), pixels.diff(dim=axis)) for axis in (3, 2))
        spread = posterior.kl().mean() / posterior.mean[0].numel()
        parts = {"pixels": error.item(), "edges": (across + down).item(), "spread": spread.item()}
        return error + across + down + DIVERGENCE * spread, parts

    def pieces(self, step: int) -> torch.Tensor:
        """Return the pictures (B, 3, 64, 64) of one step."""
        dice = np.random.default_rng([step, 61])
        chosen = np.sort(dice.integers(0, len(self.pictures.scenes), BATCH))
        pixels = as_input(np.stack([self._piece(int(index), dice) for index in chosen]))
        for row in np.flatnonzero(dice.random(BATCH) < MASKED):
            low = dice.integers(0, CANVAS // 2, 2)
            high = low + dice.integers(CANVAS // 4, CANVAS, 2)
            pixels[row, :, low[0] : high[0], low[1] : high[1]] = 0.0
        return pixels

    def _piece(self, index: int, dice: np.random.Generator) -> Pixels:
        picture, scene = self.pictures.pictures[index], self.pictures.scenes[index]
        if dice.random() < ENLARGED and scene.objects:
            x0, y0, x1, y1 = scene_boxes(scene)[int(dice.integers(len(scene.objects)))]
            box = window((x0 - FRAME, y0 - FRAME, x1 + FRAME, y1 + FRAME), (SIDE, SIDE), margin=MARGIN)
            crop = Image.fromarray(picture).crop(box)
            return np.asarray(crop.resize((CANVAS, CANVAS), Image.Resampling.BICUBIC))
        x, y = (int(v) for v in dice.integers(0, SIDE - CANVAS + 1, 2))
        return picture[y : y + CANVAS, x : x + CANVAS]


@torch.no_grad()
def standardise(model: AutoencoderKL, pixels: torch.Tensor) -> None:
    """Bring each number of the latents to mean 0 and deviation 1 over `pixels`; pictures come out as before.

    The spread of the latents, which made the decoder robust, is taken out: the pipeline samples what it sees, and would
    see it with noise that the network was not trained on.

    Args:
        model: Its layers beside the latents are changed in place.
        pixels: Pictures (B, 3, H, W).
    """
    means = torch.cat([model.encode(part).latent_dist.mean for part in pixels.split(32)])
    mean, deviation = means.mean(dim=(0, 2, 3)), means.std(dim=(0, 2, 3)).clamp(min=1e-3)
    before, after = model.quant_conv, model.post_quant_conv
    # The first half of the channels are means, the second log-variances; then the way back is undone.
    count = len(mean)
    before.weight[:count] /= deviation[:, None, None, None]
    before.bias[:count] = (before.bias[:count] - mean) / deviation
    before.weight[count:] = 0.0
    before.bias[count:] = LEAST_LOG_VARIANCE
    after.bias += after.weight.flatten(1) @ mean
    after.weight *= deviation[None, :, None, None]


@torch.no_grad()
def encoded(model: AutoencoderKL, pixels: torch.Tensor) -> torch.Tensor:
    """Return the latents (B, 4, H/4, W/4) of pictures (B, 3, H, W)."""
    latents: torch.Tensor = model.encode(pixels).latent_dist.mode()
    return latents


@torch.no_grad()
def kept_names(
    model: AutoencoderKL, pictures: Corpus, recognise: Callable[[list[Image.Image]], list[str]], *, count: int = 300
) -> tuple[float, float]:
    """Return the shares of things that are recognised as drawn, and after the autoencoder.

    Args:
        model: The autoencoder.
        pictures: Scenes with things.
        recognise: Names the thing in each crop.
        count: How many things to look at.
    """
    originals, copies, names = [], [], []
    for index in range(min(count, len(pictures.scenes))):
        scene, whole = pictures.scenes[index], Image.fromarray(pictures.pictures[index])
        box = scene_boxes(scene)[0]
        shown = window(box, (SIDE, SIDE), margin=MARGIN)
        piece = whole.crop(shown).resize((CANVAS, CANVAS), Image.Resampling.BICUBIC)
        again = model.decode(encoded(model, as_input(np.asarray(piece)[None]))).sample[0]
        copy = Image.fromarray(as_bytes(again)).resize((shown[2] - shown[0], shown[3] - shown[1]))
        inner = (box[0] - shown[0], box[1] - shown[1], box[2] - shown[0], box[3] - shown[1])
        originals.append(whole.crop(box))
        copies.append(copy.crop(inner))
        names.append(scene.objects[0].concept)
    shares = [
        float(np.mean([said == name for said, name in zip(recognise(crops), names, strict=True)]))
        for crops in (originals, copies)
    ]
    return shares[0], shares[1]


def as_bytes(pixels: torch.Tensor) -> Pixels:
    """Turn model output (3, H, W) within -1 and 1 into bytes (H, W, 3)."""
    scaled = pixels.add(1.0).mul(127.5).round().clamp(0, 255)
    return np.asarray(scaled.permute(1, 2, 0).to(torch.uint8).numpy())
