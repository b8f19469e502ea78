"""Measurement of the shipped checkpoints on held-out scenes, through the very tools that programs use.

`python -m snellen.microworld.training report` writes the figures to `microworld/checkpoints/report.json`, from
which the model cards and the documentation take theirs. Known concepts are what the checkpoints were taught; novel ones
were never shown, and the figures for them say how ignorant the checkpoints are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image

from snellen.microworld.concepts import Share, plural, vocabulary
from snellen.microworld.drawing import draw, truths
from snellen.microworld.questions import ask
from snellen.microworld.scenes import Dice, Scene, article, caption, recipe, sample_scene
from snellen.microworld.training.blip import spoiled
from snellen.microworld.training.model_cards import ABOUT
from snellen.microworld.training.segmentation_targets import labels, panoptic, stuff
from snellen.models.vision.detection import Detection, overlap
from snellen.models.vision.models import Models
from snellen.profiles import Profile, load_profile
from snellen.scoring import LabelledMask, best_overlaps, panoptic_quality
from snellen.tools.editing.replace import framed
from snellen.values import Region

ASKED = ("exists", "count", "colour", "size", "relation", "place", "background", "weather", "style")
TARGETS = {
    "clip_top1": 0.90, "owlvit_ap50": 0.85, "vqa_exists": 0.85, "vqa_background": 0.85, "vqa_count": 0.85,
    "vqa_colour": 0.75, "vqa_size": 0.75, "vqa_relation": 0.65, "caption_precision": 0.80, "match_auc": 0.85,
    "seg_iou": 0.70, "replace_recognised": 0.70,
}  # fmt: skip
BATCH = 32


def held_out(share: Share, count: int, *, seed: int) -> list[Scene]:
    """Return scenes that no training run has drawn."""
    chosen = recipe(vocabulary().share(share))
    return [sample_scene(f"held-out/{share}/{seed}/{index}", chosen) for index in range(count)]


def report(
    *,
    seed: int = 1,
    scenes: int = 300,
    profile: str = "embedded",
    checkpoints: Collection[str] = tuple(ABOUT),
    show: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Measure checkpoints on known and on novel concepts.

    Args:
        seed: Chooses the held-out scenes.
        scenes: Number of scenes that each figure is measured on.
        profile: The profile whose checkpoints are measured.
        checkpoints: Names of some of the checkpoints that have a card.
        show: Takes a line of progress.

    Returns:
        Figures by share, the targets, and what was measured.
    """
    chosen = load_profile(profile)
    figures: dict[str, Any] = {"seed": seed, "scenes": scenes, "profile": profile, "targets": TARGETS}
    for share in ("known", "novel"):
        figures[share] = {}
        for checkpoint in ABOUT:
            if checkpoint in checkpoints:
                show(f"measuring {checkpoint} on {share} concepts")
                figures[share] |= _measure(chosen, checkpoint, share, seed, scenes)
    return figures


def _measure(profile: Profile, checkpoint: str, share: Share, seed: int, count: int) -> dict[str, float]:
    models, scenes = Models(profile), held_out(share, count, seed=seed)
    figures: dict[str, float] = {}
    if checkpoint == "clip":
        figures = classification(models, scenes, share)
    elif checkpoint == "owlvit":
        figures = detection(profile, scenes, share)
    elif checkpoint == "blip":
        figures = answers(models, scenes, share, seed) | captions(models, scenes)
        figures |= matching(models, scenes, share, seed)
    elif checkpoint == "maskformer" and profile.models.seg is not None:
        figures = segmentation(models, scenes)
    elif checkpoint == "diffusion" and profile.models.replace is not None:
        figures = painting(models, scenes, share, seed)
    return {key: round(float(value), 4) for key, value in figures.items()}


def _names(share: Share) -> list[str]:
    return [concept.name for concept in vocabulary().share(share)]


