"""Painting a part of a picture anew, with Stable Diffusion."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from profiles import SnellenError
from tools.vision.loading import device_and_dtype, reading

if TYPE_CHECKING:
    import PIL.Image

    from profiles import Profile, ReplaceModel

_GRID = 64
"""The network halves its latent picture, an eighth of the pixels, three times."""


@dataclass(frozen=True)
class PaintingCall:
    """One picture, the part to paint (L mode, the picture's size, 255 inside), and what to paint."""

    picture: PIL.Image.Image
    mask: PIL.Image.Image
    prompt: str


class Painter:
    """``StableDiffusionInpaintPipeline`` of ``diffusers`` (Rombach et al. 2022), as CLOVA's REPLACE tool."""

    def __init__(self, profile: Profile, settings: ReplaceModel) -> None:
        self._settings = settings
        self._where = f"models.replace in {profile.path}"
        source = profile.source("replace")
        self._device, dtype = device_and_dtype(profile)
        with reading(profile, "replace", source):
            pipeline = getattr(importlib.import_module("diffusers"), settings.class_name)
            options: dict[str, Any] = {"revision": source.revision, "local_files_only": source.local}
            self._pipeline = pipeline.from_pretrained(source.location, dtype=dtype, **options).to(self._device)
        self._pipeline.set_progress_bar_config(disable=True)

    def __call__(self, calls: Sequence[PaintingCall]) -> list[PIL.Image.Image]:
        """Paint each call on its own: pictures differ in size, and one fills the device's memory."""
        return [self._paint(call) for call in calls]

    def _paint(self, call: PaintingCall) -> PIL.Image.Image:
        import PIL.Image
        import torch

        picture = call.picture.convert("RGB")
        size = canvas(picture.size, longest=self._settings.size)
        output = self._pipeline(
            prompt=call.prompt,
            image=picture.resize(size, PIL.Image.Resampling.BICUBIC),
            mask_image=call.mask.resize(size, PIL.Image.Resampling.NEAREST),
            width=size[0],
            height=size[1],
            num_inference_steps=self._settings.steps,
            guidance_scale=self._settings.guidance,
            # A generator of its own makes the same call paint the same picture, whatever ran before.
            generator=torch.Generator("cpu").manual_seed(self._settings.seed),
        )
        if any(output.nsfw_content_detected or ()):
            msg = f"The safety checker of {self._where} refused what was painted: change the prompt or the picture."
            raise SnellenError(msg)
        painted = output.images[0].resize(picture.size, PIL.Image.Resampling.BICUBIC)
        return PIL.Image.composite(painted, picture, call.mask)


def canvas(size: tuple[int, int], *, longest: int) -> tuple[int, int]:
    """The size to paint in: the longer side is ``longest``, the other keeps the shape, both on the network's grid."""
    scale = longest / max(size)
    width, height = (max(_GRID, round(side * scale / _GRID) * _GRID) for side in size)
    return width, height
