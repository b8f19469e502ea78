"""Constant answers: a model that says the same of every picture fails at the question, whatever it may see.

Such a failure of form is told for itself and never decides that a model cannot do something: the same question in other
words, or another one, has to. Where a model has scores, these decide, too: with what it prefers taken out of them
(`snellen.scoring.calibrated_choices`) it tells the answers apart, or does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import PLACES

if TYPE_CHECKING:
    from snellen.experiments.report import Experiment, Finding, Result

LEAST_SHARE: Final = 0.95
"""The share of a model's answers from which on one of them is constant."""
_LEAST: Final = 12
"""Answers below which nothing is called constant."""


@dataclass(frozen=True)
class ConstantAnswer:
    """An answer that a model gives whatever it is shown.

    Attributes:
        answer: The answer.
        times: How often it was given.
        n: The number of answers.
    """

    answer: str
    times: int
    n: int

    def __str__(self) -> str:
        """Tell it after the name of the model."""
        pictures = f"{self.times} of {self.n} pictures, whatever they show"
        if self.answer in PLACES:
            return f"chooses {self.answer} name for {pictures}"
        return f"answers “{self.answer}” to {pictures}"


def constant_answer(result: Result, least: float = LEAST_SHARE) -> ConstantAnswer | None:
    """Return the answer that a model gives to nearly all pictures, whichever is right; None where it has none.

    Args:
        result: Of one model in one condition; those of older versions do not say what was answered.
        least: The share of its answers that is nearly all.
    """
    said: dict[str, int] = {}
    for row in result.confusion.values():
        for answer, times in row.items():
            said[answer] = said.get(answer, 0) + times
    n = sum(said.values())
    if n < _LEAST or len(result.confusion) < 2:  # noqa: PLR2004 - with one right answer, the same one is right
        return None
    answer = max(said, key=lambda each: said[each])
    return ConstantAnswer(answer, said[answer], n) if answer and said[answer] >= least * n else None


@dataclass(frozen=True)
class FailedForm:
    """The form of a model's answers to a question that it failed at.

    Attributes:
        constant: The answer that it gives whatever it is shown; None where it has none.
        calibrated: How often it is right with what it prefers taken out of its scores, as `Result.calibrated` has it;
            None where that is not known.
        bar: How often it should be right.
    """

    constant: ConstantAnswer | None
    calibrated: tuple[float, float, float, float] | None
    bar: float

    @property
    def would_pass(self) -> bool:
        """True where it would be right often enough if it preferred nothing."""
        return self.calibrated is not None and self.calibrated[1] > self.bar

    @property
    def would_fail(self) -> bool:
        """True where it would not, whichever preferences were taken out."""
        return self.calibrated is not None and max(self.calibrated[2:]) < self.bar

    def __str__(self) -> str:
        """Tell what its scores say, after what its answers do; empty where that is nothing new."""
        if self.calibrated is None or not (self.would_pass or (self.constant and self.would_fail)):
            return ""
        share, low, high, _ = (f"{100 * each:.0f}" for each in self.calibrated)
        joined = "but" if self.would_pass else "and"
        return f", {joined} with what it prefers taken out of its scores it is right in {share} % ({low} to {high})"


def preference_told(result: Result) -> str:
    """Tell that a model would be right clearly more often without what it prefers; empty where it would not."""
    if result.calibrated is None or result.calibrated[1] <= result.average:
        return ""
    shares = f"{100 * result.average:.0f} %", f"{100 * result.calibrated[0]:.0f} %"
    return f"is right in {shares[0]}, and with what it prefers taken out of its scores in {shares[1]}"


def failed_form(found: Finding, experiment: Experiment, *, exact: bool) -> FailedForm:
    """Return the form of the answers of a model in the condition of a claim that it failed at.

    Args:
        found: The claim.
        experiment: The experiment.
        exact: Whether a share is claimed: how often a model is right then counts, not why.
    """
    claim = found.claim
    of = [one for one in experiment.results if one.model == claim.model and one.plain == (claim.kind == "plain")]
    calibrated = of[0].calibrated if of and claim.kind == "ability" and not exact else None
    return FailedForm(next(map(constant_answer, of), None), calibrated, claim.threshold)
