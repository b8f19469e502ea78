"""Panoptic segmentation with MaskFormer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools.vision.loading import load_checkpoint

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from profiles import Profile, SegModel


@dataclass(frozen=True)
class Segment:
    """A thing in a picture: its mask (L mode, the picture's size, 255 inside), the box around it, and its name."""

    mask: PIL.Image.Image
    box: tuple[int, int, int, int]
    score: float
    name: str


class Segmenter:
    """``MaskFormerForInstanceSegmentation`` (Cheng et al. 2021) with panoptic post-processing, as CLOVA's SEG tool."""

    def __init__(self, profile: Profile, settings: SegModel) -> None:
        self._checkpoint = load_checkpoint(profile, "seg", text=False)
        self._settings = settings

    def __call__(self, pictures: Sequence[PIL.Image.Image]) -> list[list[Segment]]:
        """Segment pictures in one forward pass, best segments first."""
        checkpoint = self._checkpoint
        prepared = checkpoint.processor(images=[picture.convert("RGB") for picture in pictures], return_tensors="pt")
        with checkpoint.inference():
            output = checkpoint.model(
                pixel_values=prepared["pixel_values"].to(device=checkpoint.device, dtype=checkpoint.dtype),
                pixel_mask=prepared["pixel_mask"].to(checkpoint.device),
            )
            # Scores of half precision overflow the post-processing's resizing on some devices.
            output.class_queries_logits = output.class_queries_logits.float()
            output.masks_queries_logits = output.masks_queries_logits.float()
            if self._settings.objectness:
                output.class_queries_logits = by_objectness(output.class_queries_logits)
            found = checkpoint.processor.post_process_panoptic_segmentation(
                output,
                threshold=self._settings.threshold,
                mask_threshold=self._settings.mask_threshold,
                overlap_mask_area_threshold=self._settings.overlap,
                label_ids_to_fuse=set(),
                target_sizes=[(picture.height, picture.width) for picture in pictures],
            )
        return [self._segments(each) for each in found]

    def _segments(self, found: dict[str, Any]) -> list[Segment]:
        names = self._checkpoint.model.config.id2label
        plane = found["segmentation"].cpu().numpy()
        segments = [_segment(plane == each["id"], each, names) for each in found["segments_info"]]
        return sorted((each for each in segments if each is not None), key=lambda each: -each.score)


def by_objectness(logits: torch.Tensor) -> torch.Tensor:
    """Give the best label of each query the probability that the query shows anything at all.

    A thing that the model was never taught is something, but nothing in particular: its probability is spread over
    labels, each too small to pass a threshold.

    Args:
        logits: ``(pictures, queries, labels + 1)``, the last for "no object".

    Returns:
        Logits of the same shape: log-probabilities of the best label and of "no object", all others impossible.
    """
    import torch

    nothing = logits.log_softmax(-1)[..., -1:]
    something = torch.log1p(-nothing.exp().clamp(max=1 - 1e-6))
    found = torch.full_like(logits, -torch.inf)
    found.scatter_(-1, logits[..., :-1].argmax(-1, keepdim=True), something)
    found[..., -1:] = nothing
    return found


def _segment(inside: NDArray[np.bool_], found: dict[str, Any], names: dict[int, str]) -> Segment | None:
    import PIL.Image

    mask = PIL.Image.fromarray(inside.astype("uint8") * 255)
    box = mask.getbbox()
    if box is None:
        return None
    return Segment(mask, box, float(found["score"]), names.get(found["label_id"], ""))
