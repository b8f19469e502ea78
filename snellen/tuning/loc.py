"""LOC: soft tokens in the query of a name (CLOVA section 8.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from snellen.models.vision.detection import DetectionCall, DetectorFeatures, to_pixels
from snellen.scoring.detection import iou
from snellen.tuning.loop import PromptScores, TuningBatch, transformer_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snellen.models.vision.detection import Detector
    from snellen.profiles import LocTuning, Profile, TuningSettings
    from snellen.tuning.instances import Instance, TunedPrompt, TuningExample

FOUND = 0.5
"""Intersection over union at which a box is the object's: its patch may say so, all others may not."""

_SLACK = 0.02
"""How much of the alignment asked for may be missing: the last bit takes more steps than it is worth."""


@dataclass(frozen=True, eq=False)
class LocBatch(TuningBatch):
    """The patches of each instance's pictures as the class head sees them, and what they shall say to its query.

    Attributes:
        words: ``(instances, length)``, the tokens of each one's concept.
        mask: ``(instances, length)``: 1 on tokens, 0 on padding.
        classes: ``(instances, patches, d)`` of unit length.
        shifts: ``(instances, patches)``, added to the cosine of a query.
        scales: ``(instances, patches)``, the factor on the sum.
        wanted: ``(instances, patches)``: 1 on the best patch of each object, 0 elsewhere.
        counted: ``(instances, patches)``: 0 on the other patches of an object, which may say either, and padding.
        rivals: ``(instances, patches)``: the best logit of another name.
    """

    words: torch.Tensor
    mask: torch.Tensor
    classes: torch.Tensor
    shifts: torch.Tensor
    scales: torch.Tensor
    wanted: torch.Tensor
    counted: torch.Tensor
    rivals: torch.Tensor


@dataclass(frozen=True, eq=False)
class LocSeen:
    """Held-out scenes, encoded."""

    examples: Sequence[TuningExample]
    sight: DetectorFeatures


def patch_losses(
    logits: torch.Tensor, rivals: torch.Tensor, wanted: torch.Tensor, counted: torch.Tensor
) -> torch.Tensor:
    """Focal classification of every counted patch (Lin et al. 2017), and the rank of the concept on its own ones.

    Args:
        logits: ``(..., patches)`` of the concept.
        rivals: The best logit of another name, alike.
        wanted: 1 on the concept's own patches, 0 elsewhere.
        counted: 0 where either is right.
    """
    scores = logits.sigmoid()
    wrong = torch.where(wanted > 0, 1 - scores, scores)
    focal = wrong**2 * functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    return focal * counted + functional.softplus(rivals - logits) * wanted


