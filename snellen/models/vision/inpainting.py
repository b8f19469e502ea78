"""Painting a part of a picture anew, with Stable Diffusion."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.models.injection import word_vectors
from snellen.models.loading import device_and_dtype, reading
from snellen.models.soft_prompts import PromptSource, ensemble, similar_enough
from snellen.profiles import SnellenError
from snellen.profiles.exclusive_loading import quietly
from snellen.profiles.hub_access import only_cached

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from snellen.profiles import Profile, ReplaceModel

Box = tuple[int, int, int, int]
"""``(x0, y0, x1, y1)`` in pixels, ``x1`` and ``y1`` exclusive."""


POOL = "REPLACE"

_FEATURE_CELLS = 4
"""Cells a side of the map that a feature is: where it is bright and where dark, not every detail."""

_ENCODED_PIXELS = 2**20
"""Pixels that the autoencoder is given at once; it needs most of the memory there is."""


@dataclass(frozen=True)
class PaintingCall:
    """One picture, the part to paint, and what to paint.

    Attributes:
        picture: RGB, any size.
        mask: L mode, the picture's size, 255 inside.
        prompt: What to paint.
        vectors: ``(1, width)`` by concept, with which its words are read; None for those that memory holds.
        seed: Another one paints the same otherwise.
    """

    picture: PIL.Image.Image
    mask: PIL.Image.Image
    prompt: str
    vectors: Mapping[str, NDArray[np.float32]] | None = None
    seed: int = 0


@dataclass(frozen=True)
class Canvas:
    """A part of a picture (RGB) and of its mask (L mode, 255 where it is painted), both of the size to paint in."""

    picture: PIL.Image.Image
    mask: PIL.Image.Image


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Canvases as the network sees them, whatever is to be painted.

    Attributes:
        seen: Latents ``(n, channels, height, width)`` of the canvases with the mask left out.
        masks: ``(n, 1, height, width)``: 1 where it is painted.
    """

    seen: torch.Tensor
    masks: torch.Tensor

    def features(self) -> NDArray[np.float32]:
        """A coarse map of each ``(n, d)``, by which surroundings are compared."""
        from torch.nn.functional import adaptive_avg_pool2d

        features: NDArray[np.float32] = adaptive_avg_pool2d(self.seen.float(), _FEATURE_CELLS).flatten(1).cpu().numpy()
        return features


@dataclass(frozen=True, eq=False)
class Words:
    """Texts as the text encoder is given them.

    Attributes:
        tokens: ``(n, length)``.
        places: ``(n, length)`` by concept: 1 on the tokens of its words, 0 elsewhere.
    """

    tokens: torch.Tensor
    places: Mapping[str, torch.Tensor]


