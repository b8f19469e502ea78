"""A question that an earlier answer suggested: the best of ten equal models against the worst, after an overview."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from snellen.memory.picture_ledger import Ledger, LedgerQuestion
from snellen.scoring import Observations, evidence, share_errors

MODELS: Final = [f"model-{number}" for number in range(10)]
ALPHA: Final = 0.05
RUNS: Final = 400
OVERVIEW: Final = 100
"""Pictures of the overview."""
FIRST, STEP = 12, 8
"""When investigations look at the evidence: after so many pictures first, then after so many more or a sixth."""
MOST: Final = 200
"""Pictures of the question that it suggests, at most."""


def answers(seed: int) -> np.ndarray:
    """Return which models are right about which pictures of a seed, shape (models, pictures): all equally often."""
    return np.asarray(np.random.default_rng(seed).random((len(MODELS), MOST)) < 0.75, dtype=float)


def looks() -> Iterator[int]:
    """Yield after how many pictures evidence is looked at."""
    n = FIRST
    while n <= MOST:
        yield n
        n += max(STEP, n // 10)


def is_decided(differences: np.ndarray) -> bool:
    """Tell whether any look at the differences of two equal models says that one is better, which is wrong."""
    strengths = (evidence(Observations.independent(differences[:n]), 0.0, low=-1.0).of_difference for n in looks())
    return any(share_errors([strength], alpha=ALPHA).decided[0] for strength in strengths)


def wrong_share(folder: Path, *, same_pictures: bool) -> float:
    """Return how often the best of an overview is called better than its worst."""
    ledger, wrong = Ledger(folder), 0
    for run in range(RUNS):
        overview = LedgerQuestion(f"Can models recognize birds, {run}?", dict.fromkeys(MODELS, ""), "choice", "world")
        seed = ledger.open(overview, f"overview-{run}").seed
        means = answers(seed)[:, :OVERVIEW].mean(axis=1)
        best, worst = int(means.argmax()), int(means.argmin())
        named = dict.fromkeys((MODELS[best], MODELS[worst]), "")
        chosen = LedgerQuestion(
            f"Is {MODELS[best]} better than {MODELS[worst]} at birds, {run}?", named, "choice", "world"
        )
        found = ledger.open(chosen, f"chosen-{run}", seed if same_pictures else None)
        assert bool(found.informed) == same_pictures
        pictures = answers(found.seed)
        wrong += is_decided(pictures[best] - pictures[worst])
    return wrong / RUNS


@pytest.mark.slow
def test_fresh_pictures_keep_the_error_rate_that_the_same_ones_break(tmp_path: Path) -> None:
    for name in ("same", "fresh"):
        (tmp_path / name).mkdir()
    assert wrong_share(tmp_path / "same", same_pictures=True) > 2 * ALPHA
    assert wrong_share(tmp_path / "fresh", same_pictures=False) <= ALPHA
