"""CLIP: features of pictures and texts, and how well they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.models.injection import prompted_class_tokens
from snellen.models.loading import Checkpoint, load_checkpoint

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from snellen.profiles import Profile


@dataclass(frozen=True)
class PictureFeatures:
    """Features of a picture by CLIP, all float32.

    Attributes:
        embedding: ``(d,)`` of unit length, comparable with texts.
        appearance: ``(2 h,)``, the pooled output beside the mean of the patches' last hidden states: less abstract,
            and so a better witness of pictures unlike those of the training.
    """

    embedding: NDArray[np.float32]
    appearance: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.embedding.nbytes + self.appearance.nbytes


@dataclass(frozen=True)
class PromptedPicture:
    """A picture, and the deep prompts ``(layers, vectors, width)`` with which it is seen."""

    picture: PIL.Image.Image
    prompt: NDArray[np.float32]


class ClipEncoder:
    """``CLIPModel`` (Radford et al. 2021)."""

    def __init__(self, profile: Profile) -> None:
        self.checkpoint: Checkpoint = load_checkpoint(profile, "clip")

    @property
    def scale(self) -> float:
        """The learned factor between cosine similarities and logits."""
        return float(self.checkpoint.model.logit_scale.detach().float().exp())

    def pictures(self, pictures: Sequence[PIL.Image.Image]) -> list[PictureFeatures]:
        """Encode pictures; those that it saw lately are not encoded again."""
        return self.checkpoint.seen(pictures, self.encode)

    def encode(self, pictures: Sequence[PIL.Image.Image]) -> list[PictureFeatures]:
        """Encode pictures in one forward pass."""
        import torch

        model = self.checkpoint.model
        with self.checkpoint.inference():
            seen = model.vision_model(pixel_values=self.checkpoint.pixels(list(pictures)))
            embeddings = _unit(model.visual_projection(seen.pooler_output))
            patches = seen.last_hidden_state[:, 1:].float().mean(dim=1)
            appearance = torch.cat([seen.pooler_output.float(), patches], dim=-1)
        return [
            PictureFeatures(embedding, look)
            for embedding, look in zip(embeddings.cpu().numpy(), appearance.cpu().numpy(), strict=True)
        ]

    def texts(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Encode texts in one forward pass: ``(d,)`` of unit length each."""
        with self.checkpoint.inference():
            output = self.checkpoint.model.get_text_features(**self.checkpoint.tokens(list(texts)))
            return list(_unit(output.pooler_output).cpu().numpy())

    def prompted(self, calls: Sequence[PromptedPicture]) -> list[NDArray[np.float32]]:
        """Embeddings ``(d,)`` of unit length of pictures seen with prompts, in one forward pass."""
        import numpy as np
        import torch

        with self.checkpoint.inference():
            patches = self.patches([call.picture for call in calls])
            prompts = torch.from_numpy(np.stack([call.prompt for call in calls])).to(self.checkpoint.device)
            return list(self.embed(patches[:, None], prompts)[:, 0].cpu().numpy())

    def patches(self, pictures: Sequence[PIL.Image.Image]) -> torch.Tensor:
        """Return the input of the encoder's first layer ``(n, 1 + patches, width)``: no prompt changes it."""
        vision = self.checkpoint.model.vision_model
        patches: torch.Tensor = vision.pre_layrnorm(vision.embeddings(self.checkpoint.pixels(list(pictures))))
        return patches

    def embed(self, patches: torch.Tensor, prompts: torch.Tensor) -> torch.Tensor:
        """Embed pictures that are seen with prompts.

        Without ``inference_mode`` around it, gradients flow to the prompts.

        Args:
            patches: ``(instances, pictures, 1 + patches, width)``.
            prompts: ``(instances, layers, vectors, width)``, one for all pictures of an instance.

        Returns:
            ``(instances, pictures, d)`` of unit length, float32.
        """
        model = self.checkpoint.model
        tokens = prompted_class_tokens(model.vision_model, patches, prompts)
        return _unit(model.visual_projection(model.vision_model.post_layernorm(tokens)))


def _unit(features: torch.Tensor) -> torch.Tensor:
    features = features.float()
    return features / features.norm(dim=-1, keepdim=True)
