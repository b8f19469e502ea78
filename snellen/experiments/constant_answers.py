"""Constant answers: a model that says the same of every picture fails at the question, whatever it may see.

Such a failure of form is told for itself and never decides that a model cannot do something: the same question in other
words, or another one, has to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import PLACES

if TYPE_CHECKING:
    from snellen.experiments.design import Claim
    from snellen.experiments.report import Experiment, Result

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


def constant_answer_to(claim: Claim, experiment: Experiment) -> ConstantAnswer | None:
    """Return the constant answer of the model that a claim is about, in the condition that the claim is about."""
    of = (one for one in experiment.results if one.model == claim.model and one.plain == (claim.kind == "plain"))
    return next(map(constant_answer, of), None)
