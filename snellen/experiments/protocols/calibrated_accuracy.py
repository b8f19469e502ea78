"""Accuracy of calibrated choices: how often a model would be right if it preferred no answer whatever it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from snellen.models.under_test import Ranking
from snellen.scoring import calibrated_choices, wilson_interval

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.memory.samples import Sample
    from snellen.memory.trials import Trial


def calibrated_accuracy(
    design: Design, trials: Mapping[Sample, Trial], samples: Sequence[Sample]
) -> tuple[float, float, float, float] | None:
    """Return how often calibrated choices about samples are right.

    Args:
        design: Of the experiment.
        trials: What a model said about each sample, with a score for each choice of the design.
        samples: Those that count.

    Returns:
        The share, its interval (Wilson, 95 %), and the most that it could be without any preferences: 1 where that is
        not known, as choices have names that are drawn for each picture and may be preferred, too, or several are
        right. None where answers were parsed or not all have scores, or where scores do not depend on the picture.
    """
    known = [trials[sample] for sample in samples if sample in trials]
    if len(known) < len(samples) or any(one.basis not in {"tokens", "similarity"} for one in known):
        return None
    choices, answers = design.choices, [design.arms[sample.arm].answer for sample in samples]
    scores = [Ranking(one.scores).means for one in known]
    found = calibrated_choices(scores, list(map(choices.index, answers)))
    if found is None:
        return None
    right = sum(map(design.is_right, [choices[place] for place in found.places], answers))
    span = wilson_interval(right, len(answers))
    is_known = not (design.of_places or design.kinds or any("[" in choice for choice in choices))
    return right / len(answers), span.low, span.high, found.most if is_known else 1.0
