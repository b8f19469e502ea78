"""Train the segmenter: MaskFormer, taught to see, then to tell things apart, then both together.

Things are labelled with the singular of their group (`animal`, `fruit`), stuff with the ground or the pattern of the
background. What makes two cores suffice:

- A backbone of convolutions (ResNet with basic layers, one of the two kinds that the class supports) sees outlines
  from the first hundred steps on; a Swin of that size spends them on learning what a neighbour is.
- *Seeing* comes first: every pixel is told its label and where the middle of its thing is, and every cell of the
  backbone's last map the name and the middle of its thing. The middle is what tells two dogs apart: a mask is a product
  of a query's vector with pixels' vectors. What this teaches with is discarded.
- *Telling apart* teaches the transformer decoder alone, on maps that are computed once. Which query answers for which
  segment follows from their places, so that nothing has to be matched: the query nearest to the middle of a thing owns
  it, two queries own the stuff. All queries on a thing learn its mask, only the owner its label. (With the class's own
  matching, and the decoder as the class begins it, all queries became equal within fifty steps and stayed so for a
  thousand: weights drawn with a deviation of 0.02 leave nothing of what a query looks at beside what all have in
  common, and what cells contain soon decides where all queries look.)
- So places are known beforehand: queries begin as the sine code of a point of a grid, and in the first layer a few
  channels carry nothing but places, by which queries look around their own. The masks' features are made of one size.
- *Together*, all weights are tuned on pictures for a short while.

The pictures are shown at 192 × 192, so that masks have cells of 4 pixels, 2.7 of the picture's own: at 4 of those even
perfect masks of small objects reach an IoU of 0.77 only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import (
    MaskFormerConfig,
    MaskFormerForInstanceSegmentation,
    MaskFormerImageProcessorPil,
    ResNetConfig,
)

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels
from snellen.microworld.scenes import Scene
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.detection_targets import known_names
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, has_begun, run, save_half
from snellen.microworld.training.maskformer_decoder import (
    DICE,
    FOCAL,
    NOTHING,
    PIXELS,
    Apart,
    Decoder,
    Maps,
    begin_decoder,
    shown_at,
    told_apart,
)
from snellen.microworld.training.segmentation_targets import (
    FREE_QUERIES,
    PLACES,
    ROWS,
    Panoptic,
    gathered,
    labels,
    mirrored,
    panoptic,
    place_codes,
    segment_map,
    stacked,
    thing_map,
    wanted_of,
)

BATCH = 12
# How many pictures of a batch are crowds, in the first lesson and in the last.
CROWDS = (9, 3)
# Steps of seeing, of telling apart, and of both together.
SEEING_STEPS, APART_STEPS, TOGETHER_STEPS = 2_800, 4_000, 800
# The weight that seeing keeps in the last lesson.
SEEING_WEIGHT = 0.25
# Pictures whose maps are computed once for telling apart: two gigabytes.
MAPPED = 6_000


@dataclass(frozen=True)
class SegmenterShape:
    """Sizes of the network.

    Attributes:
        widths: Channels of the backbone's stages, at strides of 4, 8, 16 …
        depths: Layers of each stage.
        features: Channels of the pixel decoder and of the masks, a multiple of 32.
        hidden: Width of the transformer decoder.
        layers: Its layers.
    """

    widths: tuple[int, ...] = (48, 96, 192)
    depths: tuple[int, ...] = (2, 2, 2)
    features: int = 64
    hidden: int = 128
    layers: int = 3


def config(shape: SegmenterShape | None = None) -> MaskFormerConfig:
    """Return the segmenter's shape: about 2.7 million weights."""
    shape = shape or SegmenterShape()
    stages = [f"stage{number}" for number in range(1, len(shape.widths) + 1)]
    backbone = ResNetConfig(
        embedding_size=shape.widths[0], hidden_sizes=list(shape.widths), depths=list(shape.depths),
        layer_type="basic", out_features=stages,
    )  # fmt: skip
    decoder = {
        "model_type": "detr", "d_model": shape.hidden, "encoder_layers": 0, "decoder_layers": shape.layers,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 4 * shape.hidden,
        "decoder_ffn_dim": 4 * shape.hidden, "dropout": 0.0, "num_queries": ROWS * ROWS + FREE_QUERIES,
    }  # fmt: skip
    return MaskFormerConfig(
        backbone_config=backbone, decoder_config=decoder, fpn_feature_size=shape.features,
        mask_feature_size=shape.features, no_object_weight=NOTHING, mask_weight=FOCAL, dice_weight=DICE,
        cross_entropy_weight=1.0, id2label=dict(enumerate(labels())),
        label2id={label: number for number, label in enumerate(labels())},
    )  # fmt: skip


