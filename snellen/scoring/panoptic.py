"""Metrics of segmentation: the agreement of segments with the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LabelledMask:
    """A mask, True inside (height, width), with its label; masks of one picture do not overlap."""

    mask: NDArray[np.bool_]
    label: str


@dataclass(frozen=True)
class PanopticQuality:
    """Panoptic quality of one label: ``quality`` is ``segmentation`` times ``recognition`` (Kirillov et al. 2019).

    Attributes:
        quality: Sum of the IoU of matched segments over matched plus half of what is left over on either side.
        segmentation: Mean IoU of matched segments; 0 where none matches.
        recognition: F1 of the matching.
        true: How many segments there are.
    """

    quality: float
    segmentation: float
    recognition: float
    true: int


def mask_iou(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the pixels that two masks share over those that they cover together; 0 where both are empty."""
    covered = int((first | second).sum())
    return int((first & second).sum()) / covered if covered else 0.0


def panoptic_quality(
    found: Sequence[Sequence[LabelledMask]], true: Sequence[Sequence[LabelledMask]]
) -> dict[str, PanopticQuality]:
    """Return the panoptic quality of each label that is found or true anywhere (Kirillov et al. 2019, equation 1).

    A found and a true segment of the same label and picture match when their IoU is above 0.5; as segments do not
    overlap, each has at most one match. A label that is only found has quality 0 and ``true`` 0: leave it out of a mean
    over the labels that appear.

    Args:
        found: The segments found in each picture.
        true: Those that are there, of the same pictures.
    """
    overlaps: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {}
    for some, all_true in zip(found, true, strict=True):
        for side, segments in enumerate((some, all_true)):
            for segment in segments:
                counts.setdefault(segment.label, [0, 0])[side] += 1
        for there in all_true:
            best = max((mask_iou(one.mask, there.mask) for one in some if one.label == there.label), default=0.0)
            if best > 0.5:  # noqa: PLR2004 - only above a half a match is the only one
                overlaps.setdefault(there.label, []).append(best)
    return {label: _quality(overlaps.get(label, []), *counts[label]) for label in sorted(counts)}


def _quality(matched: list[float], predicted: int, true: int) -> PanopticQuality:
    segmentation = sum(matched) / len(matched) if matched else 0.0
    recognition = 2 * len(matched) / (predicted + true)
    return PanopticQuality(segmentation * recognition, segmentation, recognition, true)


def best_overlaps(found: Sequence[NDArray[np.bool_]], true: Sequence[NDArray[np.bool_]]) -> list[float]:
    """Return for each true mask its best IoU with any found one, whatever it was taken for; 0 where none is found."""
    return [max((mask_iou(one, there) for one in found), default=0.0) for there in true]
