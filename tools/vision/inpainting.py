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

Box = tuple[int, int, int, int]
"""``(x0, y0, x1, y1)`` in pixels, ``x1`` and ``y1`` exclusive."""


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
        # The network halves its latent picture between its blocks, and the autoencoder has halved the picture before.
        halvings = len(self._pipeline.unet.config.block_out_channels) - 1
        self._grid = int(self._pipeline.vae_scale_factor) * 2**halvings

    def __call__(self, calls: Sequence[PaintingCall]) -> list[PIL.Image.Image]:
        """Paint each call on its own: pictures differ in size, and one fills the device's memory."""
        return [self._paint(call) for call in calls]

    def _paint(self, call: PaintingCall) -> PIL.Image.Image:
        picture, margin = call.picture.convert("RGB"), self._settings.margin
        if margin is None or call.mask.getextrema() == (255, 255):
            # A whole scene is painted at its own size by a model that paints parts enlarged.
            longest = self._settings.size if margin is None else max(picture.size)
            size = canvas(picture.size, longest=longest, grid=self._grid)
            return self._painted([_Part((0, 0, *picture.size), call.mask)], picture, call.prompt, size=size)
        found = [
            _Part(window(part.box, picture.size, margin=margin), part.mask) for part in parts(call.mask.convert("L"))
        ]
        if not found:
            return picture
        size = canvas((1, 1), longest=self._settings.size, grid=self._grid)
        return self._painted(found, picture, call.prompt, size=size)

    def _painted(
        self, windows: Sequence[_Part], picture: PIL.Image.Image, prompt: str, *, size: tuple[int, int]
    ) -> PIL.Image.Image:
        """Paint what each window shows of its mask on a canvas of ``size``, in one batch, and put it back."""
        import PIL.Image
        import torch

        crops = [picture.crop(each.box).resize(size, PIL.Image.Resampling.BICUBIC) for each in windows]
        masks = [each.mask.crop(each.box).resize(size, PIL.Image.Resampling.NEAREST) for each in windows]
        output = self._pipeline(
            prompt=[prompt] * len(windows),
            image=crops,
            mask_image=masks,
            width=size[0],
            height=size[1],
            num_inference_steps=self._settings.steps,
            guidance_scale=self._settings.guidance,
            # Generators of their own make the same call paint the same picture, whatever ran before.
            generator=[
                torch.Generator("cpu").manual_seed(self._settings.seed + index) for index in range(len(windows))
            ],
        )
        if any(output.nsfw_content_detected or ()):
            msg = f"The safety checker of {self._where} refused what was painted: change the prompt or the picture."
            raise SnellenError(msg)
        result = picture.copy()
        for part, painted in zip(windows, output.images, strict=True):
            x0, y0, x1, y1 = part.box
            fitting = painted.resize((x1 - x0, y1 - y0), PIL.Image.Resampling.BICUBIC)
            result.paste(fitting, (x0, y0), part.mask.crop(part.box))
        return result


@dataclass(frozen=True)
class _Part:
    """A box, and the mask (L mode, the whole picture's size) of what is to be painted in it."""

    box: Box
    mask: PIL.Image.Image


def parts(mask: PIL.Image.Image) -> list[_Part]:
    """The connected parts of a mask (L mode), each with its box, from the top down."""
    import cv2
    import numpy as np
    import PIL.Image

    values = np.asarray(mask)
    count, numbers = cv2.connectedComponents((values > 0).astype(np.uint8))
    alone = [PIL.Image.fromarray(np.where(numbers == number, values, 0).astype(np.uint8)) for number in range(1, count)]
    return [_Part(box, part) for part in alone if (box := part.getbbox()) is not None]


def window(box: Box, size: tuple[int, int], *, margin: float) -> Box:
    """What is shown around a box when it is painted by itself: the box in its middle, moved into the picture.

    Each side has the share ``margin`` of the box's added at both ends, so that the box fills the same part of the
    canvas whatever its shape; but no side is less than half of the other, so that nothing is stretched beyond that.
    """
    wanted = [(box[2] - box[0]) * (1 + 2 * margin), (box[3] - box[1]) * (1 + 2 * margin)]
    lows, highs = [], []
    for axis, limit in enumerate(size):
        side = min(max(1, round(max(wanted[axis], max(wanted) / 2))), limit)
        low = round((box[axis] + box[axis + 2] - side) / 2)
        low = min(max(low, 0), limit - side)
        lows.append(low)
        highs.append(low + side)
    return lows[0], lows[1], highs[0], highs[1]


def canvas(size: tuple[int, int], *, longest: int, grid: int = 64) -> tuple[int, int]:
    """The size to paint in: the longer side is ``longest``, the other keeps the shape, both on the network's grid."""
    scale = longest / max(size)
    width, height = (max(grid, round(side * scale / grid) * grid) for side in size)
    return width, height
