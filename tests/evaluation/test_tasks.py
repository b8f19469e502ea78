"""Evaluation: tasks are solved side by side and scored; failures are counted, trouble stops, a restart goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from snellen import microworld
from snellen.errors import BadInput, SnellenError
from snellen.evaluation.tasks import (
    Assignment,
    Evaluation,
    EvaluationProgress,
    EvaluationRequest,
    Solution,
    Solve,
    evaluate_tasks,
)
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.evaluation_journal import EvaluationJournal
from snellen.memory.home import MemoryTrouble
from snellen.microworld.tasks.task import EditAnswer, TagAnswer, TextAnswer
from snellen.profiles import load_profile
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.values import Picture, Region, named_regions, to_json

WORLD = load_profile("embedded").world()


@dataclass(frozen=True)
class Left:
    """What a flow left of a task."""

    answer: Any = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None


def truths(request: EvaluationRequest) -> dict[str, Any]:
    tasks = microworld.sample_tasks(request.family, request.split, request.share, request.n, request.seed)  # type: ignore[arg-type]
    return {task.id: task for task in tasks}


def knows_all(request: EvaluationRequest) -> Solve:
    tasks = truths(request)

    async def solve(assignment: Assignment) -> Left:
        await asyncio.sleep(0)
        return _perfect(tasks[assignment.id].expected, assignment)

    return solve


def _perfect(expected: TextAnswer | TagAnswer | EditAnswer, assignment: Assignment) -> Left:
    if isinstance(expected, TextAnswer):
        return Left(answer=expected.text)
    if isinstance(expected, TagAnswer):
        return Left(answer=to_json([Region(one.box, 1.0, one.name) for one in expected.regions]))
    return Left(answer=to_json(assignment.pictures[0]))


def run(request: EvaluationRequest, store: ArtifactStore, solve: Solve, **options: Any) -> Evaluation:  # noqa: ANN401 - those of evaluate_tasks
    return asyncio.run(evaluate_tasks(WORLD, request, pictures=store, solve=solve, **options))


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


@pytest.mark.parametrize("family", ["vqa", "statement", "tag"])
def test_right_answers_score_one_and_the_report_says_what_was_measured(family: str, store: ArtifactStore) -> None:
    request = EvaluationRequest(family, "val", "known", 12, 4, "embedded")
    report = run(request, store, knows_all(request)).to_json()
    assert report["accuracy"] == 1
    assert report["interval"][1] == 1
    assert {"n", "by_type", "blind", "seed", "profile"} <= set(report)
    assert (report["n"], report["seed"], report["profile"], report["family"]) == (12, 4, "embedded", family)
    assert sum(one["n"] for one in report["by_type"].values()) == 12
    assert 0 <= report["blind"] < 0.9
    assert report["failures"] == {}


def test_a_solver_is_given_stored_pictures_and_no_truth(store: ArtifactStore) -> None:
    request = EvaluationRequest("statement", n=2)
    seen: list[Assignment] = []

    async def solve(assignment: Assignment) -> Left:
        seen.append(assignment)
        return Left(answer="yes")

    run(request, store, solve)
    assert all(len(one.pictures) == 2 for one in seen)
    assert store.get(seen[0].pictures[0].id).size == (128, 128)
    assert set(vars(seen[0])) == {"id", "family", "instruction", "pictures"}


def test_tasks_run_side_by_side_but_no_more_than_allowed(store: ArtifactStore) -> None:
    under_way, most = 0, 0

    async def solve(_: Assignment) -> Left:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        return Left(answer="yes")

    run(EvaluationRequest("vqa", n=12), store, solve, concurrency=3)
    assert most == 3


def test_failures_are_wrong_and_counted_by_reason(store: ArtifactStore) -> None:
    outcomes: list[Callable[[], Left]] = [
        lambda: Left(answer="nonsense"),
        lambda: Left(error="step 3 failed: there is no 'dog' at 12"),
        lambda: Left(error="step 4 failed: there is no 'cat' at 7"),
        lambda: _raise(ReasoningFailed("This is beyond me.")),
    ]

    async def solve(assignment: Assignment) -> Left:
        return outcomes[int(assignment.id.rsplit("-", 1)[1]) % 4]()

    evaluation = run(EvaluationRequest("vqa", n=8), store, solve)
    assert evaluation.accuracy == 0
    assert evaluation.failures == {
        "wrong answer": 2,
        "step … failed: there is no … at …": 4,
        "no program could be written: This is beyond me.": 2,
    }


def _raise(error: Exception) -> Left:
    raise error


def test_an_error_in_which_every_task_ends_ends_the_evaluation_early(store: ArtifactStore) -> None:
    calls = 0

    async def solve(_: Assignment) -> Left:
        nonlocal calls
        calls += 1
        return Left(error="The profile 'embedded' has no checkpoint for this: set [models.seg].")

    with pytest.raises(SnellenError, match="no checkpoint for this"):
        run(EvaluationRequest("edit", n=30), store, solve, concurrency=2)
    assert calls <= 10


def test_trouble_of_the_machine_stops_and_a_restart_goes_on(store: ArtifactStore, tmp_path: Path) -> None:
    request = EvaluationRequest("vqa", n=10)
    journal = EvaluationJournal(tmp_path / "journal.jsonl", fingerprint="same")
    right = knows_all(request)
    calls = 0

    async def fails_at_seven(assignment: Assignment) -> Solution:
        nonlocal calls
        calls += 1
        return await right(assignment) if calls < 7 else _raise(MemoryTrouble("The disk is full."))

    with pytest.raises(MemoryTrouble, match="disk is full"):
        run(request, store, fails_at_seven, journal=journal, concurrency=1)
    calls = -100
    steps: list[EvaluationProgress] = []
    evaluation = run(request, store, fails_at_seven, journal=journal, progress=steps.append)
    assert calls == -100 + 4
    assert evaluation.accuracy == 1
    assert (steps[-1].done, steps[-1].total, steps[-1].accuracy) == (10, 10, 1.0)
    assert not journal.path.exists()


def test_an_edit_is_judged_by_its_picture(store: ArtifactStore) -> None:
    request = EvaluationRequest("edit", n=3)
    evaluation = run(request, store, knows_all(request))
    assert evaluation.accuracy == 0, "pictures left as they were solve no edit"
    assert all("edit" in one.id and one.reason for one in evaluation.results)


def test_tags_are_those_drawn_into_the_resulting_picture() -> None:
    first, second, third = (Picture(name * 64, 128, 128) for name in "abc")
    dog, cat = Region((0, 0, 9, 9), 1.0, "dog"), Region((20, 20, 29, 29), 1.0, "cat")

    def step(tool: str, output: Picture, **arguments: Picture | Region | list[Region]) -> dict[str, Any]:
        written = {name: to_json(value) for name, value in arguments.items()}
        return {"tool": tool, "arguments": written, "output": to_json(output)}

    steps = [
        step("TAG", second, image=first, object=[dog]),
        step("TAG", Picture("d" * 64, 128, 128), image=first, object=[Region((1, 1, 2, 2), 1.0, "never shown")]),
        step("TAG", third, image=second, object=cat),
        step("RESULT", third, var=third),
    ]
    assert named_regions(third, steps) == [cat, dog]
    assert named_regions(first, steps) == []
    assert named_regions(dog, steps) == [dog]
    assert named_regions([dog, "text"], steps) == [dog]
    assert named_regions("yes", steps) == []


def test_no_tasks_and_unknown_families_are_the_users_error(store: ArtifactStore) -> None:
    async def solve(_: Assignment) -> Left:
        return Left()

    never: Callable[[Assignment], Awaitable[Left]] = solve
    with pytest.raises(BadInput, match="at least one"):
        run(EvaluationRequest("vqa", n=0), store, never)
    with pytest.raises(BadInput, match="no family 'poetry'"):
        run(EvaluationRequest("poetry", n=1), store, never)
