"""The file of a pool's search index: a cache that is read where it is whole and belongs to the database.

It holds a digest of its head, the length of the head, the head, codes, and a digest of the codes. The head is checked
whenever it is read, because faiss trusts the sizes that it finds and a damaged one could crash the process; codes are
mapped, and only ``damage`` reads them all: they choose candidates whose real features are compared anyway.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from snellen.memory.home import write_atomically
from snellen.memory.prompts.features import CodedRows, FlatFeatures, ListedFeatures, code_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from snellen.memory.prompts.features import Codes

_MAGIC: Final = b"snellen-prompt-index-2\n"
_DIGEST_BYTES: Final = 32
_LENGTH_BYTES: Final = 8
_BEGINNING: Final = len(_MAGIC) + _DIGEST_BYTES + _LENGTH_BYTES
_READ_BYTES: Final = 2**24


@dataclass(frozen=True, eq=False)
class SavedIndex:
    """An index, and the state of the database that it was saved in."""

    index: FlatFeatures | ListedFeatures
    identity: str
    forgettings: int


def read_index(path: Path, identity: str) -> SavedIndex | None:
    """Read an index file; None when it is missing, damaged, of an earlier version or of another database."""
    import faiss

    try:
        with path.open("rb") as file:
            if _head_damage(file) is not None:
                return None
            file.seek(_BEGINNING)
            header = json.loads(file.readline())
            if (header["identity"], header["faiss"]) != (identity, faiss.__version__):
                return None
            sample, numbers = (np.fromfile(file, dtype="<i8", count=header[name]) for name in ("sample", "rows"))
            end = _BEGINNING + _head_length(file)
            index = faiss.deserialize_index(np.fromfile(file, dtype=np.uint8, count=end - file.tell()))
            if not header["lists"]:
                return SavedIndex(FlatFeatures(index), identity, header["forgettings"])
            width = code_bytes(index.d)
            codes: Codes = np.asarray(np.memmap(file, np.uint8, "r", offset=end, shape=(len(numbers), width)))
    except OSError:
        return None
    listed = ListedFeatures(index, sample, header["probes"], CodedRows(numbers, codes))
    return SavedIndex(listed, identity, header["forgettings"])


def write_index(path: Path, saved: SavedIndex) -> None:
    """Write an index with the digests that it is read by.

    Raises:
        OSError: the disk is full or not writable.
    """
    write_atomically(path, _content(saved))


def damage(path: Path) -> str | None:
    """Say what is wrong with an index file; None where it is whole.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        trouble = _head_damage(file)
        if trouble is not None:
            return trouble
        file.seek(_BEGINNING + _head_length(file))
        left = path.stat().st_size - file.tell() - _DIGEST_BYTES
        digest = hashlib.sha256()
        while left > 0:
            digest.update(file.read(min(left, _READ_BYTES)))
            left -= _READ_BYTES
        return None if file.read() == digest.digest() else "its codes are not what was written"


def _content(saved: SavedIndex) -> Iterator[bytes]:
    import faiss

    index = saved.index
    header: dict[str, Any] = {
        "identity": saved.identity,
        "forgettings": saved.forgettings,
        "faiss": faiss.__version__,
        "dimension": index.index.d,
        "lists": index.lists,
    }
    arrays = {}
    codes: Codes = np.empty((0, code_bytes(index.index.d)), dtype=np.uint8)
    if isinstance(index, ListedFeatures):
        header["probes"] = index.probes
        arrays, codes = {"sample": index.sample, "rows": index.numbers}, index.rows.codes
    header |= {name: len(arrays.get(name, ())) for name in ("sample", "rows")}
    parts = [json.dumps(header).encode() + b"\n", *(one.astype("<i8").tobytes() for one in arrays.values())]
    head = b"".join([*parts, faiss.serialize_index(index.index).tobytes()])
    yield _MAGIC + hashlib.sha256(head).digest() + len(head).to_bytes(_LENGTH_BYTES, "little")
    yield head
    digest = hashlib.sha256()
    step = max(1, _READ_BYTES // codes.shape[1])
    for start in range(0, len(codes), step):
        piece = codes[start : start + step].tobytes()
        digest.update(piece)
        yield piece
    yield digest.digest()


def _head_damage(file: IO[bytes]) -> str | None:
    file.seek(0)
    beginning = file.read(_BEGINNING)
    if not beginning.startswith(_MAGIC) or len(beginning) < _BEGINNING:
        return "it is no search index of this version"
    size, length = file.seek(0, 2), _head_length(file)
    if _BEGINNING + length + _DIGEST_BYTES > size:
        return "it ends too early"
    file.seek(_BEGINNING)
    head = file.read(length)
    if hashlib.sha256(head).digest() != beginning[len(_MAGIC) : -_LENGTH_BYTES]:
        return "its content is not what was written"
    header = json.loads(head.partition(b"\n")[0])
    codes = header["rows"] * code_bytes(header["dimension"])
    return None if _BEGINNING + length + codes + _DIGEST_BYTES == size else "its codes are not what was written"


def _head_length(file: IO[bytes]) -> int:
    place = file.tell()
    file.seek(_BEGINNING - _LENGTH_BYTES)
    length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    file.seek(place)
    return length
