"""Revision with a chat model: what it is shown of a run in trouble, and what is accepted of what it replies.

The program, the steps and the trouble were written by others (models, tools that read pictures) and are shown fenced
and cut to size; the reply is parsed, typed and bounded like every program that a model writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from snellen.reasoning.case_based.fault_localisation import in_words
from snellen.reasoning.critique import DescribedStep
from snellen.reasoning.llm.critic import accept_program, shown_steps
from snellen.reasoning.llm.prompt_files import Prompt, fenced, fill, listed, numbered, plain, program_cases
from snellen.reasoning.llm.structured_model import UnusableError
from snellen.reasoning.reasoner import MAX_PLAN_STEPS
from snellen.reasoning.revision import MAX_CHANGE, MAX_REVISED_BYTES, ProposedRevision

if TYPE_CHECKING:
    from collections.abc import Callable

    from snellen.reasoning.task import Examples, Plan, Task
    from snellen.reasoning.trouble import Trouble
    from snellen.tools.program import ProgramLimits, StepRecord


class RevisionReply(BaseModel):
    """A revised program, or that the answer stands."""

    stands: bool
    change: str
    plan: list[str]
    program: str


def reviser_prompt(
    task: Task,
    plan: Plan,
    program: str,
    steps: Sequence[StepRecord],
    trouble: Trouble,
    examples: Examples,
    catalogue: str,
) -> Prompt:
    """Fill the prompt that revises a program whose run was in trouble."""
    tried = [one for one in examples.programs_incorrect if one.instruction == task.instruction]
    others = [one for one in examples.programs_incorrect if one.instruction != task.instruction]
    return fill(
        "reviser",
        {
            "catalogue": catalogue,
            "max_change": str(MAX_CHANGE),
            "max_steps": str(MAX_PLAN_STEPS),
            "max_bytes": f"{MAX_REVISED_BYTES:,}",
            "correct": program_cases(examples.programs_correct),
            "incorrect": program_cases(others),
            "tried": program_cases(tried) if tried else "",
            "inputs": listed(task.inputs),
            "instruction": fenced(task.instruction),
            "plan": fenced(numbered(plan.steps)),
            "program": fenced(program),
            "steps": shown_steps([_described(step) for step in steps]),
            "trouble": fenced(trouble.reason),
        },
    )


def accept_revision(
    reply: RevisionReply, task: Task, limits: ProgramLimits, *, accept_plan: Callable[[list[str]], Plan]
) -> ProposedRevision | None:
    """Turn a reply into a revision; None where the answer stands.

    Raises:
        UnusableError: The program does not parse or check, or it, its plan or the change is empty or too long.
    """
    if reply.stands:
        return None
    change = " ".join(plain(reply.change).split())
    if not 1 <= len(change) <= MAX_CHANGE:
        msg = f"The change has {len(change)} characters; 1 to {MAX_CHANGE} are allowed."
        raise UnusableError(msg)
    program = accept_program(reply.program, task, limits)
    if len(program.encode()) > MAX_REVISED_BYTES:
        msg = f"The program is longer than {MAX_REVISED_BYTES:,} bytes; change less."
        raise UnusableError(msg)
    return ProposedRevision(accept_plan(reply.plan), program, change)


def _described(step: StepRecord) -> DescribedStep:
    output = f"failed: {step.error}" if step.error is not None else in_words(step.value)
    said = [output, *step.warnings]
    return DescribedStep(step.address, step.source, step.tool, {}, " ".join(said))
