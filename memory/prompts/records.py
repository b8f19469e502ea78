"""Records of learned prompts: where one belongs, what it was learned from, its tensor and its feature.

A prompt belongs to a pool (the tool), a concept and the fingerprint of the checkpoint that it was tuned on, and is
never used with another. Its id follows from its content, so that learning the same twice stores it once, and whoever
reads it back can tell whether it is still what was stored.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float32]

MAX_VALUES: Final = 4_000_000
"""Numbers in one prompt or feature; the largest of the paper's, 3 x 100 x 1024 for CLIP, has 307,200."""

MAX_TEXT: Final = 4096
"""Characters in a question, an answer, a picture's id or the name of a concept."""

_POOL: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_FINGERPRINT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_DIMENSIONS: Final = (2, 3)


@dataclass(frozen=True)
class PromptOrigin:
    """The question or picture that a prompt was learned from, and the effort it took."""

    question: str = ""
    answer: str = ""
    picture: str = ""
    """The id of the artifact."""
    steps: int = 0
    loss: float = 0.0


@dataclass(frozen=True)
class PromptRow:
    """One learned prompt without its tensors."""

    id: str
    """Sixteen hexadecimal digits of the SHA-256 of the content."""
    pool: str
    """VQA, LOC, SEG, CLIP or REPLACE."""
    concept: str
    """In lower case; empty in the pool VQA, which has no concepts (CLOVA, section 8.1.2)."""
    fingerprint: str
    """The checkpoint that it was tuned on."""
    shape: tuple[int, ...]
    """(P, D) for one place of entry, (L, P, D) for deep prompts."""
    created: str
    """ISO 8601, UTC."""
    source: str
    """Where its data came from: ``library``, ``search``, ``answer``, …"""
    question: str = ""
    answer: str = ""
    picture: str = ""
    steps: int = 0
    loss: float = 0.0


@dataclass(frozen=True, eq=False)
class LearnedPrompt:
    """A prompt ready to be stored, or read back."""

    row: PromptRow
    prompt: Vector
    """Float32 ``row.shape``; all zeros for a case that the tool already got right (CLOVA, section 8.1.2)."""
    feature: Vector
    """Float32 (d,), of length 1."""


@dataclass(frozen=True, eq=False)
class RecalledPrompts:
    """Prompts for one place of entry, nearest first where a feature was given."""

    rows: tuple[PromptRow, ...]
    prompts: Vector
    """Float32 (n, *shape)."""
    features: Vector
    """Float32 (n, d), each of length 1."""

    def __len__(self) -> int:
        return len(self.rows)


def learned_prompt(
    pool: str,
    concept: str,
    *,
    fingerprint: str,
    prompt: ArrayLike,
    feature: ArrayLike,
    source: str = "library",
    lesson: PromptOrigin | None = None,
) -> LearnedPrompt:
    """Make the record of a prompt; equal content gives an equal id, whenever it is made.

    Args:
        pool: The tool that learned: VQA, LOC, SEG, CLIP or REPLACE.
        concept: What was learned; empty in the pool VQA.
        fingerprint: Of the checkpoint that the prompt was tuned on.
        prompt: (P, D) or (L, P, D), finite.
        feature: (d,), finite and not zero; its length is brought to 1.
        source: Where the data came from.
        lesson: The question, answer and picture it was learned from, the steps and the loss.

    Raises:
        BadInput: a name or an array cannot be stored.
    """
    tensor = np.ascontiguousarray(prompt, dtype=np.float32) + np.float32(0)  # no negative zeros
    exact = np.asarray(feature, dtype=np.float64)
    length = float(np.linalg.norm(exact))
    unit = np.ascontiguousarray(exact / length if math.isfinite(length) and length > 0 else exact * np.nan, np.float32)
    row = PromptRow(
        id="",
        pool=pool,
        concept=same_concept(concept),
        fingerprint=fingerprint,
        shape=tuple(tensor.shape),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        source=source,
        **vars(lesson or PromptOrigin()),
    )
    refuse_unstorable(row, tensor, unit)
    return LearnedPrompt(replace(row, id=identity(row, tensor, unit)), tensor, unit)


