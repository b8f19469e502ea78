"""Blocks: prompts of one kind as one safetensors file, named by its content.

Archives are made of them, and homes up to version 0.1 kept the tensors of their prompts in them. A block holds
``features`` (n, d), ``prompts`` (m, *shape) and, as bytes of JSON, the ``rows`` they belong to. Prompts of zeros take
no room.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.errors import BadInput, SnellenError
from snellen.memory.prompts.records import LearnedPrompt, PromptRow, identity, refuse_unstorable, row_from_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

FOLDER: Final = "prompts"
"""The folder of a home where earlier versions kept their blocks."""
UNFINISHED: Final = "prompts.unfinished"
"""The file in which earlier versions noted the blocks that they were writing or deleting."""

BLOCK_ROWS: Final = 4096
BLOCK_BYTES: Final = 64 * 2**20
"""A block takes no further row beyond this many bytes of tensors."""

MAX_BLOCK_BYTES: Final = 4 * BLOCK_BYTES
"""Size above which a file is no block of ours: a full block, one more prompt, and the texts of its rows."""

ZEROS: Final = -1
"""The place of a prompt that is all zeros."""

_FORMAT: Final = "snellen-prompts-1"
_NAME: Final = re.compile(r"[0-9a-f]{64}")
_PREFIX: Final = 8
_MAX_HEADER: Final = 4096
_DTYPES: Final = {"features": "F32", "prompts": "F32", "rows": "U8"}
_WIDTHS: Final = {"F32": 4, "U8": 1}
_AXES: Final = {"features": (2,), "prompts": (3, 4), "rows": (1,)}


class BlockDamaged(SnellenError):  # noqa: N818 - reads as what happened
    """A file is no block, or is not what was written."""


@dataclass(frozen=True)
class _Tensor:
    shape: tuple[int, ...]
    start: int
    """Bytes from the beginning of the file."""
    end: int


def batches(prompts: Iterable[LearnedPrompt]) -> Iterator[list[LearnedPrompt]]:
    """Part prompts into what one block takes: one pool, fingerprint, shape and width of features; not too many."""
    for _, group in groupby(prompts, key=kind_of):
        batch: list[LearnedPrompt] = []
        size = 0
        for one in group:
            batch.append(one)
            size += one.prompt.nbytes + one.feature.nbytes
            if len(batch) == BLOCK_ROWS or size >= BLOCK_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def encode(prompts: Sequence[LearnedPrompt]) -> bytes:
    """Return the content of a block; the same prompts in the same order give the same bytes."""
    import safetensors.numpy

    rows: list[dict[str, Any]] = []
    tensors: list[Vector] = []
    for one in prompts:
        zeros = not one.prompt.any()
        rows.append(vars(one.row) | {"prompt": ZEROS if zeros else len(tensors)})
        if not zeros:
            tensors.append(one.prompt)
    content = {
        "features": np.stack([one.feature for one in prompts]),
        "rows": np.frombuffer(json.dumps({"format": _FORMAT, "rows": rows}).encode(), dtype=np.uint8),
    }
    if tensors:
        content["prompts"] = np.stack(tensors).reshape(len(tensors), *prompts[0].row.shape)
    return bytes(safetensors.numpy.save(content))


def name_of(content: bytes) -> str:
    """Return the name of a block: the SHA-256 of its content."""
    return hashlib.sha256(content).hexdigest()


def decode(content: bytes, place: str) -> list[LearnedPrompt]:
    """Return all prompts of a block of any origin, every one checked against its id.

    Args:
        content: The file, at most ``MAX_BLOCK_BYTES``.
        place: How errors name it.

    Raises:
        BlockDamaged: it is no block, or not whole.
    """
    try:
        layout = _layout(content[: _PREFIX + _MAX_HEADER], len(content))
        described = _described(content, layout)
        tensors = {name: _tensor(content, layout[name]) for name in layout if name != "rows"}
        return [_checked(row, at, number, tensors) for number, (row, at) in enumerate(described)]
    except (ValueError, TypeError, KeyError, RecursionError, BadInput) as error:
        msg = f"{place} does not hold prompts as they were stored ({str(error).rstrip('.')})."
        raise BlockDamaged(msg) from error


class OldBlocks:
    """The blocks in which a home up to version 0.1 kept its tensors, read row by row, also where they are damaged.

    Args:
        home: The memory's home.
    """

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER
        self._noted = home / UNFINISHED
        self._opened = lru_cache(maxsize=256)(self._open)

    def paths(self) -> list[Path]:
        """Return the files, the oldest first."""
        files = self.folder.glob("*/[!.]*.safetensors")
        return sorted(files, key=lambda path: (path.stat().st_mtime_ns, path))

    def feature(self, block: str, place: int) -> bytes | None:
        """Return a feature as it is stored; None where the file is damaged or gone."""
        return self._row(block, "features", place)

    def prompt(self, block: str, place: int) -> bytes | None:
        """Return a prompt as it is stored, no bytes for zeros; None where the file is damaged or gone."""
        return b"" if place == ZEROS else self._row(block, "prompts", place)

    def whole(self, path: Path) -> list[LearnedPrompt] | None:
        """Return the prompts of a file; None where it is not what its name says."""
        if path.stat().st_size > MAX_BLOCK_BYTES:
            return None
        content = path.read_bytes()
        try:
            return decode(content, str(path)) if name_of(content) == path.stem else None
        except BlockDamaged:
            return None

    def unfinished(self) -> set[str]:
        """Return the blocks that an earlier version was writing or deleting when it was killed."""
        if not self._noted.exists():
            return set()
        return set(filter(_NAME.fullmatch, self._noted.read_text(errors="replace").splitlines()))

    def delete(self, names: Iterable[str]) -> None:
        """Delete blocks, what a killed process left of them, and the note that named some of them.

        Raises:
            OSError: a file cannot be deleted.
        """
        for name in names:
            place = self.folder / name[:2]
            for path in place.glob(f"*{name}*"):
                path.unlink(missing_ok=True)
        self._noted.unlink(missing_ok=True)
        for folder in (*self.folder.glob("*"), self.folder):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def _open(self, block: str) -> tuple[mmap.mmap, dict[str, _Tensor]] | None:
        if not _NAME.fullmatch(block):
            return None
        try:
            with (self.folder / block[:2] / f"{block}.safetensors").open("rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            # What is left of a file that was cut short is read, too.
            return content, _layout(content[: _PREFIX + _MAX_HEADER], None)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def _row(self, block: str, name: str, place: int) -> bytes | None:
        content, layout = self._opened(block) or (b"", {})
        tensor = layout.get(name)
        if tensor is None or not 0 <= place < tensor.shape[0]:
            return None
        width = prod(tensor.shape[1:]) * 4
        found = content[tensor.start + place * width : tensor.start + (place + 1) * width]
        return found if len(found) == width else None


def kind_of(one: LearnedPrompt) -> tuple[Any, ...]:
    """Return what the prompts of one block have in common: pool, fingerprint and shapes."""
    return one.row.pool, one.row.fingerprint, one.row.shape, one.feature.shape


def _layout(beginning: bytes, size: int | None) -> dict[str, _Tensor]:
    """Return where each tensor of a safetensors file stands; only files as ``encode`` makes them are accepted."""
    length = int.from_bytes(beginning[:_PREFIX], "little")
    if not 0 < length <= min(_MAX_HEADER, len(beginning) - _PREFIX):
        msg = "the header is cut short, or longer than ours are"
        raise ValueError(msg)
    header = json.loads(beginning[_PREFIX : _PREFIX + length])
    if not isinstance(header, dict) or not {"features", "rows"} <= set(header) <= set(_DTYPES):
        msg = "the tensors are not features, prompts and rows"
        raise ValueError(msg)
    layout = {name: _described_tensor(name, header[name], _PREFIX + length) for name in header}
    spans = sorted((one.start, one.end) for one in layout.values())
    gapless = [start for start, _ in spans] == [_PREFIX + length, *(end for _, end in spans[:-1])]
    if not gapless or (size is not None and spans[-1][1] != size):
        msg = "the tensors do not fill the file"
        raise ValueError(msg)
    return layout


def _described_tensor(name: str, described: dict[str, Any], base: int) -> _Tensor:
    shape, (start, end) = described["shape"], described["data_offsets"]
    right = all(type(number) is int and number >= 0 for number in (*shape, start, end)) and len(shape) in _AXES[name]
    if described["dtype"] != _DTYPES[name] or not right or end - start != prod(shape) * _WIDTHS[described["dtype"]]:
        msg = f"the tensor {name!r} has another type or shape than {name} have"
        raise ValueError(msg)
    return _Tensor(tuple(shape), base + start, base + end)


def _described(content: bytes, layout: dict[str, _Tensor]) -> list[tuple[PromptRow, int]]:
    written = json.loads(content[layout["rows"].start : layout["rows"].end])
    if not isinstance(written, dict) or written.get("format") != _FORMAT or not isinstance(written.get("rows"), list):
        msg = f"the rows are not in the format {_FORMAT}"
        raise ValueError(msg)
    described = []
    for row in written["rows"]:
        at = row.pop("prompt") if isinstance(row, dict) and type(row.get("prompt")) is int else None
        if at is None:
            msg = "a row does not say where its prompt is"
            raise ValueError(msg)
        described.append((row_from_json(row), at))
    owners = {(row.pool, row.fingerprint, row.shape) for row, _ in described}
    if len(owners) != 1 or layout["features"].shape[0] != len(described):
        msg = "the rows do not fit the features"
        raise ValueError(msg)
    return described


def _tensor(content: bytes, described: _Tensor) -> Vector:
    return np.frombuffer(content[described.start : described.end], dtype="<f4").reshape(described.shape)


def _checked(row: PromptRow, at: int, number: int, tensors: dict[str, Vector]) -> LearnedPrompt:
    feature = tensors["features"][number]
    if at == ZEROS:
        prompt = np.zeros(row.shape, dtype=np.float32)
    elif "prompts" in tensors and 0 <= at < len(tensors["prompts"]):
        prompt = tensors["prompts"][at]
    else:
        msg = "a row names a prompt that is not there"
        raise ValueError(msg)
    if prompt.shape != row.shape:
        msg = "a prompt has another shape than its row says"
        raise ValueError(msg)
    refuse_unstorable(row, prompt, feature)
    if identity(row, prompt, feature) != row.id:
        msg = f"the prompt {row.id[:16]!r} is not what its id says"
        raise ValueError(msg)
    return LearnedPrompt(row, prompt, feature)
