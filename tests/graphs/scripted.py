"""Reasoners that always say the same, an embedding without a model, and a context of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.reasoning.critique import Critique, FailedCase, Fault, Method, Place, Replay, StepCheck
from snellen.reasoning.reasoner import ReasonerUsage, Route
from snellen.reasoning.revision import ProposedRevision
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reasoning.trouble import Trouble
from snellen.runtime.context import Context
from snellen.tools.program import StepRecord

PROGRAM = """\
BOX0=CROP(image=IMAGE,box=[])
ANSWER0=EVAL(expr='1 + 2')
FINAL_RESULT=RESULT(var=ANSWER0)
"""
WRONG = "ANSWER0=EVAL(expr='1 + 2')\nFINAL_RESULT=RESULT(var=ANSWER0)\n"
RIGHT = "ANSWER0=EVAL(expr='1 + 3')\nFINAL_RESULT=RESULT(var=ANSWER0)\n"


class Uncritical:
    """The part of a Reasoner that looks back: it never finds a fault, and every answer stands."""

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        return Critique((), 0.0, "global")

    async def check_step(
        self, case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay
    ) -> StepCheck:
        return StepCheck(address, right=True)

    async def infer_answer(self, case: FailedCase, address: str, replay: Replay) -> str:
        return case.feedback.expected or ""

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        return None


@dataclass
class ScriptedReasoner(Uncritical):
    """Plans and writes what it was told to, and counts its calls."""

    program: str = PROGRAM
    steps: Sequence[str] = ("Add one and two", "Give the sum")
    before: Callable[[str], None] = lambda _: None
    examples_wanted: int = 4
    needs_one_meaning: bool = False
    usage: ReasonerUsage = field(default_factory=ReasonerUsage)
    examples: list[Examples] = field(default_factory=list)

    async def plan(self, task: Task, examples: Examples) -> Plan:
        self._called("plan", examples)
        return Plan(steps=list(self.steps))

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        self._called("write", examples)
        return self.program

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        self.before("list")
        return [f"{query} {number}" for number in range(limit)]

    async def route(self, message: str) -> Route:
        return "ask"

    def _called(self, name: str, examples: Examples) -> None:
        self.before(name)
        self.examples.append(examples)
        self.usage = replace(self.usage, calls=self.usage.calls + 1, input_tokens=self.usage.input_tokens + 10)


def fault(place: Place, concept: str = "", tool: str = "EVAL") -> Fault:
    return Fault(place, "1", tool, concept, "It adds one and two, not one and three.")


@dataclass
class Critic(ScriptedReasoner):
    """Says what it was told to; writes what is right once it has seen what was wrong."""

    program: str = WRONG
    globally: tuple[Fault, ...] = ()
    locally: tuple[Fault, ...] = ()
    corrected: str = ""
    certainty: float = 0.9
    teachable: bool = True
    reflections: list[str] = field(default_factory=list)

    async def plan(self, task: Task, examples: Examples) -> Plan:
        made = await super().plan(task, examples)
        return Plan(["Add one and three"]) if self.teachable and examples.plans_incorrect else made

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        written = await super().write_program(task, plan, examples)
        return RIGHT if self.teachable and (examples.programs_incorrect or "three" in plan.steps[0]) else written

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        return self._critique("global", self.globally)

    async def check_step(
        self, case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay
    ) -> StepCheck:
        self.reflections.append(address)
        wrong = next((one for one in self.locally if one.address == address), None)
        return StepCheck(address, right=wrong is None, fault=wrong)

    def _critique(self, method: Method, faults: tuple[Fault, ...]) -> Critique:
        self.reflections.append(method)
        return Critique(faults, self.certainty, method, self.corrected if method == "global" else "")


def embed(texts: list[str]) -> NDArray[np.float32]:
    """Count letters: texts that share letters are near each other."""
    return np.array(
        [[text.casefold().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    ).astype(np.float32)


def make_context(folder: Path, *, reasoner: ScriptedReasoner | None = None) -> Context:
    return Context(
        pictures=ArtifactStore(folder / "artifacts"),
        reasoner=reasoner or ScriptedReasoner(),
        pool=DemonstrationPool(folder, embed=embed),
    )