def same_concept(concept: str) -> str:
    """Return the one spelling under which a concept is stored and looked up."""
    return " ".join(concept.split()).casefold()


def identity(row: PromptRow, prompt: Vector, feature: Vector) -> str:
    """Return the id that follows from a prompt's content: all but when, whence and how hard it was learned."""
    said = [row.pool, row.concept, row.fingerprint, row.question, row.answer, row.picture, list(row.shape)]
    digest = hashlib.sha256(json.dumps(said, ensure_ascii=False).encode())
    for tensor in (prompt, feature):
        digest.update(b"\0")
        digest.update(np.ascontiguousarray(tensor, dtype="<f4").data)
    return digest.hexdigest()[:16]


def refuse_unstorable(row: PromptRow, prompt: Vector, feature: Vector) -> None:
    """Refuse a prompt that could not be stored, found or read back.

    Raises:
        BadInput: a name, a text or an array is not as the records' fields say.
    """
    said = f"The prompt for {row.concept[:40]!r} in the pool {row.pool[:40]!r} cannot be stored"
    reason = _name_trouble(row) or _array_trouble(prompt, feature)
    if reason:
        msg = f"{said}: {reason}."
        raise BadInput(msg)


def row_from_json(fields_given: Any) -> PromptRow:  # noqa: ANN401 - JSON of unknown origin
    """Return the row that a JSON object describes.

    Raises:
        ValueError: a field is missing, unknown or of another type.
    """
    expected = {field.name: _TYPES[str(field.type)] for field in fields(PromptRow)}
    if not isinstance(fields_given, dict) or set(fields_given) != set(expected):
        msg = "the fields of a row are not those of a prompt"
        raise ValueError(msg)
    for name, kinds in expected.items():
        if type(fields_given[name]) not in kinds:
            msg = f"the field {name!r} of a row has another type"
            raise ValueError(msg)
    shape = fields_given["shape"]
    if not all(type(one) is int and 0 < one <= MAX_VALUES for one in shape):
        msg = "the shape of a row is none"
        raise ValueError(msg)
    return PromptRow(**fields_given | {"shape": tuple(shape), "loss": float(fields_given["loss"])})


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "tuple[int, ...]": (list,),
}


def _name_trouble(row: PromptRow) -> str:
    if not _POOL.fullmatch(row.pool):
        return "a pool is named by a letter and up to 31 more letters, digits, - or _"
    if not _FINGERPRINT.fullmatch(row.fingerprint):
        return "a fingerprint has 1 to 64 letters and digits"
    texts = (row.concept, row.question, row.answer, row.picture, row.source, row.created)
    if any(len(text) > MAX_TEXT for text in texts):
        return f"a text has more than {MAX_TEXT} characters"
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return "a text is no valid UTF-8"
    if row.concept != same_concept(row.concept):
        return "its concept is not in the spelling that is looked up"
    return "" if math.isfinite(row.loss) and 0 <= row.steps < 2**31 else "its loss or its steps are no numbers"


def _array_trouble(prompt: Vector, feature: Vector) -> str:
    if prompt.ndim not in _DIMENSIONS or not 0 < prompt.size <= MAX_VALUES:
        return f"its shape {prompt.shape} is neither (vectors, width) nor (layers, vectors, width)"
    if feature.ndim != 1 or not 0 < feature.size <= MAX_VALUES:
        return f"its feature has the shape {feature.shape}, not (d,)"
    if not np.isfinite(prompt).all():
        return "it holds numbers that are not finite"
    length = float(np.linalg.norm(feature))
    if not abs(length - 1) < 1e-3:  # noqa: PLR2004 - also true of NaN
        return "its feature is zero or not finite, so that nothing is near it"
    return ""
