"""Evaluation: a world's tasks go through the ask flow, and what comes of them is scored.

Tasks run side by side, so that equal model calls of different tasks meet in one batch. A task that fails counts as
wrong and is counted by its reason; only trouble of the machine (a full disk) stops an evaluation, which then goes on
from its journal when it is started again.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import MemoryTrouble
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.scoring import Interval, bootstrap_interval, mean, wilson_interval
from snellen.values import Picture, as_text, from_json, named_regions

if TYPE_CHECKING:
    from snellen.memory.evaluation_journal import EvaluationJournal
    from snellen.profiles.world import DrawnTask, Outcome, TaskWorld, UserFeedback
    from snellen.values import PictureStore

Json = dict[str, Any]

CONCURRENCY: Final = 8
"""Tasks under way at the same time."""
HOPELESS: Final = 8
"""So many first tasks that all end in the same error end the evaluation with that error."""


@dataclass(frozen=True)
class EvaluationRequest:
    """The tasks to evaluate, and the profile to solve them with.

    Attributes:
        family: A task family of the world (``vqa``).
        split: ``train``, ``val`` or ``test``.
        share: ``known``, ``novel`` or ``mixed`` concepts.
        n: How many tasks, at least one.
        seed: Which tasks: the same seed gives the same ones.
        profile: Name or path of the profile that solves them; only written into the report.
    """

    family: str
    split: str = "test"
    share: str = "known"
    n: int = 100
    seed: int = 0
    profile: str = "embedded"


@dataclass(frozen=True)
class Assignment:
    """A task as its solver sees it: everything but the right answer."""

    id: str
    family: str
    instruction: str
    pictures: tuple[Picture, ...]


class Solution(Protocol):
    """The result of a task in the ask flow; ``snellen.graphs.states.AskState`` is one."""

    @property
    def answer(self) -> Any:  # noqa: ANN401 - a value in JSON form
        """The program's result in JSON form."""
        ...

    @property
    def steps(self) -> list[Json]:
        """The executed steps in JSON form."""
        ...

    @property
    def error(self) -> str | None:
        """The reason why there is no answer, in one sentence."""
        ...


Solve = Callable[[Assignment], Awaitable[Solution]]
"""Runs one task through the ask flow; it must not remember the run, or the pool would learn the test."""


@dataclass(frozen=True)
class TaskResult:
    """The score of one task."""

    id: str
    type: str
    instruction: str
    answer: str
    value: float
    correct: bool
    reason: str
    failed: bool
    """Whether there was no answer at all."""


@dataclass(frozen=True)
class TypeResult:
    """The figures of one type of task."""

    accuracy: float
    interval: Interval
    n: int


@dataclass(frozen=True)
class Evaluation:
    """The report of an evaluation.

    Attributes:
        request: What was evaluated.
        accuracy: Share of tasks solved; for ``tag`` the mean F1 at an intersection over union of 0.5.
        interval: Its 95 % interval: Wilson's for shares, a bootstrap of the mean for F1.
        by_type: The same for each type of task.
        blind: What the best answers from the text alone would have scored on the same tasks.
        failures: How many tasks went wrong for each reason.
        seconds: Wall-clock time of this process; tasks from an earlier one took none.
        results: Each task's result, in the order of the tasks.
    """

    request: EvaluationRequest
    accuracy: float
    interval: Interval
    by_type: dict[str, TypeResult]
    blind: float
    failures: dict[str, int]
    seconds: float
    results: tuple[TaskResult, ...] = field(repr=False)

    def to_json(self) -> Json:
        """Return the report as plain JSON, without the single tasks."""
        request = self.request
        return {
            "family": request.family,
            "split": request.split,
            "concepts": request.share,
            "profile": request.profile,
            "seed": request.seed,
            "n": len(self.results),
            "metric": "f1" if request.family == "tag" else "accuracy",
            "accuracy": round(self.accuracy, 4),
            "interval": self.interval.rounded,
            "blind": round(self.blind, 4),
            "by_type": {name: _type_json(one) for name, one in self.by_type.items()},
            "failures": self.failures,
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True)
class EvaluationProgress:
    """Progress of an evaluation, reported after every task."""

    done: int
    total: int
    accuracy: float


