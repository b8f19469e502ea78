"""Parts of a lookup among learned prompts: the feature that is asked for, the prompts that can be read, the result."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from snellen.errors import BadInput
from snellen.memory.prompts import rows as table
from snellen.memory.prompts.records import LearnedPrompt, RecalledPrompts
from snellen.memory.prompts.rows import PromptDamaged, PromptSelection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from snellen.memory.database_library import Database

    Vector = NDArray[np.float32]


def whole(rows: Database, selection: PromptSelection, asked: Vector | None) -> list[LearnedPrompt]:
    """Return the prompts that can be read, nearest first where something is asked: each one is."""
    whole = []
    for number in table.numbers_of(rows, selection).tolist():
        with suppress(PromptDamaged, sqlite3.DatabaseError):
            whole += [one.learned() for one in table.stored_by_number(rows, [number])]
    if asked is not None:
        whole.sort(key=lambda one: (-_score(one.feature, asked), one.row.id))
    return whole


def recalled(prompts: Sequence[LearnedPrompt]) -> RecalledPrompts:
    """Return prompts as a lookup hands them out."""
    if not prompts:
        nothing: Vector = np.empty((0, 0), dtype=np.float32)
        return RecalledPrompts((), nothing, nothing)
    return RecalledPrompts(
        rows=tuple(one.row for one in prompts),
        prompts=np.stack([one.prompt for one in prompts]),
        features=np.stack([one.feature for one in prompts]),
    )


def _score(feature: Vector, asked: Vector) -> float:
    return float((feature.astype(np.float64) * asked.astype(np.float64)).sum())


def unit(feature: Vector, dimension: int, pool: str) -> Vector:
    """Return a feature as a unit vector.

    Raises:
        BadInput: it has another length than those of the pool, or is not finite.
    """
    asked = np.asarray(feature, dtype=np.float64)
    if asked.shape != (dimension,) or not np.isfinite(asked).all():
        msg = f"The pool {pool} is searched by {dimension} finite numbers, not by an array of shape {asked.shape}."
        raise BadInput(msg)
    length = float(np.linalg.norm(asked))
    return (asked / (length or 1.0)).astype(np.float32)
