"""Train the detector: OWL-ViT taught densely, every patch told what it shows.

Naming (softmax over all known names) is taught on every patch that an object covers; finding (sigmoid, as at
inference) on the patches at an object's middle, whose boxes can be right; tinted names (`red dog`) as extra queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional
from transformers import CLIPTokenizer, OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessorPil

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels, sprite_box
from snellen.microworld.scenes import COLOURLESS_STYLES, SIDE, TINTS, Scene
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.microworld.training.name_pretraining import spread
from snellen.microworld.training.patch_initialisation import open_eyes
from snellen.microworld.training.tokenizers import save_clip_tokenizer

PATCH = 16
GRID = SIDE // PATCH
TEXT_LENGTH = 8
SHIFT = 7
TINTED_QUERIES = 48
# The first lesson's share of all steps, and how many pictures a step of each lesson has.
NAMES_SHARE, SMALL_BATCH, BATCH = 0.75, 12, 32


@dataclass(frozen=True)
class Things:
    """What the objects of one scene are, as arrays over objects.

    Attributes:
        names: (n,) index among the known names.
        tints: (n,) index among `TINTS`, or -1.
        boxes: (n, 4) x0, y0, x1, y1 in pixels.
    """

    names: npt.NDArray[np.int64]
    tints: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Targets:
    """What every patch of a batch should say, as tensors over (batch, patches).

    Attributes:
        names: Index of the name of the object that covers the patch, -1 for background.
        tints: Index of its tint, -1 for none.
        boxes: (batch, patches, 4) centre x, centre y, width, height as shares of the side.
        middle: Whether the patch lies at the middle of its object.
    """

    names: torch.Tensor
    tints: torch.Tensor
    boxes: torch.Tensor
    middle: torch.Tensor


def config(tokens: int) -> OwlViTConfig:
    """Return the detector's shape: a ViT of 4 × 192 at 128 px in patches of 16, a text encoder of 2 × 128."""
    text = {
        "vocab_size": tokens, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": TEXT_LENGTH, "hidden_act": "gelu",
        "bos_token_id": tokens - 2, "eos_token_id": tokens - 1, "pad_token_id": tokens - 1,
    }  # fmt: skip
    vision = {
        "hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 6,
        "image_size": SIDE, "patch_size": PATCH, "hidden_act": "gelu",
    }  # fmt: skip
    return OwlViTConfig(text_config=text, vision_config=vision, projection_dim=128)


