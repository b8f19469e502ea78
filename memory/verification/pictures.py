"""The check of pictures: they are still what was stored, and those that something refers to are there.

A picture is named by the SHA-256 of its file, so a damaged one is recognised. Pictures that were drawn by a world, from
a seed, can be drawn again: whoever knows how draws them into a folder of their own, and what comes out under the right
name is taken from there. Damaged files are moved aside, never deleted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.memory.artifacts import ArtifactStore, damaged_name, home_pictures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snellen.memory.verification.findings import Verification

Draw = Callable[[ArtifactStore, AbstractSet[str]], None]
"""Draws pictures of some ids again, as far as they follow from a seed, into a store; others may come with them."""

_ID: Final = re.compile(r"[0-9a-f]{64}")
_FIELDS: Final = frozenset({"file_id", "mask", "picture"})
"""Where states name a stored picture: blocks of messages, regions, examples to learn from."""


def verify_pictures(folder: Path, found: Verification, users: Mapping[str, str], *, draw: Draw | None = None) -> None:
    """Check every stored picture, and that every one that is referred to is there, adding to ``found``.

    Args:
        folder: The memory's home.
        found: Takes the findings.
        users: For each picture that something refers to, what does, for people.
        draw: Draws pictures again; None where nothing can.

    Raises:
        MemoryTrouble: the disk is full or not writable.
    """
    store = home_pictures(folder)
    stored = store.ids()
    found.pictures = len(stored)
    damaged = {one for one in stored if not store.is_whole(one)}
    missing = {one for one in users if _is_id(one) and one not in stored}
    drawn = _mended(store, damaged | missing, draw, repair=found.repaired) if damaged or missing else set()
    for one in sorted(damaged | missing):
        place = store.place(one)
        said = _trouble(one, damaged=one in damaged, aside=found.repaired and one not in drawn)
        if one in drawn:
            found.note("rebuilt", place, f"{said}; it is drawn again, as it follows from a seed")
        elif one in users:
            found.note("lost", place, f"{said}, and {users[one]} refers to it: give it again, which mends it")
        else:
            found.note("orphan", place, f"{said}, and nothing refers to it")
        if found.repaired and one in damaged and one not in drawn:
            store.put_damaged_away(one)


def pictures_in(value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a checkpoint holds
    """Yield the ids of the stored pictures that a saved value refers to."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from pictures_in(one)
    elif isinstance(value, dict):
        if value.get("type") == "Picture" and _is_id(value.get("id")):
            yield value["id"]
        for name, one in value.items():
            if name in _FIELDS and _is_id(one):
                yield one
            else:
                yield from pictures_in(one)
    elif hasattr(value, "content"):  # a message
        yield from pictures_in(value.content)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _mended(store: ArtifactStore, wanted: set[str], draw: Draw | None, *, repair: bool) -> set[str]:
    """Draw pictures again, and return those that came out as they were."""
    if draw is None:
        return set()
    with tempfile.TemporaryDirectory(prefix="snellen-drawn-") as place:
        again = ArtifactStore(Path(place))
        draw(again, wanted)
        drawn = {one for one in wanted if again.is_whole(one)}
        for one in drawn if repair else ():
            store.take(one, again)
    return drawn


def _trouble(picture_id: str, *, damaged: bool, aside: bool) -> str:
    if not damaged:
        return "the picture is missing"
    kept = f" (kept as {damaged_name(picture_id)})" if aside else ""
    return f"the picture is not what its name says{kept}"
