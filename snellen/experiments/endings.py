"""Endings of investigations: which part of a budget is used up, and what would decide what is left undecided."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.experiments.decisions import is_worth_more, likely_decided, next_error_rate, spent
from snellen.reasoning.language.inflection import listing
from snellen.sentences import capitalized

if TYPE_CHECKING:
    from snellen.experiments.report import Experiment, Finding, Report

_PROBABLY: Final = 0.8
"""The probability from which on so many pictures decide a claim probably."""
_ENDLESS: Final = 100_000
"""Pictures that nobody makes for one claim."""
_OLDER: Final = "(Read while it ran, from figures that have changed since.) "
_STEP: Final = 1.1
"""Numbers of pictures are tried in steps of so much: what is told has two digits."""


@dataclass(frozen=True)
class Ending:
    """The ending of a report.

    Attributes:
        why: Why it ended although something was open, in a clause; empty where nothing was.
        further: The fields of a budget with which that would probably be decided.
        error_rate: At which the next claim would be decided.
        most: How many pictures one decision may take; further budgets are for those that take no more.
    """

    why: str
    further: Mapping[str, int]
    error_rate: float
    most: int

    @property
    def instead(self) -> str:
        """The budget that would do instead, in a clause."""
        words = {"images": "pictures", "trials": "questions to models"}
        named = [f"{number:,} {words.get(name, name)}" for name, number in self.further.items() if name != "decision"]
        return f"a budget of {listing(named)} would do" if named else ""


def used_up(report: Report, tokens: float = 0) -> str:
    """Say, in a clause, which part of the budget ends an investigation as it is used up; empty while none is.

    Args:
        report: The report so far.
        tokens: Those of the chat model that designs and discusses.
    """
    budget = report.budget
    left = budget.images - report.images
    if left < min((len(one.design.arms) for one in report.experiments), default=1):
        return f"all {budget.images:,} pictures are used up" if left < 1 else too_few_left(report)
    if budget.tokens and tokens >= budget.tokens:
        return f"the {budget.tokens:,} tokens are used up"
    return spent(report)


def too_few_left(report: Report) -> str:
    """Say that the pictures which are left are fewer than any experiment has kinds of pictures."""
    budget = report.budget
    return f"all {budget.images:,} pictures but {budget.images - report.images:,} are used up, too few to go on with"


def designs_used_up(report: Report) -> str:
    """Say, in a clause, that there are no further experiments; empty while there are."""
    number = report.budget.experiments
    if len(report.experiments) < number:
        return ""
    return "its one experiment is used up" if number == 1 else f"all {number} experiments are used up"


def not_worth_it(report: Report, unsettled: Collection[str]) -> str:
    """Say, in a clause, why what is left of the pictures is not spent on what is open; empty where nothing is.

    Args:
        report: Its experiments have all ended.
        unsettled: Whom claims are about that would still make a difference: `Claim.about`.
    """
    waiting = [one for one in report.experiments if any(each.claim.about in unsettled for each in one.pending)]
    if not waiting:
        return ""
    if any(is_worth_more(report, one) for one in waiting):
        left = report.budget.images - report.images
        return f"the {left:,} pictures that are left are unlikely to decide more"
    return f"a decision is expected to take more than {report.budget.decision:,} further pictures"


def pictures_to_decide(experiment: Experiment, findings: Iterable[Finding], alpha: float) -> int | None:
    """Return how many more pictures of an experiment probably decide each of some claims.

    Args:
        experiment: The experiment of the claims.
        findings: What is known of them, from one unit at least.
        alpha: The error rate at which evidence has to suffice.

    Returns:
        The number, rounded up to two digits, if they turn out like those before; None where nobody would make so many.
    """
    arms, most = len(experiment.design.arms), 0
    for found in findings:
        rounds = 1
        while likely_decided(found, experiment, rounds, alpha=alpha) < _PROBABLY:
            rounds = math.ceil(_STEP * rounds + 1)
            if rounds * arms > _ENDLESS:
                return None
        most = max(most, rounds * arms)
    return rounded_up(most)


def rounded_up(number: int) -> int:
    """Round a number up to two digits."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit


