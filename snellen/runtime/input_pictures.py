"""Pictures as a caller gives them: paths, data addresses, ids or references of stored ones, blocks of messages."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from snellen.errors import BadInput
from snellen.graphs.messages import MAX_PICTURES, PICTURE_TYPES, known_picture, stored_picture
from snellen.memory.home import home
from snellen.user_paths import user_path
from snellen.values import Picture, checked_reference, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snellen.graphs.states import Json
    from snellen.memory.artifacts import ArtifactStore

_ID: Final = re.compile(r"[0-9a-f]{64}")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_PATHS: Final = ContextVar("_PATHS", default=True)


@contextmanager
def no_paths() -> Iterator[None]:
    """Read no files that are named by a path, until the end: whoever asks does not sit at this machine."""
    before = _PATHS.set(False)
    try:
        yield
    finally:
        _PATHS.reset(before)


def are_stored(pictures: object) -> bool:
    """Tell whether all of them are references to stored pictures already."""
    return isinstance(pictures, list) and all(
        isinstance(one, dict) and one.get("type") == "Picture" for one in pictures
    )


def stored_pictures(pictures: object, context: object = None) -> list[Json]:
    """Store pictures and return references to them.

    Args:
        pictures: At most ``MAX_PICTURES``, each a path, a ``data:`` address in base64, the id of a stored picture, a
            reference, or a block of a message.
        context: What the run is given; resources bring their own store, else it is that of the home.

    Raises:
        BadInput: One cannot be read, or there are too many.
        MemoryTrouble: The disk is full or not writable.
    """
    several = [pictures] if isinstance(pictures, str | Path | Mapping | Picture) else pictures
    if not isinstance(several, Sequence):
        msg = "The pictures must be a list: of paths, data: addresses, ids or references of stored pictures."
        raise BadInput(msg)
    if len(several) > MAX_PICTURES:
        msg = f"There are {len(several)} pictures; at most {MAX_PICTURES} are looked at together."
        raise BadInput(msg)
    store = _store(context)
    return [_stored(one, f"picture {place}", store) for place, one in enumerate(several, 1)]


def _store(context: object) -> ArtifactStore:
    from snellen.runtime.context import Context, given_now
    from snellen.runtime.resources import open_pictures

    current = given_now(context)
    return current.pictures if isinstance(current, Context) else open_pictures(home())


def _stored(value: Any, name: str, store: ArtifactStore) -> Json:  # noqa: ANN401 - whatever a caller gives
    picture: Picture | None = value if isinstance(value, Picture) else None
    if isinstance(value, str | os.PathLike):
        picture = _named(os.fspath(value), name, store)
    if isinstance(value, Mapping) and value.get("type") in PICTURE_TYPES:
        picture = stored_picture(dict(value), name, store)
    if picture is not None:
        return cast("Json", to_json(picture))
    try:
        return checked_reference(dict(value) if isinstance(value, Mapping) else {})
    except ValueError as error:
        msg = f"The {name} is none: give a path, a data: address, or the id or the reference of a stored picture."
        raise BadInput(msg) from error


def _named(text: Any, name: str, store: ArtifactStore) -> Picture:  # noqa: ANN401 - a path may be bytes
    source = os.fsdecode(text)
    if source[:5].lower() == "data:":
        return stored_picture({"url": source}, name, store)
    if _ID.fullmatch(source):
        return known_picture(source, store)
    path = source.removeprefix("file://")
    if path == source and _SCHEME.match(source):
        msg = f"The {name} is an address, which is not looked up: give a path, a data: address, or a stored picture."
        raise BadInput(msg)
    if not _PATHS.get():
        msg = f"The {name} is a path, and no files are read for whoever asks over the network: send the picture itself."
        raise BadInput(msg)
    return store.ingest(user_path(path, name))
