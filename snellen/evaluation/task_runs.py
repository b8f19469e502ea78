"""Evaluations: a profile's world gives tasks, the ask graph solves them, and nothing of it is remembered."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from snellen.evaluation.tasks import (
    Assignment,
    Evaluation,
    EvaluationProgress,
    EvaluationRequest,
    Solve,
    evaluate_tasks,
)
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.evaluation_journal import EvaluationJournal
from snellen.memory.home import home
from snellen.memory.thread_locks import running
from snellen.profiles import ModelKey, Profile, SnellenError, load_profile
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.threads import ask
from snellen.values import to_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState
    from snellen.runtime.context import Context


async def evaluate(
    request: EvaluationRequest, *, progress: Callable[[EvaluationProgress], None] | None = None
) -> Evaluation:
    """Evaluate a profile; one that was stopped goes on where it stopped when it is started again.

    Args:
        request: Which tasks, and which profile.
        progress: Called after every task.

    Raises:
        BadInput: There are no such tasks or profile, or the same evaluation runs in another process.
        SnellenError: The profile has no world, the machine failed, or every task ends in the same error.
    """
    profile = load_profile(request.profile)
    world = profile.world()
    context = ask.make_context(request.profile, home())
    name = _name(request)
    journal = EvaluationJournal(
        home() / "evaluations" / f"{name}.jsonl", fingerprint=_fingerprint(request, profile, context)
    )
    # The pictures of hundreds of tasks are drawn again from their seed; the memory's home is no place for them.
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
        context = replace(context, pictures=ArtifactStore(Path(folder)))
        async with running(name):
            return await evaluate_tasks(
                world,
                request,
                pictures=context.pictures,
                solve=solver(context, request),
                progress=progress,
                journal=journal,
            )


def _name(request: EvaluationRequest) -> str:
    tasks = json.dumps([request.family, request.split, request.share, request.seed, request.profile])
    return f"evaluation-{hashlib.sha256(tasks.encode()).hexdigest()[:12]}"


def solver(context: Context, request: EvaluationRequest) -> Solve:
    """Return the ask graph as a function of a task. What is right is not told, so that nothing is remembered."""
    from snellen.graphs.ask import graph
    from snellen.graphs.states import AskState

    async def solve(task: Assignment) -> AskState:
        state = AskState(
            instruction=task.instruction,
            pictures=[to_json(picture) for picture in task.pictures],
            profile=request.profile,
        )
        values = await graph.ainvoke(state, context=context, output_keys=graph.stream_channels_list)
        if "__interrupt__" in values:
            msg = "It was asked back which of several meanings is meant."
            raise ReasoningFailed(msg)
        return AskState(**values)

    return solve


def _fingerprint(request: EvaluationRequest, profile: Profile, context: Context) -> str:
    """Name everything that may change a result: tasks, settings, checkpoints, demonstrations."""
    about: dict[str, Any] = {
        "tasks": [request.family, request.split, request.share, request.seed],
        "profile": profile.model_dump(mode="json"),
        "checkpoints": {key: files_of(profile, key) for key in get_args(ModelKey)},
        "demonstrations": sorted(one.id for one in context.pool.all()),
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def files_of(profile: Profile, key: ModelKey) -> list[tuple[str, int, int]]:
    """Return name, size and time of each file of a checkpoint; nothing for one that is not on this machine."""
    try:
        source = profile.source(key)
    except SnellenError:
        return []
    if not source.local:
        return []
    paths = sorted(path for path in Path(source.location).glob("*") if path.is_file())
    return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
