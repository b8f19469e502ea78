"""REPLACE: a vector on top of the words of a concept in the painter's text encoder (CLOVA section 8.5)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch

from snellen.models.vision.inpainting import POOL, PaintingCall, central
from snellen.profiles import ClipModel
from snellen.tools.editing.replace import framed
from snellen.tuning.instances import TuningExample
from snellen.tuning.loop import PromptScores, TuningBatch
from snellen.values import Region

if TYPE_CHECKING:
    import PIL.Image
    from numpy.typing import NDArray

    from snellen.models.vision.inpainting import Canvas, Painter, Surroundings
    from snellen.models.vision.models import Models
    from snellen.profiles import ReplaceTuning, TuningSettings
    from snellen.tuning.instances import Box, Instance, TunedPrompt

_GOLDEN = (5**0.5 - 1) / 2
"""Steps of this share of a circle come near every place of it soonest."""

_KEPT = 80
"""Numbers that a gradient needs for each cell, channel and block of the network, as counted at Stable Diffusion's
shape (3.6 GB for 512 × 512 pixels in float32); smaller networks with less attention need less."""


@dataclass(frozen=True, eq=False)
class ReplaceBatch(TuningBatch):
    """Encoded pictures with the places to paint, and the noise that comes next.

    Attributes:
        words: ``(instances, phrases, length)``, the tokens of the phrases that ask for each one's concept.
        places: ``(instances, phrases, length)``: 1 on the tokens of the concept's words.
        truth: ``(instances, channels, height, width)``, the latents of how it looks.
        seen: The same of what is around it.
        masks: ``(instances, 1, height, width)``: 1 where it is painted.
        identities: ``(instances,)``, numbers of the instances: what their noise depends on.
        steps: ``(instances,)``: how often each was judged; every time with other noise.
    """

    words: torch.Tensor
    places: torch.Tensor
    truth: torch.Tensor
    seen: torch.Tensor
    masks: torch.Tensor
    identities: torch.Tensor
    steps: torch.Tensor


@dataclass(frozen=True, eq=False)
class Noise:
    """Noise that is added to the latents of each instance.

    Attributes:
        times: ``(instances,)``, places on the schedule of noise.
        values: ``(instances, channels, height, width)``, standard normal.
    """

    times: torch.Tensor
    values: torch.Tensor


@dataclass(frozen=True, eq=False)
class ReplaceSeen:
    """Held-out pictures.

    Attributes:
        examples: What they show, and where.
        names: The names that compete.
        looks: ``(examples, d)``: CLIP's embeddings, of unit length, of what their boxes show.
        called: What CLIP calls each of them.
    """

    examples: Sequence[TuningExample]
    names: list[str]
    looks: NDArray[np.float32]
    called: list[str]


def phrase(template: str, concept: str) -> str:
    """Put a concept's name into a phrase: ``a {}`` becomes ``an owl``."""
    return re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", template.format(concept))


