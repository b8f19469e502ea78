"""Open-vocabulary detection with OWL-ViT: boxes for words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snellen.models.injection import query_prompts
from snellen.models.loading import load_checkpoint
from snellen.models.soft_prompts import Candidates, PromptSource, ensemble

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from snellen.profiles import LocModel, Profile

_REMEMBERED_QUERIES = 4096
FAINT = 0.02
"""Boxes that score less say nothing, not even that something was nearly found."""


@dataclass(frozen=True)
class Detection:
    """A box ``(x0, y0, x1, y1)`` in pixels of the picture, exclusive at its end, and the name it was found for."""

    box: tuple[int, int, int, int]
    score: float
    name: str


class Detections(list[Detection]):
    """The boxes of a call, best first.

    Attributes:
        rejected: The highest score of a thing that the threshold left out, in [0, 1].
    """

    rejected: float = 0.0


@dataclass(frozen=True)
class DetectionCall:
    """One picture and the names to look for in it.

    Attributes:
        picture: Where to look.
        names: What to look for.
        threshold: The least score that counts, in [0, 1); None takes the profile's.
    """

    picture: PIL.Image.Image
    names: tuple[str, ...]
    threshold: float | None = None


@dataclass(frozen=True)
class DetectorFeatures:
    """Features of pictures before it is told what to look for: no prompt changes it.

    Attributes:
        patches: ``(pictures, patches, width)``.
        boxes: ``(pictures, patches, 4)`` as relative cxcywh.
    """

    patches: torch.Tensor
    boxes: torch.Tensor

    def features(self) -> NDArray[np.float32]:
        """The mean of each picture's patches ``(pictures, width)``, by which prompts are weighed."""
        mean: NDArray[np.float32] = self.patches.float().mean(dim=1).cpu().numpy()
        return mean

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.patches.nbytes + self.boxes.nbytes

    def each(self) -> list[DetectorFeatures]:
        """Return those of each picture, which keep no others in memory."""
        return [
            DetectorFeatures(patches.clone(), boxes.clone())
            for patches, boxes in zip(self.patches.split(1), self.boxes.split(1), strict=True)
        ]


