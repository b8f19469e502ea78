"""``snellen evaluate tasks`` and ``snellen evaluate learning``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Final

from snellen.cli.display import console, print_json, print_table, progress, stages
from snellen.cli.options import COUNT, HTML, JSON, OUT, PROFILE, SEED, Group, command, option
from snellen.cli.outputs import print_written, write_results
from snellen.errors import BadInput
from snellen.runtime.running import run

if TYPE_CHECKING:
    from snellen.evaluation.learning import LearningRequest

_FAMILY: Final = option("--family", required=True, metavar="F", help="the kind of tasks: vqa, statement, edit or tag")
_CONCEPTS: Final = option("--concepts", choices=("known", "novel", "mixed"))
_TASK_SEED: Final = SEED.but(help="choose other tasks (default: 0)")


@command(
    "evaluate tasks",
    _FAMILY,
    option(
        "--split", choices=("train", "val", "test"), default="test", help="take tasks from this split (default: test)"
    ),
    _CONCEPTS.but(
        default="known",
        help="ask about concepts that the checkpoints were trained on (known, default), others, or both",
    ),
    COUNT.but(default=100, help="how many tasks (default: 100)"),
    _TASK_SEED,
    PROFILE,
    OUT.but(help="write report.html, table.md and report.json into this folder"),
    HTML,
    JSON,
    examples="""
        snellen evaluate tasks --family vqa -n 300 --seed 7
        snellen evaluate tasks --family tag --concepts novel --split test -n 100 --json
    """,
)
def tasks(options: argparse.Namespace) -> int:
    """Measure how many tasks with known answers a profile solves."""
    if options.n < 1:
        msg = f"-n {options.n} asks for no task: name a number of at least 1."
        raise BadInput(msg)
    from snellen.evaluation.task_runs import evaluate
    from snellen.evaluation.tasks import EvaluationRequest
    from snellen.reports import evaluations

    request = EvaluationRequest(
        family=options.family,
        split=options.split,
        share=options.concepts,
        n=options.n,
        seed=options.seed,
        profile=options.profile,
    )
    with progress(options.n, f"{options.family} tasks") as advance:
        results = run(evaluate(request, progress=lambda now: advance(now.done)))
    written = write_results(partial(evaluations.write_tasks, results), options)
    if options.json:
        print_json(results.to_json())
    else:
        print_table(
            evaluations.task_columns(results), evaluations.task_rows(results), title=evaluations.task_title(results)
        )
        if results.failures:
            print_table(evaluations.FAILURE_COLUMNS, list(results.failures.items()))
        print_written(written)
    return 0


@command(
    "evaluate learning",
    _FAMILY,
    option(
        "--setting",
        choices=("offline", "online"),
        default="offline",
        help="offline (default): learn on the train split, then test; online: answer a stream and learn from it",
    ),
    _CONCEPTS.but(
        default="novel",
        help="ask about concepts that the checkpoints were trained on, others (novel, default), or both",
    ),
    COUNT.but(help="how many tasks to test on (default: 200)"),
    option("--train", type=int, metavar="N", help="offline: how many tasks to learn from (default: 100)"),
    option("--known", type=int, metavar="N", help="how many tasks about known concepts to test on, too (default: 200)"),
    option(
        "--without",
        action="append",
        metavar="PART",
        help="leave out a part, to measure what it adds: local, global, results, plan, validation, correct, "
        "incorrect or revisions; repeat for more",
    ),
    _TASK_SEED,
    PROFILE,
    OUT.but(help="write report.html, table.md, report.json and plots into this folder"),
    HTML,
    JSON,
    examples="""
        snellen evaluate learning --family vqa --seed 7 --out results    # an hour or more on two cores
        snellen evaluate learning --family vqa --setting online -n 100
        snellen evaluate learning --family vqa --without validation --json
    """,
)
def learning(options: argparse.Namespace) -> int:
    """Measure how many more tasks are solved after others were learned from."""
    from snellen.evaluation.learning_runs import evaluate_learning
    from snellen.reports import evaluations

    request = _request(options)
    with stages() as show:
        results = run(evaluate_learning(request, progress=lambda now: show(now.name, now.done, now.total, now.note)))
    written = write_results(partial(evaluations.write_results, results), options)
    if options.json:
        print_json(results.to_json())
    else:
        print_table(
            evaluations.LEARNING_COLUMNS, evaluations.learning_rows(results), title=evaluations.learning_title(results)
        )
        kept, discarded = (sum(getattr(one, name) for one in results.lessons) for name in ("kept", "discarded"))
        print_table(("prompts", "number"), [("kept", kept), ("discarded", discarded)])
        if results.reasons:
            print_table(("why not", "times"), list(results.reasons.items()))
        console().print(f"memory  {results.memory}", style="dim")
        print_written(written)
    return 0


EVALUATE: Final = Group(
    "evaluate", "Measure how well a profile solves tasks, or what learning is worth to it", (tasks, learning)
)


def _request(options: argparse.Namespace) -> LearningRequest:
    from snellen.evaluation.learning import LearningRequest

    if options.setting == "online" and options.train is not None:
        msg = "--train is for the offline setting: an online stream is as long as -n says."
        raise BadInput(msg)
    numbers = {"n": options.n, "train": options.train, "known": options.known}
    request = LearningRequest(
        family=options.family,
        setting=options.setting,
        share=options.concepts,
        seed=options.seed,
        profile=options.profile,
        without=tuple(sorted(set(options.without or ()))),
        **{name: number for name, number in numbers.items() if number is not None},
    )
    request.check()
    return request