class Painter:
    """``StableDiffusionInpaintPipeline`` of ``diffusers`` (Rombach et al. 2022), as CLOVA's REPLACE tool.

    Args:
        profile: Names the checkpoint and the device.
        settings: How it paints.
        prompts: What was learned: a concept's words are read with its vectors, every other text as ever.
    """

    def __init__(self, profile: Profile, settings: ReplaceModel, prompts: PromptSource | None = None) -> None:
        self.settings = settings
        self._prompts, self._tuning = prompts, profile.tuning.replace
        self._where = f"models.replace in {profile.path}"
        source = profile.source("replace")
        self.device, dtype = device_and_dtype(profile)
        with reading(profile, "replace", source), quietly("diffusers"):
            pipeline = getattr(importlib.import_module("diffusers"), settings.class_name)
            options: dict[str, Any] = {"revision": source.revision, "local_files_only": only_cached(source)}
            self.pipeline = pipeline.from_pretrained(source.location, dtype=dtype, **options).to(self.device)
        self.pipeline.set_progress_bar_config(disable=True)
        # The network halves its latent picture between its blocks, and the autoencoder has halved the picture before.
        halvings = len(self.pipeline.unet.config.block_out_channels) - 1
        self._grid = int(self.pipeline.vae_scale_factor) * 2**halvings
        # The scheduler counts its steps, so that two threads cannot paint at the same time.
        self._painting = threading.Lock()

    def __call__(self, calls: Sequence[PaintingCall]) -> list[PIL.Image.Image]:
        """Paint each call on its own: pictures differ in size, and one fills the device's memory."""
        return [self._paint(call) for call in calls]

    def close_up(self, call: PaintingCall) -> Canvas:
        """The square canvas on which the mask's part is painted, the same size for all: many fit into one batch."""
        box = call.mask.getbbox() or (0, 0, *call.picture.size)
        margin = self.settings.margin
        shown = square(box, call.picture.size) if margin is None else window(box, call.picture.size, margin=margin)
        size = canvas((1, 1), longest=self.settings.size, grid=self._grid)
        return _canvas(_Part(shown, call.mask), call.picture.convert("RGB"), size)

    def latents(self, pictures: Sequence[PIL.Image.Image]) -> torch.Tensor:
        """Encode pictures of one size, a multiple of the grid: ``(n, channels, height, width)``, the likeliest ones."""
        return self._encoded(self._pixels(pictures))

    def look(self, canvases: Sequence[Canvas]) -> Surroundings:
        """Encode what is seen around the masks of canvases of one size."""
        import torch

        width, height = canvases[0].mask.size
        masks = self.pipeline.mask_processor.preprocess([each.mask for each in canvases], height=height, width=width)
        pixels = self._pixels([each.picture for each in canvases])
        seen = self._encoded(pixels * (masks < 0.5))  # noqa: PLR2004 - as the pipeline has it
        return Surroundings(seen, torch.nn.functional.interpolate(masks, size=seen.shape[-2:]).to(seen))

    def words(self, texts: Sequence[str], concepts: Iterable[str]) -> Words:
        """Tokenize texts as the pipeline does, and find the words of concepts in them."""
        import torch

        tokenizer = self.pipeline.tokenizer
        encoded = tokenizer(
            list(texts),
            padding="max_length",
            max_length=tokenizer.model_max_length,
            truncation=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        starts, ends = encoded["offset_mapping"].unbind(-1)
        places: dict[str, torch.Tensor] = {}
        for row, text in enumerate(texts):
            for concept, spans in mentions(text, concepts).items():
                place = places.setdefault(concept, torch.zeros(starts.shape, device=self.device))
                for low, high in spans:
                    place[row] += ((starts[row] < high) & (ends[row] > low)).to(place)
        return Words(encoded["input_ids"].to(self.device), places)

    def read(self, tokens: torch.Tensor, added: torch.Tensor) -> torch.Tensor:
        """Encode texts ``(n, length)`` with vectors ``(n, length, width)`` on top of their words' embeddings."""
        with word_vectors(self.pipeline.text_encoder, added):
            read: torch.Tensor = self.pipeline.text_encoder(tokens)[0]
        return read

    def _pixels(self, pictures: Sequence[PIL.Image.Image]) -> torch.Tensor:
        width, height = pictures[0].size
        pixels: torch.Tensor = self.pipeline.image_processor.preprocess(list(pictures), height=height, width=width)
        return pixels

    def _encoded(self, pixels: torch.Tensor) -> torch.Tensor:
        import torch

        vae = self.pipeline.vae
        together = max(1, _ENCODED_PIXELS // (pixels.shape[-1] * pixels.shape[-2]))
        with torch.no_grad():
            parts = [vae.encode(each.to(vae.device, vae.dtype)).latent_dist.mode() for each in pixels.split(together)]
        latents: torch.Tensor = vae.config.scaling_factor * torch.cat(parts)
        return latents

    def _paint(self, call: PaintingCall) -> PIL.Image.Image:
        picture, margin = call.picture.convert("RGB"), self.settings.margin
        if margin is None or call.mask.getextrema() == (255, 255):
            # A whole scene is painted at its own size by a model that paints parts enlarged.
            longest = self.settings.size if margin is None else max(picture.size)
            size = canvas(picture.size, longest=longest, grid=self._grid)
            return self._painted([_Part((0, 0, *picture.size), call.mask)], picture, call, size=size)
        found = [
            _Part(window(part.box, picture.size, margin=margin), part.mask) for part in parts(call.mask.convert("L"))
        ]
        if not found:
            return picture
        size = canvas((1, 1), longest=self.settings.size, grid=self._grid)
        return self._painted(found, picture, call, size=size)

    def _painted(
        self, windows: Sequence[_Part], picture: PIL.Image.Image, call: PaintingCall, *, size: tuple[int, int]
    ) -> PIL.Image.Image:
        """Paint what each window shows of its mask on a canvas of ``size``, in one batch, and put it back."""
        import PIL.Image
        import torch

        canvases = [_canvas(each, picture, size) for each in windows]
        with self._painting:
            output = self.pipeline(
                **self._asked(call, canvases),
                image=[each.picture for each in canvases],
                mask_image=[each.mask for each in canvases],
                width=size[0],
                height=size[1],
                num_inference_steps=self.settings.steps,
                guidance_scale=self.settings.guidance,
                # Generators of their own make the same call paint the same picture, whatever ran before.
                generator=[
                    torch.Generator("cpu").manual_seed(self.settings.seed + call.seed + index)
                    for index in range(len(windows))
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

    def _asked(self, call: PaintingCall, canvases: Sequence[Canvas]) -> dict[str, Any]:
        """The prompt as the pipeline takes it: in words, or read with vectors where it names a learned concept."""
        import torch

        added = self._added(call, canvases)
        texts = [call.prompt] * len(canvases)
        if added is None:
            return {"prompt": texts}
        # Read here rather than by the pipeline: what guidance takes for nothing is read without vectors.
        with torch.no_grad(), word_vectors(self.pipeline.text_encoder, added):
            read, _ = self.pipeline.encode_prompt(texts, self.device, 1, do_classifier_free_guidance=False)
        return {"prompt_embeds": read}

    def _added(self, call: PaintingCall, canvases: Sequence[Canvas]) -> torch.Tensor | None:
        """What is added to the words' embeddings ``(canvases, length, width)``; None where nothing is."""
        import torch

        asked = mentions(call.prompt, self._concepts(call))
        if not asked:
            return None
        vectors = {concept: self._vectors(concept, call, canvases) for concept in asked}
        if all(vector is None for each in vectors.values() for vector in each):
            return None
        words = self.words([call.prompt] * len(canvases), asked)
        width = int(self.pipeline.text_encoder.config.hidden_size)
        added = torch.zeros(*words.tokens.shape, width, device=self.device)
        for concept, place in words.places.items():
            for row, vector in enumerate(vectors[concept]):
                if vector is not None:
                    added[row] += place[row, :, None] * torch.from_numpy(vector).to(self.device)
        return added

    def _concepts(self, call: PaintingCall) -> Iterable[str]:
        if call.vectors is not None:
            return call.vectors
        return frozenset() if self._prompts is None else self._prompts.concepts(POOL)

    def _vectors(
        self, concept: str, call: PaintingCall, canvases: Sequence[Canvas]
    ) -> list[NDArray[np.float32] | None]:
        """The vector of a concept for each canvas; those learned in like surroundings weigh more."""
        if call.vectors is not None:
            return [call.vectors[concept]] * len(canvases)
        return [self._select(concept, feature) for feature in self.look(canvases).features()]

    def _select(self, concept: str, feature: NDArray[np.float32]) -> NDArray[np.float32] | None:
        assert self._prompts is not None  # noqa: S101 - only learned concepts come here
        candidates = self._prompts.candidates(POOL, concept, feature, self._tuning.nearest)
        if candidates is None:
            return None
        return ensemble(similar_enough(candidates, feature, least=self._tuning.similarity), feature)


def mentions(text: str, concepts: Iterable[str]) -> dict[str, list[tuple[int, int]]]:
    """Return the places of each concept's words in a text; the longest name first, and no place belongs to two.

    Returns:
        Spans ``(start, end)`` of characters by concept; only concepts that the text names.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    free = text
    for concept in sorted(concepts, key=lambda each: (-len(each), each)):
        words = r"\s+".join(re.escape(word) for word in concept.split())
        spans = [each.span() for each in re.finditer(rf"(?<!\w){words}(?!\w)", free, re.IGNORECASE)] if words else []
        for start, end in spans:
            free = free[:start] + "\0" * (end - start) + free[end:]
        if spans:
            found[concept] = spans
    return found


def _canvas(part: _Part, picture: PIL.Image.Image, size: tuple[int, int]) -> Canvas:
    import PIL.Image

    return Canvas(
        picture.crop(part.box).resize(size, PIL.Image.Resampling.BICUBIC),
        part.mask.crop(part.box).resize(size, PIL.Image.Resampling.NEAREST),
    )


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
    """Return the window around a box that is painted by itself: the box in its middle, moved into the picture.

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


def square(box: Box, size: tuple[int, int], *, around: float = 0.25) -> Box:
    """A square around a box, with the share ``around`` of its longer side on each side, moved into the picture.

    A box that is longer than the picture's shorter side is cut off at both ends.
    """
    side = min(round(max(box[2] - box[0], box[3] - box[1]) * (1 + 2 * around)), *size)
    x, y = (min(max(round((box[axis] + box[axis + 2] - side) / 2), 0), limit - side) for axis, limit in enumerate(size))
    return x, y, x + side, y + side


def central(size: tuple[int, int], *, around: float = 0.125) -> Box:
    """The middle of a picture, with the share ``around`` of its sides left on each side."""
    width, height = size
    x, y = (min(round(side * around), (side - 1) // 2) for side in size)
    return x, y, width - x, height - y


def canvas(size: tuple[int, int], *, longest: int, grid: int = 64) -> tuple[int, int]:
    """The size to paint in: the longer side is ``longest``, the other keeps the shape, both on the network's grid."""
    scale = longest / max(size)
    width, height = (max(grid, round(side * scale / grid) * grid) for side in size)
    return width, height
