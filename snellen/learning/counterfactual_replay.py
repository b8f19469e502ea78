"""Running a program again with some outputs given: what would the answer be if that step had been right?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.memory.shortening import is_whole
from snellen.reasoning.critique import ReplayOutcome
from snellen.tools import program as programs
from snellen.values import Picture, Value, to_json

if TYPE_CHECKING:
    from snellen.learning.feedback import Agreement, Closeness
    from snellen.tools.program import ProgramLimits, StepRecord
    from snellen.tools.registry import ToolContext

MAX_REPLAYS: Final = 160
"""Programs that one reflection runs; further ones come out without an answer."""
MAX_KNOWN: Final = 4_000
"""Calls that are remembered, so that no tool is asked twice."""


class Replayer:
    """A `snellen.reasoning.critique.Replay` over the tools of a run.

    A call that was made before, in the run or in a replay, is not made again: tools that are asked the same say the
    same. Only what depends on a changed output is computed anew.

    Args:
        program: The text of the case's program.
        inputs: The pictures by the names of the program's inputs.
        tools: What the tools use.
        agrees: Judges an answer.
        closeness: Measures how much of an expected list an answer says.
        known: Records of the run.
        limits: Where a run is stopped.
        most: How many runs there are at most.
    """

    def __init__(
        self,
        program: str,
        inputs: Mapping[str, Picture],
        tools: ToolContext,
        agrees: Agreement,
        *,
        closeness: Closeness | None = None,
        known: Sequence[StepRecord] = (),
        limits: ProgramLimits | None = None,
        most: int = MAX_REPLAYS,
    ) -> None:
        self.runs = 0
        self._program = program
        self._inputs = dict(inputs)
        self.tools = tools
        self._agrees = agrees
        self._closeness = closeness or (lambda _answer, _steps: 0.0)
        self._known = list(known)
        self._limits = limits or programs.ProgramLimits()
        self._most = most
        self._outcomes: dict[str, ReplayOutcome] = {}

    async def __call__(self, overrides: Mapping[str, Value], program: str | None = None) -> ReplayOutcome:
        """Run the case's program, or another one, with these outputs by address."""
        text = self._program if program is None else program
        key = json.dumps([text, {address: to_json(value) for address, value in overrides.items()}], sort_keys=True)
        if key not in self._outcomes:
            if self.runs >= self._most:
                return ReplayOutcome(answer=None, agrees=False)
            self.runs += 1
            self._outcomes[key] = await asyncio.to_thread(self._run, text, overrides)
        return self._outcomes[key]

    def _run(self, text: str, overrides: Mapping[str, Value]) -> ReplayOutcome:
        records: list[StepRecord] = []
        try:
            program = programs.parse(text, self._limits)
            running = programs.run(
                program, self._inputs, self.tools, self._limits, overrides=overrides, known=self._known
            )
            records.extend(running)
            answer = programs.final_value(records)
        except SnellenError:
            return ReplayOutcome(answer=None, agrees=False, steps=tuple(records))
        if len(self._known) < MAX_KNOWN:
            self._known.extend(records)
        return ReplayOutcome(answer, self._agrees(answer, records), tuple(records), self._closeness(answer, records))


def whole_records(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Leave out the records that were shortened for a checkpoint: what they say is not all there was."""
    return [step for step in steps if is_whole(step.to_json())]
