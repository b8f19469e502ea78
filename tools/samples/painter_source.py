"""The source of pictures that a diffusion model paints from words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from snellen.tools.samples.metaclasses import METACLASSES
from snellen.tools.samples.photo_studio import PhotoStudio, prompt_for
from snellen.tools.samples.select import Selected
from snellen.tools.transforms import ANY

if TYPE_CHECKING:
    import PIL.Image

    from snellen.tools.vision import Models


class PainterSource:
    """Paints pictures from words, with one of the profile's diffusion pipelines.

    Args:
        models: Of the profile; with `imagine`.
        size: Pixels of a side.
        groups: For the name of a group its singular and its classes.
        by: The model that paints.
    """

    def __init__(
        self,
        models: Models,
        *,
        size: int,
        groups: Mapping[str, tuple[str, tuple[str, ...]]] = METACLASSES,
        by: Literal["replace", "text_to_image"] = "replace",
    ) -> None:
        self._models, self._size, self._groups = models, size, groups
        self._by: Literal["replace", "text_to_image"] = by
        self._classes = sorted({name for _, members in groups.values() for name in members})
        self._called = {called: name for name, (one, _) in groups.items() for called in (name, one)}

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Paint a picture; see `SampleSource`. Whether it shows what it should is not certain."""
        chosen, prompt, number = self._wanted(class_name, image_type, seed)
        picture = self._painted([prompt], [number])[0]
        studio = PhotoStudio(
            picture,
            chosen,
            lambda name, seed: self.select(name, "photo", seed),
            self._models,
            repaint=lambda words: self._painted([words], [number])[0],
            number=number,
        )
        return Selected(picture, chosen, studio, "painted", certain=False)

    def prepare(self, wanted: Sequence[tuple[str, str, str]]) -> None:
        """Paint pictures that will be selected, by the arguments of `select`, together rather than one by one."""
        calls = [self._wanted(*one) for one in wanted]
        self._painted([prompt for _, prompt, _ in calls], [number for _, _, number in calls])

    def _wanted(self, class_name: str, image_type: str, seed: str) -> tuple[str, str, int]:
        """Return a class, the words that it is painted after, and the number of the painting."""
        name = " ".join(class_name.casefold().split())
        bare = name.removeprefix("a ").removeprefix("an ").removeprefix("the ")
        among = self._groups[self._called[bare]][1] if bare in self._called else ()
        among = tuple(self._classes) if bare == ANY else among
        number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6], "big")
        chosen = among[number % len(among)] if among else bare
        return chosen, prompt_for(chosen, image_type), number

    def _painted(self, prompts: Sequence[str], numbers: Sequence[int]) -> list[PIL.Image.Image]:
        size = (self._size, self._size)
        return self._models.imagine(prompts, size=size, seeds=numbers, by=self._by)
