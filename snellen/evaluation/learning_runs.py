"""Measuring learning (``snellen evaluate learning``): tasks before, lessons, the same tasks after.

What is learned goes into a memory of the evaluation's own, never into the user's; it stays there, as a home that other
commands can be pointed at. Each part has a journal, so that an evaluation that was stopped goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from snellen.errors import BadInput
from snellen.evaluation.learning import (
    Figures,
    LearningEvaluation,
    LearningRequest,
    LessonProgress,
    LessonResult,
    learn_from_tasks,
)
from snellen.evaluation.task_runs import files_of, solver
from snellen.evaluation.tasks import Assignment, EvaluationRequest, evaluate_tasks
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.evaluation_journal import EvaluationJournal
from snellen.memory.home import home, write_atomically
from snellen.memory.thread_locks import running
from snellen.profiles import ModelKey, Profile, load_profile
from snellen.reasoning.critique import Feedback
from snellen.reasoning.language.inflection import counted
from snellen.runtime.context import Context, Part
from snellen.threads import ask
from snellen.threads.ask import ANSWERED, ASK, correction_of
from snellen.values import Region, to_json

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from snellen.graphs.states import AskState
    from snellen.profiles.world import TaskWorld, UserFeedback

PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""What ``--without`` may leave out."""


@dataclass(frozen=True)
class Stage:
    """Progress of an evaluation of learning.

    Attributes:
        name: The part that is under way, for people.
        done: Tasks done in it.
        total: Tasks in it.
        note: What came of it so far.
    """

    name: str
    done: int
    total: int
    note: str = ""


Progress = Callable[[Stage], None]


async def evaluate_learning(request: LearningRequest, *, progress: Progress | None = None) -> LearningEvaluation:
    """Measure what learning is worth; an evaluation that was stopped goes on when it is started again.

    Args:
        request: What to measure.
        progress: Called after every task.

    Raises:
        BadInput: There are no such tasks, profile or parts, or the same evaluation runs in another process.
        SnellenError: The profile has no world, or the machine failed.
    """
    request.check()
    _check_parts(request)
    profile = load_profile(request.profile)
    async with _laboratory(request, profile, progress or (lambda _: None)) as laboratory:
        return await laboratory.measured()


def _check_parts(request: LearningRequest) -> None:
    unknown = [part for part in request.without if part not in PARTS]
    if unknown:
        msg = f"{unknown[0]!r} is no part that can be left out: choose among {', '.join(PARTS)}."
        raise BadInput(msg)
    if {"local", "global"} <= set(request.without):
        msg = "Without local and global reflection nothing is learned: leave out one of them."
        raise BadInput(msg)


@asynccontextmanager
async def _laboratory(request: LearningRequest, profile: Profile, progress: Progress) -> AsyncIterator[_Laboratory]:
    fingerprint = _fingerprint(request, profile)
    folder = home() / "evaluations" / f"learning-{fingerprint[:12]}"
    async with running(folder.name):
        # The pictures of hundreds of tasks are drawn again from their seed; no memory is a place for them.
        with tempfile.TemporaryDirectory(prefix="snellen-") as pictures:
            _begin(folder, fingerprint)
            yield _Laboratory(request, profile, folder, fingerprint, ArtifactStore(Path(pictures)), progress)


def _begin(folder: Path, fingerprint: str) -> None:
    """Begin afresh, unless an earlier process began the very same with the very same code."""
    marker = folder / "begun"
    if marker.exists() and marker.read_text(encoding="utf-8") == fingerprint:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_atomically(marker, fingerprint.encode())


