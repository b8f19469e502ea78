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

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
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

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import HORIZON, Pixels, truths
from snellen.microworld.scenes import GROUNDS, PATTERNS, SIDE, Scene
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.microworld.training.owlvit import as_input, known_names

PIXELS = 192
BATCH = 12
# How many pictures of a batch are crowds, in the first lesson and in the last.
CROWDS = (9, 3)
# Steps of seeing, of telling apart, and of both together.
SEEING_STEPS, APART_STEPS, TOGETHER_STEPS = 2_800, 4_000, 800
# The weight that seeing keeps in the last lesson.
SEEING_WEIGHT = 0.25
# Pictures whose maps are computed once for telling apart: two gigabytes.
MAPPED = 6_000
APART_BATCH = 16
ROWS = 5
FREE_QUERIES = 5
SKY = "sky"
# How sharply an anchored query looks at its place: the attention logit there, where elsewhere it is about 0.
FOCUS = 6.0
# Channels of the decoder that carry places alone in its first layer, and directions among them that tell places apart.
PLACE_CHANNELS, PLACE_DIRECTIONS = 12, 8
# How far from its middle, in shares of the picture's side, a query still counts as lying on a thing.
REACH = 0.19
# Weights of the parts of the loss; one label in thirty is no "nothing".
FOCAL, DICE, NOTHING = 20.0, 2.0, 0.1
# Waves across the picture by which the middle of a thing is told: sine and cosine of each, across and down.
WAVES = (0.5, 1.0, 2.0)
PLACES = 4 * len(WAVES)

Masks = npt.NDArray[np.bool_]


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
    if not (folder / "together" / "state.pt").exists():
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
    model.half().save_pretrained(out)
    model.float()
    MaskFormerImageProcessorPil(
        size={"height": PIXELS, "width": PIXELS}, size_divisor=32, ignore_index=255, do_reduce_labels=False,
        image_mean=[0.5] * 3, image_std=[0.5] * 3,
    ).save_pretrained(out)  # fmt: skip


@torch.no_grad()
def begin_decoder(model: MaskFormerForInstanceSegmentation, pixels: torch.Tensor, *, rows: int = ROWS) -> None:
    """Prepare the decoder for telling things apart.

    Args:
        model: The segmenter, which has learned to see; changed in place. Some of its weights stay as they are from here
            on: what would make queries look elsewhere.
        pixels: The pixel decoder's map (n, F, H, W) of some pictures, from which sizes are taken.
        rows: The first `rows` × `rows` queries are anchored at the points of a grid.
    """
    constant = _of_one_size(model.model.pixel_level_module.decoder.mask_projection, pixels)
    last = [layer for layer in model.mask_embedder.modules() if isinstance(layer, nn.Linear)][-1]
    nn.init.xavier_uniform_(last.weight, gain=0.5)
    # Most pixels are not of a query's segment.
    last.bias.copy_(-0.7 * constant)
    module = model.model.transformer_module
    for layer in module.decoder.modules():
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
    _anchor_queries(module, rows)


def _of_one_size(projection: nn.Conv2d, pixels: torch.Tensor) -> torch.Tensor:
    """Give the features of pixels mean 0 and deviation 1 in all directions but one, in which they become constant.

    Features of very different sizes, with a large mean, let every query learn that mean and nothing else. The direction
    in which they vary least is given up for the constant, which masks need to be mostly empty.

    Returns:
        The direction of the constant (F,).
    """
    flat = pixels.float().permute(0, 2, 3, 1).reshape(-1, pixels.shape[1])
    mean = flat.mean(dim=0)
    values, vectors = torch.linalg.eigh(torch.cov(flat.T))
    whitened = (vectors / (values + 3e-3 * values.mean()).sqrt()) @ vectors.T
    direction = vectors[:, 0]
    whitened = whitened - direction[:, None] * (direction @ whitened)
    assert projection.bias is not None, "the class gives it one"  # noqa: S101 - for the type checker
    projection.bias.copy_(whitened @ (projection.bias - mean) + 3.0 * direction)
    projection.weight.copy_(torch.einsum("dc,cihw->dihw", whitened, projection.weight))
    return direction


