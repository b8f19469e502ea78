"""Recall of learned prompts: the pool of prompts as the checkpoints of one profile see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.models.loading import fingerprint
from snellen.tuning import POOLS, Candidates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snellen.memory.prompts import PromptPool
    from snellen.memory.prompts.rows import State
    from snellen.profiles import Profile

_REMEMBERED_BYTES: Final = 256 * 2**20


class PromptRecall:
    """Hands a tool the prompts that belong to the very checkpoint that it runs (``snellen.tuning.PromptSource``).

    Args:
        prompts: The memory of prompts.
        profile: Names the checkpoints.
    """

    def __init__(self, prompts: PromptPool, profile: Profile) -> None:
        self._prompts = prompts
        self._profile = profile
        self._checkpoints: dict[str, str] = {}
        self._remembered: dict[tuple[str, str], tuple[State, Candidates | None]] = {}
        self._bytes = 0
        self._troubles: dict[tuple[str, str, str], State] = {}

    def candidates(
        self, pool: str, concept: str, feature: NDArray[np.float32] | None = None, limit: int | None = None
    ) -> Candidates | None:
        """Prompts of a concept ("" in the pool VQA); None if there are none.

        With a ``limit`` those that were learned from what is most like ``feature``, by cosine, nearest first; without
        one all of them in the order they were learned, read once until something is learned or forgotten.
        """
        checkpoint = self._fingerprint(pool)
        if checkpoint is None:
            return None
        if limit is not None:
            return self._read(pool, concept, checkpoint, feature, limit)
        state, known = self._prompts.state(pool, checkpoint), self._remembered.get((pool, concept))
        if known is not None and known[0] == state:
            return known[1]
        candidates = self._read(pool, concept, checkpoint)
        self._remember((pool, concept), state, candidates)
        return candidates

    def _read(
        self,
        pool: str,
        concept: str,
        checkpoint: str,
        feature: NDArray[np.float32] | None = None,
        limit: int | None = None,
    ) -> Candidates | None:
        candidates = self._prompts.candidates(
            pool, concept, checkpoint, feature, limit, trouble=lambda _: self._note(pool, concept, checkpoint)
        )
        if not len(candidates):
            return None
        return Candidates(candidates.prompts, candidates.features, tuple(row.id for row in candidates.rows))

    def _note(self, pool: str, concept: str, checkpoint: str) -> None:
        self._troubles[pool, concept, checkpoint] = self._prompts.state(pool, checkpoint)

    def troubles(self) -> list[str]:
        """Return what of the learned prompts cannot be read and is done without, in sentences; until it is mended."""
        if self._prompts.trouble is not None:
            return [f"What tools have learned cannot be used, so this went on without it. {self._prompts.trouble}"]
        return [
            f"Some of what {pool} learned{f' of {concept!r}' if concept else ''} is damaged or missing, so this went "
            "on without it: `snellen memory verify` saves what is whole, and names what must be learned again."
            for (pool, concept, checkpoint), state in sorted(self._troubles.items(), key=lambda one: one[0])
            if self._prompts.state(pool, checkpoint) == state
        ]

    def _remember(self, key: tuple[str, str], state: State, candidates: Candidates | None) -> None:
        size = 0 if candidates is None else candidates.prompts.nbytes + candidates.features.nbytes
        if self._bytes + size > _REMEMBERED_BYTES:
            self._remembered.clear()
            self._bytes = 0
        self._remembered[key] = (state, candidates)
        self._bytes += size

    def concepts(self, pool: str) -> frozenset[str]:
        """The concepts that have prompts in a pool."""
        checkpoint = self._fingerprint(pool)
        return frozenset() if checkpoint is None else self._prompts.concepts(pool, checkpoint)

    def _fingerprint(self, pool: str) -> str | None:
        """Which checkpoint is in use; None where nothing was learned in the pool, so that nobody needs to know.

        Tools ask before their checkpoint is loaded, and one that is still to be downloaded has no fingerprint. Nothing
        can have been learned for it either.
        """
        known = self._checkpoints.get(pool)
        if known is not None or not self._prompts.fingerprints(pool):
            return known
        try:
            # What is loaded stays loaded, whatever becomes of its files while this process lives.
            return self._checkpoints.setdefault(pool, fingerprint(self._profile, POOLS[pool]))
        except SnellenError:
            return None
