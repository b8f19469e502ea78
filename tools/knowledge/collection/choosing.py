"""The sources that a profile names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from profiles import BadInput
from tools.knowledge.collection.coco import CocoFolder
from tools.knowledge.collection.folders import ClassFolders
from tools.knowledge.collection.search import PictureSearch, SearchSettings
from tools.knowledge.collection.world import WorldLibrary

if TYPE_CHECKING:
    from profiles import Profile
    from tools.knowledge.collection.records import AnnotatedSource, OpenPicture, PictureSource

WORLD, SEARCH = "world", "search"


def annotated_source(profile: Profile, *, open_picture: OpenPicture) -> AnnotatedSource | None:
    """Return where ``collection.annotated`` says that scenes with boxes come from; None where it says nothing.

    Raises:
        BadInput: The folder is missing or not in COCO's form.
        SnellenError: Not here, but when something is collected: the profile has no world.
    """
    named = profile.collection.annotated
    if not named:
        return None
    if named == WORLD:
        return WorldLibrary(profile.world, title=profile.name)
    return CocoFolder(profile.resolve(named), open_picture=open_picture)


def picture_source(profile: Profile, *, open_picture: OpenPicture, folder: Path | None = None) -> PictureSource | None:
    """Return where pictures by concept come from: the folder, or else what ``collection.pictures`` says.

    Raises:
        BadInput: The folder is missing, or the search is not described.
        SnellenError: Not here, but when something is collected: the profile has no world.
    """
    named = profile.collection.pictures
    if folder is not None:
        return ClassFolders(folder, open_picture=open_picture)
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