@dataclass
class _Laboratory:
    """One evaluation of learning: its memories, its journals, its contexts."""

    request: LearningRequest
    profile: Profile
    folder: Path
    fingerprint: str
    pictures: ArtifactStore
    progress: Progress

    @cached_property
    def world(self) -> TaskWorld:
        """The world that draws and judges the tasks."""
        return self.profile.world()

    @cached_property
    def unlearned(self) -> Any:  # noqa: ANN401 - see Context.models
        """Tools as they came; read from disk once for all parts that use them."""
        from snellen.tools.vision import Models

        return Models(self.profile)

    def context(self, memory: str, *, tools: bool) -> Context:
        """Open a memory: with what its tools learned, or with its plans and programs alone."""
        folder = self.folder / memory
        folder.mkdir(exist_ok=True)
        made = ask.make_context(self.request.profile, folder)
        without = frozenset(cast("tuple[Part, ...]", self.request.without))
        if tools:
            return replace(made, without=without)
        return replace(made, without=without, models=self.unlearned, learning=None)

    async def measured(self) -> LearningEvaluation:
        """Go through all parts; none learns from what another one tests."""
        started, request = time.monotonic(), self.request
        blank, taught = self.context("blank", tools=False), self.context("memory", tools=True)
        before = await self._tested("before learning", blank, request.share, request.n)
        known_before = await self._tested("known, before learning", blank, "known", request.known)
        programs, tools, lessons = await (self._stream(taught) if request.setting == "online" else self._course(taught))
        return LearningEvaluation(
            request=request,
            before=before,
            after_programs=programs,
            after_tools=tools,
            known_before=known_before,
            known_after=await self._tested("known, after learning", taught, "known", request.known),
            lessons=lessons,
            memory=str(self.folder / "memory"),
            seconds=time.monotonic() - started,
        )

    async def _course(self, taught: Context) -> tuple[Figures, Figures, tuple[LessonResult, ...]]:
        """Offline: learn from the training split, then be tested without learning any more."""
        request = self.request
        lessons = await self._lessons("learning", taught, "train", request.train)
        alone = self.context("memory", tools=False)
        programs = await self._tested("after learning, programs alone", alone, request.share, request.n)
        return programs, await self._tested("after learning", taught, request.share, request.n), lessons

    async def _stream(self, taught: Context) -> tuple[Figures, Figures, tuple[LessonResult, ...]]:
        """Online: the same stream of test tasks twice, learning programs alone and learning everything."""
        alone = self.context("programs", tools=False)
        first = await self._lessons("the stream, learning programs alone", alone, "test", self.request.n)
        lessons = await self._lessons("the stream", taught, "test", self.request.n)
        return _figures(first), _figures(lessons), lessons

    async def _tested(self, name: str, context: Context, share: str, n: int) -> Figures:
        request = EvaluationRequest(self.request.family, "test", share, n, self.request.seed, self.request.profile)
        context = replace(context, pictures=self.pictures)
        evaluation = await evaluate_tasks(
            self.world,
            request,
            pictures=self.pictures,
            solve=solver(context, request),
            progress=lambda now: self.progress(Stage(name, now.done, now.total, f"{now.accuracy:.2f}")),
            journal=self._journal(name),
            keep_journal=True,
        )
        return Figures(tuple(one.value for one in evaluation.results), evaluation.accuracy, evaluation.interval)

    async def _lessons(self, name: str, context: Context, split: str, n: int) -> tuple[LessonResult, ...]:
        request = self.request

        def show(now: LessonProgress) -> None:
            self.progress(
                Stage(name, now.done, now.total, f"{counted(now.kept, 'prompt')} kept, {now.discarded} discarded")
            )

        tasks = await asyncio.to_thread(self.world.sample_tasks, request.family, split, request.share, n, request.seed)
        return await learn_from_tasks(
            self.world,
            tasks,
            pictures=context.pictures,
            pupil=_AskingPupil(context, request.profile),
            progress=show,
            journal=self._journal(name),
        )

    def _journal(self, part: str) -> EvaluationJournal:
        name = "".join(letter if letter.isalnum() else "-" for letter in part)
        return EvaluationJournal(self.folder / f"{name}.jsonl", fingerprint=self.fingerprint)


def _figures(lessons: tuple[LessonResult, ...]) -> Figures:
    return Figures.of_values([one.value for one in lessons])


class _AskingPupil:
    """The ask graph as a pupil: a thread for each task, forgotten when the task is done."""

    def __init__(self, context: Context, profile: str) -> None:
        from langgraph.checkpoint.memory import InMemorySaver

        from snellen.graphs.ask import builder

        self._context, self._profile = context, profile
        self._saver = InMemorySaver()
        self._graph = builder.compile(checkpointer=self._saver, name="ask")

    async def answer(self, task: Assignment) -> AskState:
        """Answer a task for which nothing is known of the right answer."""
        from snellen.graphs.states import AskState

        begun = AskState(
            instruction=task.instruction,
            pictures=[to_json(picture) for picture in task.pictures],
            profile=self._profile,
        )
        return AskState(**await self._ended(begun, ASK.address(task.id)))

    async def hear(self, task: Assignment, feedback: UserFeedback) -> AskState:
        """Take what the user says, learn from it, and answer again."""
        from snellen.graphs.states import AskState

        shown = feedback.region
        region = None if shown is None else Region(shown.box, 1.0, shown.name, picture=task.pictures[0].id)
        config = ASK.address(task.id)
        state = await ASK.state_of(self._graph, task.id)
        correction = correction_of(state, Feedback(feedback.expected or None, region=region), insist=True)
        await self._graph.aupdate_state(config, correction, as_node=ANSWERED)
        values = await self._ended(None, config)
        await self._saver.adelete_thread(task.id)
        return AskState(**values)

    async def _ended(self, begun: AskState | None, config: RunnableConfig) -> dict[str, Any]:
        """Run the graph to its end; return its whole state."""
        keys = self._graph.stream_channels_list
        return await self._graph.ainvoke(begun, config, context=self._context, output_keys=keys)


def _fingerprint(request: LearningRequest, profile: Profile) -> str:
    """Name everything that may change a figure: what is asked for, settings, checkpoints, and our own code."""
    about = {
        "request": asdict(request),
        "profile": profile.model_dump(mode="json"),
        "checkpoints": {key: files_of(profile, key) for key in get_args(ModelKey)},
        "code": _code(),
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _code() -> str:
    """Digest the sources, so that no figure of other code is taken for one of this."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    # ``os.walk`` follows the links of a checkout; ``Path.rglob`` does not.
    for folder, _, names in sorted(os.walk(root, followlinks=True)):
        for path in (Path(folder, name) for name in sorted(names)):
            if path.suffix in {".py", ".toml", ".json", ".md"}:
                digest.update(path.read_bytes())
    return digest.hexdigest()
