"""Tasks with and without revisions: how many runs are in trouble, what came of revising their programs.

    python -m benchmarks.revisions --family vqa -n 400 --seed 77 --json

Tasks are those of ``snellen evaluate tasks``, with the embedded models and the Reasoner without a chat model. A task
whose program was revised is solved once more without revisions.

Keys of the JSON: ``n`` tasks, of which ``revised`` had a revision and of ``helped`` one was kept; ``accuracy`` with
revisions and ``without``; ``mended``, wrong without and right with them, and ``spoilt``, the other way round; and of
each revised task its instruction, both answers, and the revisions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from snellen.evaluation.task_runs import solver
from snellen.evaluation.tasks import Assignment, EvaluationRequest, evaluate_tasks
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.evaluation_journal import EvaluationJournal
from snellen.memory.home import home
from snellen.profiles import load_profile
from snellen.threads import ask

if TYPE_CHECKING:
    from snellen.evaluation.tasks import Evaluation, Solve
    from snellen.graphs.states import AskState
    from snellen.runtime.context import Context


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="vqa", choices=["vqa", "statement", "tag", "edit"])
    parser.add_argument("--split", default="val", choices=["train", "val", "test"])
    parser.add_argument("--concepts", default="known", choices=["known", "novel", "mixed"])
    parser.add_argument("-n", type=int, default=100, help="tasks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    request = EvaluationRequest(
        family=options.family, split=options.split, share=options.concepts, n=options.n, seed=options.seed
    )
    report = asyncio.run(measure(request, ask.make_context("embedded", home())))
    if options.json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return
    figures = {name: value for name, value in report.items() if name != "tasks"}
    print("  ".join(f"{name} {value:.3f}".rstrip("0").rstrip(".") for name, value in figures.items()))
    for task in report["tasks"]:
        print(f"{task['instruction']}: {task['without']} → {task['answer']}")


async def measure(request: EvaluationRequest, context: Context) -> dict[str, Any]:
    """Solve the tasks of a request with revisions, and those that had any without."""
    states: dict[str, AskState] = {}
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
        context = replace(context, pictures=ArtifactStore(Path(folder)))
        revising, plain = solver(context, request), solver(replace(context, without=frozenset({"revisions"})), request)

        async def with_revisions(task: Assignment) -> Any:  # noqa: ANN401 - a solution
            states[task.id] = state = cast("AskState", await revising(task))
            return state

        async def without(task: Assignment) -> Any:  # noqa: ANN401 - a solution
            return await plain(task) if states[task.id].revisions else states[task.id]

        after = await _evaluated(request, context, with_revisions, Path(folder, "with.jsonl"))
        before = await _evaluated(request, context, without, Path(folder, "without.jsonl"))
    return _report(before, after, states)


async def _evaluated(request: EvaluationRequest, context: Context, solve: Solve, journal: Path) -> Evaluation:
    world = load_profile(request.profile).world()
    kept = EvaluationJournal(journal, fingerprint=journal.stem)
    return await evaluate_tasks(world, request, pictures=context.pictures, solve=solve, journal=kept)


def _report(before: Evaluation, after: Evaluation, states: dict[str, AskState]) -> dict[str, Any]:
    pairs = [(one, other) for one, other in zip(before.results, after.results, strict=True) if states[one.id].revisions]
    return {
        "n": len(after.results),
        "revised": len(pairs),
        "helped": sum(any(one["helped"] for one in states[other.id].revisions) for _, other in pairs),
        "accuracy": after.accuracy,
        "without": before.accuracy,
        "mended": sum(one.value < other.value for one, other in pairs),
        "spoilt": sum(one.value > other.value for one, other in pairs),
        "tasks": [
            {
                "instruction": other.instruction,
                "answer": other.answer,
                "without": one.answer,
                "revisions": states[other.id].revisions,
            }
            for one, other in pairs
        ],
    }


if __name__ == "__main__":
    main()
