"""Train the segmenter: MaskFormer, taught to see before it is asked to tell things apart.

Things are labelled with the singular of their group (`animal`, `fruit`), stuff with the ground or the pattern of the
background. Three measures make two cores suffice:

- A backbone of convolutions (ResNet with basic layers, one of the two kinds that the class supports) sees outlines
  from the first hundred steps on; a Swin of that size spends them on learning what a neighbour is.
- Teach to see first: for the first third of the steps every pixel is told its label and where the middle of its thing
  is, and every cell of the backbone's last map the name and the middle of its thing. This is denser than any matching
  of queries, and the middle is what tells two dogs apart: a mask is a product of a query's vector with pixels' vectors.
  What this teaches with is discarded.
- Places are known beforehand: most queries begin as the sine code of a point of a grid, and the projections of the
  cross-attention as one rotation shared by queries and keys, so that each query begins by looking at its place.

The pictures are shown at 192 × 192, so that masks have cells of 2.7 pixels: at 4 pixels even perfect masks of small
objects reach an IoU of 0.77 only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional
from transformers import (
    MaskFormerConfig,
    MaskFormerForInstanceSegmentation,
    MaskFormerImageProcessorPil,
    ResNetConfig,
)

from microworld.concepts import vocabulary
from microworld.drawing import HORIZON, Pixels, truths
from microworld.scenes import GROUNDS, PATTERNS, SIDE, Scene
from microworld.training.corpus import Corpus, corpus
from microworld.training.loop import Outcome, Plan, run
from microworld.training.owlvit import as_input, known_names

PIXELS = 192
BATCH = 12
# How many pictures of a batch are crowds, in the first lesson and in the second.
CROWDS = (9, 3)
# The share of all steps that teach only to see, and the weight that this keeps afterwards.
SEEING_SHARE, SEEING_WEIGHT = 0.35, 0.25
ROWS = 5
FREE_QUERIES = 5
SKY = "sky"
# How sharply an anchored query begins to look at its place: the attention logit there, where elsewhere it is about 0.
FOCUS = 6.0
# Waves across the picture by which the middle of a thing is told: sine and cosine of each, across and down.
WAVES = (0.5, 1.0, 2.0)
PLACES = 4 * len(WAVES)

Masks = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Shape:
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


@dataclass(frozen=True)
class Panoptic:
    """Every segment of a scene, as arrays over segments: things in the order of the scene, then stuff.

    Attributes:
        masks: (n, 128, 128), disjoint, together the whole picture; none is empty.
        labels: (n,) index among `labels()`.
    """

    masks: Masks
    labels: npt.NDArray[np.int64]


@cache
def labels() -> tuple[str, ...]:
    """Return the labels of segments: singulars of groups, then grounds, then kinds of background."""
    things = [group.singular for group in vocabulary().groups.values()]
    return (*things, SKY, *GROUNDS, *(f"{pattern} background" for pattern in PATTERNS))


@cache
def stuff() -> frozenset[str]:
    """Return the labels that are no things."""
    return frozenset(labels()[len(vocabulary().groups) :])


def config(shape: Shape | None = None) -> MaskFormerConfig:
    """Return the segmenter's shape: about 2.7 million weights."""
    shape = shape or Shape()
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
        mask_feature_size=shape.features, no_object_weight=0.1, mask_weight=20.0, dice_weight=2.0,
        cross_entropy_weight=1.0, id2label=dict(enumerate(labels())),
        label2id={label: number for number, label in enumerate(labels())},
    )  # fmt: skip


class Pupil(nn.Module):
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
    """Begin with batch normalisation that normalises and with masks near a half.

    The class draws the weights of batch normalisation with a deviation of 0.02, and the vectors of masks so large that
    their first losses are ten times those of random masks.
    """
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.ones_(layer.weight)
            nn.init.zeros_(layer.bias)
    last = [layer for layer in model.mask_embedder.modules() if isinstance(layer, nn.Linear)][-1]
    last.weight *= 0.2


def train(work: Path, out: Path, *, seed: int, steps: int) -> Outcome:
    """Train the segmenter and write its checkpoint.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint.
        seed: Seed of the run.
        steps: Optimizer steps of 12 pictures.
    """
    torch.manual_seed(seed)
    pupil = Pupil(config(), len(known_names()))
    crowds, scenes = corpus(work / "corpus", "crowds", 16_000), corpus(work / "corpus", "scenes", 24_000)
    if not (work / "maskformer" / "state.pt").exists():
        anchor_queries(pupil.segmenter)
    lesson = Lesson(pupil, crowds, scenes, steps)
    rates = {"": 1.5e-3, "segmenter.model.transformer_module": 5e-4}
    outcome = run(pupil, lesson.loss, Plan(steps), rates=rates, work=work / "maskformer", seed=seed)
    save(pupil.segmenter, out)
    return outcome


