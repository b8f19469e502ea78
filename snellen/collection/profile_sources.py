"""The sources that a profile names, and those of a folder of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.collection.class_folders import ClassFolders
from snellen.collection.coco import CocoCrops, CocoFolder, is_coco
from snellen.collection.search import PictureSearch, SearchSettings
from snellen.collection.sources import normalized
from snellen.collection.world_library import WorldLibrary
from snellen.profiles import BadInput

if TYPE_CHECKING:
    from snellen.collection.sources import Annotated, AnnotatedSource, OpenPicture, PictureSource, SearchedPicture
    from snellen.profiles import Profile

WORLD, SEARCH = "world", "search"

_LISTED = 12
"""Concepts that a sentence names at most."""


@dataclass(frozen=True)
class OwnPictures:
    """A folder of the user's own pictures.

    Attributes:
        folder: In COCO's or LVIS's format, or with a folder for each concept, or with the pictures of ``concept``.
        concept: What is to be learned from it. Of other things, where the folder has none, pictures come from where the
            profile says.
    """

    folder: Path
    concept: str

    @property
    def annotated(self) -> bool:
        """True if it is in COCO's or LVIS's format."""
        return is_coco(self.folder)

    def beside(self, open_picture: OpenPicture) -> tuple[str, ...]:
        """The other concepts that it has, in the order of their names."""
        return tuple(name for name in self._opened(open_picture).concepts() if name != normalized(self.concept))

    def _opened(self, open_picture: OpenPicture) -> CocoFolder | ClassFolders:
        return (CocoFolder if self.annotated else ClassFolders)(self.folder, open_picture=open_picture)

    def check(self, open_picture: OpenPicture) -> None:
        """Look whether there is anything of the concept, before minutes are spent on learning it.

        Raises:
            BadInput: There is no such folder, it is not in COCO's form, it knows other concepts only, or none of what
                it has of this one can be used.
        """
        source = self._opened(open_picture)
        there = source.concepts()
        if normalized(self.concept) in there:
            if isinstance(source, CocoFolder):
                source.check(self.concept)
            return
        if not there and not self.annotated:
            return
        known = ", ".join(there[:_LISTED]) + (", …" if len(there) > _LISTED else "")
        has = f"only {known}: name one of those, or add what is missing" if there else "no other either: add some"
        what = "category" if self.annotated else "folder"
        msg = f"{self.folder} has no {what} {self.concept!r}, {has}."
        raise BadInput(msg)


@dataclass(frozen=True)
class _OwnScenes:
    own: AnnotatedSource
    usual: AnnotatedSource | None
    concept: str

    def __str__(self) -> str:
        """Name the own one: the concept is looked for nowhere else."""
        return str(self.own)

    def annotated(self, concept: str, count: int, *, seed: int = 0) -> list[Annotated]:
        scenes = self.own.annotated(concept, count, seed=seed)
        if scenes or self.usual is None or normalized(concept) == normalized(self.concept):
            return scenes
        return self.usual.annotated(concept, count, seed=seed)


@dataclass(frozen=True)
class _OwnFirst:
    own: PictureSource
    usual: PictureSource | None
    concept: str

    def __str__(self) -> str:
        """Name the own one: the concept is looked for nowhere else."""
        return str(self.own)

    def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:
        pictures = self.own.found(concept, count, seed=seed)
        if pictures or self.usual is None or normalized(concept) == normalized(self.concept):
            return pictures
        return self.usual.found(concept, count, seed=seed)


def annotated_source(
    profile: Profile, *, open_picture: OpenPicture, own: OwnPictures | None = None
) -> AnnotatedSource | None:
    """Return where scenes with boxes come from: the own folder, or else what ``collection.annotated`` says.

    Returns:
        None where neither has any: the folder holds plain pictures, or the profile says nothing.

    Raises:
        BadInput: The folder is missing or not in COCO's form.
        SnellenError: Not here, but when something is collected: the profile has no world.
    """
    if own is None:
        return _annotated(profile, open_picture)
    if not own.annotated:
        return None
    return _OwnScenes(CocoFolder(own.folder, open_picture=open_picture), _annotated(profile, open_picture), own.concept)


def picture_source(
    profile: Profile, *, open_picture: OpenPicture, own: OwnPictures | None = None
) -> PictureSource | None:
    """Return where pictures by concept come from: the own folder, or else what ``collection.pictures`` says.

    Raises:
        BadInput: The folder is missing, or the search is not described.
        SnellenError: Not here, but when something is collected: the profile has no world.
    """
    if own is None:
        return _pictures(profile, open_picture)
    mine: PictureSource = (
        CocoCrops(CocoFolder(own.folder, open_picture=open_picture))
        if own.annotated
        else ClassFolders(own.folder, open_picture=open_picture, concept=own.concept)
    )
    return _OwnFirst(mine, _pictures(profile, open_picture), own.concept)


def _annotated(profile: Profile, open_picture: OpenPicture) -> AnnotatedSource | None:
    named = profile.collection.annotated
    if not named:
        return None
    if named == WORLD:
        return WorldLibrary(profile.world, title=profile.name)
    return CocoFolder(profile.resolve(named), open_picture=open_picture)


def _pictures(profile: Profile, open_picture: OpenPicture) -> PictureSource | None:
    named = profile.collection.pictures
    if not named:
        return None
    if named == WORLD:
        return WorldLibrary(profile.world, title=profile.name)
    if named == SEARCH:
        search = profile.collection.search
        if search is None:
            msg = f"collection.pictures = 'search' in {profile.path} needs [collection.search] with its url."
            raise BadInput(msg)
        return PictureSearch(SearchSettings(**search.model_dump()), open_picture=open_picture)
    return ClassFolders(profile.resolve(named), open_picture=open_picture)
