"""Open-vocabulary detection with OWL-ViT: boxes for words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.vision.loading import load_checkpoint

if TYPE_CHECKING:
    import PIL.Image
    import torch

    from profiles import LocModel, Profile


@dataclass(frozen=True)
class Detection:
    """A box ``(x0, y0, x1, y1)`` in pixels of the picture, exclusive at its end, and the name it was found for."""

    box: tuple[int, int, int, int]
    score: float
    name: str


@dataclass(frozen=True)
class DetectionCall:
    """One picture and the names to look for in it."""

    picture: PIL.Image.Image
    names: tuple[str, ...]


class Detector:
    """OWL-ViT (Minderer et al. 2022), the class and post-processing of CLOVA's LOC tool."""

    def __init__(self, profile: Profile, settings: LocModel) -> None:
        self._checkpoint = load_checkpoint(profile, "loc")
        self._settings = settings

    def __call__(self, calls: Sequence[DetectionCall]) -> list[list[Detection]]:
        """Detect in one forward pass, whatever the calls look for.

        Each name of the batch is encoded once and scored against every patch of every picture, ``(pictures, patches,
        names)``; a call then reads its own names' columns.
        """
        names = sorted({name for call in calls for name in call.names})
        if not names:
            return [[] for _ in calls]
        column = {name: index for index, name in enumerate(names)}
        with self._checkpoint.inference():
            scores, boxes = self._forward([call.picture for call in calls], names)
        return [
            self._detections(call, scores[row][:, [column[name] for name in call.names]], boxes[row])
            if call.names
            else []
            for row, call in enumerate(calls)
        ]

    def _forward(self, pictures: list[PIL.Image.Image], names: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores ``(pictures, patches, names)`` in [0, 1] and boxes ``(pictures, patches, 4)`` as relative cxcywh."""
        import torch

        model = self._checkpoint.model
        feature_map, _ = model.image_embedder(pixel_values=self._checkpoint.pixels(pictures))
        patches = feature_map.flatten(1, 2)
        texts = self._checkpoint.tokens([self._settings.template.format(name) for name in names])
        queries = model.owlvit.get_text_features(**texts).pooler_output
        queries = queries / queries.norm(dim=-1, keepdim=True)
        logits, _ = model.class_predictor(patches, queries.expand(len(pictures), -1, -1))
        boxes = model.box_predictor(patches, feature_map)
        return torch.sigmoid(logits.float()).cpu(), boxes.float().cpu()

    def _detections(self, call: DetectionCall, scores: torch.Tensor, boxes: torch.Tensor) -> list[Detection]:
        best = scores.max(dim=-1)
        found = [
            Detection(box, float(score), call.names[int(index)])
            for score, index, relative in zip(best.values, best.indices, boxes, strict=True)
            if float(score) > self._settings.threshold
            and (box := to_pixels(relative.tolist(), call.picture.size)) is not None
        ]
        return suppress(found, iou=self._settings.nms_iou)


def to_pixels(relative: Sequence[float], size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Turn a relative ``(centre x, centre y, width, height)`` into pixels inside the picture; None if it is empty."""
    x, y, width, height = relative
    columns, rows = size
    x0, x1 = (round(min(max(edge, 0.0), 1.0) * columns) for edge in (x - width / 2, x + width / 2))
    y0, y1 = (round(min(max(edge, 0.0), 1.0) * rows) for edge in (y - height / 2, y + height / 2))
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def suppress(detections: Sequence[Detection], *, iou: float) -> list[Detection]:
    """Non-maximum suppression across names: of two boxes that overlap more than ``iou`` the better stays.

    Best first. An object is one thing whatever it was called, so names do not matter.
    """
    kept: list[Detection] = []
    for detection in sorted(detections, key=lambda each: -each.score):
        if all(overlap(detection.box, other.box) <= iou for other in kept):
            kept.append(detection)
    return kept


def overlap(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> float:
    """Intersection over union of two boxes in pixels, in [0, 1]; 0 when both are empty."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(width, 0) * max(height, 0)
    union = _area(first) + _area(second) - shared
    return shared / union if union > 0 else 0.0


def _area(box: tuple[int, int, int, int]) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])
