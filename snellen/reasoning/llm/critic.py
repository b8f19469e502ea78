"""Reflection with a chat model: what it is shown of a failed case, and what is accepted of what it replies.

The prompts follow figures 14 to 16 of CLOVA in our own words. Everything in a case was written by others (users,
models, tools that read pictures) and is shown fenced and cut to size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from snellen.reasoning.critique import (
    MAX_FAULTS,
    MAX_REASON,
    Critique,
    DescribedStep,
    FailedCase,
    Fault,
    Feedback,
    Place,
    StepCheck,
)
from snellen.reasoning.llm.prompt_files import Prompt, fenced, fill, listed, numbered, plain
from snellen.reasoning.llm.structured_model import UnusableError
from snellen.tools.program import ProgramError, ProgramLimits, load

if TYPE_CHECKING:
    from snellen.reasoning.task import Task

MAX_SHOWN_STEPS: Final = 40
"""Steps of a case that a chat model is shown, the first and last ones of many."""
MAX_SHOWN: Final = 600
"""Characters of one argument, result, caption or correction."""
MAX_SHOWN_EVIDENCE: Final = 8
"""Statements about one step, the strongest ones."""
MAX_CONCEPT: Final = 80
"""Characters of a concept or an inferred answer."""


class FaultReply(BaseModel):
    """One part at fault."""

    place: Place
    step: str
    concept: str
    reason: str
    right_output: str


class CritiqueReply(BaseModel):
    """The cause of the wrong answer."""

    faults: list[FaultReply]
    certainty: float
    program: str


class CheckReply(BaseModel):
    """Judgement of a step."""

    right: bool
    place: Place
    concept: str
    reason: str
    right_output: str
    certainty: float


class StepAnswerReply(BaseModel):
    """The answer that a step should have given."""

    answer: str


def critic_prompt(case: FailedCase) -> Prompt:
    """Fill the prompt of global reflection (CLOVA, figure 14)."""
    earlier = "\n".join(
        f"Step {fault.address}: {fault.reason}" for critique in case.earlier for fault in critique.faults
    )
    return fill(
        "critic",
        {
            **_setting(case),
            "max_faults": str(MAX_FAULTS),
            "max_reason": str(MAX_REASON),
            "steps": shown_steps(case.steps),
            "earlier": fenced(_cut(earlier)) if earlier else "",
        },
    )


def checker_prompt(case: FailedCase, step: DescribedStep, checked: Sequence[StepCheck]) -> Prompt:
    """Fill the prompt of local reflection (CLOVA, figure 15)."""
    right = {one.address for one in checked if one.right}
    before = [one for one in case.steps if one.address in right]
    return fill(
        "checker",
        {
            **_setting(case),
            "max_reason": str(MAX_REASON),
            "checked": shown_steps(before) if before else "",
            "step": _step(step),
        },
    )


def inferrer_prompt(case: FailedCase, step: DescribedStep, tried: Sequence[str] = ()) -> Prompt:
    """Fill the prompt that infers what a VQA step should have answered (CLOVA, figure 16)."""
    return fill(
        "inferrer",
        {
            **_setting(case),
            "steps": shown_steps(case.steps),
            "step": _step(step),
            "tried": fenced("\n".join(tried)) if tried else "",
        },
    )


def accept_critique(reply: CritiqueReply, case: FailedCase, limits: ProgramLimits) -> Critique:
    """Turn a reply into a critique.

    Raises:
        UnusableError: It names no step, too many or unknown ones, gives no reason, or a program that does not check.
    """
    if not 1 <= len(reply.faults) <= MAX_FAULTS:
        msg = f"Name 1 to {MAX_FAULTS} faults; these are {len(reply.faults)}."
        raise UnusableError(msg)
    faults = tuple(_accepted(one, case) for one in reply.faults)
    of_program = any(fault.place != "tool" for fault in faults)
    program = accept_program(reply.program, case.task, limits) if of_program and reply.program.strip() else ""
    return Critique(faults, _accepted_certainty(reply.certainty), "global", program)


def accept_check(reply: CheckReply, step: DescribedStep, case: FailedCase) -> StepCheck:
    """Turn a reply into the judgement of a step.

    Raises:
        UnusableError: It finds the step wrong without a reason, or is sure beyond all bounds.
    """
    certainty = _accepted_certainty(reply.certainty)
    if reply.right:
        return StepCheck(step.address, right=True, certainty=certainty)
    fault = FaultReply(step=step.address, **reply.model_dump(exclude={"right", "certainty"}))
    return StepCheck(step.address, right=False, fault=_accepted(fault, case), certainty=certainty)


def accept_answer(reply: StepAnswerReply) -> str:
    """Return an inferred answer as VQA would give it.

    Raises:
        UnusableError: It is empty or too long.
    """
    answer = " ".join(plain(reply.answer).split()).casefold().rstrip(".")
    if not 1 <= len(answer) <= MAX_CONCEPT:
        msg = f"An answer has 1 to {MAX_CONCEPT} characters."
        raise UnusableError(msg)
    return answer


def _accepted(reply: FaultReply, case: FailedCase) -> Fault:
    address = reply.step.strip().casefold().removeprefix("step").strip(" .:,")
    step = case.step(address)
    if step is None:
        known = ", ".join(one.address for one in case.steps[:MAX_SHOWN_STEPS])
        msg = f"There is no step {reply.step[:40]!r}; the steps are {known}."
        raise UnusableError(msg)
    reason = " ".join(plain(reply.reason).split())
    if not reason:
        msg = f"The fault of step {address} has no reason."
        raise UnusableError(msg)
    concept = " ".join(plain(reply.concept).split())
    if len(concept) > MAX_CONCEPT:
        msg = f"The concept of step {address} has {len(concept)} characters; at most {MAX_CONCEPT} are allowed."
        raise UnusableError(msg)
    kept = concept if reply.place == "tool" and step.tool != "VQA" else ""
    right_output = " ".join(plain(reply.right_output).split())[:MAX_SHOWN]
    return Fault(reply.place, address, step.tool, kept, reason[:MAX_REASON], right_output)


def _accepted_certainty(certainty: float) -> float:
    if not 0 <= certainty <= 1:  # also what is no number
        msg = "The certainty lies between 0 and 1."
        raise UnusableError(msg)
    return certainty


def accept_program(program: str, task: Task, limits: ProgramLimits) -> str:
    """Return a program that parses and checks.

    Raises:
        UnusableError: It does not.
    """
    # JSON can carry half a character, which no text may hold on its way to a file or the endpoint.
    text = program.encode(errors="replace").decode().strip()
    try:
        load(text, task.inputs, limits)
    except ProgramError as error:
        raise UnusableError("\n".join(map(str, error.problems))) from error
    return text


# --- what is shown -------------------------------------------------------------------------------------------


def _setting(case: FailedCase) -> Mapping[str, str]:
    return {
        "inputs": listed(case.task.inputs),
        "instruction": fenced(case.task.instruction),
        "setting": fenced(_cut(case.setting)) if case.setting else "",
        "feedback": fenced(_feedback(case.feedback)),
        "answer": fenced(_cut(case.answer)),
        "plan": fenced(numbered(case.plan)) if case.plan else "",
        "program": fenced(case.program),
    }


def _feedback(feedback: Feedback) -> str:
    lines = [f"The right answer is: {_cut(feedback.expected)}"] if feedback.expected else []
    lines += [f"The user says: {_cut(feedback.correction)}"] if feedback.correction else []
    if feedback.region is not None:
        lines.append(f"The user shows the place {list(feedback.region.box)} {_cut(feedback.region.label)}".rstrip())
    return "\n".join(lines) or "The answer is wrong; nothing else is known."


def shown_steps(steps: Sequence[DescribedStep]) -> str:
    """Write the steps of a run, fenced and cut to size; of many the first and the last ones."""
    half = MAX_SHOWN_STEPS // 2
    if len(steps) <= MAX_SHOWN_STEPS:
        return "\n\n".join(map(_step, steps))
    left_out = f"({len(steps) - 2 * half} steps are left out here.)"
    return "\n\n".join([*map(_step, steps[:half]), left_out, *map(_step, steps[-half:])])


def _step(step: DescribedStep) -> str:
    lines = [f"Statement: {_cut(step.source)}", f"Result: {_cut(step.output)}"]
    lines += [f"Description of the result: {_cut(step.caption)}"] if step.caption else []
    strongest = sorted(step.evidence, key=lambda one: -abs(one.support))[:MAX_SHOWN_EVIDENCE]
    lines += [f"Support {one.support:+.2f} by {_cut(one.says)}: {_cut(one.value)}" for one in strongest]
    return f"Step {step.address}\n{fenced(chr(10).join(lines))}"


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_SHOWN else flat[:MAX_SHOWN] + "…"
