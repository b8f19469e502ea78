"""The Reasoner: the one door to language reasoning.

A reasoner turns an instruction into a plan, a plan into a checked program, answers what a program's LIST
step asks, says where a message of the chat page belongs (CLOVA, sections 3.1 and 3.2), and finds out why an answer was
wrong (section 3.3). There are two:
`nodes.reasoning.chat.ChatReasoner` over a chat model, `nodes.reasoning.cases.CaseReasoner` without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from profiles.errors import BadInput, SnellenError

if TYPE_CHECKING:
    from memory.demonstrations import Demonstration
    from nodes.reasoning.critique import Case, Critique, Replay, StepCheck
    from nodes.reasoning.inquiry import Conclusion, Design, Discussion, Experiment, Opening, Report, Sufficiency

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
class Task:
    """What the user wants of which inputs."""

    instruction: str
    inputs: Mapping[str, str]
    """Name of each input variable of the program and its type in the catalogue: {"IMAGE": "Picture"}."""
    family: str | None = None
    """A task family ("vqa", "statement", "edit", "tag") where the caller knows it; a hint, never required."""


@dataclass(frozen=True)
class Plan:
    """The steps towards an answer, in words, in order, without numbers.

    Attributes:
        steps: The sentences.
        edited: Whether a person changed them: then a program does these steps, or the task is refused.
    """

    steps: list[str]
    edited: bool = False


@dataclass(frozen=True)
class Examples:
    """The nearest demonstrations of the four parts of the pool, nearest first (CLOVA, section 3.2)."""

    plans_correct: Sequence[Demonstration] = ()
    plans_incorrect: Sequence[Demonstration] = ()
    programs_correct: Sequence[Demonstration] = ()
    programs_incorrect: Sequence[Demonstration] = ()


@dataclass(frozen=True)
class Usage:
    """What a reasoner has consumed since it was made, failed attempts and retries included."""

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
        """How many demonstrations of each part of the pool it can use."""
        ...

    @property
    def usage(self) -> Usage:
        """What has been consumed so far; all zero for a reasoner that calls nobody."""
        ...

    async def plan(self, task: Task, examples: Examples) -> Plan:
        """Decompose the instruction into 1 to 20 steps (CLOVA, section 3.2)."""
        ...

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        """Write the program of a plan: text that already parses and passes `tools.program.check`."""
        ...

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        """Name at most `limit` things that answer the query, only of `candidates` where any are given."""
        ...

    async def route(self, message: str) -> Route:
        """Say which part of Snellen a message is for."""
        ...

    async def reflect(self, case: Case, replay: Replay) -> Critique:
        """Find at one go what made the answer wrong: which part, why, and the concept concerned (global reflection).

        `case.earlier` holds what was corrected already without success; `replay` tries out what would help.
        """
        ...

    async def check_step(self, case: Case, address: str, checked: Sequence[StepCheck], replay: Replay) -> StepCheck:
        """Judge one step with those checked before it in view (local reflection)."""
        ...

    async def infer_answer(self, case: Case, address: str, replay: Replay) -> str:
        """Infer what a faulty VQA step should have answered (CLOVA, section 3.4 and figure 16)."""
        ...


class Investigator(Protocol):
    """Designs experiments about models and reads them (APEX, the orchestrator of section 3).

    There are two: `nodes.reasoning.examiner.Examiner`, which climbs a ladder of experiments and calls nobody, and
    `nodes.reasoning.chat_examiner.ChatExaminer` over a chat model.
    """

    @property
    def usage(self) -> Usage:
        """What has been consumed so far."""
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
