"""The examiner: the protocol of what designs experiments and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Conclusion, Discussion, Experiment, Opening, Report, Sufficiency
    from snellen.reasoning.reasoner import ReasonerUsage


class Examiner(Protocol):
    """Designs experiments about models and reads them (APEX, the orchestrator of section 3).

    There are two: `snellen.experiments.examiners.case_based.CaseExaminer`, which has templates of experiments and calls
    nobody, and `snellen.experiments.examiners.llm.ChatExaminer` over a chat model.
    """

    @property
    def usage(self) -> ReasonerUsage:
        """Usage so far."""
        ...

    async def open_report(self, query: str, models: Sequence[str]) -> Opening:
        """Say which of the models a query is about, and what of it cannot be examined (section 3.1).

        Raises:
            BadInput: None of it can be.
        """
        ...

    async def design_experiment(self, report: Report, refusals: Sequence[str]) -> Design | None:
        """Design the next experiment; None where none would help (section 3.2).

        `refusals` say what was wrong with the designs that were made for it before.
        """
        ...

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:
        """Say what an experiment shows (section 3.3)."""
        ...

    async def judge_sufficiency(self, report: Report) -> Sufficiency:
        """Say whether the report answers the query."""
        ...

    async def conclude(self, report: Report) -> Conclusion:
        """Answer the query from the report."""
        ...
