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

from snellen.reasoning.queries.conditions import conditions_of
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
    """

    held: tuple[int, Finding] | None
    failed: tuple[int, Finding] | None
    wanted: int | None
    most: int

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
        wanted=wanted, most=len(part.designs) - 1,
    )  # fmt: skip


def limit_in_words(limit: SeverityLimit, change: str) -> str:
    """Say up to which severity something holds, and from which on no longer; empty where that was not found."""
    if not limit.is_found or limit.held is None:
        return ""
    conditions, held = conditions_of(change), limit.held[0]
    up_to = f"up to {condition_in_words(conditions[held - 1])}" if held else f"without {change}"
    if limit.failed is None:
        return f"{up_to}, the most that was examined"
    beyond = conditions[limit.failed[0] - 1].change
    return f"{up_to}, and no longer {amount_in_words(beyond)}" if beyond is not None else up_to


def limit_figures(limit: SeverityLimit, change: str) -> str:
    """Say how often a model was right on either side: "88 % (79 to 95) by 15 degrees, 55 % (41 to 68) by 30"."""
    return ", ".join(
        f"{100 * one.mean:.0f} % ({100 * one.interval[0]:.0f} to {100 * one.interval[1]:.0f}) {_level(level, change)}"
        for level, one in filter(None, (limit.held, limit.failed))
    )


def _level(level: int, change: str) -> str:
    condition = conditions_of(change)[level - 1] if level else None
    return amount_in_words(condition.change) if condition is not None and condition.change else f"without {change}"
