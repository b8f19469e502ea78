"""SEG: further object queries in MaskFormer's transformer decoder (CLOVA section 8.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from snellen.models.injection import CapturedAttention
from snellen.models.soft_prompts import cosines
from snellen.models.vision.segmentation import Segment, Segmenter, SegmenterFeatures, layered
from snellen.profiles import BadInput
from snellen.scoring import best_overlaps
from snellen.tuning.loop import PromptScores, TuningBatch, layer_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.profiles import Profile, SegTuning, TuningSettings
    from snellen.tuning.instances import Instance, TunedPrompt, TuningExample

FOUND = 0.5
"""Intersection over union at which a mask is the object's."""

_TOGETHER = 1
"""Pictures that go through the backbone together. A convolution's last bits depend on the company, and Adam, which
looks at the direction of gradients rather than their size, makes much of them at this learning rate. One picture keeps
the processor's cores busy, and each passes once."""

_FOCUS, _BALANCE = 2.0, 0.25
"""Gamma and alpha of the focal loss, as the class has them."""


@dataclass(frozen=True, eq=False)
class SegBatch(TuningBatch):
    """Pictures of instances, the one to learn from first, then negatives; rows of the longest instance, others padded.

    Attributes:
        query_keys: ``(instances, pictures, layers, queries, width)``, as in :class:`CapturedAttention`.
        query_values: The same.
        cell_keys: ``(instances, pictures, layers, cells, width)``.
        cell_values: The same.
        hidden: ``(instances, pictures, cells)``: True on padding.
        signs: ``(instances, pictures)``: 1 where the picture shows the concept, -1 where not, 0 where there is none.
        pixels: ``(instances, channels, places)`` of the first picture, what vectors of masks are multiplied with.
        real: ``(instances, places)``: 1 on the picture, 0 on padding.
        masks: ``(instances, vectors, places)``: how much of each place the object of each query covers.
    """

    query_keys: torch.Tensor
    query_values: torch.Tensor
    cell_keys: torch.Tensor
    cell_values: torch.Tensor
    hidden: torch.Tensor
    signs: torch.Tensor
    pixels: torch.Tensor
    real: torch.Tensor
    masks: torch.Tensor

    def heard(self) -> CapturedAttention:
        """Return what was overheard of all pictures, one after another."""
        return CapturedAttention(*(getattr(self, each.name).flatten(0, 1) for each in fields(CapturedAttention)))


@dataclass(frozen=True, eq=False)
class SegSeen:
    """Held-out pictures, and the segments that the model finds in them by itself."""

    examples: Sequence[TuningExample]
    sights: list[SegmenterFeatures]
    known: list[list[list[Segment]]]


@dataclass(frozen=True, eq=False)
class _View:
    """One picture, without a batch."""

    heard: CapturedAttention
    pixels: torch.Tensor


