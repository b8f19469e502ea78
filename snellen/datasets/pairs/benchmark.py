"""A benchmark of pairs as a folder: ``benchmark.json``, ``pairs.jsonl``, and ``pictures/``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from snellen.datasets.benchmark_folders import (
    CHANGED,
    PICTURES,
    checked_head,
    content_of,
    picture_trouble,
    read_head,
    read_rows,
)
from snellen.errors import BadInput
from snellen.scoring.pairs import Condition

VERSION: Final = 1
PAIRS: Final = "pairs.jsonl"
Kind = Literal["identical", "transformed", "irrelevant"]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
File = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,80}\.png$")]
_TRUTHS: Final[dict[Kind, tuple[float, float]]] = {"identical": (10, 10), "transformed": (6, 10), "irrelevant": (1, 1)}


class Pair(BaseModel):
    """Two things that are compared: a picture, and a picture or a text.

    Attributes:
        id: Its name in the benchmark.
        split: What changes in its transformed pairs: `snellen.datasets.pairs.SPLITS`.
        kind: Whether the second is the first, the first changed, or something else.
        original: The picture that it was made of: pairs of one original are no independent evidence.
        first: Its file in ``pictures``.
        second: That of the other picture; empty where it is a text.
        text: The text; empty where it is a picture.
        digests: SHA-256 of the files, in their order.
        template: Which wording of the request it is judged with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    split: str
    kind: Kind
    original: str
    first: File
    second: File | Literal[""] = ""
    text: Annotated[str, StringConstraints(max_length=2_000)] = ""
    digests: list[Digest]
    template: int = Field(ge=0, le=4)

    @property
    def files(self) -> list[str]:
        """Its pictures."""
        return [name for name in (self.first, self.second) if name]


class PairBenchmarkHeader(BaseModel):
    """The header of a benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    source: str
    kind: str
    seed: int
    originals: int
    rows: int
    content: str = ""


@dataclass(frozen=True)
class PairBenchmark:
    """A benchmark that was read.

    Attributes:
        folder: Where it is.
        source: What its originals are.
        seed: That it was built from.
        pairs: Those that can be used.
        left_out: Why others cannot, in sentences that name the row.
    """

    folder: Path
    source: str
    seed: int
    pairs: Sequence[Pair]
    left_out: Sequence[str]

    def picture(self, name: str) -> Path:
        """Return the place of a picture."""
        return self.folder / PICTURES / name


def truth(kind: Kind, condition: Condition) -> float:
    """Return the score that a pair should have (section 2.1): 10, 6 or 1 where the change counts, else 10, 10 or 1."""
    return _TRUTHS[kind][condition == "invariant"]


def read_benchmark(folder: Path) -> PairBenchmark:
    """Read a benchmark, and see that it is as it was built.

    Args:
        folder: Where it was built.

    Returns:
        It; rows that cannot be used are left out and told.

    Raises:
        BadInput: It is none, it is not finished, it is of another version, or no row of it can be used.
    """
    head = checked_head(folder, read_head(folder, (PAIRS,), kind="pairs", version=VERSION), PairBenchmarkHeader)
    pairs: dict[str, Pair] = {}
    left_out: list[str] = []
    for number, pair in read_rows(folder / PAIRS, Pair, left_out):
        trouble = f"there is another {pair.id!r} before it" if pair.id in pairs else _broken(folder, pair)
        if trouble:
            left_out.append(f"Row {number} of {PAIRS} is left out: {trouble}.")
        else:
            pairs[pair.id] = pair
    rows = len(pairs) + len(left_out)
    if rows != head.rows:
        left_out.insert(0, f"{PAIRS} has {rows} rows, not the {head.rows} that were built.")
    if head.content and head.content != content_of(folder, (PAIRS,)):
        left_out.append(CHANGED)
    if not pairs:
        msg = f"The benchmark in {folder} has no usable row. {' '.join(left_out[:3])}"
        raise BadInput(msg)
    return PairBenchmark(folder, head.source, head.seed, list(pairs.values()), left_out)


def _broken(folder: Path, pair: Pair) -> str:
    """Say what is wrong with the files of a pair."""
    if bool(pair.second) == bool(pair.text) or len(pair.digests) != len(pair.files):
        return "it needs two pictures, or a picture and a text, with the digest of each picture"
    troubles = (picture_trouble(folder, name, known) for name, known in zip(pair.files, pair.digests, strict=True))
    return next(filter(None, troubles), "")