class ReplaceTuner:
    """Teaches the painter what a name looks like, with the loss of latent diffusion (textual inversion).

    The latents of a picture and of its surroundings are computed once; each step adds other noise to them, and the
    network says what was added while it reads the concept's name with the vector. Only what the mask covers counts:
    the tool puts back everything else. The paper has no rule by which training ends sooner, so every vector takes all
    of its steps; paintings decide (:meth:`right`).
    """

    pool = POOL

    def __init__(self, painter: Painter, models: Models) -> None:
        self._painter, self._models, pipeline = painter, models, painter.pipeline
        self.settings: ReplaceTuning = models.profile.tuning.replace
        self.common: TuningSettings = models.profile.tuning
        self._network = pipeline.unet
        self.module = torch.nn.ModuleDict(
            {"unet": pipeline.unet, "text_encoder": pipeline.text_encoder, "vae": pipeline.vae}
        )
        self.device = painter.device
        self.shape = (1, int(pipeline.text_encoder.config.hidden_size))
        self._signal = pipeline.scheduler.alphas_cumprod.float().to(self.device)
        self._features: WeakKeyDictionary[TuningExample, NDArray[np.float32]] = WeakKeyDictionary()
        self._gallery: dict[str, dict[str, NDArray[np.float32]]] = {}

    def size(self, instance: Instance) -> int:  # noqa: ARG002 - every canvas has the same size
        """One run of the network that denoises."""
        config = self._network.config
        cells = (self._painter.settings.size // self._painter.pipeline.vae_scale_factor) ** 2
        levels = sum(width * cells // 4**depth for depth, width in enumerate(config.block_out_channels))
        layers = config.layers_per_block
        blocks = 2 * (layers if isinstance(layers, int) else max(layers)) + 1
        return int(4 * _KEPT * blocks * levels)

    def features(self, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        """A coarse map ``(d,)`` of each one's surroundings: what the painter knows before it paints."""
        absent = [each for each in examples if each not in self._features]
        if absent:
            self._remember(absent, self._painter.look([self._canvas(each) for each in absent]))
        return [self._features[each] for each in examples]

    def prepare(self, instances: Sequence[Instance]) -> ReplaceBatch:
        """Encode how each concept looks, what is around it, and the phrases that ask for it."""
        examples = [each.example for each in instances]
        canvases = [self._canvas(each) for each in examples]
        around = self._painter.look(canvases)
        self._remember(examples, around)
        words = [self._phrases(each.concept) for each in instances]
        identities = torch.tensor([int(each.id[:15], 16) for each in instances], device=self.device)
        return ReplaceBatch(
            words=torch.stack([tokens for tokens, _ in words]),
            places=torch.stack([places for _, places in words]),
            truth=self._painter.latents([each.picture for each in canvases]),
            seen=around.seen,
            masks=around.masks,
            identities=identities,
            steps=torch.zeros_like(identities),
        )

    def _phrases(self, concept: str) -> tuple[torch.Tensor, torch.Tensor]:
        texts = [phrase(template, concept) for template in self.settings.phrases]
        words = self._painter.words(texts, [concept])
        places = words.places.get(concept)
        return words.tokens, torch.zeros(words.tokens.shape, device=self.device) if places is None else places

    def _remember(self, examples: Sequence[TuningExample], around: Surroundings) -> None:
        self._features.update(zip(examples, around.features(), strict=True))

    def judge(self, prompts: torch.Tensor, batch: ReplaceBatch) -> PromptScores:
        """The error of one prediction for each instance; the next call has other noise."""
        noise = self._noise(batch)
        batch.steps.add_(1)
        losses = self.errors(prompts, batch, noise)
        return PromptScores(losses, torch.zeros(len(losses), dtype=torch.bool, device=losses.device))

    def errors(self, prompts: torch.Tensor, batch: ReplaceBatch, noise: Noise) -> torch.Tensor:
        """The loss of latent diffusion (Rombach et al. 2022, eq. 3) within each mask: ``(instances,)``."""
        rows = torch.arange(len(prompts), device=self.device)
        turns = batch.steps % batch.words.shape[1]
        words, places = batch.words[rows, turns], batch.places[rows, turns]
        read = self._painter.read(words, places[..., None] * prompts.sum(1, keepdim=True))
        signal = self._signal[noise.times][:, None, None, None]
        truth = batch.truth.float()
        noisy = signal.sqrt() * truth + (1 - signal).sqrt() * noise.values
        given = noisy.to(batch.seen.dtype)
        if self._network.config.in_channels > truth.shape[1]:
            given = torch.cat([given, batch.masks, batch.seen], dim=1)
        said = self._network(given, noise.times, encoder_hidden_states=read).sample.float()
        counted = batch.masks.float()
        error = ((said - self._wanted(truth, noise, signal)) ** 2 * counted).sum(dim=(1, 2, 3))
        losses: torch.Tensor = error / (truth.shape[1] * counted.sum(dim=(1, 2, 3)).clamp(min=1))
        return losses

    def _wanted(self, truth: torch.Tensor, noise: Noise, signal: torch.Tensor) -> torch.Tensor:
        """What the network shall say: the noise, the picture, or v (Salimans and Ho 2022)."""
        match self._painter.pipeline.scheduler.config.prediction_type:
            case "v_prediction":
                return signal.sqrt() * noise.values - (1 - signal).sqrt() * truth
            case "sample":
                return truth
            case _:
                return noise.values

    def _noise(self, batch: ReplaceBatch) -> Noise:
        """What each instance's identity and step decide, wherever it stands: times go evenly over the schedule."""
        last = len(self._signal) - 1
        least, times, values = self.settings.noise, [], []
        for identity, step in zip(batch.identities.tolist(), batch.steps.tolist(), strict=True):
            digest = hashlib.sha256(f"{self.common.seed} {identity} {step}".encode()).digest()
            generator = torch.Generator("cpu").manual_seed(int.from_bytes(digest[:8], "big", signed=True))
            share = (identity % 2**20 / 2**20 + step * _GOLDEN) % 1
            times.append(round(last * (least + (1 - least) * share)))
            values.append(torch.randn(batch.truth.shape[1:], generator=generator))
        return Noise(torch.tensor(times, device=self.device), torch.stack(values).to(self.device))

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> ReplaceSeen:
        """See with CLIP what the pictures show. What was looked at is what later paintings are compared with."""
        crops = [each.picture.convert("RGB").crop(place_of(each)) for each in examples]
        looks = np.stack([each.embedding for each in self._models.encoder().pictures(crops)])
        for example, look in zip(examples, looks, strict=True):
            self._gallery.setdefault(example.concept, {})[example.digest()] = look
        every = list(dict.fromkeys([*names, *(each.concept for each in examples)]))
        return ReplaceSeen(examples, every, looks, self._names(crops, every))

    def right(self, seen: ReplaceSeen, tuned: TunedPrompt | None, concept: str) -> list[bool]:
        """Return whether the concept, painted where each of its pictures shows it, is recognised.

        Pictures of other concepts are not painted, and nothing is said of them: a vector is read only where its own
        concept is asked for. They are what a painting must look less alike.
        """
        own = [row for row, each in enumerate(seen.examples) if each.concept == concept]
        if not own:
            return []
        vectors = {} if tuned is None else {concept: tuned.prompt}
        calls = [self._call(seen.examples[row], vectors) for row in own]
        painted = [
            picture.crop(place_of(seen.examples[row])) for row, picture in zip(own, self._painter(calls), strict=True)
        ]
        rivals = self._rivals(seen, concept)
        # CLIP's own word for the concept can be relied on if it calls most real pictures of it so.
        named = 2 * sum(seen.called[row] == concept for row in own) > len(own)
        if named or not rivals:
            return [name == concept for name in self._names(painted, seen.names)]
        return self._alike(painted, seen.looks[own], rivals)

    def _rivals(self, seen: ReplaceSeen, concept: str) -> list[NDArray[np.float32]]:
        """What the pictures of each other name look like: ``(d,)`` each."""
        names = [name for name in seen.names if name != concept and name in self._gallery]
        return [np.mean(list(self._gallery[name].values()), axis=0) for name in names]

    def _names(self, pictures: Sequence[PIL.Image.Image], names: Sequence[str]) -> list[str]:
        """What CLIP calls pictures, with all that it has learned; what the profile says is nothing competes as well."""
        clip = self._models.profile.entry(ClipModel)
        every = list(dict.fromkeys([*names, *clip.null]))
        logits = self._models.similarity(pictures, [clip.template.format(name) for name in every], names=every)
        return [every[index] for index in logits.argmax(axis=1)]

    def _alike(
        self, painted: Sequence[PIL.Image.Image], looks: NDArray[np.float32], rivals: Sequence[NDArray[np.float32]]
    ) -> list[bool]:
        """Whether each painting looks more like the concept's pictures than like those of any rival.

        The picture that it was painted into does not count, where there are others: they share their surroundings.
        """
        embeddings = [each.embedding for each in self._models.encoder().pictures(list(painted))]
        right = []
        for row, embedding in enumerate(embeddings):
            others = np.delete(looks, row, axis=0) if len(looks) > 1 else looks
            own = _cosine(embedding, others.mean(axis=0))
            right.append(all(own > _cosine(embedding, rival) for rival in rivals))
        return right

    def _canvas(self, example: TuningExample) -> Canvas:
        return self._painter.close_up(self._call(example, {}))

    def _call(self, example: TuningExample, vectors: Mapping[str, NDArray[np.float32]]) -> PaintingCall:
        mask = framed([Region(place_of(example), 1.0)], example.picture.size, frame=self._painter.settings.frame or 0)
        return PaintingCall(example.picture, mask, phrase(self.settings.phrases[0], example.concept), vectors)


def place_of(example: TuningExample) -> Box:
    """Return where a picture shows its concept; the middle where that is not known."""
    return example.boxes[0] if example.boxes else central(example.picture.size)


def _cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second) + 1e-12))