def save(model: MaskFormerForInstanceSegmentation, out: Path) -> None:
    """Write weights (fp16) and picture processor as a hub checkpoint has them."""
    model.half().save_pretrained(out)
    model.float()
    MaskFormerImageProcessorPil(
        size={"height": PIXELS, "width": PIXELS}, size_divisor=32, ignore_index=255, do_reduce_labels=False,
        image_mean=[0.5] * 3, image_std=[0.5] * 3,
    ).save_pretrained(out)  # fmt: skip


@torch.no_grad()
def anchor_queries(model: MaskFormerForInstanceSegmentation, *, rows: int = ROWS) -> None:
    """Let the first `rows` × `rows` queries begin by looking at the points of a grid.

    Their vectors become the sine code that the class adds to the cells of the picture. Queries and keys of every
    cross-attention begin as the few directions in which codes differ (`_where_codes_differ`), whitened, so that their
    product is largest where query and cell are at the same place; what cells contain is kept out of these directions.
    """
    module = model.model.transformer_module
    width = module.queries_embedder.embedding_dim
    side = 4 * rows
    codes = module.position_embedder(torch.Size((1, width, side, side)), torch.device("cpu"), torch.float32)[0]
    at = torch.arange(rows) * 4 + 2
    module.queries_embedder.weight[: rows * rows] = codes[:, at[:, None], at[None]].flatten(1).T
    mean, directions, spread = _where_codes_differ(codes.flatten(1).T)
    heads = int(model.config.decoder_config.decoder_attention_heads)
    each = width // heads
    for layer in module.decoder.layers:
        turned = [torch.linalg.qr(torch.randn(each, len(spread)))[0] for _ in range(heads)]
        weight = torch.cat([turn / spread for turn in turned]) @ directions * (FOCUS / len(spread) * each**0.5) ** 0.5
        for projection in (layer.encoder_attn.q_proj, layer.encoder_attn.k_proj):
            projection.weight.copy_(weight)
            projection.bias.copy_(-weight @ mean)
    if module.input_projection is not None:
        inside = module.input_projection.weight.flatten(1)
        inside -= directions.T @ (directions @ inside)


def _where_codes_differ(codes: torch.Tensor, count: int = 10) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return mean (d,), principal directions (count, d) and deviations (count,) of position codes (n, d)."""
    mean = codes.mean(dim=0)
    values, vectors = torch.linalg.eigh(torch.cov(codes.T))
    count = min(count, codes.shape[1] // 4)
    return mean, vectors[:, -count:].T, values[-count:].clamp(min=1e-4).sqrt()


def panoptic(scene: Scene) -> Panoptic:
    """Return what a perfect segmenter would give for the picture of a scene."""
    words = vocabulary()
    number = {label: index for index, label in enumerate(labels())}
    found = [truth.mask for truth in truths(scene)]
    names = [words.groups[words.concept(item.concept).group].singular for item in scene.objects]
    free = ~np.logical_or.reduce(found) if found else np.ones((SIDE, SIDE), dtype=np.bool_)
    if scene.pattern in GROUNDS:
        above = np.arange(SIDE)[:, None] < HORIZON
        grounds = [(free & above, SKY), (free & ~above, scene.pattern)]
    else:
        grounds = [(free, f"{scene.pattern} background")]
    found += [mask for mask, _ in grounds]
    names += [name for _, name in grounds]
    kept = [index for index, mask in enumerate(found) if mask.any()]
    return Panoptic(np.stack([found[index] for index in kept]), np.array([number[names[index]] for index in kept]))


class Lesson:
    """Batches of pictures and the loss on them."""

    def __init__(self, pupil: Pupil, crowds: Corpus, scenes: Corpus, steps: int) -> None:
        self.pupil, self.crowds, self.scenes, self.steps = pupil, crowds, scenes, steps
        self._names = {name: index for index, name in enumerate(known_names())}

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts.

        Two lessons. To see first, on crowds (things side by side): what each pixel and each cell is, and where its
        thing's middle. Then to tell things apart, on scenes: the class's own loss on matched queries of every layer of
        the decoder, with a little of the first lesson to keep names alive.
        """
        dice = np.random.default_rng([step, 41])
        seeing = step < SEEING_SHARE * self.steps
        shown, scenes = self._pictures(dice, crowds=CROWDS[0] if seeing else CROWDS[1])
        flipped = bool(dice.integers(2))
        truth = [_flipped(panoptic(scene), really=flipped) for scene in scenes]
        pixels = as_input(shown[:, :, :: -1 if flipped else 1])
        pixels = functional.interpolate(pixels, size=(PIXELS, PIXELS), mode="bilinear", antialias=False)
        model = self.pupil.segmenter
        names = [[self._names[item.concept] for item in scene.objects] for scene in scenes]
        if seeing:
            seen = model.model.pixel_level_module(pixels)
            return self._seeing(seen.encoder_last_hidden_state, seen.decoder_last_hidden_state, truth, names)
        output = model.model(pixels, output_hidden_states=True)
        kept, parts = self._seeing(
            output.encoder_last_hidden_state, output.pixel_decoder_last_hidden_state, truth, names
        )
        matched = matched_losses(model, output, truth)
        last = {name.removeprefix("loss_"): value.item() for name, value in matched.items() if name[-1].isalpha()}
        total = torch.stack(list(matched.values())).sum() / len(model.model.transformer_module.decoder.layers)
        return total + SEEING_WEIGHT * kept, parts | last

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
        placing = functional.mse_loss(said[:, :PLACES].permute(0, 2, 3, 1)[things], _gather(middles, fine)[things])
        placing = placing + functional.mse_loss(guesses[:, :PLACES], _gather(middles, coarse)[covered])
        right = (guesses[:, PLACES:].argmax(-1) == called[covered]).float().mean().item()
        fits = (said[:, PLACES:].argmax(1) == wanted).float().mean().item()
        parts = {"naming": naming.item(), "placing": placing.item(), "cell top-1": right, "pixels right": fits}
        return labelling + 0.5 * naming + placing, parts


