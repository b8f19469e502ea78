"""Originals that pairs are made of: pictures of a world, or of a folder of one's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.collection.class_folders import is_picture
from snellen.datasets.pairs.building import Original
from snellen.errors import BadInput

if TYPE_CHECKING:
    import PIL.Image

    from snellen.collection import OpenPicture
    from snellen.profiles.world import World

_RELATIONS: Final = ("to the left of", "to the right of", "above", "below")
_TRIES: Final = 50
"""Scenes that are drawn until two different things in one can change places: nearly all can."""


class WorldOriginals:
    """Pictures of a world: single things, or two of which one stands beside or above the other.

    Args:
        world: Its module, with `portrait` (`Profile.world()`).
        places: Whether two things are shown, so that they can change places.
    """

    def __init__(self, world: World, *, places: bool = False) -> None:
        self._world, self._places = world, places

    @property
    def title(self) -> str:
        """Their title."""
        return f"{self._world.__name__}{', two things in places' if self._places else ''}"

    def original(self, number: int, seed: int) -> Original:
        """Draw the so manieth; see `snellen.datasets.pairs.Originals`."""
        name = f"{seed}-{number}"
        if not self._places:
            drawn = self._world.portrait("random", f"pairs/{seed}/{number}")
            return Original(name, drawn.picture(), drawn.class_name)
        relation = _RELATIONS[number % len(_RELATIONS)]
        for turn in range(_TRIES):
            drawn = self._world.portrait(f"random {relation} random", f"pairs/{seed}/{number}/{turn}")
            one, _, other = drawn.class_name.partition(f" {relation} ")
            if one == other:
                continue
            try:
                moved = drawn.exchanged()
            except BadInput:
                continue
            return Original(name, drawn.picture(), drawn.class_name, moved.picture(), moved.class_name)
        msg = f"Nothing of {_TRIES} scenes with two things had room for them to change places."
        raise BadInput(msg)


class PlacedOriginals:
    """Pictures of two things in places, and of the same with their places exchanged, as What's Up has them.

    Args:
        folder: With pictures, and a JSON list that gives the `image_path` and the `caption_options` of each, the right
            one first; or a JSON object a line with `image_file` and `description`.
        open_picture: Reads a foreign picture safely; those that it cannot read are passed over.

    Raises:
        BadInput: Nothing there is said to show two things in places, or nothing shows them the other way round.
    """

    def __init__(self, folder: Path, *, open_picture: OpenPicture) -> None:
        self._folder, self._open = folder, open_picture
        by_description = {description: place for place, description in self._described()}
        self._pairs = [
            (place, words, by_description[other], other)
            for words, place in by_description.items()
            if (other := _exchanged(words)) in by_description
        ]
        if not self._pairs:
            msg = (
                f"Nothing in {folder} is described as one thing beside another, and as the same the other way round: "
                "give pictures of one folder (--kind pictures), or captions such as 'A mug to the left of a plate'."
            )
            raise BadInput(msg)

    @classmethod
    def fits(cls, folder: Path) -> bool:
        """Tell whether a folder says what its pictures show."""
        return any(folder.glob("*.json")) or any(folder.glob("*.jsonl"))

    @property
    def title(self) -> str:
        """Their title: the folder's own name, as benchmarks travel."""
        return f"things in places of {self._folder.name}"

    def original(self, number: int, seed: int) -> Original:
        """Return the so manieth; see `snellen.datasets.pairs.Originals`."""
        order = np.random.default_rng(seed).permutation(len(self._pairs))
        if number >= len(order):
            msg = (
                f"{self._folder} has {len(order)} pictures of things in places that can be exchanged; more are needed."
            )
            raise BadInput(msg)
        place, words, other, exchanged = self._pairs[order[number]]
        pictures = [self._open((self._folder / one).read_bytes(), one) for one in (place, other)]
        return Original(place, pictures[0], words, pictures[1], exchanged)

    def _described(self) -> Iterator[tuple[str, str]]:
        """Yield the files with their captions, as far as they are of the wanted form."""
        rows: list[Any] = []
        for file in sorted([*self._folder.glob("*.json"), *self._folder.glob("*.jsonl")]):
            text = file.read_text("utf-8", errors="replace")
            for part in [text] if file.suffix == ".json" else text.splitlines():
                try:
                    read = json.loads(part)
                except ValueError:
                    continue
                rows += read if isinstance(read, list) else [read]
        for row in rows:
            if not isinstance(row, Mapping):
                continue
            options = row.get("caption_options")
            caption = options[0] if isinstance(options, list) and options else row.get("description")
            place = str(row.get("image_path") or row.get("image_file") or "")
            inside = place and not Path(place).is_absolute() and ".." not in Path(place).parts
            if isinstance(caption, str) and inside and (self._folder / place).is_file() and _exchanged(_tidy(caption)):
                yield place, _tidy(caption)


def _tidy(words: str) -> str:
    return " ".join(words.lower().rstrip(".").split())


def _exchanged(words: str) -> str:
    """Return what is said when two things have changed places; nothing where two are not spoken of."""
    match = _SIDES.fullmatch(words)
    return "" if match is None else f"{match['one']} {_OTHER_SIDE[match['side']]} {match['other']}"


_OTHER_SIDE: Final = {
    "to the left of": "to the right of", "to the right of": "to the left of", "left of": "right of",
    "right of": "left of", "above": "below", "below": "above", "on": "under", "under": "on", "in front of": "behind",
    "behind": "in front of",
}  # fmt: skip
_SIDES: Final = re.compile(rf"(?P<one>.+?) (?P<side>{'|'.join(_OTHER_SIDE)}) (?P<other>.+)")


class FolderOriginals:
    """Pictures of a folder and its folders, in an order that the seed chooses.

    Args:
        folder: The folder.
        open_picture: Reads a foreign picture safely; those that it cannot read are passed over.
    """

    def __init__(self, folder: Path, *, open_picture: OpenPicture) -> None:
        if not folder.is_dir():
            msg = f"There is no folder {folder}: name one with pictures."
            raise BadInput(msg)
        self._folder, self._open = folder, open_picture
        self._files = sorted(filter(is_picture, folder.rglob("*")))
        self._orders: dict[int, tuple[list[Path], Iterator[Path]]] = {}

    @property
    def title(self) -> str:
        """Their title: the folder's own name, as benchmarks travel."""
        return f"pictures of {self._folder.name}"

    def original(self, number: int, seed: int) -> Original:
        """Return the so manieth that can be read; see `snellen.datasets.pairs.Originals`."""
        readable, left = self._orders.setdefault(seed, ([], iter(self._shuffled(seed))))
        while len(readable) <= number:
            file = next(left, None)
            if file is None:
                msg = f"{self._folder} has {len(readable)} pictures that can be read, and more are needed."
                raise BadInput(msg)
            if self._opened(file) is not None:
                readable.append(file)
        picture = self._opened(readable[number])
        name = str(readable[number].relative_to(self._folder))
        if picture is None:
            msg = f"The picture {name} in {self._folder} could be read before, and cannot now."
            raise BadInput(msg)
        return Original(name, picture)

    def _shuffled(self, seed: int) -> list[Path]:
        return [self._files[place] for place in np.random.default_rng(seed).permutation(len(self._files))]

    def _opened(self, file: Path) -> PIL.Image.Image | None:
        try:
            return self._open(file.read_bytes(), file.name)
        except (BadInput, OSError):
            return None
