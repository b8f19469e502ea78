"""The Reasoner without a chat model: it compiles meanings, and reasons from demonstrations (docs/reasoners.md).

The program of an instruction is that of its meaning, unless somebody showed another for this wording. What has no
meaning is done as a demonstration did it that has the same wording up to the things that are named; what neither covers
is refused in a sentence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.memory.demonstrations import read_seeds
from snellen.models.vision.name_expansion import Expansion
from snellen.reasoning.case_based.fault_localisation import check, explain, right_output
from snellen.reasoning.case_based.instruction_programs import InstructionPrograms, PlannedProgram
from snellen.reasoning.case_based.revisions.choice import first_revision
from snellen.reasoning.case_based.revisions.failed_run import FailedRun
from snellen.reasoning.case_based.substitution import Substitution, wording
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.llm.endpoint_errors import quoted
from snellen.reasoning.reading.recording import read_instruction
from snellen.reasoning.reasoner import (
    MAX_PLAN_STEPS,
    ReasonerUsage,
    ReasoningFailed,
    Route,
    TaskRefused,
)
from snellen.reasoning.revision import ProposedRevision
from snellen.reasoning.task import Examples, Plan, Task
from snellen.tools.program import ProgramError, ProgramLimits, load, parse

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration
    from snellen.profiles import Profile
    from snellen.reasoning.critique import Critique, FailedCase, Replay, StepCheck
    from snellen.reasoning.reading.reading_record import ReadingRecord, UnknownWord
    from snellen.reasoning.trouble import Trouble
    from snellen.tools.program import StepRecord

SEEDS: Final = Path(__file__).parent / "seeds" / "demonstrations.json"
"""What the pool of demonstrations begins with."""
MAX_INSTRUCTION: Final = 1000
"""Characters that the reasoner reads; longer ones are refused."""
ABILITIES: Final = (
    "Ask what there is, how many, where, of which color or size, or about background, weather and style; say something "
    "of two pictures; “blur all but the cat”, “color-pop the dog”, “replace the dog with a cat”, “hide the cats behind "
    "a red heart emoji”, “tag the animals”; or use a profile with a chat model."
)


class CaseReasoner:
    """Plans and writes programs by meanings and demonstrations; needs no key and no network."""

    examples_wanted: int = 16
    """How many demonstrations of each part the recall node should hand over: each may be of the same wording."""
    needs_one_meaning: bool = True
    usage = ReasonerUsage()
    """Nothing: no one is called."""

    def __init__(self, profile: Profile) -> None:
        """Remember the profile.

        Args:
            profile: Its facts name the nouns, its limits bound programs.
        """
        self._profile = profile
        self._substitution = Substitution(profile.facts_path())
        self._limits = ProgramLimits.of(profile)

    async def plan(self, task: Task, examples: Examples) -> Plan:
        """Decompose the instruction into sentences that say what its program does.

        Raises:
            TaskRefused: The instruction is outside what the demonstrations cover.
        """
        solved = await asyncio.to_thread(self._solved, task, examples)
        return Plan(list(solved.plan))

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        """Write the program of the instruction, checked against the task's inputs and the profile's limits.

        Raises:
            TaskRefused: The instruction is outside what the demonstrations cover, no program of it checks, or a person
                changed the plan to one that no demonstration follows.
        """
        solve = self._following if plan.edited else self._solved
        return (await asyncio.to_thread(solve, task, examples, plan)).program

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        """Rewrite the program by the first rule for its trouble (`revisions.choice`); None where none applies."""
        tried = [one.program for one in examples.programs_incorrect if one.instruction == task.instruction]
        return await asyncio.to_thread(self._revised, task, plan, program, steps, trouble, tried)

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        """Name what the query describes, from the facts that the profile names.

        Raises:
            BadInput: It names none.
        """
        names: list[str] = list(self._profile.knowledge().list_names(query, 10_000 if candidates else limit))
        if candidates:
            allowed = {candidate.strip().lower() for candidate in candidates}
            names = [name for name in names if name.lower() in allowed]
        return names[:limit]

    async def route(self, message: str) -> Route:
        """Say that a message is unclear: what grammars read needs no Reasoner, and it knows no more than they do."""
        del message
        return "unclear"

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        """Find what made the answer wrong: the smallest change that explains the feedback, weighed by the evidence.

        The program is compared with the one that would be written for the instruction now; where they differ and the
        latter gives the right answer, the statements that differ are at fault.
        """
        composed = await asyncio.to_thread(self._composed, case)
        critique = await explain(case, replay, composed=composed.program if composed else None)
        if not critique.program or composed is None or not case.plan or list(case.plan) == list(composed.plan):
            return critique
        return replace(critique, faults=tuple(replace(fault, place="plan") for fault in critique.faults))

    async def check_step(
        self, case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay
    ) -> StepCheck:
        """Judge a step by its share of what explains the feedback, the steps found right left out."""
        composed = await asyncio.to_thread(self._composed, case)
        return await check(case, address, checked, replay, composed=composed.program if composed else None)

    async def infer_answer(self, case: FailedCase, address: str, replay: Replay) -> str:
        """Find the answer of a VQA step with which the whole answer agrees."""
        return await right_output(case, address, replay)

    def _revised(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        tried: Sequence[str],
    ) -> ProposedRevision | None:
        if not trouble.causes:
            return None
        names = Expansion.read(self._profile.facts_path(), split=self._profile.split_path())
        run = FailedRun(parse(program, self._limits), steps, names)
        rewrite = first_revision(run, trouble, tried, is_valid=lambda text: self._is_valid(text, task))
        if rewrite is None:
            return None
        # The last step gives the result.
        sentences = [*plan.steps[:-1], rewrite.change, *plan.steps[-1:]][-MAX_PLAN_STEPS:]
        return ProposedRevision(Plan(sentences), rewrite.program, rewrite.change)

    def _is_valid(self, program: str, task: Task) -> bool:
        try:
            load(program, task.inputs, self._limits)
        except ProgramError:
            return False
        return True

    def _following(self, task: Task, examples: Examples, plan: Plan) -> PlannedProgram:
        """Solve a task as an edited plan says.

        Raises:
            TaskRefused: No program of it has these steps.
        """
        steps = [_words_of(step) for step in plan.steps]
        for one in self._programs(task, examples):
            if [_words_of(step) for step in one.plan] == steps:
                return one
        msg = (
            "The plan was changed, and this reasoner cannot follow it: it knows no way to do the task in these steps. "
            "Set the plan back, change the instruction or the program instead, or use a profile with a chat model."
        )
        raise TaskRefused(msg)

    def _composed(self, case: FailedCase) -> PlannedProgram | None:
        """Solve the case's instruction anew; None where it is outside what this reasoner can do."""
        try:
            return self._solved(case.task, case.examples, Plan([]))
        except ReasoningFailed:
            return None

    def _solved(self, task: Task, examples: Examples, plan: Plan | None = None) -> PlannedProgram:
        """Solve a task; where its plan was wrong before, another way is taken if there is one."""
        self._check_given(task)
        same = wording(task.instruction)
        wrong = [_words_in(one.plan) for one in examples.plans_incorrect if wording(one.instruction) == same]
        programs = self._programs(task, examples)
        first: PlannedProgram | None = None
        for one in programs:
            first = first or one
            steps = _words_in(one.plan)
            # What is already planned is written so.
            if steps == _words_in(plan.steps) if plan and plan.steps else steps not in wrong:
                return one
        if first is None:
            raise TaskRefused(_refusal(task, self._reading(task), programs.problem))
        return first

    def _check_given(self, task: Task) -> None:
        if not task.inputs:
            msg = "There is no picture to do that with; give at least one."
            raise TaskRefused(msg)
        if not task.instruction.strip():
            msg = "The instruction is empty; say what to do with the picture."
            raise TaskRefused(msg)
        if len(task.instruction) > MAX_INSTRUCTION:
            msg = (
                f"The instruction has {len(task.instruction)} characters, and this reasoner reads at most "
                f"{MAX_INSTRUCTION}; say it in fewer words, or use a profile with a chat model."
            )
            raise TaskRefused(msg)

    def _programs(self, task: Task, examples: Examples) -> InstructionPrograms:
        return InstructionPrograms(
            task, self._reading(task), examples, seed_demonstrations(), self._substitution, self._limits
        )

    def _reading(self, task: Task) -> ReadingRecord:
        """Return how an instruction was read; it is read now where nobody has."""
        return task.reading or read_instruction(task.instruction, len(task.inputs), self._profile.facts_path())


