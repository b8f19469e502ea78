"""The tensors of prompts on disk: safetensors files named by their content, one for each batch that was added.

A block holds ``features`` (n, d), ``prompts`` (m, *shape) and, as bytes of JSON, the ``rows`` they belong to, so that
a block alone is enough to rebuild what the database knew. Prompts of zeros take no room. A block is written once and
never changed; forgetting some of its rows writes another.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import weakref
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import write_atomically
from snellen.memory.prompt_records import LearnedPrompt, PromptRow, identity, refuse_unstorable, row_from_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

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
    """A block is missing, or is not what was written."""


class BlockMissing(BlockDamaged):
    """There is no file for a block: it is lost, or another process has just forgotten it."""


@dataclass(frozen=True)
class _Tensor:
    shape: tuple[int, ...]
    start: int
    """Bytes from the beginning of the file."""
    end: int


@dataclass(frozen=True)
class PlacedPrompt:
    """Where a prompt stands in its block."""

    prompt: LearnedPrompt
    place: int
    """The row of ``features``."""
    prompt_place: int
    """The row of ``prompts``, or ``ZEROS``."""


def batches(prompts: Iterable[LearnedPrompt]) -> Iterator[list[LearnedPrompt]]:
    """Part prompts into what one block takes: one pool, fingerprint, shape and width of features; not too many."""
    for _, group in groupby(prompts, key=_kind):
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


def placed(prompts: Sequence[LearnedPrompt]) -> list[PlacedPrompt]:
    """Say where each prompt of a batch stands in the block that ``encode`` makes of it."""
    found, count = [], 0
    for place, one in enumerate(prompts):
        zeros = not one.prompt.any()
        found.append(PlacedPrompt(one, place, ZEROS if zeros else count))
        count += not zeros
    return found


def encode(prompts: Sequence[LearnedPrompt]) -> bytes:
    """Return the content of a block; the same prompts in the same order give the same bytes."""
    import safetensors.numpy

    first = prompts[0]
    places = placed(prompts)
    rows = [vars(one.prompt.row) | {"prompt": one.prompt_place} for one in places]
    tensors = {
        "features": np.stack([one.feature for one in prompts]),
        "rows": np.frombuffer(json.dumps({"format": _FORMAT, "rows": rows}).encode(), dtype=np.uint8),
    }
    kept = [one.prompt.prompt for one in places if one.prompt_place != ZEROS]
    if kept:
        tensors["prompts"] = np.stack(kept).reshape(len(kept), *first.row.shape)
    return bytes(safetensors.numpy.save(tensors))


def name_of(content: bytes) -> str:
    """Return the name of a block: the SHA-256 of its content."""
    return hashlib.sha256(content).hexdigest()


def block_path(folder: Path, name: str) -> Path:
    """Return where a block is, or would be, stored.

    Raises:
        BadInput: ``name`` is not a SHA-256 in hexadecimal.
    """
    if not _NAME.fullmatch(name):
        msg = f"{name[:80]!r} is not the name of stored prompts; names are 64 hexadecimal digits."
        raise BadInput(msg)
    return folder / name[:2] / f"{name}.safetensors"


def names_in(text: str) -> list[str]:
    """Return the names of blocks in a text, without those that a crash cut short."""
    return [line for line in text.splitlines() if _NAME.fullmatch(line)]


def delete_block(folder: Path, name: str) -> None:
    """Delete a block, and what is left of it where a process was killed while it wrote it.

    Raises:
        OSError: a file cannot be deleted.
    """
    path = block_path(folder, name)
    for each in (path, *path.parent.glob(f".{path.name}.*")):
        each.unlink(missing_ok=True)


def write_block(folder: Path, content: bytes) -> str:
    """Write a block so that it outlasts a crash, and return its name.

    Raises:
        OSError: the disk is full or not writable (call inside ``storing``).
    """
    name = name_of(content)
    path = block_path(folder, name)
    write_atomically(path, content)
    # The file is safe on the disk; its name is only when its folder, and that folder's own name, are.
    for place in (path.parent, folder):
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return name


def decode(content: bytes, place: str) -> list[PlacedPrompt]:
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


class TensorBlock:
    """A block open for reading single rows; closed when nobody refers to it any more."""

    def __init__(self, folder: Path, name: str, *, whole: bool = True) -> None:
        """Open a block.

        Args:
            folder: Where the blocks are.
            name: Which one.
            whole: False opens also a file that was cut short, for what is left in it.

        Raises:
            BlockMissing: there is no such file.
            BlockDamaged: its beginning or its size is not as it was written.
        """
        self.path = block_path(folder, name)
        try:
            self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            msg = f"The prompts in {self.path} are missing; `snellen memory verify` says what is lost."
            raise BlockMissing(msg) from error
        weakref.finalize(self, os.close, self._file)
        size = os.fstat(self._file).st_size if whole else None
        try:
            self._layout = _layout(os.pread(self._file, _PREFIX + _MAX_HEADER, 0), size)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._damaged() from error

    @property
    def dimension(self) -> int:
        """Numbers in a feature."""
        return self._layout["features"].shape[1]

    def features(self, places: NDArray[np.int64]) -> Vector:
        """Read features.

        Args:
            places: n rows of the block.

        Returns:
            Float32 (n, d).

        Raises:
            BlockDamaged: the file is cut short.
        """
        found = np.empty((len(places), self.dimension), dtype="<f4")
        self.read_features(places.tolist(), found, range(len(places)))
        return found

    def expect_features(self, places: Sequence[int]) -> None:
        """Let the disk fetch features that will be read, all at once: else each would be waited for."""
        if not hasattr(os, "posix_fadvise"):  # macOS
            return
        described = self._layout["features"]
        width = described.shape[1] * 4
        for place in places:
            os.posix_fadvise(self._file, described.start + place * width, width, os.POSIX_FADV_WILLNEED)

    def read_features(self, places: Sequence[int], into: Vector, rows: Sequence[int]) -> None:
        """Read features to where they are wanted: a search reads hundreds from as many blocks.

        Args:
            places: n rows of the block.
            into: Float32 (m, d), C-contiguous.
            rows: The n rows of ``into``.

        Raises:
            BlockDamaged: the file is cut short.
        """
        first, last = min(places), max(places)
        if len(places) > 1 and last - first < 2 * len(places):  # one read of all between is faster than many
            into[list(rows)] = self._read("features", range(first, last + 1))[np.array(places) - first]
            return
        described = self._layout["features"]
        width = described.shape[1] * 4
        if first < 0 or last >= described.shape[0]:
            raise self._damaged()
        for place, row in zip(places, rows, strict=True):
            if os.preadv(self._file, [into[row]], described.start + place * width) != width:
                raise self._damaged()

    def prompt(self, place: int, shape: tuple[int, ...]) -> Vector:
        """Read one prompt, float32 of ``shape``.

        Raises:
            BlockDamaged: the file is cut short, or holds another shape.
        """
        if place == ZEROS:
            return np.zeros(shape, dtype=np.float32)
        prompt: Vector = self._read("prompts", [place])[0]
        if prompt.shape != shape:
            raise self._damaged()
        return prompt

    def learned(self, row: PromptRow, place: int, prompt_place: int) -> LearnedPrompt:
        """Read the tensors of a row, and check them against its id.

        Raises:
            BlockDamaged: they are not what was stored.
        """
        feature = self.features(np.array([place]))[0]
        prompt = self.prompt(prompt_place, row.shape)
        if identity(row, prompt, feature) != row.id:
            raise self._damaged()
        return LearnedPrompt(row, prompt, feature)

    def _read(self, tensor: str, rows: range | list[int]) -> Vector:
        """Read rows of a tensor: a range in one piece, single ones each for themselves."""
        described = self._layout.get(tensor)
        if described is None or min(rows) < 0 or max(rows) >= described.shape[0]:
            raise self._damaged()
        width = prod(described.shape[1:]) * 4
        if isinstance(rows, range):
            content = os.pread(self._file, len(rows) * width, described.start + rows.start * width)
        else:
            content = b"".join(os.pread(self._file, width, described.start + row * width) for row in rows)
        if len(content) != len(rows) * width:
            raise self._damaged()
        return np.frombuffer(content, dtype="<f4").reshape(len(rows), *described.shape[1:])

    def _damaged(self) -> BlockDamaged:
        msg = f"The prompts in {self.path} are damaged; `snellen memory verify` saves what is left of them."
        return BlockDamaged(msg)


def _kind(one: LearnedPrompt) -> tuple[Any, ...]:
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
    told = json.loads(content[layout["rows"].start : layout["rows"].end])
    if not isinstance(told, dict) or told.get("format") != _FORMAT or not isinstance(told.get("rows"), list):
        msg = f"the rows are not in the format {_FORMAT}"
        raise ValueError(msg)
    described = []
    for row in told["rows"]:
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


def _checked(row: PromptRow, at: int, number: int, tensors: dict[str, Vector]) -> PlacedPrompt:
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
    return PlacedPrompt(LearnedPrompt(row, prompt, feature), number, at)