def _batches(items: Sequence[Any], size: int = BATCH) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def classification(models: Models, scenes: Sequence[Scene], share: Share) -> dict[str, float]:
    """CLIP: share of objects whose name wins among all names of the share, from the object's own crop."""
    names = _names(share)
    right: list[bool] = []
    plain: list[bool] = []
    for scene in scenes:
        picture = draw(scene)
        crops: list[Image.Image] = [picture.crop(t.box) for t in truths(scene)]
        best = models.similarity(crops, names).argmax(axis=1)
        hits = [names[index] == o.concept for index, o in zip(best, scene.objects, strict=True)]
        right += hits
        plain += hits if scene.style == "flat" else []
    return {"clip_top1": float(np.mean(right)), "clip_top1_flat": float(np.mean(plain)), "clip_n": len(right)}


def detection(profile: Profile, scenes: Sequence[Scene], share: Share) -> dict[str, float]:
    """OWL-ViT: mean average precision at IoU 0.5 over the classes that appear, all names asked at once."""
    loc = profile.models.loc
    assert loc is not None  # noqa: S101 - the embedded profile has a detector
    eager = loc.model_copy(update={"threshold": 0.02})
    models = Models(profile.model_copy(update={"models": profile.models.model_copy(update={"loc": eager})}))
    names = _names(share)
    found: list[list[Detection]] = []
    for batch in _batches(scenes):
        found += models.detect([draw(s) for s in batch], [names] * len(batch))
    precisions = [average_precision(scenes, found, name) for name in names]
    return {"owlvit_ap50": float(np.mean([p for p in precisions if p is not None]))}


def average_precision(scenes: Sequence[Scene], found: Sequence[Sequence[Detection]], name: str) -> float | None:
    """Area under the precision–recall curve of one class at IoU 0.5, None where it never appears."""
    truth = [[t.box for t in truths(scene) if t.concept == name] for scene in scenes]
    total = sum(map(len, truth))
    if not total:
        return None
    ranked = sorted(
        ((d.score, row, d.box) for row, boxes in enumerate(found) for d in boxes if d.name == name), reverse=True
    )
    left = [list(boxes) for boxes in truth]
    hits = []
    for _, row, box in ranked:
        match = max(left[row], key=lambda other: overlap(box, other), default=None)
        hit = match is not None and overlap(box, match) >= 0.5
        if hit and match is not None:
            left[row].remove(match)
        hits.append(hit)
    recall = np.cumsum(hits) / total
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1] if hits else precision
    return float(np.sum(np.diff(np.concatenate([[0.0], recall])) * best))


def answers(models: Models, scenes: Sequence[Scene], share: Share, seed: int) -> dict[str, float]:
    """BLIP: share of exact answers by kind of question."""
    names, right = _names(share), defaultdict(list)
    for batch in _batches(scenes):
        asked = [
            (draw(scene), question)
            for index, scene in enumerate(batch)
            for kind in ASKED
            if (question := ask(scene, Dice("measure", seed, scene.seed, index), kinds=[kind], distractors=names))
        ]
        for part in _batches(asked, 64):
            replies = models.answer([picture for picture, _ in part], [q.text for _, q in part])
            for (_, question), reply in zip(part, replies, strict=True):
                right[question.kind].append(reply.strip() == question.answer)
    return {f"vqa_{kind}": float(np.mean(right[kind])) for kind in ASKED}


def captions(models: Models, scenes: Sequence[Scene]) -> dict[str, float]:
    """BLIP: of the things that captions name, the share that is there; and of those there, the share that is named."""
    known = sorted((c.name for c in vocabulary().concepts), key=len, reverse=True)
    said = there = both = 0
    for batch in _batches(scenes):
        for scene, text in zip(batch, models.caption([draw(s) for s in batch]), strict=True):
            truth = mentioned(caption(scene), known)
            named = mentioned(text, known)
            said, there, both = said + len(named), there + len(truth), both + len(named & truth)
    return {"caption_precision": both / max(said, 1), "caption_recall": both / max(there, 1)}


def mentioned(text: str, names: Sequence[str]) -> set[str]:
    """Return which names (longest first, so that `tropical fish` is not also `fish`) or their plurals a text holds."""
    left, found = f" {re.sub(r'[^a-z ]', ' ', text.lower())} ", set()
    for name in names:
        for form in (plural(name), name):
            if f" {form} " in left:
                left = left.replace(f" {form} ", " , ")
                found.add(name)
    return found