def _refusal(task: Task, reading: ReadingRecord, problem: str) -> str:
    """Say why there is no program for an instruction, and what to do."""
    instruction = f"“{quoted(task.instruction, most=80)}”"
    if reading.unknown:
        return " ".join(map(_about_word, reading.unknown))
    if problem:
        return f"No valid program was found for {instruction} ({problem}). {ABILITIES}"
    if reading.status == "understood":
        return f"Every program that is known for {instruction} was wrong before. {ABILITIES}"
    if reading.options:
        meanings = " ".join(f"({number}) {one.understood}" for number, one in enumerate(reading.options, 1))
        return f"{instruction} can be meant in several ways: {meanings} Say which."
    return f"The instruction {instruction} is outside what this reasoner can do. {reading.why} {ABILITIES}"


def _about_word(unknown: UnknownWord) -> str:
    """Say that a word is not known, what it may be meant for, and how it is taught."""
    word = quoted(unknown.word, most=40)
    meant = f"“{word}” is not known: do you mean {unknown.nearest}?" if unknown.nearest else f"“{word}” is not known."
    if not unknown.learnable:
        return meant
    return f"{meant} If it is a thing, teach it: `snellen learn {singular(word)}`."


def _words_in(plan: Sequence[str]) -> list[str]:
    return [_words_of(step) for step in plan]


def _words_of(step: str) -> str:
    return " ".join(step.casefold().split()).rstrip(" .")


@cache
def seed_demonstrations() -> tuple[Demonstration, ...]:
    """Return the demonstrations that the pool begins with; they are always at hand, however small the pool."""
    return tuple(read_seeds(SEEDS))
