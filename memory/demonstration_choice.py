"""A varied choice among demonstrations: near in wording, different in what they show.

Maximal marginal relevance (Carbonell and Goldstein, 1998): each next one is the most relevant that repeats least of
what is chosen already. Relevance is the cosine of the instructions; what a demonstration repeats is told by its
subjects, the constructs of the language that it uses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

VARIETY: Final = 0.05
"""The cosine that a demonstration loses which uses exactly the constructs of one that is chosen already."""
CONCERN: Final = 0.3
"""The cosine that a mistake gains which concerns exactly the constructs of a right demonstration beside it."""
SAME_FAILURE: Final = 0.3
"""The cosine that a mistake gains which failed as the program in question did."""


@dataclass(frozen=True)
class Candidate:
    """A demonstration that may be chosen.

    Attributes:
        cosine: Of its instruction with the one in question.
        subjects: The constructs of the language that it is about.
        is_mistake: Whether it shows how not to do it.
        failure: How it failed, where that was noted.
    """

    cosine: float
    subjects: frozenset[str]
    is_mistake: bool = False
    failure: str = ""


def shared(one: Collection[str], other: Collection[str]) -> float:
    """Return the share in [0, 1] of all subjects that both have (Jaccard's index); 0 where there are none."""
    everything = {*one, *other}
    return len(set(one) & set(other)) / len(everything) if everything else 0.0


def varied(candidates: Sequence[Candidate], relevance: Sequence[float], count: int) -> list[int]:
    """Choose demonstrations that are relevant and unlike each other.

    Args:
        candidates: What there is to choose from.
        relevance: Of each; the most relevant is always chosen.
        count: At most so many.

    Returns:
        The places of the chosen ones, by falling relevance.
    """
    left = sorted(range(len(candidates)), key=lambda place: -relevance[place])
    repeated = dict.fromkeys(left, 0.0)
    chosen: list[int] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda place: relevance[place] - VARIETY * repeated[place])
        left.remove(best)
        chosen.append(best)
        for place in left:
            repeated[place] = max(repeated[place], shared(candidates[place].subjects, candidates[best].subjects))
    return sorted(chosen, key=lambda place: -relevance[place])


def relevances(candidates: Sequence[Candidate], beside: Sequence[Collection[str]], failure: str) -> list[float]:
    """Return how much each has to say: the nearness of its wording, and for a mistake what it warns of.

    Args:
        candidates: The demonstrations.
        beside: The subjects of the right ones that they would be shown beside.
        failure: How the program in question failed; empty where none did.
    """
    return [_of_mistake(one, beside, failure) if one.is_mistake else one.cosine for one in candidates]


def _of_mistake(candidate: Candidate, beside: Sequence[Collection[str]], failure: str) -> float:
    concern = max((shared(candidate.subjects, subjects) for subjects in beside), default=0.0)
    fails_alike = bool(failure) and candidate.failure == failure
    return candidate.cosine + CONCERN * concern + SAME_FAILURE * fails_alike
