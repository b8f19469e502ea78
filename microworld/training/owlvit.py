"""Train the detector: OWL-ViT taught densely, every patch told what it shows.

Naming (softmax over all known names) is taught on every patch that an object covers; finding (sigmoid, as at
inference) on the patches at an object's middle, whose boxes can be right; tinted names (`red dog`) as extra queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import CLIPTokenizer, OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessorPil

from snellen.microworld.scenes import SIDE, TINTS
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.detection_targets import (
    PATCH,
    SHIFT,
    Targets,
    as_input,
    cut,
    dense_targets,
    known_names,
    objects_of,
    random_window,
    shifted,
    within,
)
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, has_begun, run, save_half
from snellen.microworld.training.name_pretraining import spread
from snellen.microworld.training.patch_initialisation import open_eyes
from snellen.microworld.training.tokenizers import save_clip_tokenizer

TEXT_LENGTH = 8
TINTED_QUERIES = 48
# The first lesson's share of all steps, and how many pictures a step of each lesson has.
NAMES_SHARE, SMALL_BATCH, BATCH = 0.75, 12, 32


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


def continue_training(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train the detector of `out` further, on other and harder scenes and on parts of them, and overwrite it.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint.
        seed: Seed of the run.
        steps: Optimizer steps of 32 pictures.
    """
    tokenizer = CLIPTokenizer.from_pretrained(out)
    model = OwlViTForObjectDetection.from_pretrained(out, dtype=torch.float32)
    series = f"continued-{seed}"
    crowds = corpus(work / "corpus", "crowds", 4_000, series=series)
    scenes = corpus(work / "corpus", "hard", 24_000, series=series)
    mix = BatchMix(names=0.0, crowds=0.15, parts=0.2, seed=seed + 4)
    lesson = DetectorTraining(model, tokenizer, crowds, scenes, steps, mix)
    outcome = run(
        model,
        lesson.loss,
        TrainingSchedule(steps, warmup=30),
        rates={"": 3e-4, "owlvit.text": 5e-5},
        work=work / "owlvit-continued",
        seed=seed,
    )
    save_half(model, out)
    return outcome


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
    if not has_begun(work / "owlvit"):
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
    save_half(model, out)
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


@dataclass(frozen=True)
class BatchMix:
    """Mixture of the batches of a run.

    Attributes:
        names: Share of the steps that belong to the first lesson.
        crowds: Share of crowds in the batches of the second lesson; None lets it fall from step to step.
        parts: Share of the second lesson's batches whose pictures are cut and stretched.
        seed: Seed of the choice of pictures.
    """

    names: float = NAMES_SHARE
    crowds: float | None = None
    parts: float = 0.0
    seed: int = 11


class DetectorTraining:
    """Batches of scenes and the loss on them.

    Args:
        model: The detector.
        tokenizer: Its tokenizer.
        crowds: Pictures full of things.
        scenes: Ordinary pictures.
        steps: Optimizer steps of the run.
        mix: Mixture of the batches.
    """

    def __init__(
        self,
        model: OwlViTForObjectDetection,
        tokenizer: CLIPTokenizer,
        crowds: Corpus,
        scenes: Corpus,
        steps: int,
        mix: BatchMix | None = None,
    ) -> None:
        self.model, self.tokenizer, self.crowds, self.scenes, self.steps = model, tokenizer, crowds, scenes, steps
        self.mix = mix or BatchMix()
        self.names = known_names()
        self._index = {name: i for i, name in enumerate(self.names)}
        self._fixed: torch.Tensor | None = None

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts.

        Two lessons. Names first: many small batches of crowds, the vectors of the names fixed (learning is bound by the
        number of steps, not of pictures). Then words and places: larger batches, more and more of them scenes, the text
        encoder trained along with tinted names.
        """
        dice = np.random.default_rng([step, self.mix.seed])
        early = step < self.mix.names * self.steps
        crowded = 1 - step / self.steps if self.mix.crowds is None else self.mix.crowds
        pictures = self.crowds if early or dice.random() < crowded else self.scenes
        chosen = np.sort(dice.integers(0, len(pictures.scenes), SMALL_BATCH if early else BATCH))
        shift = dice.integers(-SHIFT, SHIFT + 1, 2)
        things = [objects_of(pictures.scenes[i], self._index) for i in chosen]
        if dice.random() < self.mix.parts:
            shift = np.zeros(2, dtype=np.int64)
            windows = [random_window(dice) for _ in chosen]
            pixels = as_input(np.stack([cut(p, w) for p, w in zip(pictures.pictures[chosen], windows, strict=True)]))
            things = [within(each, w) for each, w in zip(things, windows, strict=True)]
        else:
            pixels = as_input(shifted(pictures.pictures[chosen], shift))
        targets = dense_targets(things, shift)
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
