"""Metrics of multiple choice: accuracy by class, abstention, confusion, informedness (APEX, section 3.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Chosen:
    """One answer.

    Attributes:
        truth: The right choice.
        said: The choice that was made; None where the model gave no usable answer, which is wrong.
    """

    truth: str
    said: str | None


@dataclass(frozen=True)
class ChoiceMetrics:
    """Metrics of answers to one question.

    Attributes:
        n: How many answers there are.
        average: The mean of the accuracies of the classes, so that no class counts for more than another.
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
    by_class: dict[str, float]
    abstention: float | None
    invalid: float
    informedness: float | None
    confusion: dict[str, dict[str, int]]


def choice_metrics(answers: Sequence[Chosen], choices: Sequence[str], *, unknown: str | None = None) -> ChoiceMetrics:
    """Measure answers to one question; an interval of the average comes from `snellen.scoring.confidence_interval`.

    Args:
        answers: What was answered; classes without answers are left out of every mean.
        choices: All choices, "unknown" included where it is one.
        unknown: The choice that is an abstention; it is no class, whatever the truth.

    Returns:
        The metrics; an average of 0 for no answers.

    Raises:
        ValueError: A right choice, or one that was made, is not among the choices.
    """
    classes = [choice for choice in choices if choice != unknown]
    strangers = {answer.truth for answer in answers} - set(classes)
    strangers |= {answer.said for answer in answers if answer.said is not None} - set(choices)
    if strangers:
        msg = f"{min(strangers)!r} is none of the choices {list(choices)}"
        raise ValueError(msg)
    confusion = Counter((answer.truth, answer.said or "") for answer in answers)
    of = Counter(answer.truth for answer in answers)
    seen = [name for name in classes if of[name]]
    by_class = {name: confusion[name, name] / of[name] for name in seen}
    share = len(answers) or 1
    return ChoiceMetrics(
        n=len(answers),
        average=sum(by_class.values()) / len(by_class) if by_class else 0.0,
        by_class=by_class,
        abstention=None if unknown is None else sum(answer.said == unknown for answer in answers) / share,
        invalid=sum(answer.said is None for answer in answers) / share,
        informedness=_informedness(confusion, of, seen),
        confusion={
            name: {choice: confusion[name, choice] for choice in [*choices, ""] if confusion[name, choice]}
            for name in seen
        },
    )


def _informedness(confusion: Counter[tuple[str, str]], of: Counter[str], classes: Sequence[str]) -> float | None:
    if len(classes) < 2:  # noqa: PLR2004 - with one class there is nothing to take it for
        return None
    gained = []
    for name in classes:
        others = [other for other in classes if other != name]
        false = sum(confusion[other, name] for other in others) / sum(of[other] for other in others)
        gained.append(confusion[name, name] / of[name] - false)
    return sum(gained) / len(gained)