def mask_losses(logits: torch.Tensor, masks: torch.Tensor, real: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mask loss of MaskFormer in its two terms: focal (Lin et al. 2017) and dice (Milletari et al. 2016).

    Args:
        logits: ``(..., places)``.
        masks: The same shape, in [0, 1]: how much of a place is inside.
        real: The same shape or one that spreads to it: 0 on places that are not counted.

    Returns:
        Focal and dice loss, each ``(...)``.
    """
    chances = logits.sigmoid()
    wrong = (chances - masks).abs() ** _FOCUS
    balance = _BALANCE * masks + (1 - _BALANCE) * (1 - masks)
    focal = balance * wrong * functional.binary_cross_entropy_with_logits(logits, masks, reduction="none") * real
    shared = 2 * (chances * masks * real).sum(-1) + 1
    dice = 1 - shared / (((chances + masks) * real).sum(-1) + 1)
    return focal.sum(-1) / real.sum(-1), dice


class SegTuner:
    """Teaches MaskFormer to find a concept that it has no label for.

    Backbone, pixel decoder and the model's own queries do not depend on the prompt. Each step runs the decoder for the
    prompt alone.

    The paper trains with the mask loss only. That leaves open which pictures the concept is in: a query that was never
    told to be silent draws a mask in every picture. So of the classification loss the half stays that needs no label,
    whether a query shows anything: it shall on the concept's own picture, and shall not on pictures without it. A
    segment's name is then that of the prompt that found it.

    Nor are queries matched with objects by their costs. The queries of a prompt have fixed roles, from left to right
    and then again: prompts are averaged place by place at inference, so a place must mean the same in all of them.
    """

    pool = "SEG"

    def __init__(self, segmenter: Segmenter, profile: Profile) -> None:
        self._segmenter = segmenter
        self.settings: SegTuning = profile.tuning.seg
        self.common: TuningSettings = profile.tuning
        self.module = segmenter.checkpoint.model
        self.device = segmenter.checkpoint.device
        self._decoder = self.module.config.decoder_config
        self.shape = (self.settings.vectors, int(self._decoder.hidden_size))
        self.margin = math.log(self.settings.score / (1 - self.settings.score))

    def size(self, instance: Instance) -> int:
        """One run of the decoder for each picture with what it looks up, and the masks of the first picture."""
        decoder = self._decoder
        layers, heads, vectors = decoder.decoder_layers, decoder.decoder_attention_heads, self.settings.vectors
        stride = 2 ** (1 + len(self.module.model.pixel_level_module.encoder.channels))
        total = 0
        for example in instance.examples:
            looked_up = decoder.num_queries + self._prepared_pixels(example) // stride**2
            total += 8 * layers * looked_up * (decoder.hidden_size + heads * vectors)
            total += layers * layer_bytes(vectors, decoder.hidden_size, decoder.decoder_ffn_dim, heads=heads)
        places = self._prepared_pixels(instance.example) // 16
        return int(total + 4 * places * (self.module.config.mask_feature_size + 10 * vectors))

    def _prepared_pixels(self, example: TuningExample) -> int:
        wanted, (width, height) = self._segmenter.checkpoint.processor.size, example.picture.size
        if wanted.get("height"):
            return int(wanted["height"] * wanted["width"])
        scale = wanted["shortest_edge"] / min(width, height)
        if wanted.get("longest_edge"):
            scale = min(scale, wanted["longest_edge"] / max(width, height))
        return int(width * height * scale**2)

    def features(self, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        """The mean cell ``(width,)`` of each picture's last map."""
        with torch.no_grad():
            return self._segmenter.features([example.picture for example in examples])

    def prepare(self, instances: Sequence[Instance]) -> SegBatch:
        """Run the model once on every picture, and say what each query of each instance shall draw."""
        shown = [each.examples for each in instances]
        most = max(map(len, shown))
        pictures = {id(each.picture): each for row in shown for each in row}
        places = {name: index for index, name in enumerate(pictures)}
        views = [view for _, view in self._views(list(pictures.values()))]
        heard, hidden = _padded([each.heard for each in views])
        where = torch.tensor([[places[id(row[min(i, len(row) - 1)].picture)] for i in range(most)] for row in shown])
        signs = torch.tensor([[(i < len(row)) * (1.0 if i == 0 else -1.0) for i in range(most)] for row in shown])
        first = [views[places[id(row[0].picture)]].pixels for row in shown]
        drawn = [
            self._drawn(instance, (pixels.shape[-2], pixels.shape[-1]))
            for instance, pixels in zip(instances, first, strict=True)
        ]
        return SegBatch(
            **{each.name: getattr(heard, each.name)[where] for each in fields(CapturedAttention)},
            hidden=hidden[where],
            signs=signs.to(self.device),
            pixels=_stacked([each.flatten(1) for each in first]),
            real=_stacked([torch.ones(each[0].numel(), device=self.device) for each in first]),
            masks=_stacked([each.to(self.device) for each in drawn]),
        )

    def _views(self, examples: Sequence[TuningExample]) -> list[tuple[int, _View]]:
        """Each picture as the model sees it, in order."""
        found = {}
        for sight in self._sights(examples):
            for place, row in enumerate(sight.rows):
                found[row] = _View(_heard(sight).take([place]), sight.pixels[place])
        return sorted(found.items())

    def _sights(self, examples: Sequence[TuningExample]) -> Iterator[SegmenterFeatures]:
        for start in range(0, len(examples), _TOGETHER):
            pictures = [each.picture for each in examples[start : start + _TOGETHER]]
            for sight in self._segmenter.look(pictures):
                yield replace(sight, rows=tuple(start + row for row in sight.rows))

    def _drawn(self, instance: Instance, size: tuple[int, int]) -> torch.Tensor:
        """What the queries of an instance shall draw ``(vectors, places)``: its objects from left to right, again."""
        masks = [np.asarray(each, dtype=np.float32) / 255 for each in instance.example.masks]
        left = sorted((int(each.any(axis=0).argmax()), index) for index, each in enumerate(masks) if each.any())
        if not left:
            msg = f"SEG learns from masks, and an example of {instance.concept!r} has none: give scenes with masks."
            raise BadInput(msg)
        objects = torch.from_numpy(np.stack([masks[index] for _, index in left]))
        small = functional.interpolate(objects[None], size=size, mode="area")[0].flatten(1)
        return small[torch.arange(self.settings.vectors) % len(small)]

    def judge(self, prompts: torch.Tensor, batch: SegBatch) -> PromptScores:
        """Return what each query draws in the concept's picture, and whether it is silent in the others."""
        instances, pictures = batch.signs.shape
        each = prompts[:, None].expand(-1, pictures, *prompts.shape[1:]).flatten(0, 1)
        states = self._segmenter.states(each, batch.heard(), batch.hidden.flatten(0, 1))
        states = states.view(instances, pictures, *states.shape[1:])
        speaks = batch.signs[..., None] * self._segmenter.something(states)
        silences = functional.softplus(-speaks).mean(dim=-1) * batch.signs.abs()
        others = batch.signs[:, 1:].abs().sum(1).clamp(min=1)
        drawn = self._segmenter.outlines(states[:, 0], batch.pixels)
        real = batch.real[:, None]
        focal, dice = mask_losses(drawn, batch.masks, real)
        weights = self.module.config
        outlines = (weights.mask_weight * focal + weights.dice_weight * dice).mean(dim=1)
        named = (silences[:, 0] + silences[:, 1:].sum(1) / others).float()
        right = ((speaks >= self.margin) | (batch.signs == 0)[..., None]).flatten(1).all(dim=1)
        close = self._overlaps(drawn, batch.masks, real) >= self.settings.overlap
        return PromptScores(outlines + weights.cross_entropy_weight * named, right & close.all(dim=1))

    def _overlaps(self, drawn: torch.Tensor, masks: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Intersection over union of drawn and true masks, ``(...)`` of ``(..., places)``."""
        inside = (drawn.sigmoid() >= self._segmenter.settings.mask_threshold) & (real > 0)
        true = masks >= FOUND
        return (inside & true).sum(-1) / (inside | true).sum(-1).clamp(min=1)

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> SegSeen:  # noqa: ARG002 - prompts carry names
        """Run the model once on every picture."""
        with torch.no_grad():
            sights, known = [], []
            for sight in self._sights(examples):
                known.append(self._segmenter.known(sight))
                sights.append(replace(sight, output=None))
        return SegSeen(examples, sights, known)

    def right(self, seen: SegSeen, tuned: TunedPrompt | None, concept: str) -> list[bool]:
        """Return whether the segments of the concept are its objects, each at IoU 0.5, and all else keeps its own.

        In a picture of another concept nothing may be called after this one, and each of its masks needs a segment at
        IoU 0.5, whatever label the model has for it.
        """
        right = [False] * len(seen.examples)
        for sight, known in zip(seen.sights, seen.known, strict=True):
            for place, row in enumerate(sight.rows):
                segments = layered(self._novel(sight, place, tuned), known[place])
                right[row] = _agrees(seen.examples[row], concept, segments)
        return right

    def _novel(self, sight: SegmenterFeatures, place: int, tuned: TunedPrompt | None) -> list[Segment]:
        if tuned is None or not tuned.prompt.any():
            return []
        if cosines(sight.features[[place]], tuned.feature)[0] < self.settings.similarity:
            return []
        with torch.no_grad():
            return self._segmenter.novel(sight, place, {tuned.concept: tuned.prompt})


def _agrees(example: TuningExample, concept: str, segments: Sequence[Segment]) -> bool:
    true = [inside for mask in example.masks if (inside := np.asarray(mask) > 0).any()]
    called = [each.inside() for each in segments if each.name == concept]
    if example.concept == concept and true:
        return min([*best_overlaps(called, true), *best_overlaps(true, called)]) >= FOUND
    return not called and min(best_overlaps([each.inside() for each in segments], true), default=1.0) >= FOUND


def _heard(sight: SegmenterFeatures) -> CapturedAttention:
    assert sight.heard is not None  # noqa: S101 - the tuner listens whenever it looks
    return sight.heard


def _padded(heard: Sequence[CapturedAttention]) -> tuple[CapturedAttention, torch.Tensor]:
    """Put what was overheard of single pictures together, with as many cells each; True on those that were added."""
    cells = [each.cell_keys.shape[2] for each in heard]
    names = [each.name for each in fields(CapturedAttention)]
    joined = CapturedAttention(*(_stacked([getattr(each, name)[0] for each in heard], axis=-2) for name in names))
    hidden = torch.arange(max(cells))[None] >= torch.tensor(cells)[:, None]
    return joined, hidden.to(joined.cell_keys.device)


def _stacked(tensors: Sequence[torch.Tensor], *, axis: int = -1) -> torch.Tensor:
    """Stack tensors that may differ in length along an axis, with zeros after the shorter ones."""
    longest = max(each.shape[axis] for each in tensors)
    inner = [0, 0] * (-axis - 1)
    return torch.stack([functional.pad(each, [*inner, 0, longest - each.shape[axis]]) for each in tensors])
