"""The source of pictures that a folder or a labelled data set has, found by name or by what they look like."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.models.vision.name_expansion import singular
from snellen.tools.samples.photo_studio import PhotoStudio
from snellen.tools.samples.select import Selected
from snellen.tools.transforms import ANY

if TYPE_CHECKING:
    import PIL.Image

    from snellen.collection import LabelledPictures
    from snellen.tools.vision import Models

_LOOKED_AT: Final = 256
"""Pictures that are compared with words, at most: as many of each class."""
_ALIKE: Final = 16
"""Of these, the most similar ones are taken for what was asked for: so many at most, and at most a quarter."""
_THUMBNAIL: Final = 336
"""Pixels of the longer side with which they are compared: what CLIP sees at most."""


@dataclass(frozen=True)
class SimilarPictures:
    """Finds pictures by words that are no name of a class, with the profile's CLIP.

    Attributes:
        pictures: The pictures.
        models: Of the profile.
    """

    pictures: LabelledPictures
    models: Models
    _ranked: dict[str, list[tuple[str, int]]] = field(default_factory=dict, compare=False)

    def most_like(self, words: str) -> list[tuple[str, int]]:
        """Return classes with the places of pictures in them, the most similar to the words first."""
        if words not in self._ranked:
            places, scores = self._places(), []
            for start in range(0, len(places), 32):
                shown = [self._thumbnail(*place) for place in places[start : start + 32]]
                scores += [float(row[0]) for row in self.models.similarity(shown, [f"a photo of {words}"])]
            order = sorted(range(len(places)), key=lambda place: -scores[place])
            self._ranked[words] = [places[place] for place in order[: max(min(_ALIKE, len(order) // 4), 1)]]
        return self._ranked[words]

    def _places(self) -> list[tuple[str, int]]:
        classes = self.pictures.concepts()
        each = max(_LOOKED_AT // max(len(classes), 1), 1)
        return [
            (name, place)
            for name in classes[:_LOOKED_AT]
            for place in range(len(self.pictures.found(name, each)))
        ]  # fmt: skip

    def _thumbnail(self, name: str, place: int) -> PIL.Image.Image:
        picture = self.pictures.found(name, place + 1)[place].picture.copy()
        picture.thumbnail((_THUMBNAIL, _THUMBNAIL))
        return picture


class FolderSource:
    """Retrieves labelled pictures: by the name of a class or of a group, or else by similarity.

    Args:
        pictures: The pictures.
        groups: For the name of a group its classes; nothing for what is no group.
        models: Of the profile, to cut things out and to change pictures; None does without.
        similar: Finds pictures for other words; what it finds is not certain. None refuses them.
    """

    def __init__(
        self,
        pictures: LabelledPictures,
        *,
        groups: Callable[[str], list[str]] = lambda _: [],
        models: Models | None = None,
        similar: SimilarPictures | None = None,
    ) -> None:
        self._pictures, self._groups, self._models, self._similar = pictures, groups, models, similar

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Choose a picture; see `SampleSource`. Which type a picture has is not known: all are taken for photos."""
        if image_type != "photo":
            msg = f"{self._pictures} does not say which pictures are of the type {image_type[:80]!r}."
            raise BadInput(msg)
        number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
        classes = self._classes(class_name)
        if not classes and self._similar is not None:
            return self._alike(class_name, number)
        if not classes:
            msg = f"{self._pictures} has no pictures of {class_name[:80]!r}: there are {self._known()}."
            raise BadInput(msg)
        chosen = classes[number % len(classes)]
        pictures = self._pictures.found(chosen, 1, seed=number % 2**32)
        if not pictures:
            msg = f"{self._pictures} has no pictures of {chosen!r}."
            raise BadInput(msg)
        return self._selected(pictures[0].picture, chosen, pictures[0].origin, number)

    def _alike(self, words: str, number: int) -> Selected:
        """Choose among the pictures most similar to words; whether it shows them is not certain."""
        found = self._similar.most_like(words) if self._similar is not None else []
        if not found:
            msg = f"{self._pictures} has no pictures that {words[:80]!r} could be found among."
            raise BadInput(msg)
        name, place = found[number % len(found)]
        one = self._pictures.found(name, place + 1)[place]
        return self._selected(one.picture, words, one.origin, number, certain=False)

    def _selected(
        self, picture: PIL.Image.Image, class_name: str, origin: str, number: int, *, certain: bool = True
    ) -> Selected:
        studio = PhotoStudio(
            picture,
            class_name,
            lambda name, seed: self.select(name, "photo", seed),
            self._models,
            outlined=lambda name, seed: self._pictures.cut_out(name, seed=seed),
            number=number % 2**31,
        )
        return Selected(picture, class_name, studio, Path(origin).name, certain=certain)

    def _classes(self, class_name: str) -> list[str]:
        known, word = self._pictures.concepts(), " ".join(class_name.casefold().split())
        if word == ANY:
            return known
        bare = word.removeprefix("a ").removeprefix("an ").removeprefix("the ")
        for name in (word, bare, singular(bare)):
            if name in known:
                return [name]
        return [name for name in self._groups(bare) if name in known]

    def _known(self) -> str:
        known = self._pictures.concepts()
        return ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")  # noqa: PLR2004