class Detector:
    """OWL-ViT (Minderer et al. 2022), the class and post-processing of CLOVA's LOC tool.

    Args:
        profile: Names the checkpoint and how prompts are selected.
        settings: The profile's entry for it.
        prompts: What was learned; a name that has prompts there is looked for with them.
    """

    def __init__(self, profile: Profile, settings: LocModel, prompts: PromptSource | None = None) -> None:
        self.checkpoint = load_checkpoint(profile, "loc")
        self.settings = settings
        self._tuning = profile.tuning.loc
        self._prompts = prompts
        self._candidate_queries: dict[str, torch.Tensor] = {}

    def __call__(self, calls: Sequence[DetectionCall]) -> list[Detections]:
        """Detect in one forward pass, whatever the calls look for; a picture that was seen lately is not encoded again.

        Each name of the batch is encoded once and scored against every patch of every picture, ``(pictures, patches,
        names)``; a call then reads its own names' columns. A name with prompts is scored again with them, by itself;
        the others do not notice.
        """
        names = sorted({name for call in calls for name in call.names})
        if not names:
            return [Detections() for _ in calls]
        with self.checkpoint.inference():
            sight = self._seen([call.picture for call in calls])
            scores, boxes = self.scores(sight, calls, names), sight.boxes.cpu()
        columns = [[names.index(name) for name in call.names] for call in calls]
        return [
            self.detections(call, scores[row][:, columns[row]], boxes[row]) if call.names else Detections()
            for row, call in enumerate(calls)
        ]

    def scores(self, sight: DetectorFeatures, calls: Sequence[DetectionCall], names: Sequence[str]) -> torch.Tensor:
        """Score names on patches, with what was learned: ``(pictures, patches, names)`` in [0, 1], on the CPU."""
        values = self.logits(sight.patches, self.queries(self.tokens(names))).sigmoid().cpu()
        for row, name, prompted in self._prompted_scores(sight, calls):
            values[row, :, names.index(name)] = self.comparable(prompted)
        return values

    def comparable(self, scores: torch.Tensor) -> torch.Tensor:
        """Make scores of a learned name mean as much as those of a name that the model was taught.

        A prompt that was tuned to be sure of a few pictures is surer than the model of everything. Its scores are moved
        so that its own threshold falls on the model's, evenly below and above it.
        """
        own, models = self._tuning.threshold, self.settings.threshold
        if own is None:
            return scores
        return (scores / own * models).where(scores < own, models + (scores - own) / (1 - own) * (1 - models))

    def _seen(self, pictures: Sequence[PIL.Image.Image]) -> DetectorFeatures:
        import torch

        each = self.checkpoint.seen(pictures, lambda unseen: self.look(unseen).each())
        return DetectorFeatures(torch.cat([one.patches for one in each]), torch.cat([one.boxes for one in each]))

    def look(self, pictures: Sequence[PIL.Image.Image]) -> DetectorFeatures:
        """Encode pictures, and predict the box of each of their patches."""
        model = self.checkpoint.model
        feature_map, _ = model.image_embedder(pixel_values=self.checkpoint.pixels(list(pictures)))
        patches = feature_map.flatten(1, 2)
        return DetectorFeatures(patches, model.box_predictor(patches, feature_map).float())

    def tokens(self, names: Sequence[str]) -> dict[str, torch.Tensor]:
        """Names as the text encoder reads them: ``input_ids`` and ``attention_mask``, each ``(names, length)``."""
        return self.checkpoint.tokens([self.settings.template.format(name) for name in names])

    def queries(self, tokens: dict[str, torch.Tensor], prompts: torch.Tensor | None = None) -> torch.Tensor:
        """Encode names ``(names, d)``, each with its prompt ``(names, vectors, width)`` where prompts are given."""
        model = self.checkpoint.model
        with nullcontext() if prompts is None else query_prompts(model.owlvit.text_model, prompts):
            queries = model.owlvit.get_text_features(**tokens).pooler_output
        return queries / queries.norm(dim=-1, keepdim=True)

    def logits(self, patches: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
        """Score queries ``(names, d)`` against patches: ``(pictures, patches, names)``, float32."""
        model = self.checkpoint.model
        logits, _ = model.class_predictor(patches, queries.expand(len(patches), -1, -1))
        return logits.float()

    def _prompted_scores(
        self, sight: DetectorFeatures, calls: Sequence[DetectionCall]
    ) -> Iterator[tuple[int, str, torch.Tensor]]:
        """For each call (by its row) and each of its names that has prompts: the scores ``(patches,)`` with them."""
        import numpy as np
        import torch

        found: list[tuple[int, str]] = []
        prompts: list[NDArray[np.float32]] = []
        learned = frozenset() if self._prompts is None else self._prompts.concepts("LOC")
        asked = [(row, name) for row, call in enumerate(calls) for name in call.names if name in learned]
        features = sight.features() if asked else None
        for row, name in asked:
            prompt = self._select(name, sight.patches[row : row + 1], features[row])  # type: ignore[index]
            if prompt is not None:
                found.append((row, name))
                prompts.append(prompt)
        if not found:
            return
        chosen = torch.from_numpy(np.stack(prompts)).to(self.checkpoint.device)
        queries = self.queries(self.tokens([name for _, name in found]), chosen)
        for (row, name), query in zip(found, queries, strict=True):
            yield row, name, self.logits(sight.patches[row : row + 1], query[None])[0, :, 0].sigmoid().cpu()

    def _select(self, name: str, patches: torch.Tensor, feature: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """The prompt for a name in a picture, combined from those that see it there (CLOVA section 8.2.3)."""
        import numpy as np

        assert self._prompts is not None  # noqa: S101 - only learned names come here
        candidates = self._prompts.candidates("LOC", name, feature, self._tuning.nearest)
        if candidates is None:
            return None
        scores = self.logits(patches, self._queries_of(name, candidates)).sigmoid()[0].amax(dim=0).cpu().numpy()
        seeing = np.flatnonzero(scores > self.settings.threshold)
        if len(seeing) < self._tuning.quorum * len(candidates):
            return None
        return ensemble(candidates.take(seeing), feature)

    def _queries_of(self, name: str, candidates: Candidates) -> torch.Tensor:
        """The query that each candidate would make of a name ``(n, d)``: it depends on no picture, so it is kept."""
        import torch

        known = self._candidate_queries
        missing = [index for index, each in enumerate(candidates.ids) if f"{name}\n{each}" not in known]
        if len(known) + len(missing) > _REMEMBERED_QUERIES:
            known.clear()
            missing = list(range(len(candidates)))
        if missing:
            prompts = torch.from_numpy(candidates.prompts[missing]).to(self.checkpoint.device)
            made = self.queries(self.tokens([name] * len(missing)), prompts)
            known.update(
                (f"{name}\n{candidates.ids[index]}", query) for index, query in zip(missing, made, strict=True)
            )
        return torch.stack([known[f"{name}\n{each}"] for each in candidates.ids])

    def detections(self, call: DetectionCall, scores: torch.Tensor, boxes: torch.Tensor) -> Detections:
        """A call's boxes, best first, from its names' scores ``(patches, names)`` and the boxes ``(patches, 4)``."""
        best = scores.max(dim=-1)
        least = self.settings.threshold if call.threshold is None else call.threshold
        found = [
            Detection(box, float(score), call.names[int(index)])
            for score, index, relative in zip(best.values, best.indices, boxes, strict=True)
            if float(score) > min(least, FAINT) and (box := to_pixels(relative.tolist(), call.picture.size)) is not None
        ]
        things = Detections(self._things([each for each in found if each.score > least]))
        things.rejected = max((each.score for each in self._things(found) if each.score <= least), default=0.0)
        return things

    def _things(self, detections: Sequence[Detection]) -> list[Detection]:
        if self.settings.joined is None:
            return suppress(detections, iou=self.settings.nms_iou)
        return joined(detections, shared=self.settings.joined)


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


def joined(detections: Sequence[Detection], *, shared: float) -> list[Detection]:
    """Of the boxes that mean one thing make one, best first: of each name and place the mean, weighted by the scores.

    Patches at the rim of a thing see it as well, and their boxes are poor: they stand around the good one, and overlap
    it too little to be suppressed as its doubles. Here they belong to the best box that they share enough with, and
    correct it (weighted boxes fusion, Solovyev et al. 2021). What is one thing has one name, that of its best box.

    Args:
        detections: What several patches say.
        shared: The share of the smaller of two boxes that lies in the other from which on they mean one thing.
    """
    things: list[list[Detection]] = []
    for detection in sorted(detections, key=lambda each: -each.score):
        same = next((thing for thing in things if covered(detection.box, thing[0].box) > shared), None)
        if same is None:
            things.append([detection])
        elif same[0].name == detection.name:
            same.append(detection)
    return [replace(thing[0], box=_mean_box(thing)) for thing in things]


def _mean_box(detections: Sequence[Detection]) -> tuple[int, int, int, int]:
    weights = [each.score**2 for each in detections]
    x0, y0, x1, y1 = (
        round(sum(weight * each.box[edge] for weight, each in zip(weights, detections, strict=True)) / sum(weights))
        for edge in range(4)
    )
    return x0, y0, x1, y1


def covered(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> float:
    """The share of the smaller of two boxes in pixels that lies in the other, in [0, 1]; 0 when one is empty."""
    smaller = min(_area(first), _area(second))
    return _shared(first, second) / smaller if smaller > 0 else 0.0


def overlap(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> float:
    """Intersection over union of two boxes in pixels, in [0, 1]; 0 when both are empty."""
    shared = _shared(first, second)
    union = _area(first) + _area(second) - shared
    return shared / union if union > 0 else 0.0


def _shared(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> int:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(width, 0) * max(height, 0)


def _area(box: tuple[int, int, int, int]) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])