class SegmenterInTraining(nn.Module):
    """The segmenter with what it is taught to see with, which is discarded afterwards.

    Args:
        shape: The configuration.
        names: How many names the cells of the backbone's last map are told apart by.
    """

    def __init__(self, shape: MaskFormerConfig, names: int) -> None:
        super().__init__()
        self.segmenter = MaskFormerForInstanceSegmentation(shape)
        self.cell_head = nn.Linear(int(shape.backbone_config.hidden_sizes[-1]), names + PLACES)
        self.pixel_head = nn.Conv2d(shape.mask_feature_size, len(labels()) + PLACES, 1)
        _start_quiet(self.segmenter)


@torch.no_grad()
def _start_quiet(model: MaskFormerForInstanceSegmentation) -> None:
    """Begin with batch normalisation that normalises: the class draws its weights with a deviation of 0.02."""
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.ones_(layer.weight)
            nn.init.zeros_(layer.bias)


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train the segmenter and write its checkpoint.

    Args:
        work: Folder for drawn pictures and the states of the lessons.
        out: Folder of the checkpoint.
        seed: Seed of the run.
        steps: Optimizer steps of all three lessons together; they share them as `SEEING_STEPS` and the others do.
    """
    torch.manual_seed(seed)
    pupil = SegmenterInTraining(config(), len(known_names()))
    crowds, scenes = corpus(work / "corpus", "crowds", 16_000), corpus(work / "corpus", "scenes", 24_000)
    seeing, apart, together = _shares(steps)
    folder, model = work / "maskformer", pupil.segmenter
    lesson = SegmenterTraining(pupil, crowds, scenes)
    done = [run(pupil, lesson.seeing, TrainingSchedule(seeing), rates={"": 1.5e-3}, work=folder / "seeing", seed=seed)]
    begin_decoder(model, Maps.of(model, scenes, range(0, len(scenes.scenes), max(len(scenes.scenes) // 64, 1))).pixels)
    if not has_begun(folder / "together"):
        decoder = Decoder(model)
        maps = Maps.of(model, scenes, range(min(MAPPED, len(scenes.scenes))))
        telling = Apart(decoder, maps)
        done.append(
            run(decoder, telling.loss, TrainingSchedule(apart), rates={"": 1e-3}, work=folder / "apart", seed=seed)
        )
    rates = {"": 2e-4, "cell_head": 1e-3, "pixel_head": 1e-3}
    done.append(
        run(pupil, lesson.together, TrainingSchedule(together), rates=rates, work=folder / "together", seed=seed)
    )
    save(model, out)
    return replace(done[-1], steps=steps, seconds=round(sum(one.seconds for one in done), 1))


def _shares(steps: int) -> tuple[int, int, int]:
    """Divide steps among the lessons."""
    planned = (SEEING_STEPS, APART_STEPS, TOGETHER_STEPS)
    seeing, apart, _ = (max(round(steps * part / sum(planned)), 1) for part in planned)
    return seeing, apart, max(steps - seeing - apart, 1)


def save(model: MaskFormerForInstanceSegmentation, out: Path) -> None:
    """Write weights (fp16) and picture processor as a hub checkpoint has them."""
    save_half(model, out)
    MaskFormerImageProcessorPil(
        size={"height": PIXELS, "width": PIXELS}, size_divisor=32, ignore_index=255, do_reduce_labels=False,
        image_mean=[0.5] * 3, image_std=[0.5] * 3,
    ).save_pretrained(out)  # fmt: skip


class SegmenterTraining:
    """Batches of pictures and the loss on them."""

    def __init__(self, pupil: SegmenterInTraining, crowds: Corpus, scenes: Corpus) -> None:
        self.pupil, self.crowds, self.scenes = pupil, crowds, scenes
        self._names = {name: index for index, name in enumerate(known_names())}

    def seeing(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of what pixels and cells say of themselves, mostly on crowds (things side by side)."""
        pixels, truth, names = self._batch(step, crowds=CROWDS[0])
        seen = self.pupil.segmenter.model.pixel_level_module(pixels)
        return self._seeing(seen.encoder_last_hidden_state, seen.decoder_last_hidden_state, truth, names)

    def together(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of queries, with a little of that of seeing to keep names alive."""
        pixels, truth, names = self._batch(step, crowds=CROWDS[1])
        model = self.pupil.segmenter
        output = model.model(pixels, output_hidden_states=True)
        seen = output.pixel_decoder_last_hidden_state
        kept, parts = self._seeing(output.encoder_last_hidden_state, seen, truth, names)
        wanted = stacked([wanted_of(each, side=seen.shape[-1]) for each in truth])
        told, more = told_apart(model, output.transformer_decoder_hidden_states[1:], seen, wanted)
        return told + SEEING_WEIGHT * kept, parts | more

    def _batch(self, step: int, *, crowds: int) -> tuple[torch.Tensor, list[Panoptic], list[list[int]]]:
        """Return pixels, segments and the names of things; half of the batches mirrored."""
        dice = np.random.default_rng([step, 41])
        shown, scenes = self._pictures(dice, crowds=crowds)
        flipped = bool(dice.integers(2))
        truth = [mirrored(panoptic(scene)) if flipped else panoptic(scene) for scene in scenes]
        names = [[self._names[item.concept] for item in scene.objects] for scene in scenes]
        return shown_at(shown[:, :, :: -1 if flipped else 1]), truth, names

    def _pictures(self, dice: np.random.Generator, *, crowds: int) -> tuple[Pixels, list[Scene]]:
        """Return the pictures (B, 128, 128, 3) of a batch, so many of them crowds, and what they show.

        Every batch has both, so that batch normalisation does not come to expect one or the other.
        """
        shown, scenes = [], []
        for source, count in ((self.crowds, crowds), (self.scenes, BATCH - crowds)):
            chosen = np.sort(dice.integers(0, len(source.scenes), count))
            shown.append(source.pictures[chosen])
            scenes += [source.scenes[index] for index in chosen]
        return np.concatenate(shown), scenes

    def _seeing(
        self, cells: torch.Tensor, pixels: torch.Tensor, truth: list[Panoptic], names: list[list[int]]
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of what pixels and cells say of themselves.

        Args:
            cells: The backbone's last map (B, C, h, w).
            pixels: The pixel decoder's map (B, F, H, W).
            truth: The segments of each picture.
            names: Index of the name of each thing of each picture.
        """
        fine = [segment_map(each, side=pixels.shape[-1]) for each in truth]
        wanted = torch.from_numpy(np.stack([t.labels[each] for t, each in zip(truth, fine, strict=True)]))
        said = self.pupil.pixel_head(pixels).float()
        # Most pixels are background, which is easy: things count threefold.
        weight = torch.ones(len(labels()))
        weight[: len(vocabulary().groups)] = 3.0
        labelling = functional.cross_entropy(said[:, PLACES:], wanted, weight)
        coarse = [thing_map(each, len(own), side=cells.shape[-1]) for each, own in zip(truth, names, strict=True)]
        called = torch.from_numpy(
            np.stack([np.where(c >= 0, np.array(own)[c], -1) for own, c in zip(names, coarse, strict=True)])
        )
        covered = called >= 0
        guesses = self.pupil.cell_head(cells.permute(0, 2, 3, 1)[covered]).float()
        naming = functional.cross_entropy(guesses[:, PLACES:], called[covered])
        middles = [place_codes(each.masks[: len(own)]) for each, own in zip(truth, names, strict=True)]
        things = wanted < len(vocabulary().groups)
        placing = functional.mse_loss(said[:, :PLACES].permute(0, 2, 3, 1)[things], gathered(middles, fine)[things])
        placing = placing + functional.mse_loss(guesses[:, :PLACES], gathered(middles, coarse)[covered])
        right = (guesses[:, PLACES:].argmax(-1) == called[covered]).float().mean().item()
        fits = (said[:, PLACES:].argmax(1) == wanted).float().mean().item()
        parts = {"naming": naming.item(), "placing": placing.item(), "cell top-1": right, "pixels right": fits}
        return labelling + 0.5 * naming + placing, parts
