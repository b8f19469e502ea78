"""Headlines of questions that ask for how many models something holds: "any of the models", "all of them", "how many".

What is not decided of a model may still turn out either way. The answer is given where it is the same whichever way:
yes to "any" once one is a yes, no to "all" once one is a no. A verdict about any one of so many models then answers the
question, so each of them has to bear its error rate divided by their number (`Claim.one_of`): where at most k - 1 of m
hold, k yeses need one that is wrong, and all of them together err at most at the rate of the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.echo import question_in_words

if TYPE_CHECKING:
    from snellen.reasoning.queries.model_query import ModelQuestion
    from snellen.reasoning.queries.quantifiers import Quantifier


def quantified_headline(question: ModelQuestion, quantifier: Quantifier, said: Mapping[str, str]) -> str:
    """Answer for how many models something holds.

    Args:
        question: The question, with the models that it names.
        quantifier: Its quantifier.
        said: For each model ``yes``, ``no``, or what else is said of it: ``not decided``, ``cannot be said``.
    """
    fewest = sum(each == "yes" for each in said.values())
    numbers = range(fewest, len(said) - sum(each == "no" for each in said.values()) + 1)
    if quantifier.how == "how many":
        answer = f"{'' if len(numbers) == 1 else f'{fewest} to '}{numbers[-1]} of {len(said)}"
    else:
        holds = {quantifier.holds(number, len(said)) for number in numbers}
        answer = "Not decided" if len(holds) > 1 else "Yes" if True in holds else "No"
    return f"{question_in_words(question)} {answer}: {_of_whom(said)}."


def _of_whom(said: Mapping[str, str]) -> str:
    """Say for whom it holds, for whom not, and of whom neither is known."""
    kinds = list(dict.fromkeys(("yes", "no", *said.values())))
    whom = {kind: [name for name, one in said.items() if one == kind] for kind in kinds}
    yes, no = whom.pop("yes"), whom.pop("no")
    everyone = f"all {len(said)}" if len(said) > 1 else listing(list(said))
    held = f"it holds for {everyone if len(yes) == len(said) else listing(yes)}" if yes else ""
    failed = f"it does not hold for {everyone if len(no) == len(said) else listing(no)}" if no else ""
    return "; ".join(filter(None, [held, failed, *(f"{kind} for {listing(names)}" for kind, names in whom.items())]))
