"""Labelled pictures of a user's own: a folder for each class, or a data set in COCO's or LVIS's format."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from snellen.collection.class_folders import ClassFolders, class_folders
from snellen.collection.coco import CocoCrops, CocoFolder, is_coco
from snellen.profiles import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    import PIL.Image

    from snellen.collection.sources import OpenPicture, SearchedPicture


class LabelledPictures(Protocol):
    """Pictures of which it is known what they show."""

    def concepts(self) -> list[str]:
        """Return the names of all classes."""
        ...

    def found(self, concept: str, count: int, *, seed: int = 0) -> Sequence[SearchedPicture]:
        """Return at most so many pictures of a class; none of one that there is not."""
        ...

    def cut_out(self, concept: str, *, seed: int = 0) -> PIL.Image.Image | None:
        """Return a thing of a class on nothing, RGBA; None where its outline is not known."""
        ...


def labelled_pictures(place: Path, *, open_picture: OpenPicture) -> LabelledPictures:
    """Open labelled pictures.

    Args:
        place: A folder with a folder for each class, or a data set in COCO's or LVIS's format.
        open_picture: Reads a foreign picture safely.

    Raises:
        BadInput: There is no such folder, or nothing of either form in it.
    """
    if is_coco(place) and _is_data_set(place):
        return CocoCrops(CocoFolder(place, open_picture=open_picture))
    return ClassFolders(place, open_picture=open_picture)


def concepts_in(place: Path) -> list[str]:
    """Return the classes that labelled pictures are of, those without a picture left out.

    Raises:
        BadInput: There is no such folder, or it has none.
    """
    if is_coco(place) and _is_data_set(place):
        return list(_categories(place, _changed(place)))
    return class_folders(place)


def _is_data_set(place: Path) -> bool:
    """Tell whether a place with JSON in it is a data set, rather than class folders that have a note beside them."""
    if not place.is_dir():
        return True
    try:
        _categories(place, _changed(place))
    except BadInput:
        if any(each.is_dir() and each.name not in {"annotations", "images"} for each in place.iterdir()):
            return False
        raise
    return True


def _changed(place: Path) -> float:
    files = [place] if place.is_file() else [*place.glob("*.json"), *(place / "annotations").glob("*.json")]
    return max((file.stat().st_mtime for file in files), default=0.0)


@lru_cache(maxsize=8)
def _categories(place: Path, changed: float) -> tuple[str, ...]:  # noqa: ARG001 - another state of the file is read anew
    """Return the classes of a data set that have annotations."""

    def unread(_: bytes, name: str) -> PIL.Image.Image:
        raise BadInput(name)

    return tuple(CocoFolder(place, open_picture=unread).annotated_concepts())
