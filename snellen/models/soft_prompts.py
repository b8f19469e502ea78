"""Soft prompts at inference: where they come from, and how several become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snellen.profiles import ModelKey

POOLS: dict[str, ModelKey] = {"VQA": "vqa", "LOC": "loc", "CLIP": "clip", "SEG": "seg", "REPLACE": "replace"}
"""The pools of prompts, and the model each belongs to. SELECT and CLASSIFY share CLIP: one encoder, one knowledge."""

POOL_OF_TOOL = {
    "VQA": "VQA", "LOC": "LOC", "SELECT": "CLIP", "CLASSIFY": "CLIP", "SEG": "SEG", "REPLACE": "REPLACE",
}  # fmt: skip
"""From the tools that programs call to the pool each learns in."""


@dataclass(frozen=True)
class Candidates:
    """Prompts learned for one concept.

    Attributes:
        prompts: ``(n, *shape)`` float32, one prompt an instance.
        features: ``(n, d)`` float32, what the tool saw when each was learned.
        ids: Their names, by which what was computed from a prompt is remembered.
    """

    prompts: NDArray[np.float32]
    features: NDArray[np.float32]
    ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: NDArray[np.intp]) -> Candidates:
        """Some of the candidates, in the order of ``rows``."""
        return Candidates(self.prompts[rows], self.features[rows], tuple(self.ids[int(row)] for row in rows))


class PromptSource(Protocol):
    """Source that a tool asks for prompts; it knows whose checkpoint they belong to."""

    def candidates(
        self, pool: str, concept: str, feature: NDArray[np.float32] | None = None, limit: int | None = None
    ) -> Candidates | None:
        """Prompts of a concept ("" in the pool VQA); with a ``limit`` those nearest to ``feature`` by cosine.

        None if there are none.
        """

    def concepts(self, pool: str) -> frozenset[str]:
        """The concepts that have prompts in a pool."""

    def troubles(self) -> list[str]:
        """Prompts that cannot be read, in sentences: tools go on without it."""


def cosines(features: NDArray[np.float32], feature: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine similarity of each row ``(n, d)`` with one feature ``(d,)``; 0 where either is all zeros."""
    import numpy as np

    lengths = np.linalg.norm(features, axis=1) * np.linalg.norm(feature)
    similar: NDArray[np.float32] = np.divide(
        features @ feature, lengths, out=np.zeros(len(features), dtype=np.float32), where=lengths > 0
    )
    return similar


def ensemble(candidates: Candidates, feature: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """One prompt from several: their mean, weighted by how similar what they were learned from is (CLOVA section 3.4).

    ``p' = Σ w_i p_i / Σ w_i`` with the cosine similarities as weights. Negative ones count as 0; where all are 0, the
    plain mean is taken.

    Returns:
        The prompt; None when it is all zeros (or there are no candidates), which means that nothing is injected.
    """
    import numpy as np

    if not len(candidates):
        return None
    weights = np.maximum(cosines(candidates.features, feature), 0.0).astype(np.float64)
    if not weights.any():
        weights = np.ones(len(weights))
    mean = np.tensordot(weights / weights.sum(), candidates.prompts, axes=1).astype(np.float32)
    return mean if mean.any() else None


def similar_enough(candidates: Candidates, feature: NDArray[np.float32], *, least: float) -> Candidates:
    """The candidates whose features have at least this cosine similarity with ``feature``."""
    import numpy as np

    return candidates.take(np.flatnonzero(cosines(candidates.features, feature) >= least))