async def evaluate_tasks(
    world: TaskWorld,
    request: EvaluationRequest,
    *,
    pictures: PictureStore,
    solve: Solve,
    concurrency: int = CONCURRENCY,
    progress: Callable[[EvaluationProgress], None] | None = None,
    journal: EvaluationJournal | None = None,
    keep_journal: bool = False,
) -> Evaluation:
    """Draw tasks, have them solved, and score them.

    Args:
        world: The world that draws and judges the tasks.
        request: Which tasks.
        pictures: Where their pictures are stored before they are solved.
        solve: The ask flow.
        concurrency: How many tasks are under way at the same time.
        progress: Called after every task.
        journal: Remembers scored tasks until the evaluation is finished.
        keep_journal: Whether it remembers them after that too: this evaluation is a part of another one.

    Raises:
        BadInput: The world has no such tasks, or there are none to evaluate.
        SnellenError: The machine failed (a full disk), or every task ends in the same error.
    """
    if request.n < 1:
        msg = f"There is nothing to evaluate in {request.n} tasks; ask for at least one."
        raise BadInput(msg)
    started = time.monotonic()
    tasks = await asyncio.to_thread(
        world.sample_tasks, request.family, request.split, request.share, request.n, request.seed
    )
    run = _Run(world, pictures, solve, len(tasks), progress=progress, journal=journal)
    results = await run.all(tasks, concurrency)
    blind = await asyncio.to_thread(world.blind_score, tasks)
    if journal is not None and not keep_journal:
        await asyncio.to_thread(journal.finish)
    return _report(request, results, blind=blind, seconds=time.monotonic() - started)


class TaskExaminer:
    """Hands out the tasks of a world, and marks what comes of them.

    Args:
        world: The world that draws and judges the tasks.
        pictures: Where their pictures are stored before they are solved.
    """

    def __init__(self, world: TaskWorld, pictures: PictureStore) -> None:
        self._world = world
        self._pictures = pictures

    async def assignment(self, task: DrawnTask) -> Assignment:
        """Store the pictures of a task, and say what is asked of them."""
        stored = await asyncio.to_thread(lambda: tuple(map(self._pictures.put, task.pictures())))
        return Assignment(task.id, task.family, task.instruction, stored)

    async def result(self, task: DrawnTask, solve: Solve) -> TaskResult:
        """Have a task solved, and score it; what goes wrong with it alone is scored as well."""
        try:
            solution = await solve(await self.assignment(task))
        except MemoryTrouble:
            raise
        except SnellenError as error:
            return await self._marked(task, self._world.TaskOutcome(error=_reason(error)), "")
        return await self.marked(task, solution)

    async def marked(self, task: DrawnTask, solution: Solution) -> TaskResult:
        """Score what the flow left of a task."""
        outcome, answer = await self._read(solution)
        return await self._marked(task, outcome, answer)

    async def feedback(self, task: DrawnTask, solution: Solution) -> UserFeedback:
        """Return what a user who knows the truth would say about it."""
        outcome, _ = await self._read(solution)
        return await asyncio.to_thread(self._world.feedback, task, outcome)

    async def _marked(self, task: DrawnTask, outcome: Outcome, answer: str) -> TaskResult:
        score = await asyncio.to_thread(self._world.score, task, outcome)
        return TaskResult(
            id=task.id,
            type=task.type,
            instruction=task.instruction,
            answer=answer,
            value=float(score.value),
            correct=bool(score.correct),
            reason=str(score.reason),
            failed=bool(outcome.error),
        )

    async def _read(self, solution: Solution) -> tuple[Outcome, str]:
        """Turn what the flow left into an outcome that the world can judge; what cannot be read is an error."""
        if solution.error:
            return self._world.TaskOutcome(error=solution.error), ""
        try:
            return await asyncio.to_thread(self._outcome, solution)
        except MemoryTrouble:
            raise
        except SnellenError as error:
            return self._world.TaskOutcome(error=_reason(error)), ""

    def _outcome(self, solution: Solution) -> tuple[Outcome, str]:
        value = from_json(solution.answer)
        regions = tuple(self._world.TaggedRegion(one.label, one.box) for one in named_regions(value, solution.steps))
        picture = self._pictures.get(value.id) if isinstance(value, Picture) else None
        answer = None if isinstance(value, Picture) else _plain(value)
        return self._world.TaskOutcome(answer=answer, regions=regions, picture=picture), as_text(value)


