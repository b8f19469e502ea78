"""The Reasoner: the one door to language reasoning.

A reasoner turns an instruction into a plan and a plan into a checked program, revises a program whose run was in
trouble, answers what a program's LIST step asks, says where a message of the chat page belongs (CLOVA, sections 3.1 and
3.2), and finds out why an answer was wrong (section 3.3). There are two:
`snellen.reasoning.llm.reasoner.ChatReasoner` over a chat model, `snellen.reasoning.case_based.reasoner.CaseReasoner`
without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from snellen.errors import BadInput, SnellenError
from snellen.reasoning.task import Examples, Plan, Task

if TYPE_CHECKING:
    from snellen.reasoning.critique import Critique, FailedCase, Replay, StepCheck
    from snellen.reasoning.revision import ProposedRevision
    from snellen.reasoning.trouble import Trouble
    from snellen.tools.program import StepRecord

Route = Literal["ask", "learn", "investigate", "explain", "forget", "unclear"]
"""Where a message goes; "unclear" asks the user to say more."""

MAX_PLAN_STEPS = 20
MAX_STEP_LENGTH = 600
"""Characters of one step of a plan."""
MAX_EXAMPLES = 4
"""Demonstrations of each of the four parts that a reasoner reads (CLOVA, section 3.2)."""


class ReasoningFailed(SnellenError):  # noqa: N818 - read aloud as what happened, as its parents are
    """No valid plan, program or answer could be made; the message says why and what to do."""


class TaskRefused(ReasoningFailed, BadInput):
    """The task is none for this Reasoner, however often it is asked: another task, or another Reasoner, is wanted."""


@dataclass(frozen=True)
class ReasonerUsage:
    """Consumption of a reasoner since it was made, failed attempts and retries included."""

    calls: int = 0
    """Replies received from the chat model."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """In the currency of the profile's prices; None where calls were made and the profile names no prices."""
    uncounted_calls: int = 0
    """Replies whose endpoint reported no token counts: tokens and cost are then lower bounds."""


@runtime_checkable
class Reasoner(Protocol):
    """Typed language reasoning; every method either returns a valid value or raises `ReasoningFailed`."""

    @property
    def examples_wanted(self) -> int:
        """Number of demonstrations of each part of the pool that it can use."""
        ...

    @property
    def needs_one_meaning(self) -> bool:
        """True where it works from the meaning of an instruction: a person is asked where there are several."""
        ...

    @property
    def usage(self) -> ReasonerUsage:
        """Consumption so far; all zero for a reasoner that calls nobody."""
        ...

    async def plan(self, task: Task, examples: Examples) -> Plan:
        """Decompose the instruction into 1 to 20 steps (CLOVA, section 3.2)."""
        ...

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        """Write the program of a plan: text that already parses and passes `snellen.tools.program.check`."""
        ...

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        """Revise a program whose run was in trouble; None where the answer stands, such as that nothing was found.

        Programs that were tried for this very task are among `examples.programs_incorrect`, with what came of them.
        """
        ...

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        """Name at most `limit` things that answer the query, only of `candidates` where any are given."""
        ...

    async def route(self, message: str) -> Route:
        """Say which part of Snellen a message is for."""
        ...

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        """Find at one go what made the answer wrong: which part, why, and the concept concerned (global reflection).

        `case.earlier` holds what was corrected already without success; `replay` tries out what would help.
        """
        ...

    async def check_step(
        self, case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay
    ) -> StepCheck:
        """Judge one step with those checked before it in view (local reflection)."""
        ...

    async def infer_answer(self, case: FailedCase, address: str, replay: Replay) -> str:
        """Infer what a faulty VQA step should have answered (CLOVA, section 3.4 and figure 16)."""
        ...
