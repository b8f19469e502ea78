"""SELECT and CLASSIFY: deep prompts in CLIP's picture encoder (CLOVA section 8.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

from snellen.models.soft_prompts import cosines
from snellen.tuning.loop import PromptScores, TuningBatch, transformer_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.models.vision.similarity import ClipEncoder
    from snellen.profiles import ClipTuning, Profile, TuningSettings
    from snellen.tuning.instances import Instance, TunedPrompt, TuningExample


@dataclass(frozen=True, eq=False)
class ClipBatch(TuningBatch):
    """Pictures of instances, the positive one first, then negatives; rows of the longest instance, others padded.

    Attributes:
        patches: ``(instances, pictures, tokens, width)``, what the encoder's first layer is given.
        signs: ``(instances, pictures)``: 1 where the picture shows the concept, -1 where not, 0 where there is none.
        texts: ``(instances, d)``, the concept's text.
        rivals: ``(instances, pictures)``: what the other names weigh together, the logarithm of their summed
            exponentials. They are compared with the picture seen without a prompt, so no step changes them.
    """

    patches: torch.Tensor
    signs: torch.Tensor
    texts: torch.Tensor
    rivals: torch.Tensor


@dataclass(frozen=True, eq=False)
class ClipSeen:
    """Held-out pictures.

    Attributes:
        examples: What they are.
        patches: ``(pictures, tokens, width)``.
        features: ``(pictures, d)``, their embeddings without a prompt.
        names: The names that compete.
        texts: ``(names, d)``.
    """

    examples: Sequence[TuningExample]
    patches: torch.Tensor
    features: NDArray[np.float32]
    names: list[str]
    texts: NDArray[np.float32]


class ClipTuner:
    """Teaches CLIP that a picture shows a concept.

    A name with prompts is compared with the picture seen with them, every other name with the picture seen without.
    So a prompt has one thing to learn: that its own name wins on its own pictures and loses on others. That is the
    contrastive loss with all its terms that a prompt cannot change computed beforehand.
    """

    pool = "CLIP"

    def __init__(self, encoder: ClipEncoder, profile: Profile, template: str) -> None:
        self._encoder, self._template = encoder, template
        self.settings: ClipTuning = profile.tuning.clip
        self.common: TuningSettings = profile.tuning
        self.module = encoder.checkpoint.model
        self.device = encoder.checkpoint.device
        self._vision = self.module.config.vision_config
        layers = min(self.settings.layers, self._vision.num_hidden_layers)
        self.shape = (layers, self.settings.vectors, int(self._vision.hidden_size))

    def size(self, instance: Instance) -> int:
        """One run of the encoder for each picture."""
        tokens = 1 + (self._vision.image_size // self._vision.patch_size) ** 2 + self.settings.vectors
        return len(instance.examples) * transformer_bytes(self._vision, tokens)

    def features(self, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        """The unprompted embedding ``(d,)`` of each picture."""
        return [each.embedding for each in self._encoder.pictures([example.picture for example in examples])]

    def prepare(self, instances: Sequence[Instance]) -> ClipBatch:
        """Embed patches, texts, and how every picture fits the other names."""
        shown = [each.examples for each in instances]
        most = max(map(len, shown))
        flat = [example for examples in shown for example in examples]
        patches = self._encoder.patches([example.picture for example in flat])
        features = torch.from_numpy(np.stack(self.features(flat))).to(self.device)
        texts = [self._texts([each.concept, *self._rivals(each)]) for each in instances]
        rows = iter(range(len(flat)))
        where = torch.tensor([[next(rows) if i < len(each) else 0 for i in range(most)] for each in shown])
        signs = torch.tensor([[(i < len(each)) * (1.0 if i == 0 else -1.0) for i in range(most)] for each in shown])
        rivals = [
            (self._encoder.scale * features[row] @ text[1:].T).logsumexp(-1)
            for row, text in zip(where, texts, strict=True)
        ]
        return ClipBatch(
            patches[where], signs.to(self.device), torch.stack([text[0] for text in texts]), torch.stack(rivals)
        )

    def judge(self, prompts: torch.Tensor, batch: ClipBatch) -> PromptScores:
        """The concept's own name against all the others, on every picture of each instance."""
        seen = self._encoder.embed(batch.patches, prompts)
        own = self._encoder.scale * torch.einsum("npd,nd->np", seen, batch.texts)
        margins = batch.signs * (own - batch.rivals)
        losses = functional.softplus(-margins) * batch.signs.abs()
        positive, negative = losses[:, 0], losses[:, 1:].sum(1) / batch.signs[:, 1:].abs().sum(1).clamp(min=1)
        enough = margins >= np.log(self.settings.score / (1 - self.settings.score))
        return PromptScores(positive + negative, (enough | (batch.signs == 0)).all(dim=1))

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> ClipSeen:
        """Embed pictures and the names that compete for them, those that they show included."""
        every = list(dict.fromkeys([*names, *(each.concept for each in examples)]))
        pictures = [example.picture for example in examples]
        with torch.no_grad():
            patches = self._encoder.patches(pictures)
        features = np.stack(self.features(examples))
        return ClipSeen(examples, patches, features, every, self._texts(every).cpu().numpy())

    def right(self, seen: ClipSeen, tuned: TunedPrompt | None, concept: str) -> list[bool]:
        """Return whether each picture's own name wins among all."""
        logits = seen.features @ seen.texts.T
        if tuned is not None:
            alike = np.flatnonzero(cosines(seen.features, tuned.feature) >= self.settings.similarity)
            if len(alike):
                column = seen.names.index(concept)
                logits[alike, column] = self._prompted(seen.patches[alike], tuned) @ seen.texts[column]
        best = logits.argmax(axis=1)
        return [seen.names[index] == each.concept for index, each in zip(best, seen.examples, strict=True)]

    def _prompted(self, patches: torch.Tensor, tuned: TunedPrompt) -> NDArray[np.float32]:
        prompt = torch.from_numpy(tuned.prompt).to(self.device)
        with torch.no_grad():
            embeddings: NDArray[np.float32] = self._encoder.embed(patches[None], prompt[None])[0].cpu().numpy()
        return embeddings

    @staticmethod
    def _rivals(instance: Instance) -> list[str]:
        names = dict.fromkeys([*instance.names, *(each.concept for each in instance.negatives)])
        return [name for name in names if name != instance.concept]

    def _texts(self, names: Sequence[str]) -> torch.Tensor:
        texts: list[Any] = self._encoder.texts([self._template.format(name) for name in names])
        return torch.from_numpy(np.stack(texts)).to(self.device)
