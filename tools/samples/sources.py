"""Sources of pictures by class: a world, a folder of a user's own, a painter."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.collection import ClassFolders, concepts_in
from snellen.errors import BadInput
from snellen.tools.samples.metaclasses import METACLASSES
from snellen.tools.samples.select import SampleSource, Selected

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image

    from snellen.collection import OpenPicture
    from snellen.profiles import Profile, SampleSettings
    from snellen.profiles.world import World, WorldPortrait
    from snellen.tools.vision import Models

ANY: Final = "random"


class WorldSource:
    """Draws pictures of one thing each (`Profile.world()`).

    Args:
        world: The world's module, with `portrait`, `cut_out` and `members`.
        title: Its name, for people.
    """

    def __init__(self, world: World, *, title: str) -> None:
        self._world, self._title = world, title

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Draw a picture; see `SampleSource`."""
        drawn = self._world.portrait(class_name, seed, image_type=image_type)
        return Selected(drawn.picture(), drawn.class_name, WorldStudio(self._world, drawn), self._title)


class WorldStudio:
    """Studio of a world, which changes pictures that it drew.

    Args:
        world: As above.
        drawn: What it drew: with `picture` and `restyled`.
    """

    def __init__(self, world: World, drawn: WorldPortrait) -> None:
        self._world, self._drawn = world, drawn

    def another(self, dice: np.random.Generator) -> PIL.Image.Image:
        """Draw anything; see `snellen.tools.transforms.Studio`."""
        return self._world.portrait(ANY, _seed(dice)).picture()

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> PIL.Image.Image:
        """Draw a thing on nothing."""
        return self._world.cut_out(class_name, side, _seed(dice))

    def restyled(self, *, style: str, weather: str) -> PIL.Image.Image:
        """Draw the same scene in that style or weather."""
        return self._drawn.restyled(style=style, weather=weather).picture()


class FolderSource:
    """Retrieves from a folder with a folder of pictures for each class.

    Args:
        folders: The folders.
        groups: For the name of a group its classes; nothing for what is no group.
    """

    def __init__(self, folders: ClassFolders, *, groups: Callable[[str], list[str]] = lambda _: []) -> None:
        self._folders, self._groups = folders, groups

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Choose a picture; see `SampleSource`. Which type a picture has is not known: all are taken for photos."""
        if image_type != "photo":
            msg = f"{self._folders} does not say which pictures are of the type {image_type[:80]!r}."
            raise BadInput(msg)
        classes = self._classes(class_name)
        if not classes:
            msg = f"{self._folders} has no pictures of {class_name[:80]!r}: there are {self._known()}."
            raise BadInput(msg)
        number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
        chosen = classes[number % len(classes)]
        pictures = self._folders.found(chosen, 1, seed=number % 2**32)
        if not pictures:
            msg = f"{self._folders} has no pictures of {chosen!r}."
            raise BadInput(msg)
        return Selected(pictures[0].picture, chosen, _FolderStudio(self), Path(pictures[0].origin).name)

    def _classes(self, class_name: str) -> list[str]:
        known, word = self._folders.concepts(), class_name.casefold()
        if word == ANY:
            return known
        return [word] if word in known else [name for name in self._groups(word) if name in known]

    def _known(self) -> str:
        known = self._folders.concepts()
        return ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")  # noqa: PLR2004


class _FolderStudio:
    """The changes that a folder can make to one of its pictures: it shows others."""

    def __init__(self, source: FolderSource) -> None:
        self._source = source

    def another(self, dice: np.random.Generator) -> PIL.Image.Image:
        return self._source.select(ANY, "photo", _seed(dice)).picture

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> PIL.Image.Image:  # noqa: ARG002
        msg = f"A folder of pictures has no {class_name[:80]!r} without a background."
        raise BadInput(msg)

    def restyled(self, *, style: str, weather: str) -> PIL.Image.Image:
        msg = f"A picture of a folder cannot be made {(style or weather)[:80]!r}."
        raise BadInput(msg)


class PainterSource:
    """Paints pictures from words, with the profile's diffusion pipeline.

    Args:
        models: Of the profile; with `imagine`.
        size: Pixels of a side.
        groups: For the name of a group its singular and its classes.
    """

    def __init__(
        self, models: Models, *, size: int, groups: Mapping[str, tuple[str, tuple[str, ...]]] = METACLASSES
    ) -> None:
        self._models, self._size, self._groups = models, size, groups
        self._classes = sorted({name for _, members in groups.values() for name in members})
        self._called = {called: name for name, (one, _) in groups.items() for called in (name, one)}

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Paint a picture; see `SampleSource`. Whether it shows what it should is not certain."""
        name = " ".join(class_name.casefold().split())
        bare = name.removeprefix("a ").removeprefix("an ").removeprefix("the ")
        among = self._groups[self._called[bare]][1] if bare in self._called else ()
        among = tuple(self._classes) if bare == ANY else among
        number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6], "big")
        chosen = among[number % len(among)] if among else name
        return self.painted(chosen, f"{image_type} of {chosen}", number)

    def painted(self, class_name: str, prompt: str, number: int) -> Selected:
        """Paint what a prompt says.

        Args:
            class_name: What it is said to show.
            prompt: The words.
            number: Another one paints the same otherwise.
        """
        size = (self._size, self._size)
        picture = self._models.imagine([f"a {prompt}"], size=size, seed=number)[0]
        return Selected(picture, class_name, _PainterStudio(self, class_name, number), "painted", certain=False)


class _PainterStudio:
    """The changes that a painter can make to one of its pictures: it paints the like."""

    def __init__(self, source: PainterSource, class_name: str, number: int) -> None:
        self._source, self._class_name, self._number = source, class_name, number

    def another(self, dice: np.random.Generator) -> PIL.Image.Image:
        return self._source.select(ANY, "photo", _seed(dice)).picture

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> PIL.Image.Image:
        picture = self._source.select(class_name, "photo", _seed(dice)).picture
        return picture.resize((side, side)).convert("RGBA")

    def restyled(self, *, style: str, weather: str) -> PIL.Image.Image:
        prompt = f"{style or 'photo'} of {self._class_name}" + (f", {weather} weather" if weather else "")
        return self._source.painted(self._class_name, prompt, self._number).picture


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
    painter = PainterSource(models, size=settings.size) if settings.generation == "painter" else None
    retrieval: SampleSource | None = world if settings.retrieval == "world" else None
    if settings.retrieval and retrieval is None:
        groups = groups_of(profile)
        folders = ClassFolders(profile.resolve(settings.retrieval), open_picture=open_picture)
        retrieval = FolderSource(folders, groups=lambda name: list(groups[name][1]) if name in groups else [])
    return (painter or (world if settings.generation == "world" else None)), retrieval


def picture_size(profile: Profile) -> str:
    """Return the size of a profile's pictures in words: "128 × 128 pixels"; empty where they have many."""
    settings = profile.samples
    if settings.generation == "painter":
        return f"{settings.size} × {settings.size} pixels"
    if settings.generation == "world":
        width, height = profile.world().portrait(ANY, "size").picture().size
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


def _seed(dice: np.random.Generator) -> str:
    return str(dice.integers(2**62))