class _Run:
    """One evaluation under way."""

    def __init__(
        self,
        world: TaskWorld,
        pictures: PictureStore,
        solve: Solve,
        total: int,
        *,
        progress: Callable[[EvaluationProgress], None] | None,
        journal: EvaluationJournal | None,
    ) -> None:
        self._examiner = TaskExaminer(world, pictures)
        self._solve = solve
        self._total = total
        self._progress = progress
        self._journal = journal
        self._done: dict[str, TaskResult] = {}

    async def all(self, tasks: Sequence[DrawnTask], concurrency: int) -> tuple[TaskResult, ...]:
        """Solve and score all tasks, and return the results in their order."""
        if self._journal is not None:
            known = await asyncio.to_thread(self._journal.begin)
            self._done = {task.id: TaskResult(**known[task.id]) for task in tasks if task.id in known}
        free = asyncio.Semaphore(max(concurrency, 1))
        try:
            async with asyncio.TaskGroup() as group:
                for task in tasks:
                    if task.id not in self._done:
                        group.create_task(self._one(task, free))
        except* SnellenError as trouble:
            raise _first(trouble) from None
        return tuple(self._done[task.id] for task in tasks)

    async def _one(self, task: DrawnTask, free: asyncio.Semaphore) -> None:
        async with free:
            result = await self._examiner.result(task, self._solve)
        self._done[task.id] = result
        if self._journal is not None:
            await asyncio.to_thread(self._journal.add, asdict(result))
        self._give_up_if_hopeless()
        if self._progress is not None:
            values = [one.value for one in self._done.values()]
            self._progress(EvaluationProgress(len(values), self._total, mean(values)))

    def _give_up_if_hopeless(self) -> None:
        """Stop where the first tasks show that no task can be solved, such as for want of a checkpoint.

        Raises:
            SnellenError: With the sentence in which they all ended.
        """
        results = list(self._done.values())
        reasons = {one.reason for one in results}
        if len(results) >= min(HOPELESS, self._total) and len(reasons) == 1 and all(one.failed for one in results):
            raise SnellenError(reasons.pop())


def _plain(value: Any) -> str | float | bool | None:  # noqa: ANN401 - a value of a program
    """Reduce a value to the text, number or truth value that it says."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return as_text(value)


def _reason(error: SnellenError) -> str:
    return f"no program could be written: {error}" if isinstance(error, ReasoningFailed) else str(error)


def _first(trouble: BaseExceptionGroup[SnellenError]) -> SnellenError:
    """Return the first of the errors of a task group; trouble of the machine goes before others."""
    errors = [_first(one) if isinstance(one, BaseExceptionGroup) else one for one in trouble.exceptions]
    return next((error for error in errors if isinstance(error, MemoryTrouble)), errors[0])


def _report(request: EvaluationRequest, results: tuple[TaskResult, ...], *, blind: float, seconds: float) -> Evaluation:
    types = dict.fromkeys(one.type for one in results)
    total = _figures(request, results)
    return Evaluation(
        request=request,
        accuracy=total.accuracy,
        interval=total.interval,
        by_type={name: _figures(request, [one for one in results if one.type == name]) for name in types},
        blind=blind,
        failures=dict(Counter(_general(one.reason) for one in results if not one.correct).most_common()),
        seconds=seconds,
        results=results,
    )


def _figures(request: EvaluationRequest, results: Sequence[TaskResult]) -> TypeResult:
    values = [one.value for one in results]
    if request.family == "tag":
        return TypeResult(mean(values), bootstrap_interval(values), len(values))
    right = sum(one.correct for one in results)
    return TypeResult(mean(values), wilson_interval(right, len(values)), len(values))


_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)*")
_LONGEST_REASON = 160


def _general(reason: str) -> str:
    """Leave out of a reason what differs from task to task, so that equal ones are counted together."""
    return _PARTICULAR.sub("…", reason)[:_LONGEST_REASON]


def _type_json(one: TypeResult) -> Json:
    return {"accuracy": round(one.accuracy, 4), "interval": one.interval.rounded, "n": one.n}
