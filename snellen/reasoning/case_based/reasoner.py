"""The Reasoner without a chat model: it reasons from demonstrations (docs/reasoners.md).

An instruction is read into slots and cues (`slots`), the nearest fitting demonstration is adapted to it (`adaptation`),
and where none fits as a whole it is taken apart (`clauses`) and solved part by part (`composition`). More
demonstrations, better programs; what none of them covers is refused in a sentence.
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
from snellen.reasoning.case_based.composition import Composer, OutOfDepth, knowledge
from snellen.reasoning.case_based.fault_localisation import check, explain, right_output
from snellen.reasoning.case_based.program_blocks import ProgramBlock, written
from snellen.reasoning.case_based.revisions.choice import first_revision
from snellen.reasoning.case_based.revisions.failed_run import FailedRun
from snellen.reasoning.language.lexicon import lexicon_of, plain_words
from snellen.reasoning.language.similarity import WordingSimilarity
from snellen.reasoning.llm.endpoint_errors import quoted
from snellen.reasoning.reasoner import (
    MAX_PLAN_STEPS,
    MAX_STEP_LENGTH,
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
    from snellen.reasoning.trouble import Trouble
    from snellen.tools.program import StepRecord

SEEDS: Final = Path(__file__).parent / "seeds" / "demonstrations.json"
"""What the pool of demonstrations begins with."""
MAX_INSTRUCTION: Final = 1000
"""Characters that the reasoner reads; longer ones are refused."""
_MOST_PICTURES: Final = 2
ABILITIES: Final = (
    "Ask what there is, how many, where, of which color or size, or about background, weather and style; say something "
    "of two pictures; “blur all but the cat”, “color-pop the dog”, “replace the dog with a cat”, “hide the cats behind "
    "a red heart emoji”, “tag the animals”; or use a profile with a chat model."
)


class CaseReasoner:
    """Plans and writes programs by analogy with demonstrations; needs no key and no network."""

    examples_wanted: int = 16
    """How many demonstrations of each part the recall node should hand over: clauses are solved one by one."""
    usage = ReasonerUsage()
    """Nothing: no one is called."""

    def __init__(self, profile: Profile) -> None:
        """Read the profile's nouns; the embedding model is loaded when first needed.

        Args:
            profile: Its facts name the nouns, its embedding compares wordings, its limits bound programs.
        """
        self._profile = profile
        self._lexicon = lexicon_of(profile)
        self._likeness = WordingSimilarity(profile)
        self._limits = ProgramLimits.of(profile)

    async def plan(self, task: Task, examples: Examples) -> Plan:
        """Decompose the instruction into sentences that say what its program does.

        Raises:
            TaskRefused: The instruction is outside what the demonstrations cover.
        """
        block = await asyncio.to_thread(self._solved, task, examples)
        return Plan(_sentences(block))

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        """Write the program of the instruction, checked against the task's inputs and the profile's limits.

        Raises:
            TaskRefused: The instruction is outside what the demonstrations cover, no program of it checks, or a person
                changed the plan to one that no demonstration follows.
        """
        solve = self._following if plan.edited else self._solved
        return written(await asyncio.to_thread(solve, task, examples, plan))

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
        critique = await explain(case, replay, composed=written(composed) if composed else None)
        if not critique.program or composed is None or not case.plan or list(case.plan) == _sentences(composed):
            return critique
        return replace(critique, faults=tuple(replace(fault, place="plan") for fault in critique.faults))

    async def check_step(
        self, case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay
    ) -> StepCheck:
        """Judge a step by its share of what explains the feedback, the steps found right left out."""
        composed = await asyncio.to_thread(self._composed, case)
        return await check(case, address, checked, replay, composed=written(composed) if composed else None)

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

    def _following(self, task: Task, examples: Examples, plan: Plan) -> ProgramBlock:
        """Solve a task as an edited plan says.

        Raises:
            TaskRefused: None of the ways that the demonstrations know has these steps.
        """
        steps = [_words_of(step) for step in plan.steps]
        for block in (self._solved(task, examples, plan), self._solved(task, examples)):
            if [_words_of(step) for step in _sentences(block)] == steps:
                return block
        msg = (
            "The plan was changed, and this reasoner cannot follow it: no demonstration does the task in these steps. "
            "Set the plan back, change the instruction or the program instead, or use a profile with a chat model."
        )
        raise TaskRefused(msg)

    def _composed(self, case: FailedCase) -> ProgramBlock | None:
        """Solve the case's instruction anew; None where it is outside what the demonstrations cover."""
        try:
            return self._solved(case.task, case.examples, Plan([]))
        except ReasoningFailed:
            return None

    def _solved(self, task: Task, examples: Examples, plan: Plan | None = None) -> ProgramBlock:
        """Solve a task; where its plan was wrong before, or is already made, another way is taken if there is one."""
        self._check_given(task)
        same = plain_words(task.instruction).lower()
        wrong_plans = [one.plan for one in examples.plans_incorrect if plain_words(one.instruction).lower() == same]
        block = self._solve(task, examples)
        if plan is not None or _sentences(block) not in wrong_plans:
            return block
        # The best way was tried and its plan was wrong: leave out what it came from.
        without = [one for one in examples.programs_correct if one.instruction not in block.sources]
        seeds = [one for one in seed_demonstrations() if one.instruction not in block.sources]
        return self._solve(task, examples, correct=[*without, *seeds])

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

    def _solve(self, task: Task, examples: Examples, *, correct: Sequence[Demonstration] | None = None) -> ProgramBlock:
        seeds = seed_demonstrations()
        usable = (
            correct if correct is not None else [*examples.programs_correct, *(one for one in seeds if one.correct)]
        )
        wrong = [*examples.programs_incorrect, *(one for one in seeds if not one.correct)]
        known = knowledge(
            [one for one in usable if one.correct and one.program],
            [one for one in wrong if one.program and one.kind == "program"],
            lexicon=self._lexicon,
            similarity=self._likeness,
        )
        try:
            block = Composer(known, list(task.inputs)).solve(task.instruction)
        except OutOfDepth as unsolved:
            if len(task.inputs) > _MOST_PICTURES:
                count = len(task.inputs)
                msg = f"This reasoner answers about one picture, or compares two; {count} were given. {ABILITIES}"
                raise TaskRefused(msg) from unsolved
            raise TaskRefused(_out_of_depth(task.instruction, unsolved.part)) from unsolved
        try:
            load(written(block), task.inputs, self._limits)
        except ProgramError as error:
            msg = f"No valid program was found for this instruction ({error.problems[0]}). {ABILITIES}"
            raise TaskRefused(msg) from error
        return block


def _out_of_depth(instruction: str, part: str) -> str:
    within = (
        ""
        if part.strip(" .?!").lower() in instruction.lower()[: len(part) + 2]
        else f" (of it, “{quoted(part, most=80)}” fits nothing known)"
    )
    return f"The instruction “{quoted(instruction, most=80)}” is outside what this reasoner can do{within}. {ABILITIES}"


def _sentences(block: ProgramBlock) -> list[str]:
    steps = [step[:1].upper() + step[1:] for step in block.plan][: MAX_PLAN_STEPS - 1]
    return [step[:MAX_STEP_LENGTH] for step in [*steps, "Give the result."]]


def _words_of(step: str) -> str:
    return " ".join(step.casefold().split()).rstrip(" .")


@cache
def seed_demonstrations() -> tuple[Demonstration, ...]:
    """Return the demonstrations that the pool begins with; they are always at hand, however small the pool."""
    return tuple(read_seeds(SEEDS))
