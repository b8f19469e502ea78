"""How often reflection names the step that was wrong: faults are planted into right runs and looked for.

    python -m benchmarks.reflection -n 300 --seed 0 --json
    python -m benchmarks.reflection --corrections -n 80 --seed 1 --json     # chooses a threshold of certainty
    python -m benchmarks.reflection --corrections -n 80 --seed 2 --threshold 0.5 --json

A fault is planted where a run was right, such that the answer becomes wrong; reflection is told the right answer and
nothing else. Where global reflection names another step, that step's correction would not have helped, and local
reflection is asked. The truth is used to plant and to score, nowhere else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.corrections import attempted, expected_text, reflected, reported, runtime_of, share
from benchmarks.planting import KINDS, Planted, PlantedModels, RightRun, plants
from snellen.graphs.states import AskState
from snellen.learning.feedback import agreement
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.microworld.concepts import vocabulary
from snellen.microworld.tasks import SHARES, SPLITS, Family, WorldTask, sample_tasks
from snellen.nodes.ask.inference import run as run_node
from snellen.nodes.ask.reflection import description, reflect_globally, reflect_locally
from snellen.profiles import load_profile
from snellen.reasoning import make_reasoner
from snellen.reasoning.critique import Critique, Feedback
from snellen.runtime.context import Context
from snellen.scoring import mean
from snellen.tools.program import StepRecord
from snellen.tools.vision import Models
from snellen.values import from_json

FAMILIES: Final[tuple[Family, ...]] = ("vqa", "statement", "tag")
DRAWN: Final = 40
"""Tasks drawn of each family at a time."""
TRIED: Final = 4
"""Faults of one kind that are tried in one run."""
BINS: Final = ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))


@dataclass(frozen=True)
class ReflectionOutcome:
    """What reflection made of one planted fault."""

    kind: str
    family: str
    globally: bool
    locally: bool
    certainty: float
    named: int
    seconds: float


@dataclass(frozen=True)
class Laboratory:
    """What runs and reflects."""

    context: Context
    models: Models
    words: tuple[str, ...]

    def runtime(self, models: Any) -> Any:  # noqa: ANN401 - stands in for a graph's runtime
        """Return what nodes are given, with these models."""
        return runtime_of(replace(self.context, models=models))


def main() -> None:
    """Measure and print."""
    options = _options()
    if options.corrections:
        _corrections(options)
        return
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
        found = asyncio.run(_measured(options, Path(folder)))
    report = _report(found, options)
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _corrections(options: argparse.Namespace) -> None:
    """Measure how sure reflection is after true and after false corrections."""
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
        found = asyncio.run(reflected(options.profile, Path(folder), count=options.n, seed=options.seed))
    report = reported(found, options.threshold) | {"seed": options.seed, "profile": options.profile}
    if not options.json:
        report.pop("each")
    print(json.dumps(report, indent=2))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--split", default="train", choices=SPLITS)
    parser.add_argument("--concepts", default="known", choices=SHARES)
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("-n", type=int, default=300, help="planted faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--corrections", action="store_true", help="true and false corrections instead of planted faults, -n of either"
    )
    parser.add_argument("--threshold", type=float, help="of --corrections: judge this one instead of choosing one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print what was planted and what was found")
    return parser.parse_args()


async def _measured(options: argparse.Namespace, folder: Path) -> list[ReflectionOutcome]:
    laboratory = _laboratory(options.profile, folder)
    dice = Random(options.seed)
    wanted: Counter[str] = Counter()
    found: list[ReflectionOutcome] = []
    for task in _tasks(options):
        if len(found) >= options.n:
            break
        state = await _right(task, laboratory)
        if state is None:
            continue
        planted = await _planted(state, laboratory, wanted, options.kinds, dice)
        if planted is None:
            continue
        wanted[planted[0].kind] += 1
        found.append(await _looked_for(task, *planted, laboratory, verbose=options.verbose))
    return found


def _laboratory(name: str, folder: Path) -> Laboratory:
    profile = load_profile(name).detecting_alone()  # errors are planted in the detector; segments would mend them
    models = Models(profile)
    context = Context(
        pictures=ArtifactStore(folder / "pictures"),
        reasoner=make_reasoner(profile),
        pool=DemonstrationPool(folder, embed=_no_embedding),
        models=models,
        profile=profile,
    )
    return Laboratory(
        context, models, tuple(one.name for one in vocabulary().concepts if one.name in models.expansion.all_names())
    )


def _no_embedding(texts: list[str]) -> Any:  # noqa: ANN401 - the pool is empty and is asked nothing
    import numpy as np

    return np.zeros((len(texts), 1), np.float32)


def _tasks(options: argparse.Namespace) -> Iterator[WorldTask]:
    """Draw tasks of the families in turn, without end."""
    for number in range(10_000):
        drawn = [
            sample_tasks(family, options.split, share=options.concepts, n=DRAWN, seed=options.seed * 10_000 + number)
            for family in options.families
        ]
        for together in zip(*drawn, strict=True):
            yield from together


async def _right(task: WorldTask, laboratory: Laboratory) -> AskState | None:
    """Solve a task; None where the answer is not right."""
    state = await attempted(task, laboratory.context)
    if state is None:
        return None
    state = replace(state, expected=expected_text(task))
    return state if _is_right(state) else None


def _is_right(state: AskState) -> bool:
    records = [StepRecord.from_json(one) for one in state.steps]
    return not state.error and agreement(Feedback(state.expected), None, ())(from_json(state.answer), records)


async def _planted(
    state: AskState, laboratory: Laboratory, wanted: Counter[str], kinds: Sequence[str], dice: Random
) -> tuple[Planted, AskState] | None:
    """Plant the rarest kind of fault that makes this run's answer wrong."""
    records = [StepRecord.from_json(one) for one in state.steps]
    answer = str(state.answer)
    right = RightRun(state.program, records, laboratory.context.pictures, laboratory.models, answer, laboratory.words)
    for kind in sorted(kinds, key=lambda one: (wanted[one], dice.random())):
        for planted in list(plants(kind, right, dice))[:TRIED]:
            models = PlantedModels(laboratory.models, planted.error)
            begun = replace(state, program=planted.program)
            wrong = replace(begun, **await run_node(begun, laboratory.runtime(models)))
            if not wrong.error and not _is_right(wrong):
                return planted, wrong
    return None


