"""Measuring learning: how much better tasks are solved after others were learned from (CLOVA, tables 2 to 4 and 7).

*Offline*: everything is learned on tasks of the training split, then other tasks of the test split are solved without
learning. *Online* (section 9.2): one stream of test tasks; each is answered, that answer counts, and a wrong one is
learned from before the next task comes.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from snellen.errors import BadInput
from snellen.evaluation.tasks import Assignment, Solution, TaskExaminer
from snellen.learning.records import LearningOutcome
from snellen.scoring import Interval, bootstrap_interval, mean

if TYPE_CHECKING:
    from snellen.memory.evaluation_journal import EvaluationJournal
    from snellen.profiles.world import DrawnTask, TaskWorld, UserFeedback
    from snellen.values import PictureStore

Json = dict[str, Any]
Setting = Literal["offline", "online"]

SETTINGS: Final[tuple[Setting, ...]] = ("offline", "online")


@dataclass(frozen=True)
class LearningRequest:
    """The learning to measure.

    Attributes:
        family: A task family of the world (``vqa``).
        setting: ``offline`` or ``online``.
        share: What is learned and tested: ``novel``, ``mixed`` or ``known`` concepts.
        train: How many tasks of the training split are learned from (offline only).
        n: How many tasks are tested; online, how long the stream is.
        known: How many tasks about known concepts say whether anything was forgotten.
        seed: Which tasks: the same seed gives the same ones.
        profile: Name or path of the profile that learns.
        without: Parts of reflection and learning that are left out (table 4).
    """

    family: str
    setting: Setting = "offline"
    share: str = "novel"
    train: int = 100
    n: int = 200
    known: int = 200
    seed: int = 0
    profile: str = "embedded"
    without: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse numbers that measure nothing.

        Raises:
            BadInput: A number of tasks is below one.
        """
        numbers = {"-n": self.n, "--known": self.known} | ({"--train": self.train} if self.setting == "offline" else {})
        for option, number in numbers.items():
            if number < 1:
                msg = f"{option} {number} asks for no task: name a number of at least 1."
                raise BadInput(msg)


class Taught(Solution, Protocol):
    """The result of a task that was learned from; ``snellen.graphs.states.AskState`` is one."""

    @property
    def learned(self) -> list[Json]:
        """The outcomes of the needs, as ``LearningOutcome`` in JSON form."""
        ...

    @property
    def critiques(self) -> list[Json]:
        """The critiques of reflection."""
        ...


class TaughtAgent(Protocol):
    """The ask flow, held at its first answer until somebody says what was wrong with it."""

    async def answer(self, task: Assignment) -> Solution:
        """Answer a task for which nothing is known of the right answer."""
        ...

    async def hear(self, task: Assignment, feedback: UserFeedback) -> Taught:
        """Take what the user says, learn from it, and answer again."""
        ...


@dataclass(frozen=True)
class LessonResult:
    """The result of one task that was learned from.

    Attributes:
        id: The task's.
        value: Its score before anything was said about it.
        correct: Whether nothing was wrong with it.
        after: Its score after learning; the same where it was right at once.
        critiques: How often it was reflected upon.
        learned: What was learned, for people (``LOC: penguin``), each with the prompts kept and discarded.
        reasons: Why prompts were discarded, or nothing was learned, with how often.
        seconds: Wall-clock time of all of it.
    """

    id: str
    value: float
    correct: bool
    after: float
    critiques: int = 0
    learned: dict[str, list[int]] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def kept(self) -> int:
        """Prompts that were kept."""
        return sum(kept for kept, _ in self.learned.values())

    @property
    def discarded(self) -> int:
        """Prompts that were discarded."""
        return sum(discarded for _, discarded in self.learned.values())


@dataclass(frozen=True)
class LessonProgress:
    """Progress of learning, reported after every task."""

    done: int
    total: int
    kept: int
    discarded: int


async def learn_from_tasks(
    world: TaskWorld,
    tasks: Sequence[DrawnTask],
    *,
    pictures: PictureStore,
    pupil: TaughtAgent,
    progress: Callable[[LessonProgress], None] | None = None,
    journal: EvaluationJournal | None = None,
) -> tuple[LessonResult, ...]:
    """Have tasks answered one after the other, and learned from where they were wrong.

    Args:
        world: Draws and judges the tasks, and says what a user would say of a wrong outcome.
        tasks: The tasks, in the order in which they come.
        pictures: Where their pictures are stored.
        pupil: The ask flow.
        progress: Called after every task.
        journal: Remembers the tasks that are done; what was learned from them must be remembered by the pupil.

    Raises:
        SnellenError: The machine failed (a full disk).
    """
    examiner = TaskExaminer(world, pictures)
    known = {} if journal is None else await asyncio.to_thread(journal.begin)
    results: list[LessonResult] = []
    for task in tasks:
        if task.id in known:
            results.append(LessonResult(**known[task.id]))
            continue
        results.append(await _lesson(task, examiner, pupil))
        if journal is not None:
            await asyncio.to_thread(journal.add, asdict(results[-1]))
        if progress is not None:
            kept, discarded = sum(one.kept for one in results), sum(one.discarded for one in results)
            progress(LessonProgress(len(results), len(tasks), kept, discarded))
    return tuple(results)


