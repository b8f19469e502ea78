"""Sources of what a concept is learned from, and the records of what they give."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import PIL.Image

Box = tuple[int, int, int, int]

OpenPicture = Callable[[bytes, str], "PIL.Image.Image"]
"""Reads the bytes of a foreign picture file, safely; the second argument names it in errors (``BadInput``)."""


@dataclass(frozen=True, eq=False)
class Annotated:
    """A picture in which the places of a concept are known.

    Attributes:
        picture: RGB, any size.
        concept: What was asked for.
        boxes: Where it is: (x0, y0, x1, y1) in pixels, ends exclusive; at least one.
        masks: One for each box (L mode, the picture's size, 255 inside), or none where the source has no masks.
        others: Names of the other things that are known to be in the picture.
        origin: Where the picture comes from, for people.
    """

    picture: PIL.Image.Image
    concept: str
    boxes: tuple[Box, ...]
    masks: tuple[PIL.Image.Image, ...] = ()
    others: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, eq=False)
class SearchedPicture:
    """A picture that was found for a concept; whether it shows it is only claimed.

    Attributes:
        picture: RGB, any size.
        concept: What was searched for.
        origin: A path, an address or the name of a world, for people.
    """

    picture: PIL.Image.Image
    concept: str
    origin: str = ""


class AnnotatedSource(Protocol):
    """The data that LOC and SEG learn from: open vocabulary, with boxes and masks (CLOVA, section 3.4, second way)."""

    def annotated(self, concept: str, count: int, *, seed: int = 0) -> list[Annotated]:
        """Return at most ``count`` pictures of a concept; fewer, or none, where the source has no more."""
        ...


class PictureSource(Protocol):
    """The search for pictures that SELECT, CLASSIFY and REPLACE learn from (CLOVA, section 3.4, third way)."""

    def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:
        """Return at most ``count`` pictures said to show a concept; fewer, or none, where there are no more."""
        ...


def digest(picture: PIL.Image.Image) -> str:
    """Return a name of what a picture shows, pixel by pixel: SHA-256 of its mode, size and data."""
    return hashlib.sha256(f"{picture.mode} {picture.size}".encode() + picture.tobytes()).hexdigest()


def normalized(name: str) -> str:
    """Return a concept's name as people say it: ``Street_Sign (traffic)`` is ``street sign``."""
    bare = name.partition("(")[0].replace("_", " ").replace("-", " ")
    return " ".join(bare.casefold().split())


def chosen(paths: Sequence[str], count: int, *, seed: int) -> list[str]:
    """Return ``count`` of some names in an order that only the seed and the names decide."""
    return sorted(paths, key=lambda each: hashlib.sha256(f"{seed} {each}".encode()).digest())[:count]