def matched_losses(
    model: MaskFormerForInstanceSegmentation,
    output: Any,  # noqa: ANN401 - an output of transformers, untyped
    truth: list[Panoptic],
) -> dict[str, torch.Tensor]:
    """Return the class's weighted losses, of the decoder's last layer and (names with a number) of those before it.

    The class's own deep supervision also judges the state before the first layer, which has seen nothing.
    """
    states = output.transformer_decoder_hidden_states[1:]
    pixels = output.pixel_decoder_last_hidden_state
    predicted = [
        {
            "class_queries_logits": model.class_predictor(state).float(),
            "masks_queries_logits": torch.einsum("bqc,bchw->bqhw", model.mask_embedder(state), pixels).float(),
        }
        for state in states
    ]
    masks = [torch.from_numpy(each.masks.astype(np.float32)) for each in truth]
    classes = [torch.from_numpy(each.labels) for each in truth]
    found: dict[str, torch.Tensor] = model.get_loss_dict(
        predicted[-1]["masks_queries_logits"], predicted[-1]["class_queries_logits"], masks, classes, predicted[:-1]
    )
    return found


def _flipped(truth: Panoptic, *, really: bool) -> Panoptic:
    return Panoptic(np.ascontiguousarray(truth.masks[:, :, ::-1]), truth.labels) if really else truth


def segment_map(truth: Panoptic, *, side: int) -> npt.NDArray[np.int64]:
    """Return the index of the segment at the middle of each of `side` × `side` cells."""
    at = ((np.arange(side) + 0.5) * SIDE / side).astype(np.int64)
    return truth.masks[:, at[:, None], at[None]].argmax(axis=0)


def thing_map(truth: Panoptic, things: int, *, side: int) -> npt.NDArray[np.int64]:
    """Return the index of the thing that covers most of each of `side` × `side` cells; -1 where none covers 30 %."""
    edges = (np.arange(side + 1) * SIDE / side).round().astype(np.int64)
    sums = np.pad(truth.masks[:things].astype(np.int64).cumsum(1).cumsum(2), ((0, 0), (1, 0), (1, 0)))
    corners = sums[:, edges[:, None], edges[None]]
    covered = corners[:, 1:, 1:] - corners[:, :-1, 1:] - corners[:, 1:, :-1] + corners[:, :-1, :-1]
    enough = covered.max(axis=0) >= 0.3 * (SIDE / side) ** 2
    return np.where(enough, covered.argmax(axis=0), -1)


def place_codes(masks: Masks) -> npt.NDArray[np.float32]:
    """Return where the middles of things are: sines and cosines (n, 12) of the middles of the boxes of masks."""
    middles = []
    for axis in (1, 2):
        touched: npt.NDArray[np.bool_] = np.asarray(masks.any(axis=axis))
        first, last = touched.argmax(axis=1), SIDE - 1 - touched[:, ::-1].argmax(axis=1)
        middles.append((first + last + 1) / (2 * SIDE))
    angles = np.stack([2 * np.pi * wave * middle for middle in middles for wave in WAVES], axis=1)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def _gather(codes: list[npt.NDArray[np.float32]], maps: list[npt.NDArray[np.int64]]) -> torch.Tensor:
    """Return the code of the thing at each place (B, h, w, 12); anything where there is none."""
    return torch.from_numpy(np.stack([own[each.clip(0, len(own) - 1)] for own, each in zip(codes, maps, strict=True)]))