class LocTuner:
    """Teaches OWL-ViT what a name looks like.

    The picture encoder, the boxes and the queries of other names do not depend on the prompt. Each step encodes one
    short text an instance and takes its cosine with patches that were encoded once; of the losses of OWL-ViT the terms
    that move are the focal classification of the concept and its rank among other names.
    """

    pool = "LOC"

    def __init__(self, detector: Detector, profile: Profile) -> None:
        self._detector = detector
        self.settings: LocTuning = profile.tuning.loc
        self.common: TuningSettings = profile.tuning
        self.module = detector.checkpoint.model
        self.device = detector.checkpoint.device
        self._text = self.module.config.text_config
        self.shape = (self.settings.vectors, int(self._text.hidden_size))
        self.margin = math.log(self.settings.score / (1 - self.settings.score))
        threshold = detector.settings.threshold / 2
        self._quiet = math.log((1 - threshold) / threshold) if threshold > 0 else math.inf

    def size(self, instance: Instance) -> int:
        """One run of the text encoder, and the patches of all pictures."""
        vision = self.module.config.vision_config
        patches = len(instance.examples) * (vision.image_size // vision.patch_size) ** 2
        text = transformer_bytes(self._text, self.settings.vectors + self._text.max_position_embeddings)
        return int(text + 4 * patches * (self._text.hidden_size + vision.hidden_size + 16))

    def features(self, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        """The mean patch ``(width,)`` of each picture."""
        with torch.no_grad():
            return list(self._detector.look([example.picture for example in examples]).features())

    def prepare(self, instances: Sequence[Instance]) -> LocBatch:
        """Encode pictures and other names, and say which patch shall answer to the concept."""
        most = max(len(each.examples) for each in instances)
        pictures = {id(each.picture): each.picture for instance in instances for each in instance.examples}
        encoded = self._detector.look(list(pictures.values()))
        places = {name: index for index, name in enumerate(pictures)}
        queries = self._other_queries(instances)
        rows = []
        for each in instances:
            chosen = [places[id(example.picture)] for example in each.examples]
            sight = DetectorFeatures(encoded.patches[chosen], encoded.boxes[chosen])
            rows.append(self._row(each, sight, queries, most))
        tokens = self._detector.tokens([each.concept for each in instances])
        return LocBatch(
            tokens["input_ids"], tokens["attention_mask"], *(torch.stack(column) for column in zip(*rows, strict=True))
        )

    def _other_queries(self, instances: Sequence[Instance]) -> dict[str, torch.Tensor]:
        """The query ``(d,)`` of each name that competes with the concept of an instance."""
        names = list(dict.fromkeys(name for each in instances for name in _others(each)))
        return dict(zip(names, self._detector.queries(self._detector.tokens(names)), strict=True)) if names else {}

    def _row(
        self, instance: Instance, sight: DetectorFeatures, queries: Mapping[str, torch.Tensor], most: int
    ) -> tuple[torch.Tensor, ...]:
        """The fields of :class:`LocBatch` after the first for one instance, padded to as many pictures."""
        head = self.module.class_head
        classes = head.dense0(sight.patches).float()
        classes = classes / (classes.norm(dim=-1, keepdim=True) + 1e-6)
        scales = head.elu(head.logit_scale(sight.patches).float()) + 1
        rivals = torch.full(classes.shape[:2], -1e4, device=self.device)
        if names := _others(instance):
            rivals = self._detector.logits(sight.patches, torch.stack([queries[name] for name in names])).amax(dim=-1)
        wanted, counted = self._targets(instance.examples, sight)
        shifts = head.logit_shift(sight.patches).float()
        fields = (classes, shifts[..., 0], scales[..., 0], wanted, counted, rivals)
        missing = most - len(instance.examples)
        return tuple(functional.pad(each, [0, 0] * (each.ndim - 1) + [0, missing]).flatten(0, 1) for each in fields)

    def _targets(self, examples: Sequence[TuningExample], sight: DetectorFeatures) -> tuple[torch.Tensor, torch.Tensor]:
        """What the patches of each picture shall say ``(pictures, patches)``, and which of them are counted."""
        wanted = torch.zeros(sight.boxes.shape[:2])
        counted = torch.ones_like(wanted)
        for row, example in enumerate(examples):
            if not example.boxes:
                continue
            guesses = [to_pixels(each, example.picture.size) or (0, 0, 0, 0) for each in sight.boxes[row].tolist()]
            for box in example.boxes:
                overlaps = torch.tensor([iou(guess, box) for guess in guesses])
                counted[row][overlaps >= FOUND] = 0.0
                wanted[row, overlaps.argmax()] = 1.0
        counted[wanted > 0] = 1.0
        return wanted.to(self.device), counted.to(self.device)

    def judge(self, prompts: torch.Tensor, batch: LocBatch) -> PromptScores:
        """Focal classification of every counted patch, and the rank of the concept on its own patches."""
        tokens = {"input_ids": batch.words, "attention_mask": batch.mask}
        queries = self._detector.queries(tokens, prompts).float()
        cosine = torch.einsum("npd,nd->np", batch.classes, queries / (queries.norm(dim=-1, keepdim=True) + 1e-6))
        logits = (cosine + batch.shifts) * batch.scales
        short = batch.scales * functional.relu(self.settings.alignment - cosine) * batch.wanted
        losses = patch_losses(logits, batch.rivals, batch.wanted, batch.counted) + short
        loss = losses.sum(1) / batch.wanted.sum(1).clamp(min=1)
        found = (logits >= self.margin) & (cosine >= self.settings.alignment - _SLACK)
        right = torch.where(batch.wanted > 0, found, -logits >= self._quiet)
        return PromptScores(loss, (right | (batch.counted == 0)).all(dim=1))

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> LocSeen:  # noqa: ARG002 - LOC asks one name
        """Encode scenes."""
        with torch.no_grad():
            return LocSeen(examples, self._detector.look([each.picture for each in examples]))

    def right(self, seen: LocSeen, tuned: TunedPrompt | None, concept: str) -> list[bool]:
        """Return whether the concept's objects are all found at IoU 0.5, and nothing where it is absent.

        At the model's own threshold: prompts are used together, and their mean is surer than each of them alone.
        """
        prompt = None if tuned is None else torch.from_numpy(tuned.prompt)[None].to(self.device)
        with torch.no_grad():
            query = self._detector.queries(self._detector.tokens([concept]), prompt)
            scores = self._detector.logits(seen.sight.patches, query).sigmoid()
        return [
            self._agrees(example, concept, scores[row].cpu(), seen.sight.boxes[row].cpu())
            for row, example in enumerate(seen.examples)
        ]

    def _agrees(self, example: TuningExample, concept: str, scores: torch.Tensor, boxes: torch.Tensor) -> bool:
        detections = self._detector.detections(DetectionCall(example.picture, (concept,)), scores, boxes)
        if not example.boxes:
            return not detections
        return all(any(iou(each.box, box) >= FOUND for each in detections) for box in example.boxes)


def _others(instance: Instance) -> list[str]:
    return [name for name in instance.names if name != instance.concept]