def in_words(pictures: int | None, *, most: int) -> str:
    """Say how many more pictures decide something.

    Args:
        pictures: Their number; None where nobody would make so many.
        most: How many one decision may take (`Budget.decision`): a further budget is for no more.
    """
    if pictures is None:
        return "it is too close to call with any number of pictures that one would make"
    beyond = f", which is beyond the {most:,} that one decision may take" if pictures > most else ""
    return f"about {pictures:,} more pictures would probably decide it{beyond}"


def further_budget(
    report: Report, lacking: Sequence[Experiment | None], undecided: Sequence[Finding]
) -> dict[str, int]:
    """Return the fields of a budget with which what is open would probably be decided.

    What takes more pictures than a decision is worth counts only where nothing else is open.

    Args:
        report: The report in the end.
        lacking: For each experiment that was wanted and not begun, the one that it repeats in other words; None for one
            of its own.
        undecided: The open claims that matter.
    """
    budget, images, alpha = report.budget, report.images, next_error_rate(report)
    fields: dict[str, int] = {}
    needed = [
        [
            pictures
            for each in one.findings
            if each in undecided and (pictures := pictures_to_decide(one, [each], alpha))
        ]
        for one in report.experiments
    ]
    affordable = [[pictures for pictures in each if pictures <= budget.decision] for each in needed]
    is_affordable = any(affordable) or bool(lacking)
    images += sum(max(each, default=0) for each in (affordable if is_affordable else needed))  # one picture serves all
    if any(needed) and not is_affordable:
        fields["decision"] = rounded_up(2 * max(map(max, filter(None, needed))))
    typical = max((one.images for one in report.experiments), default=0) or budget.images
    images += sum(typical if one is None else one.images for one in lacking)
    if len(report.experiments) + len(lacking) > budget.experiments:
        fields["experiments"] = len(report.experiments) + len(lacking)
    if images > budget.images:
        fields["images"] = rounded_up(images)
    if report.trials >= budget.trials:
        fields["trials"] = 2 * budget.trials
    if report.seconds >= budget.seconds:
        fields["seconds"] = math.ceil(2 * budget.seconds)
    return fields


def with_older_readings_marked(report: Report, known: Report) -> Report:
    """Return a report in which what was said of experiments while it ran is not taken for its final figures.

    Args:
        report: With its final figures.
        known: With those from which each experiment was read.
    """

    def marked(one: Experiment, before: Experiment) -> Experiment:
        if not one.interpretation or _shown(one) == _shown(before):
            return one
        return one.model_copy(update={"interpretation": f"{_OLDER}{one.interpretation.removeprefix(_OLDER)}"})

    experiments = [marked(one, before) for one, before in zip(report.experiments, known.experiments, strict=True)]
    return report.model_copy(update={"experiments": experiments})


def _shown(experiment: Experiment) -> list[object]:
    """Return the figures of an experiment that are told."""
    findings = [(one.mean, one.interval, one.verdict, one.n) for one in experiment.findings]
    return [*findings, *((one.average, one.interval, one.n) for one in experiment.results)]


def ending_told(report: Report, further: Mapping[str, int], *, seed: int | None = None) -> list[str]:
    """Return a note that says why a report ended before everything was decided, and with what it would go on.

    Of one without experiments nothing was answered: the note is the reason alone.

    Args:
        report: The report in the end; nothing is said of one that was not cut short.
        further: The fields of a `Budget`, where they are known.
        seed: That of its pictures, if somebody chose it.
    """
    if not report.ended:
        return []
    if not report.experiments:
        return [f"{capitalized(report.ended)}."]
    said = f"It ended before everything was decided: {report.ended}."
    fields = ",".join(f"{name}={number}" for name, number in further.items())
    if not fields:
        return [said]
    given = f"the budget {fields}" + ("" if seed is None else f" and seed {seed}")
    return [f"{said} The same question with {given} goes on; what was asked before is looked up."]