def _anchor_queries(module: Any, rows: int) -> None:  # noqa: ANN401 - a module of transformers, untyped
    """Let the first `rows` × `rows` queries look at the points of a grid, for good.

    Their vectors become the sine code that the class adds to the cells of the picture. The channels in which codes
    differ most carry nothing else: neither what cells contain nor what the first layer begins with enters them. Queries
    and keys of the first cross-attention are these channels, whitened, so that their product is largest where query and
    cell are at the same place.
    """
    width = module.queries_embedder.embedding_dim
    side = 4 * rows
    codes = module.position_embedder(torch.Size((1, width, side, side)), torch.device("cpu"), torch.float32)[0]
    at = torch.arange(rows) * 4 + 2
    module.queries_embedder.weight[: rows * rows] = codes[:, at[:, None], at[None]].flatten(1).T
    flat = codes.flatten(1).T
    channels = flat.var(dim=0).topk(min(PLACE_CHANNELS, width // 2)).indices.sort().values
    mean, directions, spread = _where_codes_differ(flat[:, channels])
    first = module.decoder.layers[0]
    each = int(first.encoder_attn.head_dim)
    heads = width // each
    turned = [torch.linalg.qr(torch.randn(each, len(spread)))[0] for _ in range(heads)]
    weight = torch.cat([turn / spread for turn in turned]) @ directions * (FOCUS / len(spread) * each**0.5) ** 0.5
    for projection in (first.encoder_attn.q_proj, first.encoder_attn.k_proj):
        projection.weight.zero_()
        projection.weight[:, channels] = weight
        projection.bias.copy_(-weight @ mean)
        projection.requires_grad_(requires_grad=False)
    module.queries_embedder.requires_grad_(requires_grad=False)
    free = torch.ones(width)
    free[channels] = 0.0
    # What the layer begins with has a size of its own: it is normalised, and normalising nothing magnifies noise.
    first.self_attn.o_proj.bias.normal_(0.0, 0.5)
    contents = [first.self_attn_layer_norm, module.input_projection]
    for parameter in [each for one in contents if one is not None for each in one.parameters()]:
        shape = (-1, *[1] * (parameter.ndim - 1))
        parameter.mul_(free.view(shape))
        parameter.register_hook(lambda gradient, shape=shape: gradient * free.view(shape))


def _where_codes_differ(codes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return mean (d,), principal directions (k, d) and deviations (k,) of position codes (n, d)."""
    values, vectors = torch.linalg.eigh(torch.cov(codes.T))
    count = min(PLACE_DIRECTIONS, codes.shape[1] // 2)
    return codes.mean(dim=0), vectors[:, -count:].T, values[-count:].clamp(min=1e-3).sqrt()


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
        truth = [_flipped(panoptic(scene), really=flipped) for scene in scenes]
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
        placing = functional.mse_loss(said[:, :PLACES].permute(0, 2, 3, 1)[things], _gather(middles, fine)[things])
        placing = placing + functional.mse_loss(guesses[:, :PLACES], _gather(middles, coarse)[covered])
        right = (guesses[:, PLACES:].argmax(-1) == called[covered]).float().mean().item()
        fits = (said[:, PLACES:].argmax(1) == wanted).float().mean().item()
        parts = {"naming": naming.item(), "placing": placing.item(), "cell top-1": right, "pixels right": fits}
        return labelling + 0.5 * naming + placing, parts


def shown_at(pictures: Pixels, side: int = PIXELS) -> torch.Tensor:
    """Return pictures (B, 128, 128, 3) as the segmenter is shown them (B, 3, side, side)."""
    return functional.interpolate(as_input(pictures), size=(side, side), mode="bilinear", antialias=False)


# --- telling apart -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QueryAssignment:
    """Which query answers for which segment: of one picture, or of a batch with one more axis in front.

    Attributes:
        cells: (h, w) index of the segment of each cell.
        lying: (q,) index of the thing that each query lies on, or of the segment that it owns; -1 for none.
        labels: (q,) label of that segment; that of "nothing" for none.
        owns: (q,) whether the query answers for it.
    """

    cells: torch.Tensor
    lying: torch.Tensor
    labels: torch.Tensor
    owns: torch.Tensor


def wanted_of(truth: Panoptic, *, side: int, rows: int = ROWS) -> QueryAssignment:
    """Decide which query answers for which segment of a picture.

    A thing is owned by the anchored query nearest to its middle that owns none yet, nearest pairs first; the first two
    of the free queries own the stuff, the farther one (sky, background) first.
    """
    cells = segment_map(truth, side=side)
    things = [index for index, label in enumerate(truth.labels) if label < len(vocabulary().groups)]
    points = _anchors(rows)
    lying = np.full(rows * rows + FREE_QUERIES, -1, dtype=np.int64)
    owns = np.zeros(len(lying), dtype=np.bool_)
    if things:
        far = np.linalg.norm(points[:, None] - _middles(truth.masks[things])[None], axis=2)
        under = cells[(points[:, 0] * side).astype(np.int64), (points[:, 1] * side).astype(np.int64)]
        nearest = far.argmin(axis=1)
        on_thing = under < len(things)
        lying[: len(points)] = np.where(on_thing, under, np.where(far.min(axis=1) < REACH, nearest, -1))
        for query, thing in _pairs(far):
            lying[query], owns[query] = thing, True
    stuff_at = [index for index in range(len(truth.labels)) if index not in things][:FREE_QUERIES]
    for place, segment in enumerate(stuff_at):
        lying[rows * rows + place], owns[rows * rows + place] = segment, True
    named = np.where(lying >= 0, truth.labels[lying], len(labels()))
    return QueryAssignment(*(torch.from_numpy(each) for each in (cells.astype(np.uint8), lying, named, owns)))


def _anchors(rows: int) -> npt.NDArray[np.float64]:
    """Return the places (down, across) of the anchored queries, in shares of the picture's side."""
    at = (np.arange(rows) * 4 + 2.5) / (4 * rows)
    return np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)


def _middles(masks: Masks) -> npt.NDArray[np.float64]:
    """Return the middles (n, 2) of the boxes of masks, down and across, in shares of the picture's side."""
    found = []
    for axis in (2, 1):
        touched: npt.NDArray[np.bool_] = np.asarray(masks.any(axis=axis))
        first, last = touched.argmax(axis=1), SIDE - 1 - touched[:, ::-1].argmax(axis=1)
        found.append((first + last + 1) / (2 * SIDE))
    return np.stack(found, axis=1)


def _pairs(far: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pair queries and things (q, n), the nearest first, each once."""
    left = far.copy()
    pairs = []
    for _ in range(min(left.shape)):
        query, thing = np.unravel_index(left.argmin(), left.shape)
        pairs.append((int(query), int(thing)))
        left[query], left[:, thing] = np.inf, np.inf
    return pairs


def stacked(wanted: Sequence[QueryAssignment]) -> QueryAssignment:
    """Put what is wanted of several pictures into one batch."""
    return QueryAssignment(
        *(torch.stack([getattr(one, each.name) for one in wanted]) for each in fields(QueryAssignment))
    )


def told_apart(
    model: Decoder | MaskFormerForInstanceSegmentation,
    states: Sequence[torch.Tensor],
    pixels: torch.Tensor,
    wanted: QueryAssignment,
) -> tuple[torch.Tensor, dict[str, float]]:
    """Return the loss of masks and labels, over the decoder's layers, and figures of the last one.

    Every query on a thing learns its mask in every layer. In the layers before the last it also learns the thing's
    label; in the last, only the owner does, and all others that they are nothing.

    Args:
        model: The segmenter.
        states: What the layers give (B, q, d), in order.
        pixels: The pixel decoder's map (B, F, H, W).
        wanted: Of a batch.
    """
    lies = wanted.lying >= 0
    target = (wanted.cells[:, None].long() == wanted.lying[:, :, None, None]).float()
    nothing = torch.full_like(wanted.labels, len(labels()))
    weight = torch.ones(len(labels()) + 1)
    weight[-1] = NOTHING
    total, parts = torch.zeros(()), dict[str, float]()
    for number, state in enumerate(states, start=1):
        logits = torch.einsum("bqc,bchw->bqhw", model.mask_embedder(state), pixels).float()
        focal, dice = mask_losses(logits[lies], target[lies])
        named = torch.where(wanted.owns, wanted.labels, nothing) if number == len(states) else wanted.labels
        said = model.class_predictor(state).float()
        naming = functional.cross_entropy(said.flatten(0, 1), named.flatten(), weight)
        total = total + FOCAL * focal + DICE * dice + naming
        if number == len(states):
            parts = _figures(logits, target, said, named, wanted)
    return total / len(states), parts


def mask_losses(logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return focal loss (Lin et al. 2017) and dice loss of masks (n, H, W), each the mean over masks."""
    crossed = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    share = logits.sigmoid()
    missed = share + target - 2 * share * target
    focal = (crossed * missed**2 * (0.75 - 0.5 * target)).mean()
    both = (share * target).sum(dim=(1, 2))
    dice = 1 - (2 * both + 1) / (share.sum(dim=(1, 2)) + target.sum(dim=(1, 2)) + 1)
    return focal, dice.mean()


@torch.no_grad()
def _figures(
    logits: torch.Tensor, target: torch.Tensor, said: torch.Tensor, named: torch.Tensor, wanted: QueryAssignment
) -> dict[str, float]:
    found, there = logits > 0, target > 0
    overlap = (found & there).sum(dim=(2, 3)) / (found | there).sum(dim=(2, 3)).clamp(min=1)
    things = wanted.owns & (wanted.labels < len(vocabulary().groups))
    right = said.argmax(-1) == named
    rest = ~wanted.owns
    return {
        "thing IoU": overlap[things].mean().item() if things.any() else 0.0,
        "stuff IoU": overlap[wanted.owns & ~things].mean().item(),
        "labels right": right[wanted.owns].float().mean().item(),
        "nothing right": right[rest].float().mean().item(),
    }


class Decoder(nn.Module):
    """What telling apart teaches: the transformer decoder and the two heads on its queries.

    Args:
        segmenter: The model whose parts these are; they are changed in place.
    """

    def __init__(self, segmenter: MaskFormerForInstanceSegmentation) -> None:
        super().__init__()
        self.transformer = segmenter.model.transformer_module
        self.mask_embedder = segmenter.mask_embedder
        self.class_predictor = segmenter.class_predictor


@dataclass(frozen=True)
class Maps:
    """What the pixel level gives for pictures, computed once (half precision), and what is wanted of them.

    Attributes:
        cells: (n, C, h, w) the backbone's last map.
        pixels: (n, F, H, W) the pixel decoder's map.
        wanted: One of each picture.
    """

    cells: torch.Tensor
    pixels: torch.Tensor
    wanted: tuple[QueryAssignment, ...]

    @classmethod
    @torch.no_grad()
    def of(cls, model: MaskFormerForInstanceSegmentation, source: Corpus, indices: Sequence[int]) -> Maps:
        """Compute them for some pictures of a corpus."""
        level = model.model.pixel_level_module
        level.eval()
        cells, pixels = [], []
        for start in range(0, len(indices), APART_BATCH):
            seen = level(shown_at(source.pictures[list(indices[start : start + APART_BATCH])]))
            cells.append(seen.encoder_last_hidden_state.half())
            pixels.append(seen.decoder_last_hidden_state.half())
        side = pixels[0].shape[-1]
        wanted = tuple(wanted_of(panoptic(source.scenes[index]), side=side) for index in indices)
        return cls(torch.cat(cells), torch.cat(pixels), wanted)


class Apart:
    """Batches of maps and the loss on them."""

    def __init__(self, decoder: Decoder, maps: Maps) -> None:
        self.decoder, self.maps = decoder, maps

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its figures."""
        chosen = np.random.default_rng([step, 43]).integers(0, len(self.maps.wanted), APART_BATCH)
        cells, pixels = self.maps.cells[chosen].float(), self.maps.pixels[chosen].float()
        states = self.decoder.transformer(cells, output_hidden_states=True).hidden_states[1:]
        return told_apart(self.decoder, states, pixels, stacked([self.maps.wanted[index] for index in chosen]))


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
    down, across = _middles(masks).T
    angles = np.stack([2 * np.pi * wave * middle for middle in (across, down) for wave in WAVES], axis=1)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def _gather(codes: list[npt.NDArray[np.float32]], maps: list[npt.NDArray[np.int64]]) -> torch.Tensor:
    """Return the code of the thing at each place (B, h, w, 12); anything where there is none."""
    return torch.from_numpy(np.stack([own[each.clip(0, len(own) - 1)] for own, each in zip(codes, maps, strict=True)]))
