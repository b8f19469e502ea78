"""The index file of earlier versions, which held the vectors of the demonstrations by the numbers of their rows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

EARLIER_INDEX: Final = "demonstrations.faiss"

_MAGIC: Final = b"snellen-index-1\n"
_DIGEST_BYTES: Final = 32


def read_earlier(path: Path, embedding: str) -> dict[int, NDArray[np.float32]]:
    """Read the vectors of an index file by row; none, where it is missing, damaged or of another embedding."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    start = len(_MAGIC) + _DIGEST_BYTES
    # The digest is compared first: faiss trusts the sizes it reads, and a damaged file could crash the process.
    digest = hashlib.sha256(embedding.encode() + b"\n" + content[start:]).digest()
    if content[:start] != _MAGIC + digest:
        return {}
    import faiss

    index = faiss.deserialize_index(np.frombuffer(content[start:], dtype=np.uint8))
    numbers = faiss.vector_to_array(index.id_map).tolist()
    vectors = faiss.downcast_index(index.index).reconstruct_n(0, index.ntotal)
    return dict(zip(numbers, vectors, strict=True))
