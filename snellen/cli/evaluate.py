"""What ``snellen evaluate`` does: figures of tasks, and of learning, as tables, JSON and plots."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.cli.display import console, print_json, print_table, progress, stages
from snellen.errors import BadInput
from snellen.runtime.running import run

if TYPE_CHECKING:
    from snellen.evaluation.learning import LearningEvaluation, LearningRequest, Setting
    from snellen.evaluation.tasks import Evaluation

_ONLY_LEARNING: Final = ("setting", "train", "known", "without", "out")


def tasks(options: argparse.Namespace) -> int:
    """Measure a profile on tasks with known answers."""
    for name in _ONLY_LEARNING:
        if getattr(options, name) is not None:
            msg = f"--{name} is for `snellen evaluate learning`: leave it out."
            raise BadInput(msg)
    n = 100 if options.n is None else options.n
    if n < 1:
        msg = f"-n {n} asks for no task: name a number of at least 1."
        raise BadInput(msg)
    from snellen.evaluation.task_runs import evaluate
    from snellen.evaluation.tasks import EvaluationRequest

    request = EvaluationRequest(
        family=options.family,
        split=options.split or "test",
        share=options.concepts or "known",
        n=n,
        seed=options.seed,
        profile=options.profile,
    )
    with progress(n, f"{options.family} tasks") as advance:
        found = run(evaluate(request, progress=lambda told: advance(told.done)))
    if options.json:
        print_json(found.to_json())
    else:
        _show_tasks(found)
    return 0


def learning(options: argparse.Namespace) -> int:
    """Measure what learning is worth."""
    request = _learning_request(options)
    from snellen.evaluation.learning_runs import evaluate_learning
    from snellen.reports.evaluations import check_folder, write_results

    if options.out:
        check_folder(Path(options.out))
    with stages() as show:
        found = run(evaluate_learning(request, progress=lambda now: show(now.name, now.done, now.total, now.note)))
    written = write_results(found, Path(options.out)) if options.out else []
    if options.json:
        print_json(found.to_json())
        return 0
    _show_learning(found)
    for path in written:
        console().print(f"wrote   {path}", style="dim")
    return 0


EVALUATIONS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {"tasks": tasks, "learning": learning}


def _learning_request(options: argparse.Namespace) -> LearningRequest:
    from snellen.evaluation.learning import LearningRequest

    if options.split not in {None, "test"}:
        msg = "Learning takes lessons of the train split and is tested on the test split: leave out --split."
        raise BadInput(msg)
    setting: Setting = options.setting or "offline"
    if setting == "online" and options.train is not None:
        msg = "--train is for the offline setting: an online stream is as long as -n says."
        raise BadInput(msg)
    given = {"n": options.n, "train": options.train, "known": options.known}
    request = LearningRequest(
        family=options.family,
        setting=setting,
        share=options.concepts or "novel",
        seed=options.seed,
        profile=options.profile,
        without=tuple(sorted(set(options.without or ()))),
        **{name: number for name, number in given.items() if number is not None},
    )
    request.check()
    return request


def _show_tasks(found: Evaluation) -> None:
    """Show the figures in a table, and why tasks went wrong in another."""
    request, low, high = found.request, found.interval.low, found.interval.high
    rows = [
        (name, f"{one.accuracy:.3f}", f"{one.interval.low:.3f} to {one.interval.high:.3f}", one.n)
        for name, one in found.by_type.items()
    ]
    rows.append(("all", f"{found.accuracy:.3f}", f"{low:.3f} to {high:.3f}", len(found.results)))
    rows.append(("all, blind", f"{found.blind:.3f}", "", len(found.results)))
    metric = "F1" if request.family == "tag" else "accuracy"
    title = f"{request.family}, {request.split} split, {request.share} concepts, seed {request.seed}, {request.profile}"
    print_table(("type", metric, "95 % interval", "n"), rows, title=title)
    if found.failures:
        print_table(("what went wrong", "tasks"), list(found.failures.items()))


def _show_learning(found: LearningEvaluation) -> None:
    """Show the figures before and after, what was gained, and what became of the prompts."""
    from snellen.reports.evaluations import cells_of

    request, gains = found.request, found.gains
    metric = "F1" if request.family == "tag" else "accuracy"
    left_out = f", without {', '.join(request.without)}" if request.without else ""
    title = f"{request.family}, {request.setting}, {request.share} concepts, seed {request.seed}{left_out}"
    rows = [
        ("before", *cells_of(found.before)),
        ("after, programs alone", *cells_of(found.after_programs, gains["programs"])),
        ("after, tools as well", *cells_of(found.after_tools, gains["all"])),
        ("known, before", *cells_of(found.known_before)),
        ("known, after", *cells_of(found.known_after, gains["known"])),
    ]
    print_table((title, metric, "95 % interval", "n", "gain (paired)"), rows)
    kept, discarded = (sum(getattr(one, name) for one in found.lessons) for name in ("kept", "discarded"))
    print_table(("prompts", "number"), [("kept", kept), ("discarded", discarded)])
    if found.reasons:
        print_table(("why not", "times"), list(found.reasons.items()))
    console().print(f"memory  {found.memory}", style="dim")
