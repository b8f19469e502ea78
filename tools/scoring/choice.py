"""How well answers were chosen: accuracy by class, abstention, confusion, informedness (APEX, section 3.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tools.scoring.accuracy import wilson_interval
from tools.scoring.interval import Interval


@dataclass(frozen=True)
class Chosen:
    """One answer.

    Attributes:
        truth: The right choice.
        said: The choice that was made; None where the model gave no usable answer, which is wrong.
        cluster: What it shares its picture with: answers of one source picture vary together.
    """

    truth: str
    said: str | None
    cluster: str = ""


@dataclass(frozen=True)
class ChoiceMetrics:
    """What answers to one question show.

    Attributes:
        n: How many answers there are.
        average: The mean of the accuracies of the classes, so that no class counts for more than another.
        interval: Of the average, 95 %, by bootstrap over clusters.
        by_class: The accuracy of each class; an abstention is not right.
        abstention: The share of answers that were "unknown"; None where that was no choice.
        invalid: The share of answers that were none.
        informedness: The mean over the classes of the share of its pictures that are called by its name, less that of
            the others (Powers 2003; Udandarao et al. 2024): 0 for guessing of any kind, 1 for always right; None with
            fewer than two classes.
        confusion: How often each right choice (first) was answered with each choice (second; "" where there was none).
    """

    n: int
    average: float
    interval: Interval
    by_class: dict[str, float]
    abstention: float | None
    invalid: float
    informedness: float | None
    confusion: dict[str, dict[str, int]]


def choice_metrics(
    answers: Sequence[Chosen], choices: Sequence[str], *, unknown: str | None = None, seed: int = 0
) -> ChoiceMetrics:
    """Measure answers to one question.

    Args:
        answers: What was answered; classes without answers are left out of every mean.
        choices: All choices, "unknown" included where it is one.
        unknown: The choice that is an abstention; it is no class, whatever the truth.
        seed: Of the bootstrap.

    Returns:
        The metrics; an average of 0 with the interval (0, 1) for no answers.

    Raises:
        ValueError: A right choice, or one that was made, is not among the choices.
    """
    classes = [choice for choice in choices if choice != unknown]
    strangers = {answer.truth for answer in answers} - set(classes)
    strangers |= {answer.said for answer in answers if answer.said is not None} - set(choices)
    if strangers:
        msg = f"{min(strangers)!r} is none of the choices {list(choices)}"
        raise ValueError(msg)
    said = Counter((answer.truth, answer.said or "") for answer in answers)
    of = Counter(answer.truth for answer in answers)
    seen = [name for name in classes if of[name]]
    by_class = {name: said[name, name] / of[name] for name in seen}
    share = len(answers) or 1
    return ChoiceMetrics(
        n=len(answers),
        average=sum(by_class.values()) / len(by_class) if by_class else 0.0,
        interval=_macro_interval(answers, seen, seed=seed),
        by_class=by_class,
        abstention=None if unknown is None else sum(answer.said == unknown for answer in answers) / share,
        invalid=sum(answer.said is None for answer in answers) / share,
        informedness=_informedness(said, of, seen),
        confusion={
            name: {choice: said[name, choice] for choice in [*choices, ""] if said[name, choice]} for name in seen
        },
    )


def _informedness(said: Counter[tuple[str, str]], of: Counter[str], classes: Sequence[str]) -> float | None:
    if len(classes) < 2:  # noqa: PLR2004 - with one class there is nothing to take it for
        return None
    gained = []
    for name in classes:
        others = [other for other in classes if other != name]
        false = sum(said[other, name] for other in others) / sum(of[other] for other in others)
        gained.append(said[name, name] / of[name] - false)
    return sum(gained) / len(gained)


def _macro_interval(
    answers: Sequence[Chosen], classes: Sequence[str], *, seed: int, level: float = 0.95, resamples: int = 2000
) -> Interval:
    """Draw whole clusters with replacement; a class that a sample lacks is left out of its mean.

    Where all of each class were right, or all wrong, every sample is alike: so the interval is at least that of the
    mean of independent shares (Zou and Donner 2008, from the interval of each by Wilson).
    """
    if not answers:
        return Interval(0.0, 1.0)
    clusters = {name: place for place, name in enumerate(dict.fromkeys(answer.cluster for answer in answers))}
    columns = {name: place for place, name in enumerate(classes)}
    right = np.zeros((len(clusters), len(classes)))
    total = np.zeros_like(right)
    for answer in answers:
        place = clusters[answer.cluster], columns[answer.truth]
        total[place] += 1
        right[place] += answer.said == answer.truth
    drawn = np.random.default_rng(seed).multinomial(
        len(clusters), np.full(len(clusters), 1 / len(clusters)), size=resamples
    )
    of = drawn @ total
    share = np.divide(drawn @ right, of, out=np.zeros((resamples, len(classes))), where=of > 0)
    means = share.sum(axis=1) / np.maximum((of > 0).sum(axis=1), 1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    shares = right.sum(axis=0) / total.sum(axis=0)
    spans = [
        wilson_interval(int(hits), int(of), level=level)
        for hits, of in zip(right.sum(axis=0), total.sum(axis=0), strict=True)
    ]
    below = math.hypot(*(share - span.low for share, span in zip(shares, spans, strict=True))) / len(classes)
    above = math.hypot(*(span.high - share for share, span in zip(shares, spans, strict=True))) / len(classes)
    mean = float(shares.mean())
    return Interval(max(min(float(low), mean - below), 0.0), min(max(float(high), mean + above), 1.0))
