"""Train the painter: a small latent diffusion model that `StableDiffusionInpaintPipeline` of `diffusers` reads.

Three stages, each kept in the work folder: the autoencoder; canvases drawn and encoded once; the network that denoises.
What lets it learn on two cores:

- A part of a picture is painted enlarged to 64 × 64 with its surroundings (`models.replace.margin` of the profile), so
  the thing to paint always fills the same place of a map of 16 × 16 cells.
- The texts are read by the shipped classifier's text encoder, whose names already point in all directions.
- Name and look first: for the first steps there is (almost) only noise, where the answer is the thing itself. With zero
  signal at the last step (Lin et al. 2024) and v-prediction (Salimans and Ho 2022) this is a plain regression.
- Most of the loss counts inside the mask: the tool puts back everything else.

Two lessons share the weights: parts of scenes, and, in the second half, now and then a whole scene after its caption
with everything masked, so that the same pipeline also makes pictures from text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionInpaintPipeline, UNet2DConditionModel
from PIL import Image
from torch import nn
from torch.nn import functional
from transformers import CLIPModel, CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from snellen.microworld.drawing import Pixels
from snellen.microworld.scenes import caption
from snellen.microworld.training.autoencoder import encoded, kept_names, train_autoencoder
from snellen.microworld.training.clip import PIXELS
from snellen.microworld.training.corpus import corpus
from snellen.microworld.training.detection_targets import as_input, known_names
from snellen.microworld.training.inpainting_data import CANVAS, FACTOR, Latents, Paintings, paintings, scene_latents
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.profiles import SnellenError

TEXT_LENGTH = 32
AUTOENCODER_STEPS = 2000
CANVASES, SCENES = 28_000, 6_000
BATCH, SCENE_BATCH = 32, 8
# The share of steps with (almost) only noise; when whole scenes begin, and their share of the steps from then on.
NOISY_SHARE, SCENES_FROM, SCENES_SHARE = 0.15, 0.5, 0.25
# The share of texts left out, so that guidance knows what nothing looks like.
SILENT = 0.1
# How much of the loss counts outside the mask.
OUTSIDE = 0.1
AVERAGED = 0.999


@dataclass(frozen=True)
class UNetShape:
    """Sizes of the network that denoises.

    Attributes:
        widths: Channels at 16, 8 and 4 cells a side.
        groups: Groups of its normalisations.
        heads: Heads of its attention.
    """

    widths: tuple[int, ...] = (64, 96, 128)
    groups: int = 16
    heads: int = 4


def network(shape: UNetShape, text_width: int) -> UNet2DConditionModel:
    """Return the network, about 4.5 million weights: its input is noisy latents, mask, and latents of what is seen.

    It attends to the text, and across the canvas, at the middle widths and at its narrowest only: attention at 16 × 16
    cells would double the cost of a step.
    """
    between = len(shape.widths) - 2
    return UNet2DConditionModel(
        sample_size=CANVAS // FACTOR,
        in_channels=9,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=shape.widths,
        norm_num_groups=shape.groups,
        cross_attention_dim=text_width,
        attention_head_dim=shape.heads,
        down_block_types=("DownBlock2D", *("CrossAttnDownBlock2D",) * between, "DownBlock2D"),
        up_block_types=("UpBlock2D", *("CrossAttnUpBlock2D",) * between, "UpBlock2D"),
    )


def noise_schedule() -> DDIMScheduler:
    """Return the schedule of noise: no signal is left at its last step, where painting begins."""
    return DDIMScheduler(
        num_train_timesteps=1000, beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear",
        prediction_type="v_prediction", rescale_betas_zero_snr=True, timestep_spacing="trailing", clip_sample=False,
        steps_offset=1,
    )  # fmt: skip


class Artist(nn.Module):
    """Denoising network and text encoder, with their running averages, which are shipped.

    Args:
        denoiser: Predicts v.
        reader: Encodes prompts.
    """

    def __init__(self, denoiser: UNet2DConditionModel, reader: CLIPTextModel) -> None:
        super().__init__()
        self.denoiser, self.reader = denoiser, reader
        self.average = nn.ModuleDict(
            {
                "denoiser": UNet2DConditionModel.from_config(denoiser.config),
                "reader": CLIPTextModel(reader.config),
            }
        )
        for parameter in self.average.parameters():
            parameter.requires_grad = False
        self.follow(0.0)

    @torch.no_grad()
    def follow(self, decay: float) -> None:
        """Move the averages towards the weights; all the way at a decay of 0."""
        pairs = ((self.average["denoiser"], self.denoiser), (self.average["reader"], self.reader))
        for average, model in pairs:
            for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
                slow.lerp_(fast, 1.0 - decay)


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train the painter and write its pipeline.

    Args:
        work: Folder for drawn pictures and the states of the stages.
        out: Folder of the checkpoint; the trained classifier's must lie beside it.
        seed: Seed of the run.
        steps: Optimizer steps of the network that denoises, of 32 canvases or 8 scenes.
    """
    own, scenes = work / "diffusion", corpus(work / "corpus", "scenes", 24_000)
    classifier = _classifier(out.parent / "clip")
    autoencoder = train_autoencoder(scenes, own / "autoencoder", seed=seed, steps=AUTOENCODER_STEPS)
    if not (own / "latents").exists():
        drawn, copied = kept_names(autoencoder, scenes, lambda crops: _named(classifier, out.parent / "clip", crops))
        print(f"things recognised as drawn {drawn:.3f}, after the autoencoder {copied:.3f}", flush=True)

    def encode(pixels: Pixels) -> Latents:
        parts = [encoded(autoencoder, as_input(part)) for part in np.array_split(pixels, max(1, len(pixels) // 64))]
        return torch.cat(parts).numpy().astype(np.float16)

    canvases = paintings(own / "latents", CANVASES, encode)
    whole = scene_latents(own / "latents" / f"scenes-{SCENES}.npy", scenes.pictures[:SCENES], encode)
    torch.manual_seed(seed)
    tokenizer = reading_tokenizer(out.parent / "clip")
    reader = reader_of(classifier)
    artist = Artist(network(UNetShape(), int(reader.config.hidden_size)), reader)
    blank = torch.from_numpy(encode(np.full((1, CANVAS * 2, CANVAS * 2, 3), 127, dtype=np.uint8)))
    captioned = Captioned(whole, [caption(scene) for scene in scenes.scenes[:SCENES]], blank)
    lesson = DiffusionTraining(artist, tokenizer, canvases, captioned, steps=steps)
    rates = {"": 6e-4, "reader": 2e-4}
    outcome = run(
        artist, lesson.loss, TrainingSchedule(steps, weight_decay=0.01), rates=rates, work=own / "painter", seed=seed
    )
    save(artist, autoencoder, tokenizer, out)
    return outcome


def _classifier(folder: Path) -> CLIPModel:
    if not (folder / "config.json").exists():
        msg = f"There is no classifier in {folder}, whose text encoder the painter begins with: train `clip` first."
        raise SnellenError(msg)
    return CLIPModel.from_pretrained(folder, dtype=torch.float32)


def reading_tokenizer(folder: Path) -> CLIPTokenizer:
    """Return the classifier's tokenizer for texts as long as captions."""
    return CLIPTokenizer.from_pretrained(folder, model_max_length=TEXT_LENGTH)


@torch.no_grad()
def reader_of(classifier: CLIPModel) -> CLIPTextModel:
    """Return the classifier's text encoder with room for captions; later places begin as the last one was."""
    known = classifier.text_model.state_dict()
    name = "embeddings.position_embedding.weight"
    shape = CLIPTextConfig.from_dict(
        {**classifier.config.text_config.to_dict(), "max_position_embeddings": TEXT_LENGTH}
    )
    reader = CLIPTextModel(shape)
    places = known[name][:TEXT_LENGTH]
    known[name] = torch.cat([places, places[-1:].expand(TEXT_LENGTH - len(places), -1)])
    reader.load_state_dict(known)
    return reader


@torch.no_grad()
def _named(classifier: CLIPModel, folder: Path, crops: list[Image.Image]) -> list[str]:
    """Return the known name that the classifier gives to each crop."""
    names = known_names()
    tokens = CLIPTokenizer.from_pretrained(folder)(names, padding="max_length", truncation=True, return_tensors="pt")
    texts = functional.normalize(classifier.get_text_features(**tokens).pooler_output, dim=-1)
    pixels = np.stack([np.asarray(c.resize((PIXELS, PIXELS), Image.Resampling.BICUBIC)) for c in crops])
    seen = functional.normalize(classifier.get_image_features(as_input(pixels)).pooler_output, dim=-1)
    return [names[index] for index in (seen @ texts.T).argmax(-1).tolist()]


def save(artist: Artist, autoencoder: AutoencoderKL, tokenizer: CLIPTokenizer, out: Path) -> None:
    """Write the averages as a pipeline (fp16), as a hub checkpoint has it; they stay as they are."""
    pipeline = StableDiffusionInpaintPipeline(
        vae=AutoencoderKL.from_config(autoencoder.config),
        text_encoder=CLIPTextModel(artist.reader.config), tokenizer=tokenizer,
        unet=UNet2DConditionModel.from_config(artist.denoiser.config), scheduler=noise_schedule(),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip
    pipeline.vae.load_state_dict(autoencoder.state_dict())
    pipeline.text_encoder.load_state_dict(artist.average["reader"].state_dict())
    pipeline.unet.load_state_dict(artist.average["denoiser"].state_dict())
    pipeline.to(dtype=torch.float16)
    pipeline.save_pretrained(out)


@dataclass(frozen=True)
class Captioned:
    """Whole scenes.

    Attributes:
        latents: (n, 4, 32, 32).
        captions: What each shows.
        blank: Latents (1, 4, 32, 32) of a picture of which nothing is seen.
    """

    latents: Latents
    captions: list[str]
    blank: torch.Tensor


@dataclass(frozen=True)
class _Batch:
    """Latents to become and to be seen (B, 4, h, w), where to paint (B, 1, h, w), and what."""

    truth: torch.Tensor
    seen: torch.Tensor
    masks: torch.Tensor
    prompts: list[str]


class DiffusionTraining:
    """Batches of canvases and scenes, and the loss on them.

    Args:
        artist: Learns.
        tokenizer: Splits prompts.
        canvases: Parts of scenes.
        scenes: Whole scenes.
        steps: How many steps there will be; what is taught when depends on it.
    """

    def __init__(
        self, artist: Artist, tokenizer: CLIPTokenizer, canvases: Paintings, scenes: Captioned, *, steps: int
    ) -> None:
        self.artist, self.tokenizer, self.canvases, self.scenes, self.steps = artist, tokenizer, canvases, scenes, steps
        self._schedule = noise_schedule()

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts."""
        self.artist.follow(min(AVERAGED, (1 + step) / (10 + step)))
        dice = np.random.default_rng([step, 53])
        late = step > SCENES_FROM * self.steps
        scenes = late and dice.random() < SCENES_SHARE
        batch = self._scenes(dice) if scenes else self._canvases(dice)
        times = self._times(len(batch.truth), dice, early=step < NOISY_SHARE * self.steps)
        noise = torch.from_numpy(dice.standard_normal(batch.truth.shape, dtype=np.float32))
        noisy = self._schedule.add_noise(batch.truth, noise, times)
        wanted = self._schedule.get_velocity(batch.truth, noise, times)
        prompts = [text if dice.random() > SILENT else "" for text in batch.prompts]
        given = torch.cat([noisy, batch.masks, batch.seen], dim=1)
        said = self.artist.denoiser(given, times, encoder_hidden_states=self._read(prompts)).sample.float()
        # What a cell shows also depends on its neighbours.
        weight = functional.max_pool2d(batch.masks, 3, stride=1, padding=1).clamp(min=OUTSIDE)
        error = ((said - wanted) ** 2 * weight).sum(dim=(1, 2, 3)) / (4 * weight.sum(dim=(1, 2, 3)))
        return error.mean(), self._parts(error, times, scenes=scenes)

    @staticmethod
    def _parts(error: torch.Tensor, times: torch.Tensor, *, scenes: bool) -> dict[str, float]:
        high = times >= 900
        parts = {"much noise": error[high], "less noise": error[~high]}
        return {name: value.mean().item() for name, value in parts.items() if len(value)} | {"scenes": float(scenes)}

    @staticmethod
    def _times(count: int, dice: np.random.Generator, *, early: bool) -> torch.Tensor:
        """Return steps of noise; more of them late ones, where it is decided what is painted."""
        late = dice.random(count)
        share = 0.9 + 0.1 * late if early else 1.0 - late**1.5
        return torch.from_numpy((share * 1000).astype(np.int64).clip(0, 999))

    def _canvases(self, dice: np.random.Generator) -> _Batch:
        held = self.canvases
        chosen = np.sort(dice.integers(0, len(held.prompts), BATCH))
        truth, seen, masks = (
            torch.from_numpy(array[chosen].astype(np.float32)) for array in (held.truth, held.seen, held.masks)
        )
        return _Batch(truth, seen, masks, [held.prompts[index] for index in chosen])

    def _scenes(self, dice: np.random.Generator) -> _Batch:
        chosen = np.sort(dice.integers(0, len(self.scenes.captions), SCENE_BATCH))
        truth = torch.from_numpy(self.scenes.latents[chosen].astype(np.float32))
        seen = self.scenes.blank.float().expand(len(chosen), -1, -1, -1)
        everywhere = torch.ones(len(chosen), 1, *truth.shape[-2:])
        return _Batch(truth, seen, everywhere, [self.scenes.captions[index] for index in chosen])

    def _read(self, prompts: list[str]) -> torch.Tensor:
        """Return what the reader makes of prompts (B, 32, width), as the pipeline asks it: padding is read as well."""
        tokens = self.tokenizer(
            prompts, padding="max_length", truncation=True, max_length=TEXT_LENGTH, return_tensors="pt"
        )
        output: Any = self.artist.reader(tokens.input_ids)
        read: torch.Tensor = output.last_hidden_state
        return read