async def _looked_for(
    task: WorldTask, planted: Planted, state: AskState, laboratory: Laboratory, *, verbose: bool
) -> ReflectionOutcome:
    """Reflect globally, and locally where that named another step."""
    runtime = laboratory.runtime(PlantedModels(laboratory.models, planted.error))
    started = time.monotonic()
    state = replace(state, **await description(state, runtime.context))
    state = replace(state, **await reflect_globally(state, runtime))
    critique = Critique.from_json(state.critiques[-1])
    seconds = time.monotonic() - started
    globally = locally = _names(critique, planted)
    local = None
    if not globally:
        state = replace(state, **await reflect_locally(state, runtime))
        local = Critique.from_json(state.critiques[-1])
        locally = _names(local, planted)
    if verbose:
        _show(task, planted, state, critique, local)
    return ReflectionOutcome(
        planted.kind, task.family, globally, locally, critique.certainty, len(critique.faults), seconds
    )


def _names(critique: Critique, planted: Planted) -> bool:
    return any(fault.address in planted.addresses for fault in critique.faults)


def _show(task: WorldTask, planted: Planted, state: AskState, critique: Critique, local: Critique | None) -> None:
    print(f"# {planted.kind} at {planted.addresses} in {task.family}: {task.instruction} ({state.expected})")
    print(f"  {planted.said}")
    if local is None:
        return
    for record in state.steps:
        print(f"  {record['address']} {record['source']} -> {str(record['output'])[:160]}")
    for one in state.described:
        for each in one["evidence"]:
            print(f"    {one['address']}: {each['support']:+.2f} {each['says']}: {each['value']}")
    for name, each in (("global", critique), ("local", local)):
        print(f"  {name} {each.certainty:.2f} {[(f.place, f.address, f.reason) for f in each.faults]}")


def _report(found: Sequence[ReflectionOutcome], options: argparse.Namespace) -> dict[str, Any]:
    kinds = [kind for kind in KINDS if any(one.kind == kind for one in found)]
    families = dict.fromkeys(one.family for one in found)
    return {
        **_both(found),
        "by_kind": {kind: _both([one for one in found if one.kind == kind]) for kind in kinds},
        "by_family": {family: _both([one for one in found if one.family == family]) for family in families},
        "calibration": _calibration(found),
        "named_mean": round(mean([float(one.named) for one in found]), 2),
        "seconds_mean": round(mean([one.seconds for one in found]), 2),
        "seed": options.seed,
        "split": options.split,
        "concepts": options.concepts,
        "profile": options.profile,
    }


def _both(found: Sequence[ReflectionOutcome]) -> dict[str, Any]:
    return {
        "n": len(found),
        "global": share([one.globally for one in found], digits=4),
        "global_and_local": share([one.locally for one in found], digits=4),
    }


def _calibration(found: Sequence[ReflectionOutcome]) -> dict[str, Any]:
    """Compare certainty with how often it was right: by bins, and the expected calibration error over them."""
    bins = []
    error = 0.0
    for low, high in BINS:
        each = [one for one in found if low <= one.certainty < high]
        if each:
            certainty, right = mean([one.certainty for one in each]), mean([float(one.globally) for one in each])
            error += len(each) / len(found) * abs(certainty - right)
            bins.append({"n": len(each), "certainty": round(certainty, 3), "right": round(right, 3)})
    return {"error": round(error, 4), "bins": bins}


def _table(report: dict[str, Any]) -> str:
    def line(name: str, one: dict[str, Any]) -> str:
        shares = (one["global"], one["global_and_local"])
        first, second = (
            f"{each['share']:.3f} [{each['interval'][0]:.2f}, {each['interval'][1]:.2f}]" for each in shares
        )
        return f"{name:<20} {one['n']:>4}  {first}  {second}"

    lines = [line("all", report), *(line(kind, one) for kind, one in report["by_kind"].items())]
    lines += [line(family, one) for family, one in report["by_family"].items()]
    lines += [
        f"certainty {one['certainty']:.2f}: right {one['right']:.2f} of {one['n']}"
        for one in report["calibration"]["bins"]
    ]
    return "\n".join(
        [*lines, f"calibration error {report['calibration']['error']:.3f}, {report['seconds_mean']} s each"]
    )


if __name__ == "__main__":
    main()
