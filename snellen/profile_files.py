"""Files of profiles: found by name or path, and read with what they extend, on the standard library alone."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from snellen.errors import BadInput
from snellen.user_paths import user_path

PACKAGE_FOLDER: Final = Path(__file__).resolve().parent / "profiles"
"""The folder of the profiles that come with Snellen."""

DEFAULT_PROFILE: Final = "embedded"
"""The profile of a command that names none."""
RESIDENT_MINUTES: Final = 10.0
"""``resident.minutes`` where no file says it: a command line reads it before it imports what checks profiles."""

_SOURCE_KEYS: Final = ("folder", "id", "revision", "variant", "package")


def profile_names() -> list[str]:
    """Return the names of the profiles that come with Snellen."""
    return sorted(file.stem for file in PACKAGE_FOLDER.glob("*.toml"))


def lasting(name_or_path: str) -> str:
    """Name a profile so that a later process finds it from any folder."""
    return str(user_path(name_or_path, "profile").absolute()) if name_or_path.endswith(".toml") else name_or_path


def located(name_or_path: str | Path) -> Path:
    """Find the file of a profile.

    Raises:
        BadInput: There is none of this name, and no file at this path.
    """
    text = str(name_or_path)
    if text in profile_names():
        return PACKAGE_FOLDER / f"{text}.toml"
    path = user_path(text, "profile")
    if path.suffix == ".toml" and path.is_file():
        return path.resolve()
    known = ", ".join(profile_names())
    msg = f"There is no profile {text!r}: choose one of {known}, or give the path of a .toml file."
    raise BadInput(msg)


def read_profile_file(path: Path) -> dict[str, Any]:
    """Read a profile's file with what it extends, unchecked.

    Raises:
        BadInput: The file is no TOML, or it extends itself.
    """
    return _read(path, seen=())


def _read(path: Path, *, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path in seen:
        msg = f"The profile {path} extends itself: remove one `extends` of the circle."
        raise BadInput(msg)
    try:
        data = deepcopy(_parsed(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"The profile {path} cannot be read ({error}): correct the file."
        raise BadInput(msg) from error
    base = data.pop("extends", None)
    if base is None:
        return data
    beside = path.parent / str(base)
    base_path = located(beside if beside.is_file() else str(base))
    inherited = _read(base_path, seen=(*seen, path))
    inherited.pop("name", None)  # a file of one's own is called after itself
    return _merged(inherited, data)


@lru_cache(maxsize=8)
def _parsed(text: str) -> dict[str, Any]:
    """Parse a file once for all that read it: a server does for every user."""
    return tomllib.loads(text)


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    if any(key in changes for key in ("folder", "id", "package")):
        # A new source replaces the old one whole: an id and a folder together would be ambiguous.
        merged = {key: value for key, value in merged.items() if key not in _SOURCE_KEYS}
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
