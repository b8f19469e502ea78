"""What tools have learned, as they ask for it: the pool of prompts, seen by the checkpoints of one profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.errors import SnellenError
from tools.tuning import POOLS, Candidates
from tools.vision.loading import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.prompts import PromptPool
    from profiles import Profile


class Recollection:
    """Hands a tool the prompts that belong to the very checkpoint that it runs (``tools.tuning.PromptSource``).

    Args:
        prompts: The memory of prompts.
        profile: Names the checkpoints.
    """

    def __init__(self, prompts: PromptPool, profile: Profile) -> None:
        self._prompts = prompts
        self._profile = profile

    def candidates(
        self, pool: str, concept: str, feature: NDArray[np.float32] | None = None, limit: int | None = None
    ) -> Candidates | None:
        """Prompts of a concept ("" in the pool VQA), nearest to ``feature`` by cosine first; None if there are none."""
        checkpoint = self._fingerprint(pool)
        if checkpoint is None:
            return None
        found = self._prompts.candidates(pool, concept, checkpoint, feature, limit)
        if not len(found):
            return None
        return Candidates(found.prompts, found.features, tuple(row.id for row in found.rows))

    def concepts(self, pool: str) -> frozenset[str]:
        """The concepts that have prompts in a pool."""
        checkpoint = self._fingerprint(pool)
        return frozenset() if checkpoint is None else self._prompts.concepts(pool, checkpoint)

    def _fingerprint(self, pool: str) -> str | None:
        """Which checkpoint is in use; None where nothing was learned in the pool, so that nobody needs to know.

        Tools ask before their checkpoint is loaded, and one that is still to be downloaded has no fingerprint. Nothing
        can have been learned for it either.
        """
        if not self._prompts.fingerprints(pool):
            return None
        try:
            return fingerprint(self._profile, POOLS[pool])
        except SnellenError:
            return None
