"""Folders of benchmarks of all kinds: begun once, written whole, checked when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from snellen.errors import BadInput

HEAD: Final = "benchmark.json"
PICTURES: Final = "pictures"
CHANGED: Final = "Rows were changed since it was built: figures are not those of the benchmark that it was."
"""What is said of a benchmark that was edited."""
_BEGUN: Final = "begun.json"

_Row = TypeVar("_Row", bound=BaseModel)


def begin(folder: Path, begun: Mapping[str, Any], folders: Sequence[str] = (PICTURES,)) -> bool:
    """Make the folder of a benchmark, or see that it was begun with the same arguments.

    Args:
        folder: It.
        begun: What it is built from.
        folders: That are wanted in it.

    Returns:
        Whether it is finished already.

    Raises:
        BadInput: The folder has something else in it.
    """
    others = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    try:
        known = json.loads((folder / _BEGUN).read_text("utf-8"))
    except (OSError, ValueError):
        known = None
    if others and known != begun and set(others) - set(folders):
        msg = f"The folder {folder} holds something else ({', '.join(sorted(others)[:3])}): name an empty one."
        if isinstance(known, dict):
            differ = ", ".join(
                f"{key} {known.get(key)!r}, not {begun[key]!r}" for key in begun if known.get(key) != begun[key]
            )
            msg = f"The folder {folder} holds something else: a benchmark with {differ}. Name an empty one."
        raise BadInput(msg)
    if (folder / HEAD).is_file():
        return True
    for name in folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    write(folder / _BEGUN, json.dumps(begun))
    return False


def write(place: Path, text: str) -> None:
    """Write a text file, wholly or not at all."""
    store(place, text.encode("utf-8"))


def store(place: Path, content: bytes) -> None:
    """Write a file, wholly or not at all."""
    half = place.with_name(f".{place.name}.half")
    half.write_bytes(content)
    half.replace(place)


def content_of(folder: Path, files: Sequence[str]) -> str:
    """Return the SHA-256 of some files of a benchmark together."""
    return digest(b"".join((folder / name).read_bytes() for name in files))


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(content).hexdigest()


def read_head(folder: Path, files: Sequence[str], *, kind: str, version: int) -> dict[str, Any]:
    """Return the head of a benchmark.

    Args:
        folder: Where it was built.
        files: What it has besides.
        kind: What it is of, for messages: "pairs".
        version: That can be read.

    Raises:
        BadInput: There is none, it is not finished, it is of another version, or it cannot be read.
    """
    place = folder / HEAD
    if not place.is_file() or not all((folder / name).is_file() for name in files):
        msg = f"There is no benchmark of {kind} in {folder}: build one there, or finish the one that was begun."
        raise BadInput(msg)
    try:
        head = json.loads(place.read_text("utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{place} cannot be read as the head of a benchmark ({str(error)[:100]}): build it again."
        raise BadInput(msg) from error
    written = head.get("version") if isinstance(head, dict) else None
    if written != version:
        msg = f"The benchmark in {folder} is of version {written}, this Snellen reads {version}: build it again."
        raise BadInput(msg)
    return dict(head)


def checked_head(folder: Path, head: Mapping[str, Any], kind: type[_Row]) -> _Row:
    """Return a head as a record.

    Raises:
        BadInput: It is none.
    """
    try:
        return kind.model_validate(head)
    except ValidationError as error:
        wrong = error.errors()[0]
        problem = f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg'].lower()}"
        msg = f"{folder / HEAD} cannot be read as the head of a benchmark ({problem}): build it again."
        raise BadInput(msg) from error


def read_rows(place: Path, kind: type[_Row], left_out: list[str]) -> list[tuple[int, _Row]]:
    """Return the rows of a file that can be read, with their numbers; add why others cannot to what is left out."""
    rows = []
    for number, line in enumerate(place.read_text("utf-8", errors="replace").splitlines(), 1):
        try:
            rows.append((number, kind.model_validate_json(line)))
        except ValidationError as error:
            wrong = error.errors()[0]
            problem = f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}" if wrong["loc"] else "it is no JSON object"
            left_out.append(f"Row {number} of {place.name} is left out: {problem}.")
    return rows


def picture_trouble(folder: Path, name: str, known: str) -> str:
    """Say what is wrong with a picture of a benchmark; empty where nothing is."""
    try:
        content = (folder / PICTURES / name).read_bytes()
    except OSError:
        return f"its picture {name} is missing"
    return "" if digest(content) == known else f"its picture {name} is not the one that was built"
