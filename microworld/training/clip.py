"""Train the classifier: CLIP on crops of objects, as SELECT and CLASSIFY will show them to it.

Its encoders start from the detector's: the same patches of 16 pixels, and a crop of 64 pixels is the middle of the
detector's grid, so what was learned there is learned here. The text encoder stays as it is.

The loss is CLIP's, image against text, with every known name in each batch as text, so that all concepts are told
apart at every step; tinted names are further texts. Crops without an object are called `background`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch.nn import functional
from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPTokenizer, OwlViTForObjectDetection

from snellen.microworld.drawing import Pixels
from snellen.microworld.scenes import COLOURLESS_STYLES, SIDE, TINTS, Scene
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.detection_targets import GRID, PATCH, as_input, known_names, scene_boxes
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, has_begun, run, save_half
from snellen.microworld.training.owlvit import TEXT_LENGTH, clip_tokenizer

PIXELS = 64
BATCH = 64
BACKGROUND = "background"
EMPTY_SHARE = 0.06


@dataclass(frozen=True)
class Crop:
    """One crop to look at: which picture, where, and what it shows (-1: nothing, or no tint)."""

    picture: int
    box: tuple[int, int, int, int]
    name: int
    tint: int


def config(tokens: int) -> CLIPConfig:
    """Return the classifier's shape: the detector's ViT (4 × 192) at 64 px, a text encoder of 2 × 128."""
    text = {
        "vocab_size": tokens, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 12, "hidden_act": "gelu", "projection_dim": 128,
        "bos_token_id": tokens - 2, "eos_token_id": tokens - 1, "pad_token_id": tokens - 1,
    }  # fmt: skip
    vision = {
        "hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 6,
        "image_size": PIXELS, "patch_size": PATCH, "hidden_act": "gelu", "projection_dim": 128,
    }  # fmt: skip
    return CLIPConfig(text_config=text, vision_config=vision, projection_dim=128)


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train the classifier and write its checkpoint.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint; the trained detector's must lie beside it.
        seed: Seed of the run.
        steps: Optimizer steps of 64 crops.
    """
    tokenizer = clip_tokenizer(work)
    torch.manual_seed(seed)
    model = CLIPModel(config(len(tokenizer)))
    lesson = ClipTraining(model, tokenizer, corpus(work / "corpus", "scenes", 24_000))
    if not has_begun(work / "clip"):
        take_encoders(model, OwlViTForObjectDetection.from_pretrained(out.parent / "owlvit", dtype=torch.float32))
    for parameter in (*model.text_model.parameters(), *model.text_projection.parameters()):
        parameter.requires_grad = False
    rates = {"": 1e-3, "vision_model": 4e-4}
    outcome = run(model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / "clip", seed=seed)
    save(model, tokenizer, out)
    return outcome


@torch.no_grad()
def take_encoders(model: CLIPModel, detector: OwlViTForObjectDetection) -> None:
    """Copy the detector's encoders into CLIP's: of its grid the places in the middle, of texts the first positions."""
    source = detector.owlvit.vision_model.state_dict()
    places = source.pop("embeddings.position_embedding.weight")
    side, edge = PIXELS // PATCH, (GRID - PIXELS // PATCH) // 2
    grid = places[1:].view(GRID, GRID, -1)[edge : edge + side, edge : edge + side].flatten(0, 1)
    source["embeddings.position_embedding.weight"] = torch.cat([places[:1], grid])
    # `transformers` spells this layer differently in its two classes.
    source = {name.replace("pre_layernorm", "pre_layrnorm"): value for name, value in source.items()}
    model.vision_model.load_state_dict(source)
    texts = detector.owlvit.text_model.state_dict()
    positions = model.text_model.embeddings.position_embedding.weight.clone()
    positions[:TEXT_LENGTH] = texts["embeddings.position_embedding.weight"]
    texts["embeddings.position_embedding.weight"] = positions
    model.text_model.load_state_dict(texts)
    model.text_projection.load_state_dict(detector.owlvit.text_projection.state_dict())


def save(model: CLIPModel, tokenizer: CLIPTokenizer, out: Path) -> None:
    """Write weights (fp16), tokenizer and picture processor as a hub checkpoint has them."""
    save_half(model, out)
    tokenizer.save_pretrained(out)
    size = {"height": PIXELS, "width": PIXELS}
    CLIPImageProcessorPil(
        size=size, crop_size=size, do_center_crop=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    ).save_pretrained(out)


