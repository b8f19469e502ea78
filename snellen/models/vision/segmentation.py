"""Panoptic segmentation with MaskFormer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.models.injection import CapturedAttention, extra_queries, overhearing
from snellen.models.loading import load_checkpoint
from snellen.models.soft_prompts import PromptSource, ensemble, similar_enough

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from snellen.profiles import Profile, SegModel

_LEAST_LEFT = 0.5
"""A segment that loses more of its pixels to better ones shows the same thing as they do."""


_GROUNDS = frozenset(
    (
        *("sky", "grass", "sand", "water", "sea", "river", "snow", "road", "pavement", "dirt", "gravel", "mountain"),
        *("ceiling", "floor", "wall", "field"),
    )
)


def is_ground(name: str) -> bool:
    """Tell whether a segment's name is that of background: "striped background", "grass", COCO's "wall-brick"."""
    words = name.casefold().split()
    stem = name.casefold().partition("-")[0]
    return name.endswith(("-merged", "-stuff")) or stem in _GROUNDS or (bool(words) and words[-1] == "background")


@dataclass(frozen=True)
class Segment:
    """A thing in a picture: its mask (L mode, the picture's size, 255 inside), the box around it, and its name."""

    mask: PIL.Image.Image
    box: tuple[int, int, int, int]
    score: float
    name: str

    def inside(self) -> NDArray[np.bool_]:
        """The mask as an array ``(height, width)``."""
        import numpy as np

        return np.asarray(self.mask) > 0


@dataclass(frozen=True, eq=False)
class SegmenterFeatures:
    """Pictures of one prepared size, as the model sees them: no prompt changes it.

    Attributes:
        rows: Which of the pictures these are.
        sizes: ``(width, height)`` of each in pixels.
        output: The model's own output for them.
        pixels: ``(pictures, channels, h, w)``, what vectors of masks are multiplied with.
        features: ``(pictures, width)``, the mean of the backbone's last map as the decoder sees it.
        heard: What the decoder's attentions look up; None where nobody listened.
    """

    rows: tuple[int, ...]
    sizes: tuple[tuple[int, int], ...]
    output: Any
    pixels: torch.Tensor
    features: NDArray[np.float32]
    heard: CapturedAttention | None = None

    def alone(self, place: int) -> SegmenterFeatures:
        """Return those of one of the pictures that prompts are asked with, which keep no others in memory."""
        heard = None if self.heard is None else self.heard.take([place])
        return SegmenterFeatures(
            (0,), (self.sizes[place],), None, self.pixels[[place]], self.features[[place]], heard
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes that they take, without the model's own output."""
        heard = 0 if self.heard is None else self.heard.nbytes
        return self.pixels.nbytes + self.features.nbytes + heard


@dataclass(frozen=True, eq=False)
class SegmentedPicture:
    """A picture as the model segments it without prompts.

    Attributes:
        known: The segments that it finds by itself, best first.
        sight: What prompts are asked with; None where there are none.
    """

    known: tuple[Segment, ...]
    sight: SegmenterFeatures | None

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        masks = sum(one.mask.width * one.mask.height for one in self.known)
        return masks + (0 if self.sight is None else self.sight.nbytes)


class Segmenter:
    """``MaskFormerForInstanceSegmentation`` (Cheng et al. 2021) with panoptic post-processing, as CLOVA's SEG tool.

    Args:
        profile: Names the checkpoint and how prompts are selected.
        settings: The profile's entry for it.
        prompts: What was learned; every concept that has prompts there is looked for beside what the model knows.
    """

    def __init__(self, profile: Profile, settings: SegModel, prompts: PromptSource | None = None) -> None:
        self.checkpoint = load_checkpoint(profile, "seg", text=False)
        self.settings = settings
        self._tuning = profile.tuning.seg
        self._prompts = prompts

    def __call__(self, pictures: Sequence[PIL.Image.Image]) -> list[list[Segment]]:
        """Segment pictures, those of one prepared size in one forward pass; best segments first.

        What the model makes of a picture that it has seen lately is not computed again; prompts are asked anew.
        """
        learned = frozenset() if self._prompts is None else self._prompts.concepts("SEG")
        listen = bool(learned)
        with self.checkpoint.inference():
            seen = self.checkpoint.seen(
                pictures,
                lambda unseen: self._segmented(unseen, listen=listen),
                how=f"{self.settings!r} {listen}",
            )
            return [layered(self._novel(one, sorted(learned)), one.known) for one in seen]

    def _segmented(self, pictures: Sequence[PIL.Image.Image], *, listen: bool) -> list[SegmentedPicture]:
        found: dict[int, SegmentedPicture] = {}
        for sight in self.look(pictures, listen=listen):
            for place, (row, known) in enumerate(zip(sight.rows, self.known(sight), strict=True)):
                found[row] = SegmentedPicture(tuple(known), sight.alone(place) if listen else None)
        return [found[row] for row in range(len(pictures))]

    def _novel(self, seen: SegmentedPicture, learned: Sequence[str]) -> list[Segment]:
        if seen.sight is None:
            return []
        return self.novel(seen.sight, 0, self._selected(learned, seen.sight.features[0]))

    def look(self, pictures: Sequence[PIL.Image.Image], *, listen: bool = True) -> list[SegmenterFeatures]:
        """Run the model without prompts.

        A picture is never padded to the size of another: the model takes padding for part of the picture, and what it
        said would depend on the company.

        Args:
            pictures: Any sizes.
            listen: Whether prompts will be asked about the pictures.
        """
        import torch

        alike: dict[tuple[int, ...], list[int]] = {}
        prepared = [self.checkpoint.pixels([picture]) for picture in pictures]
        for row, pixels in enumerate(prepared):
            alike.setdefault(tuple(pixels.shape), []).append(row)
        return [
            self._sight(torch.cat([prepared[row] for row in rows]), rows, [pictures[row].size for row in rows], listen)
            for rows in alike.values()
        ]

    def _sight(
        self,
        pixels: torch.Tensor,
        rows: Sequence[int],
        sizes: Sequence[tuple[int, int]],
        listen: bool,  # noqa: FBT001
    ) -> SegmenterFeatures:
        model = self.checkpoint.model
        if listen:
            with overhearing(model.model.transformer_module.decoder) as heard:
                output = model(pixel_values=pixels)
        else:
            output, heard = model(pixel_values=pixels), None
        return SegmenterFeatures(
            tuple(rows),
            tuple(sizes),
            output,
            output.pixel_decoder_last_hidden_state,
            self._pooled(output.encoder_last_hidden_state),
            None if heard is None else heard.collected(),
        )

    def features(self, pictures: Sequence[PIL.Image.Image]) -> list[NDArray[np.float32]]:
        """The features ``(width,)`` of pictures, from the backbone alone."""
        backbone = self.checkpoint.model.model.pixel_level_module.encoder
        return [self._pooled(backbone(self.checkpoint.pixels([each])).feature_maps[-1])[0] for each in pictures]

    def _pooled(self, last: torch.Tensor) -> NDArray[np.float32]:
        """The mean cell ``(pictures, width)`` of the backbone's last map, in the decoder's width (section 8.3.1)."""
        mean = last.mean(dim=(2, 3), keepdim=True)
        projection = self.checkpoint.model.model.transformer_module.input_projection
        pooled: NDArray[np.float32] = (
            (mean if projection is None else projection(mean)).flatten(1).detach().float().cpu().numpy()
        )
        return pooled

    def known(self, sight: SegmenterFeatures) -> list[list[Segment]]:
        """The segments that the model finds by itself in each of the pictures."""
        checkpoint, output = self.checkpoint, sight.output
        # Scores of half precision overflow the post-processing's resizing on some devices.
        output.class_queries_logits = output.class_queries_logits.float()
        output.masks_queries_logits = output.masks_queries_logits.float()
        if self.settings.objectness:
            output.class_queries_logits = by_objectness(output.class_queries_logits)
        found = checkpoint.processor.post_process_panoptic_segmentation(
            output,
            threshold=self.settings.threshold,
            mask_threshold=self.settings.mask_threshold,
            overlap_mask_area_threshold=self.settings.overlap,
            label_ids_to_fuse=set(),
            target_sizes=[(height, width) for width, height in sight.sizes],
        )
        return [self._segments(each) for each in found]

    def _segments(self, found: dict[str, Any]) -> list[Segment]:
        names = self.checkpoint.model.config.id2label
        plane = found["segmentation"].cpu().numpy()
        segments = [
            _segment(plane == each["id"], float(each["score"]), names.get(each["label_id"], ""))
            for each in found["segments_info"]
        ]
        return sorted((each for each in segments if each is not None), key=lambda each: -each.score)

    def novel(self, sight: SegmenterFeatures, place: int, prompts: Mapping[str, NDArray[np.float32]]) -> list[Segment]:
        """The segments that prompts find in one of the pictures, most certain first; they may overlap.

        Args:
            sight: Pictures that were listened to.
            place: Which of them.
            prompts: By concept.
        """
        import numpy as np
        import torch

        if not prompts or sight.heard is None:
            return []
        queries = torch.from_numpy(np.stack(list(prompts.values()))).to(self.checkpoint.device)
        states = self.states(queries, sight.heard.take([place] * len(prompts)))
        scores = self.something(states).sigmoid().flatten()
        loud = torch.nonzero(scores > self.settings.threshold).flatten()
        if not len(loud):
            return []
        width, height = sight.sizes[place]
        chances = self.outlines(states.flatten(0, 1)[loud][None], sight.pixels[[place]]).sigmoid()
        chances = torch.nn.functional.interpolate(chances, size=(height, width), mode="bilinear", align_corners=False)[
            0
        ]
        inside = chances >= self.settings.mask_threshold
        # Between queries of the same thing the outline decides, as in MaskFormer's ranking of instances.
        sure = scores[loud] * (chances * inside).sum((1, 2)) / inside.sum((1, 2)).clamp(min=1)
        names = [concept for concept in prompts for _ in range(queries.shape[1])]
        found = [
            _segment(inside[index].cpu().numpy(), float(scores[loud[index]]), names[int(loud[index])])
            for index in sure.argsort(descending=True, stable=True).tolist()
        ]
        return [each for each in found if each is not None]

    def states(
        self, prompts: torch.Tensor, heard: CapturedAttention, hidden: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Turn prompts ``(n, vectors, width)`` into object queries of ``n`` pictures; the same shape."""
        return extra_queries(self.checkpoint.model.model.transformer_module.decoder, prompts, heard, hidden)

    def something(self, states: torch.Tensor) -> torch.Tensor:
        """Logits ``(..., vectors)`` that a query shows anything at all, whatever its label.

        In double precision: they are few, and the last bits of exponentials in single precision depend on how many are
        computed together.
        """
        labels = self.checkpoint.model.class_predictor(states).double()
        return labels[..., :-1].logsumexp(dim=-1) - labels[..., -1]

    def outlines(self, states: torch.Tensor, pixels: torch.Tensor) -> torch.Tensor:
        """Logits of masks ``(n, vectors, ...)``: states ``(n, vectors, width)`` times pixels ``(n, channels, ...)``."""
        import torch

        vectors = self.checkpoint.model.mask_embedder(states)
        return torch.einsum("nvc,nc...->nv...", vectors, pixels).float()

    def _selected(self, concepts: Sequence[str], feature: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """The prompt of each concept for a picture, combined from the nearest ones (CLOVA section 8.3.3)."""
        selected = {}
        for concept in concepts:
            assert self._prompts is not None  # noqa: S101 - only learned concepts come here
            candidates = self._prompts.candidates("SEG", concept, feature, self._tuning.nearest)
            if candidates is None:
                continue
            prompt = ensemble(similar_enough(candidates, feature, least=self._tuning.similarity), feature)
            if prompt is not None:
                selected[concept] = prompt
        return selected


def layered(novel: Sequence[Segment], known: Sequence[Segment]) -> list[Segment]:
    """Lay segments upon one another, so that a pixel belongs to one of them; best first.

    What a prompt finds comes first: the model, which has no name for it, may have segmented it as well and called it
    something else. A segment of which half or more is taken shows the same thing, or a part of it, and gives way; every
    other one keeps what is left of it. Segments that nothing touches stay as they are.

    Args:
        novel: In the order of their claims; they may overlap.
        known: As the model found them, without overlap.
    """
    import numpy as np

    if not novel:
        return list(known)
    taken = np.zeros(novel[0].mask.size[::-1], dtype=np.bool_)
    kept = []
    for segment in (*novel, *known):
        inside = segment.inside()
        left = inside & ~taken
        if left.sum() <= _LEAST_LEFT * inside.sum():
            continue
        taken |= left
        cut = segment if (left == inside).all() else _segment(left, segment.score, segment.name)
        if cut is not None:
            kept.append(cut)
    return sorted(kept, key=lambda each: -each.score)


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


def _segment(inside: NDArray[np.bool_], score: float, name: str) -> Segment | None:
    import PIL.Image

    mask = PIL.Image.fromarray(inside.astype("uint8") * 255)
    box = mask.getbbox()
    return None if box is None else Segment(mask, box, score, name)
