"""Pictures from words, and other pictures from pictures and words, with any text-to-image pipeline of ``diffusers``."""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.models.loading import device_and_dtype, reading
from snellen.models.vision.inpainting import canvas
from snellen.profiles import SnellenError
from snellen.profiles.exclusive_loading import quietly
from snellen.profiles.hub_access import only_cached

if TYPE_CHECKING:
    import PIL.Image

    from snellen.profiles import Profile, TextToImageModel


@dataclass(frozen=True)
class ImageCall:
    """A picture that is wanted.

    Attributes:
        prompt: What it shows.
        size: Its width and height in pixels.
        seed: Another one gives another picture.
        picture: RGB, the picture that is changed; None makes one from nothing.
    """

    prompt: str
    size: tuple[int, int]
    seed: int = 0
    picture: PIL.Image.Image | None = None


class TextToImage:
    """``AutoPipelineForText2Image``, and with the same weights ``AutoPipelineForImage2Image`` (Meng et al. 2022).

    Args:
        profile: Names the checkpoint and the device.
        settings: How pictures are made.
    """

    def __init__(self, profile: Profile, settings: TextToImageModel) -> None:
        self.settings = settings
        self._where = f"models.text_to_image in {profile.path}"
        source = profile.source("text_to_image")
        device, dtype = device_and_dtype(profile)
        with reading(profile, "text_to_image", source), quietly(), quietly("diffusers"):
            diffusers = importlib.import_module("diffusers")
            options: dict[str, Any] = {"revision": source.revision, "local_files_only": only_cached(source)}
            if settings.variant:
                options["variant"] = settings.variant
            made = getattr(diffusers, settings.class_name).from_pretrained(source.location, dtype=dtype, **options)
            self.pipeline = made.to(device)
            self.editing = diffusers.AutoPipelineForImage2Image.from_pipe(self.pipeline)
        for pipeline in (self.pipeline, self.editing):
            pipeline.set_progress_bar_config(disable=True)
        # What denoises halves its latent picture between its blocks, and the autoencoder has halved the picture before.
        blocks = getattr(getattr(self.pipeline, "unet", None), "config", {}).get("block_out_channels", (0,))
        # Pipelines refuse sides that eight does not divide, whatever their networks could.
        self._grid = math.lcm(8, int(self.pipeline.vae_scale_factor) * 2 ** (len(blocks) - 1))
        # The scheduler counts its steps, so that two threads cannot make pictures at the same time.
        self._making = threading.Lock()

    def __call__(self, calls: Sequence[ImageCall]) -> list[PIL.Image.Image]:
        """Make pictures, those of one size together in batches; RGB, of the sizes that were asked for."""
        made: dict[int, PIL.Image.Image] = {}
        kinds: dict[tuple[tuple[int, int], bool], list[int]] = {}
        for place, call in enumerate(calls):
            kinds.setdefault((self._canvas(call), call.picture is not None), []).append(place)
        for (size, _), places in kinds.items():
            for start in range(0, len(places), self.settings.batch):
                together = places[start : start + self.settings.batch]
                pictures = self._batch([calls[place] for place in together], size)
                made.update(zip(together, pictures, strict=True))
        return [_fitting(made[place], call.size) for place, call in enumerate(calls)]

    def _canvas(self, call: ImageCall) -> tuple[int, int]:
        """Return the size to paint in: the network's grid, the longer side as the profile says."""
        return canvas(call.size, longest=self.settings.size, grid=self._grid)

    def _batch(self, calls: Sequence[ImageCall], size: tuple[int, int]) -> list[PIL.Image.Image]:
        import PIL.Image
        import torch

        settings = self.settings
        asked: dict[str, Any] = {
            "prompt": [call.prompt for call in calls],
            "guidance_scale": settings.guidance,
            # Generators of their own, so that a call gives the same picture whoever is in the batch.
            "generator": [torch.Generator("cpu").manual_seed(settings.seed + call.seed) for call in calls],
        }
        given = [call.picture for call in calls if call.picture is not None]
        with self._making:
            if given:
                canvases = [each.convert("RGB").resize(size, PIL.Image.Resampling.BICUBIC) for each in given]
                output = self.editing(
                    **asked, image=canvases, strength=settings.strength, num_inference_steps=settings.edit_steps
                )
            else:
                output = self.pipeline(**asked, width=size[0], height=size[1], num_inference_steps=settings.steps)
        if any(getattr(output, "nsfw_content_detected", None) or ()):
            msg = f"The safety checker of {self._where} refused what was made: change the prompt."
            raise SnellenError(msg)
        pictures: list[PIL.Image.Image] = list(output.images)
        return pictures


def _fitting(picture: PIL.Image.Image, size: tuple[int, int]) -> PIL.Image.Image:
    import PIL.Image

    whole = picture.convert("RGB")
    return whole if whole.size == size else whole.resize(size, PIL.Image.Resampling.BICUBIC)