class ClipTraining:
    """Batches of crops and the loss on them."""

    def __init__(self, model: CLIPModel, tokenizer: CLIPTokenizer, pictures: Corpus) -> None:
        self.model, self.tokenizer, self.pictures = model, tokenizer, pictures
        self.names = known_names()
        self.crops = [crop for i, scene in enumerate(pictures.scenes) for crop in self._crops(i, scene)]

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts."""
        dice = np.random.default_rng([step, 23])
        batch = [self.crops[i] for i in dice.integers(0, len(self.crops), BATCH)]
        batch = [self._empty(crop, dice) if dice.random() < EMPTY_SHARE else crop for crop in batch]
        pixels = as_input(np.stack([self._cut(crop, dice) for crop in batch]))
        image = functional.normalize(self.model.get_image_features(pixels).pooler_output, dim=-1)
        scale = self.model.logit_scale.exp().clamp(max=60.0)
        names = torch.tensor([c.name if c.name >= 0 else len(self.names) for c in batch])
        logits = scale * image @ self._named.T
        naming = functional.cross_entropy(logits, names, label_smoothing=0.05)
        tinting = self._tinting(image, batch, scale)
        right = (logits.argmax(-1) == names).float().mean().item()
        return naming + 0.3 * tinting, {"naming": naming.item(), "tinting": tinting.item(), "top-1": right}

    @cached_property
    def _named(self) -> torch.Tensor:
        """The fixed vectors of the known names and of `background`, (231, 128)."""
        return self._texts([*self.names, BACKGROUND])

    @cached_property
    def _tinted(self) -> torch.Tensor:
        """The fixed vectors of every known name in every tint, (230, 5, 128)."""
        return self._texts([f"{tint} {name}" for name in self.names for tint in TINTS]).view(-1, len(TINTS), 128)

    @torch.no_grad()
    def _texts(self, texts: list[str]) -> torch.Tensor:
        tokens = self.tokenizer(
            texts, padding="max_length", truncation=True, max_length=TEXT_LENGTH, return_tensors="pt"
        )
        return functional.normalize(self.model.get_text_features(**tokens).pooler_output, dim=-1)

    def _tinting(self, image: torch.Tensor, batch: list[Crop], scale: torch.Tensor) -> torch.Tensor:
        """Tell a tinted thing's tint among all five (`red dog`, `blue dog` …)."""
        rows = [i for i, crop in enumerate(batch) if crop.tint >= 0]
        if not rows:
            return image.new_zeros(())
        logits = scale * torch.einsum("rd,rtd->rt", image[rows], self._tinted[[batch[i].name for i in rows]])
        return functional.cross_entropy(logits, torch.tensor([batch[i].tint for i in rows]))

    def _crops(self, picture: int, scene: Scene) -> list[Crop]:
        tints = list(TINTS)
        plain = scene.style in COLOURLESS_STYLES
        index = {name: i for i, name in enumerate(self.names)}
        return [
            Crop(
                picture, box, index[item.concept],
                tints.index(item.tint) if item.tint and not plain else -1,
            )
            for item, box in zip(scene.objects, scene_boxes(scene), strict=True)
        ]  # fmt: skip

    def _empty(self, crop: Crop, dice: np.random.Generator) -> Crop:
        """Find a place of the same picture without an object; keep the crop where there is none."""
        objects = self.pictures.scenes[crop.picture].objects
        for _ in range(20):
            side = int(dice.integers(20, 56))
            x, y = (int(v) for v in dice.integers(0, SIDE - side, 2))
            free = all(
                x + side <= o.left + 3 or o.left + o.side <= x + 3 or y + side <= o.top + 3 or o.top + o.side <= y + 3
                for o in objects
            )
            if free:
                return Crop(crop.picture, (x, y, x + side, y + side), -1, -1)
        return crop

    def _cut(self, crop: Crop, dice: np.random.Generator) -> Pixels:
        x0, y0, x1, y1 = crop.box
        slack: npt.NDArray[np.int64] = dice.integers(-3, 7, 4)
        box = (
            max(0, x0 - int(slack[0])), max(0, y0 - int(slack[1])),
            min(SIDE, x1 + int(slack[2])), min(SIDE, y1 + int(slack[3])),
        )  # fmt: skip
        whole = Image.fromarray(self.pictures.pictures[crop.picture])
        return np.asarray(whole.resize((PIXELS, PIXELS), Image.Resampling.BICUBIC, box=box))
