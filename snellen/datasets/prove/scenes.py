"""Sources of pictures with all that is known of them: a world, or a data set in DOCCI's form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from snellen.errors import BadInput
from snellen.scoring.scene_graph import Fact, read_tuples

if TYPE_CHECKING:
    import PIL.Image

    from snellen.collection import OpenPicture
    from snellen.profiles.world import World

DESCRIPTIONS: Final = ("docci_descriptions.jsonlines", "descriptions.jsonlines", "descriptions.jsonl")
"""The files in which a data set says what its pictures show."""
PLACES: Final = ("", "images", "pictures")
"""The folders of a data set in which its pictures may lie."""
_FEW: Final = 3
"""Tuples below which hardly anything can be asked about a picture."""
_SHOWN: Final = 3
"""Unreadable tuples of a row that are told."""


@dataclass(frozen=True)
class Pictured:
    """A picture with what is known of it.

    Attributes:
        name: Unique in its source.
        picture: RGB.
        caption: What it shows, in words.
        facts: The same as tuples; none where they are to be extracted from the caption.
        unreadable: How many more tuples there were that could not be read.
    """

    name: str
    picture: PIL.Image.Image
    caption: str
    facts: Sequence[Fact]
    unreadable: int = 0


class Scenes(Protocol):
    """A source of pictures of which much is known."""

    @property
    def title(self) -> str:
        """Their title, for people."""
        ...

    @property
    def mark(self) -> str:
        """A mark that tells its contents from others, so that two sources are never mixed."""
        ...

    @property
    def left_out(self) -> Sequence[str]:
        """Rows that cannot be used, in sentences that name them."""
        ...

    def scene(self, number: int, seed: int) -> Pictured:
        """Return the so manieth scene; the same arguments give the same one.

        Raises:
            BadInput: There are not so many.
        """
        ...


class WorldScenes:
    """Scenes of a world, of which everything is known.

    Args:
        world: Its module, with `described` (`Profile.world()`).
    """

    left_out: Sequence[str] = ()
    mark: str = ""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def title(self) -> str:
        """Their title."""
        return str(self._world.__name__)

    def scene(self, number: int, seed: int) -> Pictured:
        """Draw the so manieth; see `Scenes`."""
        made = self._world.described(number, seed)
        read = read_tuples(made.tuples)
        return Pictured(f"{seed}-{number}", made.picture(), made.caption, read.facts, len(read.unreadable))


class FolderScenes:
    """Pictures with captions in a folder, in DOCCI's form: one JSON object a line, with `image_file` and `description`.

    ``tuples`` may hold the scene graph, in the form of `snellen.scoring.scene_graph.parse_tuple`; without one that can
    be read, the caption is read. What is no tuple is left out and told.

    Args:
        folder: The folder.
        open_picture: Reads a foreign picture safely.

    Raises:
        BadInput: There is no such folder, or nothing in it says what its pictures show.
    """

    def __init__(self, folder: Path, *, open_picture: OpenPicture) -> None:
        if not folder.is_dir():
            msg = f"There is no folder {folder}: name one with pictures and their descriptions."
            raise BadInput(msg)
        file = next((folder / name for name in DESCRIPTIONS if (folder / name).is_file()), None)
        if file is None:
            msg = (
                f"{folder} says nothing about its pictures: put a file {DESCRIPTIONS[2]} into it, with a JSON object "
                'such as {"image_file": "a.jpg", "description": "A dog …"} on each line.'
            )
            raise BadInput(msg)
        self._folder, self._open = folder, open_picture
        self.left_out: list[str] = []
        self.mark = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        self._rows = self._read(file)
        self._orders: dict[int, list[_Row]] = {}

    @property
    def title(self) -> str:
        """Their title: the folder's own name, as benchmarks travel."""
        return f"pictures of {self._folder.name}"

    def scene(self, number: int, seed: int) -> Pictured:
        """Return the so manieth that can be used; see `Scenes`."""
        order = self._orders.setdefault(seed, self._shuffled(seed))
        while number < len(order):
            row = order[number]
            try:
                place = next(
                    self._folder / one / row.file for one in PLACES if (self._folder / one / row.file).is_file()
                )
                picture = self._open(place.read_bytes(), row.file)
            except (StopIteration, BadInput, OSError):
                self.left_out.append(f"Row {row.number} is left out: its picture {row.file[:80]!r} cannot be read.")
                order.remove(row)
                continue
            return Pictured(row.name, picture, row.caption, row.facts, len(row.unreadable))
        shortage = f"{self._folder} has {len(order)} pictures with descriptions that can be used, and more are needed."
        msg = " ".join([shortage, *self.left_out[:5]])
        raise BadInput(msg)

    def _shuffled(self, seed: int) -> list[_Row]:
        return [self._rows[place] for place in np.random.default_rng(seed).permutation(len(self._rows))]

    def _read(self, file: Path) -> list[_Row]:
        rows: dict[str, _Row] = {}
        for number, line in enumerate(file.read_text("utf-8", errors="replace").splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = _Row.of(number, json.loads(line))
            except (ValueError, TypeError) as error:
                self.left_out.append(f"Row {number} of {file.name} is left out: {str(error).rstrip('.')[:200]}.")
                continue
            if row.name in rows:
                self.left_out.append(
                    f"Row {number} of {file.name} is left out: there is another {row.name!r} before it."
                )
            if row.name not in rows:
                self.left_out += row.told(file.name)
            rows.setdefault(row.name, row)
        if not rows:
            reason = f" {self.left_out[0]}" if self.left_out else ""
            msg = f"{file} describes no picture that can be used.{reason}"
            raise BadInput(msg)
        return list(rows.values())


@dataclass(frozen=True)
class _Row:
    number: int
    name: str
    file: str
    caption: str
    facts: tuple[Fact, ...]
    unreadable: tuple[str, ...] = ()

    def told(self, file: str) -> list[str]:
        """Say which tuples cannot be read, and what that leaves."""
        if not self.unreadable:
            return []
        count, of = len(self.unreadable), len(self.unreadable) + len(self.facts)
        shown = ", ".join(repr(one[:60]) for one in self.unreadable[:_SHOWN]) + ", …" * (count > _SHOWN)
        note = f"{count} of the {of} tuples in row {self.number} of {file} cannot be read and are left out: {shown}."
        if not self.facts:
            note += " Its description is read instead."
        elif len(self.facts) < _FEW:
            note += " Those that are left are too few to ask much about its picture."
        return [note]

    @classmethod
    def of(cls, number: int, row: Any) -> _Row:  # noqa: ANN401 - whatever the line held
        """Read a line.

        Raises:
            ValueError: It has no picture's name or no description, or its tuples are no list.
        """
        if not isinstance(row, dict):
            msg = "it is no JSON object"
            raise ValueError(msg)  # noqa: TRY004 - one kind of trouble for whoever reads lines
        file, caption = row.get("image_file"), row.get("description")
        if not isinstance(file, str) or not file or Path(file).is_absolute() or ".." in Path(file).parts:
            msg = "`image_file` must name a picture within the folder"
            raise ValueError(msg)
        if not isinstance(caption, str) or not caption.strip():
            msg = "it has no `description`, and nothing can be asked about a picture of which nothing is known"
            raise ValueError(msg)
        tuples = row.get("tuples") or []
        if not isinstance(tuples, list):
            msg = "`tuples` must be a list of texts"
            raise ValueError(msg)  # noqa: TRY004 - as above
        read = read_tuples(one if isinstance(one, str) else json.dumps(one) for one in tuples)
        name = str(row.get("example_id") or file)
        return cls(number, name[:120], file, caption.strip()[:20_000], read.facts, read.unreadable)
