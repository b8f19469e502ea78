"""Building benchmarks of pairs: the same picture, a changed one, another one (PairBench, section 2.1, appendix D.1)."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeVar

from PIL import Image

from snellen.datasets.benchmark_folders import HEAD, PICTURES, begin, content_of, digest, store, write
from snellen.datasets.pairs.benchmark import PAIRS, VERSION, Kind, Pair
from snellen.datasets.pairs.judge_prompts import TEMPLATES
from snellen.errors import BadInput, SnellenError
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import apply

_T = TypeVar("_T")
SMALLER: Final = 0.95
"""The size of the second picture of an identical pair, as a share of the first one's."""
POSITION: Final = "SP"
_SINGLE: Final = ("CJ", "R", "GB", "PS", "ET")
SPLITS: Final[dict[str, tuple[str, ...]]] = {
    "pictures": _SINGLE,
    "positions": (POSITION, *(f"{POSITION}-{name}" for name in _SINGLE)),
    "captions": (POSITION,),
}
"""Splits by their names in the paper (table 9): of pictures, of those with two things in places, of these and texts."""
_KINDS: Final[tuple[Kind, ...]] = ("identical", "transformed", "irrelevant")
_ANGLES: Final = range(30, 331)


@dataclass(frozen=True)
class Original:
    """A picture that pairs are made of.

    Attributes:
        name: Unique among those of its source.
        picture: RGB.
        caption: What it shows, where that is known.
        moved: The same things with their places exchanged; None where that cannot be had.
        moved_caption: What that shows.
    """

    name: str
    picture: Image.Image
    caption: str = ""
    moved: Image.Image | None = None
    moved_caption: str = ""


class Originals(Protocol):
    """A source of originals."""

    @property
    def title(self) -> str:
        """Their title, for people."""
        ...

    def original(self, number: int, seed: int) -> Original:
        """Return the so manieth picture; the same arguments give the same one.

        Raises:
            BadInput: There are not so many.
        """
        ...


def build(
    originals: Originals,
    folder: Path,
    *,
    kind: str = "pictures",
    count: int = 500,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> Path:
    """Build a benchmark: of each original, in each split, an identical, a transformed and an irrelevant pair.

    One that was interrupted goes on: pictures that are there are not made again. The head is written last.

    Args:
        originals: What pairs are made of.
        folder: Where it goes; empty, or begun with the same arguments.
        kind: ``pictures``, ``positions`` or ``captions``: `SPLITS`.
        count: Originals.
        seed: Chooses the originals, the transforms' dice, the irrelevant ones and the wordings.
        progress: Called with the number of originals that are done.

    Returns:
        The folder.

    Raises:
        BadInput: There is no such kind, too few originals, or the folder has something else in it.
        SnellenError: The folder cannot be written to.
    """
    if kind not in SPLITS:
        msg = f"There is no kind of pairs {kind[:40]!r}: there are {', '.join(SPLITS)}."
        raise BadInput(msg)
    if count < 2:  # noqa: PLR2004 - an irrelevant pair needs another original
        msg = f"A benchmark needs two originals at least, not {count}: others are what a picture is not."
        raise BadInput(msg)
    begun = {"version": VERSION, "source": originals.title, "kind": kind, "seed": seed, "originals": count}
    try:
        if begin(folder, begun):
            progress(count)
            return folder
        rows: list[Pair] = []
        for number in range(count):
            rows += _pairs(originals, number, folder / PICTURES, kind=kind, count=count, seed=seed)
            progress(number + 1)
        write(folder / PAIRS, "".join(row.model_dump_json() + "\n" for row in rows))
        head = {**begun, "rows": len(rows), "content": content_of(folder, (PAIRS,))}
        write(folder / HEAD, json.dumps(head, indent=2) + "\n")
    except OSError as error:
        msg = f"The benchmark cannot be written to {folder} ({error.strerror or error}): name another place."
        raise SnellenError(msg) from error
    return folder


def _pairs(originals: Originals, number: int, pictures: Path, *, kind: str, count: int, seed: int) -> Iterator[Pair]:
    """Make the pairs of one original."""
    one = originals.original(number, seed)
    first = _Files(pictures, f"{number}-original")
    known = first.put(lambda: one.picture)
    for split in SPLITS[kind]:
        dice = _dice(seed, split, number)
        other = originals.original((number + 1 + dice % (count - 1)) % count, seed)
        for place, made in enumerate(_KINDS):
            source = other if made == "irrelevant" else one
            shared = {
                "id": f"{number}-{split}-{made}".lower(), "split": split, "kind": made, "original": one.name,
                "first": first.name, "template": (dice + place) % TEMPLATES,
            }  # fmt: skip
            if kind == "captions":
                text = source.caption if made == "identical" else source.moved_caption
                yield Pair(**shared, text=_needed(text, source), digests=[known])
                continue
            second = _Files(pictures, f"{number}-{split}-{made}".lower())
            fingerprint = second.put(partial(second_of, made, source, split, f"{seed}/{number}"))
            yield Pair(**shared, second=second.name, digests=[known, fingerprint])


def second_of(kind: Kind, source: Original, split: str, seed: str) -> Image.Image:
    """Return the second picture of a pair.

    Args:
        kind: The same, changed, or another picture.
        source: The original that it is made of; another one than the first, where it is irrelevant.
        split: What changes.
        seed: Of the transforms' dice.
    """
    if kind == "identical":
        size = [max(round(SMALLER * side), 1) for side in source.picture.size]
        return source.picture.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    picture = source.picture
    for name in split.split("-"):
        picture = _needed(source.moved, source) if name == POSITION else apply(_call(name, seed), picture, seed)
    return picture


def _call(name: str, seed: str) -> ToolCall:
    """The transform of a split, by its name in the paper."""
    if name == "R":
        return ToolCall(name="RotateImage", arguments={"angle": _ANGLES[_dice(seed, name) % len(_ANGLES)]})
    tools = {"CJ": "ColorJitter", "GB": "GaussianBlur", "PS": "PerspectiveShift", "ET": "ElasticTransform"}
    return ToolCall(name=tools[name])


def _needed(known: _T | None, source: Original) -> _T:
    if not known:
        msg = f"Nothing is known of {source.name!r} but its pixels: pairs of this kind need captions and places."
        raise BadInput(msg)
    return known


@dataclass(frozen=True)
class _Files:
    """A picture in its file, made only if it is not there."""

    folder: Path
    stem: str

    @property
    def name(self) -> str:
        return f"{self.stem}.png"

    def put(self, make: Callable[[], Image.Image]) -> str:
        """Return the digest of the file."""
        place = self.folder / self.name
        if not place.is_file():
            content = io.BytesIO()
            make().convert("RGB").save(content, "PNG")
            store(place, content.getvalue())
        return digest(place.read_bytes())


def _dice(*parts: object) -> int:
    stamp: Sequence[str] = [str(part) for part in parts]
    return int.from_bytes(hashlib.sha256("/".join(stamp).encode()).digest()[:6], "big")