def known_names() -> list[str]:
    """Return the names of the known concepts, in the order of the vocabulary."""
    return [c.name for c in vocabulary().share("known")]


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train the detector and write its checkpoint.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint.
        seed: Seed of the run.
        steps: Optimizer steps, three quarters of them of 12 pictures, the others of 32.
    """
    tokenizer = clip_tokenizer(work)
    torch.manual_seed(seed)
    model = OwlViTForObjectDetection(config(len(tokenizer)))
    _start_quiet(model)
    crowds, scenes = corpus(work / "corpus", "crowds", 16_000), corpus(work / "corpus", "scenes", 24_000)
    lesson = DetectorTraining(model, tokenizer, crowds, scenes, steps)
    if not (work / "owlvit" / "state.pt").exists():
        alike = spread(lambda: lesson.queries(lesson.names), text_parameters(model))
        open_eyes(model.owlvit.vision_model.embeddings, as_input(lesson.scenes.pictures[:300]))
        print(f"names told apart: mean cosine {alike:.3f}", flush=True)
    outcome = run(
        model,
        lesson.loss,
        TrainingSchedule(steps),
        rates={"": 1e-3, "owlvit.text": 3e-4},
        work=work / "owlvit",
        seed=seed,
    )
    save(model, tokenizer, out)
    return outcome


def _start_quiet(model: OwlViTForObjectDetection) -> None:
    """Begin with boxes at their patches and every score near zero.

    The class draws the weights of its heads with a deviation of 1, which saturates boxes and scores alike: from there
    nothing was learned in 150 steps.
    """
    for layer in (*model.box_head.modules(), model.class_head.dense0):
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.trunc_normal_(layer.weight, std=0.05)
    for layer, bias in ((model.class_head.logit_shift, -0.6), (model.class_head.logit_scale, 9.0)):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.constant_(layer.bias, bias)


def text_parameters(model: OwlViTForObjectDetection) -> list[torch.nn.Parameter]:
    """Return the parameters of the text encoder and its projection."""
    return [*model.owlvit.text_model.parameters(), *model.owlvit.text_projection.parameters()]


def save(model: OwlViTForObjectDetection, tokenizer: CLIPTokenizer, out: Path) -> None:
    """Write weights (fp16), tokenizer and picture processor as a hub checkpoint has them."""
    model.half().save_pretrained(out)
    model.float()
    tokenizer.save_pretrained(out)
    OwlViTImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, do_center_crop=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    ).save_pretrained(out)


def clip_tokenizer(work: Path) -> CLIPTokenizer:
    """Return the tokenizer of the detector and the classifier, made where `work` does not have it yet."""
    folder = work / "clip-tokenizer"
    if not folder.exists():
        save_clip_tokenizer(folder, length=TEXT_LENGTH)
    return CLIPTokenizer.from_pretrained(folder)


class DetectorTraining:
    """Batches of scenes and the loss on them."""

    def __init__(
        self, model: OwlViTForObjectDetection, tokenizer: CLIPTokenizer, crowds: Corpus, scenes: Corpus, steps: int
    ) -> None:
        self.model, self.tokenizer, self.crowds, self.scenes, self.steps = model, tokenizer, crowds, scenes, steps
        self.names = known_names()
        self._index = {name: i for i, name in enumerate(self.names)}
        self._fixed: torch.Tensor | None = None

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts.

        Two lessons. Names first: many small batches of crowds, the vectors of the names fixed (learning is bound by the
        number of steps, not of pictures). Then words and places: larger batches, more and more of them scenes, the text
        encoder trained along with tinted names.
        """
        dice = np.random.default_rng([step, 11])
        early = step < NAMES_SHARE * self.steps
        pictures = self.crowds if early or dice.random() > step / self.steps else self.scenes
        chosen = np.sort(dice.integers(0, len(pictures.scenes), SMALL_BATCH if early else BATCH))
        shift = dice.integers(-SHIFT, SHIFT + 1, 2)
        pixels = as_input(shifted(pictures.pictures[chosen], shift))
        targets = dense_targets([_things(pictures.scenes[i], self._index) for i in chosen], shift)
        tinted = [] if early else self._tinted(targets, dice)
        tints = list(TINTS)
        text = (
            self._fixed_names()
            if early
            else self.queries([*self.names, *(f"{tints[t]} {self.names[n]}" for n, t in tinted)])
        )
        features, _ = self.model.image_embedder(pixels)
        flat = features.flatten(1, 2)
        logits, _ = self.model.class_predictor(flat, text[None].expand(len(flat), -1, -1))
        boxes = self.model.box_predictor(flat, features)
        return _loss(logits.float(), boxes.float(), targets, tinted, len(self.names))

    def _fixed_names(self) -> torch.Tensor:
        if self._fixed is None:
            with torch.no_grad():
                self._fixed = self.queries(self.names)
        return self._fixed

    def queries(self, names: list[str]) -> torch.Tensor:
        """Return the text features (n, 128) of names."""
        out = self.tokenizer(names, padding="max_length", truncation=True, max_length=TEXT_LENGTH, return_tensors="pt")
        features: torch.Tensor = self.model.owlvit.get_text_features(out.input_ids, out.attention_mask).pooler_output
        return features

    def _tinted(self, targets: Targets, dice: np.random.Generator) -> list[tuple[int, int]]:
        """Choose tinted queries: those in the batch, and the same things in another tint."""
        tinted = targets.tints >= 0
        present = set(zip(targets.names[tinted].tolist(), targets.tints[tinted].tolist(), strict=True))
        ordered = sorted(present)
        dice.shuffle(ordered)
        pairs = [pair for n, t in ordered for pair in ((n, t), (n, (t + 1 + int(dice.integers(4))) % len(TINTS)))]
        return list(dict.fromkeys((int(n), int(t)) for n, t in pairs))[:TINTED_QUERIES]


