"""Tasks, their plans, and the demonstrations that a Reasoner reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration
    from snellen.reasoning.reading.reading_record import ReadingRecord


@dataclass(frozen=True)
class Task:
    """Instruction of the user, and the inputs it is about."""

    instruction: str
    inputs: Mapping[str, str]
    """Name of each input variable of the program and its type in the catalogue: {"IMAGE": "Picture"}."""
    family: str | None = None
    """A task family ("vqa", "statement", "edit", "tag") where the caller knows it; a hint, never required."""
    reading: ReadingRecord | None = None
    """How the instruction was read; None where nobody has read it yet."""


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
