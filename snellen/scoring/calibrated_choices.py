"""Calibrated choices: what a model would choose if it preferred no answer whatever it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_NOTHING = 1e-9
"""Scores that differ by less do not differ."""
_ROUNDS = 3
"""How often the scores of each answer are shifted; between two answers once would do."""


@dataclass(frozen=True)
class CalibratedChoices:
    """Choices without what a model prefers.

    Attributes:
        places: The place of the chosen answer for each picture.
        most: The share of right answers if those preferences are taken out without which it is right most often: more
            than it would reach with other pictures.
    """

    places: Sequence[int]
    most: float


def calibrated_choices(scores: Sequence[Sequence[float]], right: Sequence[int]) -> CalibratedChoices | None:
    """Return the choices by scores less the mean score of each answer.

    A model that says "left" to every picture may still find "right" likelier where that is right than elsewhere. The
    means are taken over the right answers and not over pictures, so that it does not matter how often each is right;
    this stands for the input without content of Zhao et al. 2021 ("Calibrate before use", section 5).

    Args:
        scores: Of each picture, one for each answer: log-probabilities or similarities.
        right: The place of the right answer of each picture.

    Returns:
        The choices; None where fewer than two answers are ever right, where a score is no number, or where scores do
        not depend on the picture.
    """
    table, places = np.asarray(scores, dtype=np.float64), np.asarray(right)
    answers = np.unique(places)
    if len(answers) < 2 or not np.isfinite(table).all():  # noqa: PLR2004 - between two answers one can choose
        return None
    means = np.mean([table[places == answer].mean(axis=0) for answer in answers], axis=0)
    centered, wanted = (table - means)[:, answers], np.searchsorted(answers, places)
    if np.ptp(centered, axis=0).max() < _NOTHING:
        return None
    said = [int(place) for place in answers[centered.argmax(axis=1)]]
    return CalibratedChoices(said, _most_right(centered, wanted))


def _most_right(scores: NDArray[np.float64], wanted: NDArray[np.intp]) -> float:
    """Return the share of right answers after the best shifts that are found, of one answer's scores after another's.

    Args:
        scores: Shape (pictures, answers).
        wanted: The right answer of each picture, shape (pictures,).
    """
    scores = scores.copy()
    best = float((scores.argmax(axis=1) == wanted).mean())
    for answer in [*range(scores.shape[1])] * _ROUNDS:
        others = np.delete(np.arange(scores.shape[1]), answer)
        rivals = scores[:, others]
        margins = rivals.max(axis=1) - scores[:, answer]  # an answer is chosen that is shifted by more
        order = np.argsort(margins)
        kept = others[rivals.argmax(axis=1)] == wanted
        right = np.concatenate(([0], np.cumsum((wanted == answer)[order].astype(int) - kept[order]))) + kept.sum()
        ends = np.concatenate(([margins[order[0]] - 1], margins[order], [margins[order[-1]] + 1]))
        right[ends[1:] - ends[:-1] < _NOTHING] = -1  # equal margins are passed together
        chosen = int(right.argmax())
        scores[:, answer] += (ends[chosen] + ends[chosen + 1]) / 2
        best = max(best, float(right[chosen]) / len(wanted))
    return best
