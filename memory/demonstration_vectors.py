"""The file of the demonstrations' vectors: a cache that is appended to, and whose records are checked one by one.

A record holds a hash of the text, a checksum, and the vector. So a record that is damaged costs one embedding, a write
that was cut short the records of that write, and a demonstration that is added the writing of one record.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.memory.home import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_MAGIC: Final = b"snellen-vectors-1\n"
_KEY_BYTES: Final = 16
_WIDTH_BYTES: Final = 4


def key_of(text: str) -> bytes:
    """Return the hash by which the vector of a text is found."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


class VectorFile:
    """A file of vectors of one embedding; whoever writes keeps others from writing meanwhile."""

    def __init__(self, path: Path, embedding: str) -> None:
        """Remember the file, which need not exist.

        Args:
            path: The file.
            embedding: The name of the embedding; a file of another is none.
        """
        self.path = path
        self._beginning = _MAGIC + hashlib.sha256(embedding.encode()).digest()
        self.is_damaged = False
        """Whether records that were read were damaged."""
        self._read, self._inode = 0, 0

    def unread(self) -> tuple[list[bytes], Vector]:
        """Read the records that were not yet read: keys, and vectors, float32 (n, d).

        Where another process wrote the file anew, all its records are read again.
        """
        nothing: Vector = np.empty((0, 0), dtype=np.float32)
        try:
            with self.path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                beginning = file.read(self._start)
                width = int.from_bytes(beginning[len(self._beginning) :], "little")
                if not beginning.startswith(self._beginning) or not width:
                    self.is_damaged = True
                    return [], nothing
                if inode != self._inode:
                    self._inode, self._read = inode, self._start
                file.seek(self._read)
                content = np.fromfile(file, dtype=np.uint8)
        except OSError:
            return [], nothing
        size = _record(width).itemsize
        whole = len(content) // size * size
        self.is_damaged |= whole != len(content)
        self._read += whole
        records = content[:whole].view(_record(width))
        sound = [zlib.crc32(row) == sum_ for row, sum_ in zip(_summed(records), records["sum"].tolist(), strict=True)]
        self.is_damaged |= not all(sound)
        records = records[np.array(sound, dtype=bool)]
        return [key.tobytes() for key in records["key"]], np.ascontiguousarray(records["vector"])

    def add(self, keys: Sequence[bytes], vectors: Vector) -> None:
        """Append records to a file of vectors of this width, in the place of one that was cut short.

        Raises:
            OSError: the disk is full or not writable; what was written is then a record that is cut short.
        """
        records = _records(keys, vectors)
        with self.path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(end - (end - self._start) % records.dtype.itemsize)
            file.truncate()
            file.write(records.tobytes())  # nobody waits for the disk: what a crash loses is embedded again

    def write(self, keys: Sequence[bytes], vectors: Vector) -> None:
        """Write the file anew, with these records alone.

        Raises:
            OSError: the disk is full or not writable; the file is as it was.
        """
        beginning = self._beginning + vectors.shape[1].to_bytes(_WIDTH_BYTES, "little")
        write_atomically(self.path, (beginning, _records(keys, vectors).tobytes()))
        self.is_damaged, self._inode, self._read = False, 0, 0

    @property
    def _start(self) -> int:
        return len(self._beginning) + _WIDTH_BYTES


def _record(width: int) -> np.dtype[np.void]:
    return np.dtype([("sum", "<u4"), ("key", "u1", (_KEY_BYTES,)), ("vector", "<f4", (width,))])


def _records(keys: Sequence[bytes], vectors: Vector) -> NDArray[np.void]:
    records = np.empty(len(keys), dtype=_record(vectors.shape[1]))
    records["key"] = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), _KEY_BYTES)
    records["vector"] = vectors
    records["sum"] = [zlib.crc32(row) for row in _summed(records)]
    return records


def _summed(records: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return what a checksum is of: all of a record but itself."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)[:, 4:]
