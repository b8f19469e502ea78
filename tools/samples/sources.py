"""Sources of pictures by class, as a profile names them: a world, labelled pictures, a painter."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from snellen.collection import concepts_in, labelled_pictures
from snellen.tools.samples.folder_source import FolderSource, SimilarPictures
from snellen.tools.samples.metaclasses import METACLASSES
from snellen.tools.samples.painter_source import PainterSource
from snellen.tools.samples.world_source import WorldSource

if TYPE_CHECKING:
    from snellen.collection import OpenPicture
    from snellen.profiles import Profile, SampleSettings
    from snellen.tools.samples.select import SampleSource
    from snellen.tools.vision import Models


def sources_of(
    profile: Profile, models: Models, *, open_picture: OpenPicture
) -> tuple[SampleSource | None, SampleSource | None]:
    """Return where a profile makes the pictures of experiments, and where it looks them up.

    Args:
        profile: Its ``[samples]`` say.
        models: Its vision models, which a painter is one of.
        open_picture: Reads a foreign picture safely.

    Raises:
        BadInput: A folder is missing.
        SnellenError: It wants a world, and has none.
    """
    settings = profile.samples
    world = WorldSource(profile.world(), title=profile.world().__name__) if "world" in _named(settings) else None
    generation: SampleSource | None = world if settings.generation == "world" else None
    if settings.generation in {"painter", "text-to-image"}:
        generation = PainterSource(
            models, size=settings.size, by="replace" if settings.generation == "painter" else "text_to_image"
        )
    if settings.retrieval in {"", "world"}:
        return generation, (world if settings.retrieval == "world" else None)
    pictures = labelled_pictures(profile.resolve(settings.retrieval), open_picture=open_picture)
    groups = {called: each for name, (one, each) in groups_of(profile).items() for called in (name, one)}
    # What is not there is painted (APEX, section 3.4). Where nothing paints, the most similar will do, if checked.
    checked = generation is None and profile.models.clip is not None and profile.models.match is not None
    similar = SimilarPictures(pictures, models) if checked else None
    return generation, FolderSource(
        pictures, groups=lambda name: list(groups.get(name, ())), models=models, similar=similar
    )


def picture_size(profile: Profile) -> str:
    """Return the size of a profile's pictures in words: "128 × 128 pixels"; empty where they have many."""
    settings = profile.samples
    if settings.generation in {"painter", "text-to-image"}:
        return f"{settings.size} × {settings.size} pixels"
    if settings.generation == "world":
        width, height = profile.world().portrait("random", "size").picture().size
        return f"{width} × {height} pixels"
    return ""


def folder_classes(profile: Profile) -> tuple[str, ...]:
    """Return the classes of the folder that all pictures of a profile come from; nothing where they are made."""
    return tuple(concepts_in(profile.resolve(profile.samples.retrieval))) if _from_folder(profile.samples) else ()


def groups_of(profile: Profile) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return groups of classes by name, each with its singular and its members.

    They are those of a profile's world, taught classes only, or everyday ones where it has no world. A folder of one's
    own may have classes of both.
    """
    path, split, folder = profile.facts_path(), profile.split_path(), _from_folder(profile.samples)
    everyday = {name: (one, tuple(members)) for name, (one, members) in METACLASSES.items()}
    if path is None:
        return everyday
    facts = json.loads(path.read_text(encoding="utf-8"))
    known = None if split is None or folder else set(json.loads(split.read_text(encoding="utf-8"))["known"])
    taught: dict[str, list[str]] = {name: [] for name in facts["groups"]}
    for concept in facts["concepts"]:
        if known is None or concept["name"] in known:
            for name in (concept["group"], *facts["groups"][concept["group"]]["parents"]):
                taught[name].append(concept["name"])
    groups = {name: (facts["groups"][name]["singular"], tuple(each)) for name, each in taught.items()}
    if not folder:
        return groups
    both = {**everyday, **groups}
    return {
        name: (one, tuple(dict.fromkeys((*each, *everyday.get(name, ("", ()))[1]))))
        for name, (one, each) in both.items()
    }


def _from_folder(settings: SampleSettings) -> bool:
    return not settings.generation and settings.retrieval not in {"", "world"}


def _named(settings: SampleSettings) -> set[str]:
    return {settings.generation, settings.retrieval}
