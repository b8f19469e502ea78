"""Execution of a task's program: resources of its tools, pictures watched for trouble, counterfactual replays."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.learning.counterfactual_replay import Replayer, whole_records
from snellen.learning.feedback import closeness
from snellen.memory.home import MemoryTrouble
from snellen.runtime.task_state import agreement_of, feedback_of, inputs_of
from snellen.tools.program import ProgramLimits, StepRecord
from snellen.tools.registry import ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import PIL.Image

    from snellen.graphs.states import AskState
    from snellen.reasoning.reasoner import Reasoner
    from snellen.runtime.context import Context
    from snellen.values import Picture, PictureStore


def limits_of(context: Context) -> ProgramLimits:
    """Return where a program is stopped."""
    return ProgramLimits() if context.profile is None else ProgramLimits.of(context.profile)


def tools_of(context: Context, pictures: PictureStore, loop: asyncio.AbstractEventLoop) -> ToolContext:
    """Return what the tools of a program use; those that ask the Reasoner do so on its event loop."""
    return ToolContext(
        pictures=pictures,
        models=context.models,
        list_knowledge=_knowledge(context.reasoner, loop),
        profile=context.profile,
    )


def _knowledge(reasoner: Reasoner, loop: asyncio.AbstractEventLoop) -> Callable[[str, int, Sequence[str]], list[str]]:
    """Let a tool on a worker thread ask the Reasoner, which lives on the event loop."""

    def ask(query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        return asyncio.run_coroutine_threadsafe(reasoner.list_knowledge(query, limit, candidates), loop).result()

    return ask


class WatchedPictures:
    """A store that remembers when it could not store or read: the machine's trouble, not the program's."""

    def __init__(self, store: PictureStore) -> None:
        self._store = store
        self._trouble: MemoryTrouble | None = None

    def put(self, picture: PIL.Image.Image) -> Picture:
        """Store a picture."""
        try:
            return self._store.put(picture)
        except MemoryTrouble as trouble:
            self._trouble = trouble
            raise

    def get(self, picture_id: str) -> PIL.Image.Image:
        """Return a stored picture."""
        try:
            return self._store.get(picture_id)
        except MemoryTrouble as trouble:
            self._trouble = trouble
            raise

    def check(self) -> None:
        """Raise the trouble there was, which the program's runner has taken for a failed step."""
        if self._trouble is not None:
            raise self._trouble


@dataclass(frozen=True)
class ReplayBench:
    """A finished program with everything that it takes to run it again."""

    replayer: Replayer
    pictures: WatchedPictures

    @classmethod
    def of(cls, state: AskState, context: Context) -> ReplayBench:
        """Return the bench of a finished run, at which none of its calls is made again."""
        pictures = WatchedPictures(context.pictures)
        records = [StepRecord.from_json(step) for step in state.steps]
        replayer = Replayer(
            state.program,
            inputs_of(state),
            tools_of(context, pictures, asyncio.get_running_loop()),
            agreement_of(state),
            closeness=closeness(feedback_of(state)),
            known=whole_records(records),
            limits=limits_of(context),
        )
        return cls(replayer, pictures)

    async def steps(self) -> tuple[StepRecord, ...]:
        """Return the steps of the run, whole: what was shortened for the checkpoint is computed again."""
        return (await self.replayer({})).steps
