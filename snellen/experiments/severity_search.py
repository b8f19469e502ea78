"""Searches for limits: up to which severity of a change a model is right often enough, and from which on no longer.

Each severity is an experiment of its own, with fresh pictures and one claim a model, and its claims share the error
rate with all others; which severity comes next follows from the verdicts so far, by bisection. That whoever fails
under a change also fails under more of it directs the search, and no verdict rests on it: a limit is told by the two
severities that were decided. A model that fails at the mildest one is asked about pictures as they are, before it is
said to fail for the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.conditions import SCALES, conditions_of
from snellen.reasoning.queries.echo import amount_in_words, condition_in_words

if TYPE_CHECKING:
    from snellen.experiments.examination_plan import ExaminedQuestion
    from snellen.experiments.report import Experiment, Finding


@dataclass(frozen=True)
class SeverityLimit:
    """The limit of a model as far as it is known; a level is the place of its experiment, 0 for pictures as they are.

    Attributes:
        held: The highest level at which the model was right often enough; None where there is none.
        failed: The lowest level at which it was not; None where there is none.
        wanted: The level that would say more; None where none would.
        most: The highest level.
        tried: All levels at which it was asked, the mildest first.
    """

    held: tuple[int, Finding] | None
    failed: tuple[int, Finding] | None
    wanted: int | None
    most: int
    tried: tuple[tuple[int, Finding], ...] = ()

    @property
    def is_blind(self) -> bool:
        """True where it fails at pictures as they are, so that there is nothing to lose."""
        return self.failed is not None and self.failed[0] == 0

    @property
    def is_found(self) -> bool:
        """True where it holds up to a level, and fails at a higher one unless there is none."""
        if self.held is None or self.is_blind:
            return False
        return self.failed is not None or self.held[0] == self.most


def limit_of(name: str, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> SeverityLimit:
    """Return the limit of a model, from the experiments of a question so far.

    Args:
        name: The model.
        part: The question; its designs are the levels.
        experiments: Those that were begun for it.
    """
    seen = {
        level: finding
        for level, design in enumerate(part.designs)
        for experiment in experiments
        if experiment.design.condition == design.condition
        for finding in experiment.findings
        if finding.claim.model == name
    }
    failing = [level for level, one in seen.items() if one.verdict == "no"]
    lowest = min(failing, default=len(part.designs))
    holding = [level for level, one in seen.items() if one.verdict == "yes" and level < lowest]
    highest = max(holding, default=0)
    between = [level for level in range(highest + 1, lowest) if level not in seen]
    wanted = between[len(between) // 2] if between else None
    if wanted is None and not holding and 0 not in seen:
        wanted = 0
    return SeverityLimit(
        held=(highest, seen[highest]) if holding else None, failed=(lowest, seen[lowest]) if failing else None,
        wanted=wanted, most=len(part.designs) - 1, tried=tuple(seen.items()),
    )  # fmt: skip


def limit_in_words(limit: SeverityLimit, change: str) -> str:
    """Say up to which severity something holds, and at which no longer; empty where that was not found."""
    if not limit.is_found or limit.held is None:
        return ""
    up_to = _up_to(limit.held[0], change)
    if limit.failed is None:
        return f"{up_to}, the strongest that was tried"
    return f"{up_to}, but no longer {_level(limit.failed[0], change)}"


def bound_in_words(limit: SeverityLimit, change: str) -> str:
    """Say what is decided of a limit that was not found: "at least up to blur by a factor of 8"; or nothing."""
    if limit.held is not None:
        at_least = "at least " if limit.held[0] else ""
        return f"{at_least}{_up_to(limit.held[0], change)}"
    return "" if limit.failed is None else f"not {_level(limit.failed[0], change)}"


def limit_figures(limit: SeverityLimit, change: str) -> str:
    """Say how often a model was right at each severity that was tried, and which ones were not.

    "88 % (79 to 95) by 15 degrees, 55 % (41 to 68) by 60; 5, 30 and 90 were not tried".
    """
    never = "it never failed, right in " if limit.is_found and limit.failed is None else ""
    words: list[str] = []
    for level, _ in limit.tried:
        full = _level(level, change)
        preposition = full.split()[0]
        is_named = any(each.startswith(f"{preposition} ") for each in words)  # of what an amount is, is said once
        words.append(f"{preposition} {SCALES[change][level - 1]:g}" if level and is_named else full)
    told = never + ", ".join(f"{_right(one)} {word}" for (_, one), word in zip(limit.tried, words, strict=True))
    levels = {level for level, _ in limit.tried}
    left = [f"{amount:g}" for level, amount in enumerate(SCALES[change], 1) if level not in levels]
    return f"{told}; {listing(left)} {'was' if len(left) == 1 else 'were'} not tried" if told and left else told


def _right(one: Finding) -> str:
    """Write how often a model was right, and that it is not decided, where it is not."""
    low, high = one.interval
    undecided = ", not decided" if one.verdict == "open" else ""
    return f"{100 * one.mean:.0f} % ({100 * low:.0f} to {100 * high:.0f}{undecided})"


def _up_to(level: int, change: str) -> str:
    return f"up to {condition_in_words(conditions_of(change)[level - 1])}" if level else f"without {change}"


def _level(level: int, change: str) -> str:
    condition = conditions_of(change)[level - 1] if level else None
    return amount_in_words(condition.change) if condition is not None and condition.change else f"without {change}"