def matching(models: Models, scenes: Sequence[Scene], share: Share, seed: int) -> dict[str, float]:
    """BLIP: area under the ROC curve of matching true captions against spoiled ones and against others' captions."""
    names, true, spoilt, others = _names(share), [], [], []
    for index, batch in enumerate(_batches(scenes)):
        pictures = [draw(s) for s in batch]
        dice = Dice("measure-match", seed, index)
        true += models.match(pictures, [caption(s) for s in batch])
        spoilt += models.match(pictures, [caption(spoiled(s, names, dice)) for s in batch])
        others += models.match(pictures, [caption(s) for s in [*batch[1:], batch[0]]])
    return {"match_auc": auc(true, [*spoilt, *others]), "match_auc_spoiled": auc(true, spoilt)}


def segmentation(models: Models, scenes: Sequence[Scene]) -> dict[str, float]:
    """MaskFormer: panoptic quality over the labels that appear, and how well things are outlined, whatever their label.

    `seg_iou` is the mean over true things of the best IoU of any segment; a thing without a segment counts as 0.
    """
    found: list[list[LabelledMask]] = []
    for batch in _batches(scenes):
        pictures = [draw(scene) for scene in batch]
        found += [
            [LabelledMask(np.asarray(each.mask) > 127, each.name) for each in segments]
            for segments in models.segment(pictures)
        ]
    perfect = [panoptic(scene) for scene in scenes]
    true = [
        [LabelledMask(mask, labels()[label]) for mask, label in zip(each.masks, each.labels, strict=True)]
        for each in perfect
    ]
    quality = {label: each for label, each in panoptic_quality(found, true).items() if each.true}
    things = [each.quality for label, each in quality.items() if label not in stuff()]
    overlaps = [
        overlap
        for some, scene in zip(found, scenes, strict=True)
        for overlap in best_overlaps([each.mask for each in some], [truth.mask for truth in truths(scene)])
    ]
    return {
        "seg_pq": float(np.mean([each.quality for each in quality.values()])),
        "seg_pq_things": float(np.mean(things)),
        "seg_pq_stuff": float(np.mean([each.quality for label, each in quality.items() if label in stuff()])),
        "seg_iou": float(np.mean(overlaps)),
        "seg_found": float(np.mean([overlap >= 0.5 for overlap in overlaps])),
    }


def painting(models: Models, scenes: Sequence[Scene], share: Share, seed: int) -> dict[str, float]:
    """Stable Diffusion: how often a replaced thing is recognised as what was asked for, and what stays untouched.

    One thing of each scene becomes another of the share. Its own box is then shown to CLIP, which had no part in the
    painter's loss, and which chooses among all names of the share. `replace_clean` is the same before the painter: how
    often CLIP recognises what the scene shows there, which bounds what can be expected.
    """
    settings = models.profile.models.replace
    frame = (settings.frame if settings else None) or 0
    names = _names(share)
    right, clean, untouched = [], [], []
    for scene in scenes:
        dice = Dice("measure-painting", seed, scene.seed)
        place = dice.integer(0, len(scene.objects) - 1)
        wanted = dice.choice([name for name in names if not scene.named(name)])
        picture, box = draw(scene), truths(scene)[place].box
        mask = framed([Region(box, 1.0)], picture.size, frame=frame)
        painted = models.inpaint([picture], [mask], [article(wanted)])[0]
        before, after = (names[i] for i in models.similarity([picture.crop(box), painted.crop(box)], names).argmax(1))
        clean.append(before == scene.objects[place].concept)
        right.append(after == wanted)
        same = (np.asarray(painted) == np.asarray(picture)).all(axis=-1)
        untouched.append(float(same[np.asarray(mask) == 0].mean()))
    return {
        "replace_recognised": float(np.mean(right)),
        "replace_clean": float(np.mean(clean)),
        "replace_untouched": float(np.mean(untouched)),
        "replace_n": len(right),
    }


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive scores above a negative, ties counted half."""
    a, b = np.array(positive)[:, None], np.array(negative)[None]
    return float((a > b).mean() + 0.5 * (a == b).mean())
