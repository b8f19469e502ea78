"""Programs for an instruction, the likeliest first: as somebody showed it, of its meaning, of a like demonstration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, get_args

from snellen.memory.demonstrations import SEED
from snellen.reasoning.case_based.substitution import Substitution, wording
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.demonstrated_choices import demonstrated_choices
from snellen.reasoning.meanings.program_writer import text
from snellen.reasoning.meanings.tool_choices import ToolChoices
from snellen.reasoning.reasoner import MAX_PLAN_STEPS, MAX_STEP_LENGTH
from snellen.reasoning.revision import same_program
from snellen.sentences import capitalized
from snellen.tools.program import ProgramError, ProgramLimits, load

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration
    from snellen.reasoning.meanings.meanings import Meaning
    from snellen.reasoning.reading.reading_record import ReadingRecord
    from snellen.reasoning.task import Examples, Task

LAST_STEP: Final = "Give the result."


@dataclass(frozen=True)
class PlannedProgram:
    """A program and its plan.

    Attributes:
        program: Its text, which parses and checks.
        plan: Its plan, within the bounds of plans.
    """

    program: str
    plan: tuple[str, ...]


class InstructionPrograms:
    """Programs for one task.

    Args:
        task: The task.
        reading: How its instruction was read.
        examples: The recalled demonstrations.
        seeds: Demonstrations that are always at hand.
        substitution: Adapts demonstrations of the same wording up to the things that are named.
        limits: Those of programs.
    """

    def __init__(
        self,
        task: Task,
        reading: ReadingRecord,
        examples: Examples,
        seeds: Sequence[Demonstration],
        substitution: Substitution,
        limits: ProgramLimits,
    ) -> None:
        self._task, self._reading, self._limits = task, reading, limits
        self._right = [*examples.programs_correct]
        self._wrong = [one for one in examples.programs_incorrect if one.source != SEED]
        self._seeds = [one for one in seeds if one.correct and one.kind == "program"]
        self._substitution = substitution
        self.problem = ""
        """What was wrong with the last program that did not check."""

    def __iter__(self) -> Iterator[PlannedProgram]:
        """Yield programs, the likeliest first; none that was wrong for this wording, and none twice."""
        tried = [program for one in self._wrong if (program := self._adapted(one)) is not None]
        for way in self._all():
            if any(same_program(way.program, one) for one in tried):
                continue
            tried.append(way.program)
            try:
                load(way.program, self._task.inputs, self._limits)
            except ProgramError as error:
                self.problem = str(error.problems[0])
                continue
            yield way

    def _all(self) -> Iterator[PlannedProgram]:
        same = wording(self._task.instruction)
        learned = [one for one in self._right if one.source != SEED]
        yield from (_shown(one) for one in learned if wording(one.instruction) == same)
        meaning = self._reading.typed_meaning()
        compiled = self._compiled(meaning, learned) if meaning is not None else iter(())
        yield from islice(compiled, 1)
        # Where that was wrong: as it was right for other things, or else with other tools.
        yield from self._like(learned)
        yield from compiled
        yield from self._like(self._seeds)
        if self._reading.status == "as it stands":
            question = text(" ".join(self._task.instruction.split()))
            program = f"ANSWER0=VQA(image={next(iter(self._task.inputs))},question={question})\n"
            yield planned(f"{program}FINAL_RESULT=RESULT(var=ANSWER0)", ["Ask the question as it stands."])

    def _like(self, shown: Sequence[Demonstration]) -> Iterator[PlannedProgram]:
        """Yield the programs of demonstrations of the same wording up to names."""
        for one in shown:
            adapted = self._adapted(one)
            if adapted is not None:
                plan = [self._substitution.in_words(step, one.instruction, self._task.instruction) for step in one.plan]
                yield planned(adapted, plan)

    def _compiled(self, meaning: Meaning, learned: Sequence[Demonstration]) -> Iterator[PlannedProgram]:
        """Yield the program of the meaning, then those with other tools."""
        choices = demonstrated_choices([one.program for one in learned], [one.program for one in self._wrong])
        for each in (choices, *_others(choices)):
            compiled = compile_meaning(meaning, each)
            yield planned(compiled.program, compiled.plan)

    def _adapted(self, shown: Demonstration) -> str | None:
        return self._substitution.in_program(shown.program, shown.instruction, self._task.instruction)


def _others(choices: ToolChoices) -> Iterator[ToolChoices]:
    for name, field in ToolChoices.model_fields.items():
        for tool in get_args(field.annotation):
            if tool != getattr(choices, name):
                yield choices.model_copy(update={name: tool})


def _shown(shown: Demonstration) -> PlannedProgram:
    return planned(shown.program, shown.plan)


def planned(program: str, plan: Sequence[str]) -> PlannedProgram:
    """Return a program with its plan, within the bounds of plans."""
    steps = [capitalized(step)[:MAX_STEP_LENGTH] for step in plan]
    if steps[-1:] != [LAST_STEP]:
        steps = [*steps[: MAX_PLAN_STEPS - 1], LAST_STEP]
    return PlannedProgram(program.strip() + "\n", tuple(steps))
