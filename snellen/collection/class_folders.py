"""Pictures of a user's own: one folder for each concept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from snellen.collection.sources import OpenPicture, SearchedPicture, chosen, normalized
from snellen.profiles import BadInput

if TYPE_CHECKING:
    import PIL.Image

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".avif"})


def class_folders(folder: Path) -> list[str]:
    """Return the concepts that a folder has pictures of: those of its folders that are not empty.

    Raises:
        BadInput: There is no such folder, or it has none.
    """
    _check(folder)
    concepts = sorted(
        normalized(each.name) for each in folder.iterdir() if each.is_dir() and any(map(is_picture, each.iterdir()))
    )
    if not concepts:
        msg = f"The folder {folder} has no folders with pictures: one is needed for each concept, such as dog/1.jpg."
        raise BadInput(msg)
    return concepts


def is_picture(file: Path) -> bool:
    """Return whether a file is named like a picture."""
    return file.suffix.lower() in SUFFIXES and file.is_file()


def _check(folder: Path) -> None:
    if not folder.is_dir():
        msg = f"There is no folder {folder}: name one that holds a folder of pictures for each concept."
        raise BadInput(msg)


class ClassFolders:
    """``FOLDER/flamingo/*.jpg``, ``FOLDER/polar_bear/…``: a folder's name is its concept.

    Args:
        folder: Holds a folder for each concept. A folder without folders is one concept's.
        open_picture: Reads a foreign picture safely.
        concept: Whose pictures a folder without folders holds; empty means: of the one that is asked for.

    Raises:
        BadInput: There is no such folder.
    """

    def __init__(self, folder: Path, *, open_picture: OpenPicture, concept: str = "") -> None:
        _check(folder)
        self._folder = folder
        self._open = open_picture
        self._concept = normalized(concept)

    def __str__(self) -> str:
        """Name the folder."""
        return str(self._folder)

    def concepts(self) -> list[str]:
        """The concepts that have a folder."""
        return sorted(normalized(each.name) for each in self._folder.iterdir() if each.is_dir())

    def cut_out(self, concept: str, *, seed: int = 0) -> PIL.Image.Image | None:  # noqa: ARG002 - see the protocol
        """Return nothing: a folder's pictures have no outlines."""
        return None

    def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:
        """Return pictures of a concept; files that cannot be read as pictures are passed over.

        Which ones, only the seed and the names within the folder decide: a copy of the folder elsewhere gives the same.

        Raises:
            BadInput: There are files, but none of them can be read.
        """
        pictures: list[SearchedPicture] = []
        files = {file.relative_to(self._folder).as_posix(): file for file in self._files(concept)}
        for name in chosen(list(files), len(files), seed=seed):
            if len(pictures) == count:
                break
            try:
                picture = self._open(files[name].read_bytes(), str(files[name]))
            except (BadInput, OSError):
                continue
            pictures.append(SearchedPicture(picture, concept, str(files[name])))
        if files and count and not pictures:
            place = next(iter(files.values())).parent
            msg = f"None of the {len(files)} picture files in {place} can be read: give whole PNG or JPEG files."
            raise BadInput(msg)
        return pictures

    def _files(self, concept: str) -> list[Path]:
        folders = [each for each in self._folder.iterdir() if each.is_dir()]
        matching = [each for each in folders if normalized(each.name) == normalized(concept)]
        if not folders and self._concept in {"", normalized(concept)}:
            matching = [self._folder]
        return [file for folder in matching for file in sorted(folder.iterdir()) if is_picture(file)]