async def _lesson(task: DrawnTask, examiner: TaskExaminer, pupil: TaughtAgent) -> LessonResult:
    started = time.monotonic()
    answered: list[tuple[Assignment, Solution]] = []

    async def solve(exercise: Assignment) -> Solution:
        answered.append((exercise, await pupil.answer(exercise)))
        return answered[-1][1]

    first = await examiner.result(task, solve)
    if not answered:
        return LessonResult(task.id, first.value, first.correct, first.value, reasons={first.reason: 1})
    assignment, solution = answered[0]
    feedback = await examiner.feedback(task, solution)
    if first.correct and not feedback.expected:
        # Pointing at something in a picture says that it is wrong; nobody does so when it is right.
        return LessonResult(task.id, first.value, first.correct, first.value)
    taught = await pupil.hear(assignment, feedback)
    second = await examiner.marked(task, taught)
    learned = [LearningOutcome.from_json(one) for one in taught.learned]
    return LessonResult(
        id=task.id,
        value=first.value,
        correct=first.correct,
        after=first.value if first.correct else second.value,
        critiques=len(taught.critiques),
        learned=_counted(learned),
        reasons=_general_reasons(learned),
        seconds=round(time.monotonic() - started, 2),
    )


def _counted(learned: Sequence[LearningOutcome]) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for one in learned:
        kept, discarded = counts.get(str(one.need), [0, 0])
        counts[str(one.need)] = [kept + one.kept, discarded + one.discarded]
    return counts


_QUOTED = re.compile(r"'[^']*'")
_FIGURES = re.compile(r" \((?:(\d+)×)?[^)]*\)\.?$")


def _general_reasons(learned: Sequence[LearningOutcome]) -> dict[str, int]:
    """Count reasons without the figures of the single case; what names the case is cut off."""
    counted: Counter[str] = Counter()
    for reason in [text for one in learned for text in (*one.reasons, one.trouble) if text]:
        figures = _FIGURES.search(reason)
        general = reason[: figures.start()] if figures else _QUOTED.sub("…", reason)
        counted[general] += int(figures[1] or 1) if figures else 1
    return dict(counted)


# --- the report ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gain:
    """The gain in solving the same tasks.

    Attributes:
        gain: The mean difference of their scores.
        interval: Its 95 % interval, a bootstrap over tasks: each task is its own comparison.
    """

    gain: float
    interval: Interval

    @classmethod
    def between(cls, before: Sequence[float], after: Sequence[float]) -> Gain:
        """Compare scores of the same tasks, in the same order."""
        differences = [new - old for old, new in zip(before, after, strict=True)]
        return cls(mean(differences), bootstrap_interval(differences))

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return {"gain": round(self.gain, 4), "interval": self.interval.rounded}


@dataclass(frozen=True)
class Figures:
    """The scores of tasks, in their order."""

    values: tuple[float, ...]
    accuracy: float
    interval: Interval

    @classmethod
    def of_values(cls, values: Sequence[float]) -> Figures:
        """Make them of scores."""
        return cls(tuple(values), mean(values), bootstrap_interval(values))

    def to_json(self) -> Json:
        """Return them as plain JSON, without the single tasks."""
        return {"accuracy": round(self.accuracy, 4), "interval": self.interval.rounded, "n": len(self.values)}


@dataclass(frozen=True)
class LearningEvaluation:
    """The report of learning.

    Attributes:
        request: What was measured.
        before: The tested tasks before anything was learned.
        after_programs: With the plans and programs that were learned, and tools as they were.
        after_tools: With all that was learned.
        known_before: Tasks about known concepts before anything was learned.
        known_after: The same with all that was learned.
        lessons: The tasks that were learned from, in their order.
        memory: Where what was learned lies.
        seconds: Wall-clock time of this process; what an earlier one did took none.
    """

    request: LearningRequest
    before: Figures
    after_programs: Figures
    after_tools: Figures
    known_before: Figures
    known_after: Figures
    lessons: tuple[LessonResult, ...]
    memory: str
    seconds: float

    @property
    def gains(self) -> dict[str, Gain]:
        """The gain by programs, by tools beside them, by both, and on known concepts."""
        pairs = {
            "programs": (self.before, self.after_programs),
            "tools": (self.after_programs, self.after_tools),
            "all": (self.before, self.after_tools),
            "known": (self.known_before, self.known_after),
        }
        return {name: Gain.between(old.values, new.values) for name, (old, new) in pairs.items()}

    @property
    def reasons(self) -> dict[str, int]:
        """Reasons why prompts were discarded or nothing was learned, the commonest first."""
        counted: Counter[str] = Counter()
        for lesson in self.lessons:
            counted.update(lesson.reasons)
        return dict(counted.most_common())

    @property
    def curve(self) -> dict[str, list[float]]:
        """The mean score of all tasks so far, task by task: of a stream, ``with`` learning and ``without``."""
        return {"without": _running(self.before.values), "with": _running(self.after_tools.values)}

    def to_json(self) -> Json:
        """Return the report as plain JSON, without the single tasks."""
        request = self.request
        wrong = [one for one in self.lessons if not one.correct]
        return {
            **asdict(request),
            "metric": "f1" if request.family == "tag" else "accuracy",
            "before": self.before.to_json(),
            "after_programs": self.after_programs.to_json(),
            "after_tools": self.after_tools.to_json(),
            "known_before": self.known_before.to_json(),
            "known_after": self.known_after.to_json(),
            "gains": {name: one.to_json() for name, one in self.gains.items()},
            "lessons": {
                "tasks": len(self.lessons),
                "wrong": len(wrong),
                "mended": sum(one.after == 1.0 for one in wrong),
                "needs": len({need for one in self.lessons for need in one.learned}),
            },
            "prompts_kept": sum(one.kept for one in self.lessons),
            "prompts_discarded": sum(one.discarded for one in self.lessons),
            "reasons": self.reasons,
            **({"curve": self.curve} if request.setting == "online" else {}),
            "memory": self.memory,
            "seconds": round(self.seconds, 1),
        }


def _running(values: Sequence[float]) -> list[float]:
    total, means = 0.0, []
    for number, value in enumerate(values, start=1):
        total += value
        means.append(round(total / number, 4))
    return means
