"""CLIP: features of pictures and texts, and how well they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.vision.loading import load_checkpoint

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from profiles import Profile


@dataclass(frozen=True)
class PictureFeatures:
    """What CLIP sees in a picture, all float32.

    Attributes:
        embedding: ``(d,)`` of unit length, comparable with texts.
        appearance: ``(2 h,)``, the pooled output beside the mean of the patches' last hidden states: less abstract,
            and so a better witness of pictures unlike those of the training.
    """

    embedding: NDArray[np.float32]
    appearance: NDArray[np.float32]


class Encoder:
    """``CLIPModel`` (Radford et al. 2021)."""

    def __init__(self, profile: Profile) -> None:
        self._checkpoint = load_checkpoint(profile, "clip")

    @property
    def scale(self) -> float:
        """The learned factor between cosine similarities and logits."""
        return float(self._checkpoint.model.logit_scale.detach().float().exp())

    def pictures(self, pictures: Sequence[PIL.Image.Image]) -> list[PictureFeatures]:
        """Encode pictures in one forward pass."""
        import torch

        model = self._checkpoint.model
        with self._checkpoint.inference():
            seen = model.vision_model(pixel_values=self._checkpoint.pixels(list(pictures)))
            embeddings = _unit(model.visual_projection(seen.pooler_output))
            patches = seen.last_hidden_state[:, 1:].float().mean(dim=1)
            appearance = torch.cat([seen.pooler_output.float(), patches], dim=-1)
        return [
            PictureFeatures(embedding, look)
            for embedding, look in zip(embeddings, appearance.cpu().numpy(), strict=True)
        ]

    def texts(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Encode texts in one forward pass: ``(d,)`` of unit length each."""
        with self._checkpoint.inference():
            output = self._checkpoint.model.get_text_features(**self._checkpoint.tokens(list(texts)))
        return list(_unit(output.pooler_output))


def _unit(features: torch.Tensor) -> NDArray[np.float32]:
    features = features.float()
    normalised: NDArray[np.float32] = (features / features.norm(dim=-1, keepdim=True)).cpu().numpy()
    return normalised