def as_input(pixels: Pixels) -> torch.Tensor:
    """Turn bytes (B, H, W, 3) into model input (B, 3, H, W) within -1 and 1."""
    return torch.from_numpy(np.array(pixels)).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def shifted(pixels: Pixels, shift: npt.NDArray[np.int64]) -> Pixels:
    """Move pictures by (x, y) pixels, repeating their edge, so that objects meet the patches' grid anew."""
    padded = np.pad(pixels, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    x, y = SHIFT - int(shift[0]), SHIFT - int(shift[1])
    return padded[:, y : y + SIDE, x : x + SIDE]


def scene_boxes(scene: Scene) -> list[tuple[int, int, int, int]]:
    """Return the box of every object's visible pixels, as `truths` does, measured once for each sprite."""
    outlines = [_outline(o.file, o.side, o.mirrored) for o in scene.objects]
    return [
        (o.left + x0, o.top + y0, o.left + x1, o.top + y1)
        for o, (x0, y0, x1, y1) in zip(scene.objects, outlines, strict=True)
    ]


@cache
def _outline(file: str, side: int, mirrored: bool) -> tuple[int, int, int, int]:  # noqa: FBT001 - a key of the cache
    return sprite_box(file, side, mirrored=mirrored)


def _things(scene: Scene, index: dict[str, int]) -> Things:
    plain = scene.style in COLOURLESS_STYLES
    tints = [-1 if plain or not o.tint else list(TINTS).index(o.tint) for o in scene.objects]
    boxes = scene_boxes(scene)
    names = [index[o.concept] for o in scene.objects]
    return Things(np.array(names), np.array(tints), np.array(boxes, dtype=np.float32).reshape(-1, 4))


def dense_targets(batch: list[Things], shift: npt.NDArray[np.int64]) -> Targets:
    """Tell every patch what it shows: the object with whose box it shares most pixels, if at least a quarter of it."""
    edges = np.arange(GRID) * PATCH
    middle_points = edges + PATCH / 2
    size = (len(batch), GRID, GRID)
    names, tints = np.full(size, -1), np.full(size, -1)
    boxes, middle = np.zeros((*size, 4), dtype=np.float32), np.zeros(size, dtype=bool)
    for row, things in enumerate(batch):
        best = np.full((GRID, GRID), PATCH * PATCH / 4)
        for name, tint, box in zip(things.names, things.tints, things.boxes + np.tile(shift, 2), strict=True):
            x0, y0, x1, y1 = box.clip(0, SIDE)
            across = (np.minimum(edges + PATCH, x1) - np.maximum(edges, x0)).clip(0)
            down = (np.minimum(edges + PATCH, y1) - np.maximum(edges, y0)).clip(0)
            shared = down[:, None] * across[None]
            mine = shared > best
            best = np.maximum(best, shared)
            names[row][mine], tints[row][mine] = name, tint
            boxes[row][mine] = np.array([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0]) / SIDE
            near_x = abs(middle_points - (x0 + x1) / 2) <= max(PATCH / 2, (x1 - x0) / 5)
            near_y = abs(middle_points - (y0 + y1) / 2) <= max(PATCH / 2, (y1 - y0) / 5)
            middle[row] = np.where(mine, near_y[:, None] & near_x[None], middle[row])
    flat = (len(batch), GRID * GRID)
    return Targets(
        torch.from_numpy(names.reshape(flat)), torch.from_numpy(tints.reshape(flat)),
        torch.from_numpy(boxes.reshape(*flat, 4)), torch.from_numpy(middle.reshape(flat)),
    )  # fmt: skip


def _loss(
    logits: torch.Tensor, boxes: torch.Tensor, targets: Targets, tinted: list[tuple[int, int]], names: int
) -> tuple[torch.Tensor, dict[str, float]]:
    covered = targets.names >= 0
    naming = functional.cross_entropy(logits[..., :names][covered], targets.names[covered])
    wanted = torch.zeros_like(logits)
    where = targets.middle.nonzero(as_tuple=True)
    wanted[(*where, targets.names[where])] = 1.0
    for column, (name, tint) in enumerate(tinted, start=names):
        wanted[..., column] = ((targets.names == name) & (targets.tints == tint) & targets.middle).float()
    found = torch.sigmoid(logits)
    focal = torch.where(wanted > 0, (1 - found) ** 2, 0.5 * found**2).detach()
    finding = functional.binary_cross_entropy_with_logits(logits, wanted, focal, reduction="sum") / wanted.sum().clamp(
        1
    )
    aim, guess = targets.boxes[covered], boxes[covered]
    weight = torch.where(targets.middle[covered], 1.0, 0.2)
    distance = ((aim - guess).abs().sum(-1) * weight).sum() / weight.sum()
    overlap = ((1 - _giou(aim, guess)) * weight).sum() / weight.sum()
    right = (logits[..., :names][covered].argmax(-1) == targets.names[covered]).float().mean().item()
    parts = {"naming": naming.item(), "finding": finding.item(), "giou": 1 - overlap.item(), "patch top-1": right}
    return naming + 0.5 * finding + 3 * distance + overlap, parts


def _giou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Generalised IoU of boxes given as centre and size, pairwise, (n,)."""
    low_a, high_a = a[:, :2] - a[:, 2:] / 2, a[:, :2] + a[:, 2:] / 2
    low_b, high_b = b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2
    inner = (torch.minimum(high_a, high_b) - torch.maximum(low_a, low_b)).clamp(0).prod(-1)
    hull = (torch.maximum(high_a, high_b) - torch.minimum(low_a, low_b)).prod(-1)
    union = a[:, 2:].prod(-1) + b[:, 2:].prod(-1) - inner
    return inner / union.clamp(1e-6) - (hull - union) / hull.clamp(1e-6)
