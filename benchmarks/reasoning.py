"""How often the case-based reasoner's programs are right when every vision tool sees perfectly.

    python -m benchmarks.reasoning --split test -n 100 --json

For each family, whose wordings are the microworld's templates: the share of sampled tasks whose program gives the
expected answer, by type, and seconds a task. Beside them stands the corpus, instructions that were written without
sight of the reader (``tests/tools/reference_programs``); of it also the share that is refused or asked back although
it has an answer. With `--remembered N` the reasoner first solves N tasks of the training split and remembers the
programs that were right: what it remembers should mislead it nowhere.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from benchmarks.oracle import Oracle
from benchmarks.reference_programs import SeenScenes, read_references
from snellen.memory.demonstrations import demonstration
from snellen.microworld.tasks import (
    FAMILIES,
    SHARES,
    SPLITS,
    Family,
    TaggedRegion,
    TaskOutcome,
    WorldTask,
    sample_tasks,
    score,
)
from snellen.profiles import SnellenError, load_profile
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.task import Examples, Plan
from snellen.reasoning.task import Task as Asked
from snellen.tools.program import StepRecord, inputs_for
from snellen.values import Picture, as_text, from_json


def main() -> None:
    """Measure and print."""
    options = _options()
    reasoner = CaseReasoner(load_profile("embedded"))
    report = {family: _measured(reasoner, family, options) for family in options.families}
    report |= {"corpus": _corpus(reasoner, failures=options.failures)}
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--split", default="test", choices=SPLITS)
    parser.add_argument("--concepts", default="known", choices=SHARES)
    parser.add_argument("-n", type=int, default=100, help="tasks of each family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--remembered", type=int, default=0, help="tasks of the training split solved before")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--failures", action="store_true", help="print what went wrong")
    return parser.parse_args()


def _measured(reasoner: CaseReasoner, family: Family, options: argparse.Namespace) -> dict[str, Any]:
    values: dict[str, list[float]] = defaultdict(list)
    seconds = []
    examples = _remembered(reasoner, family, options)
    for task in sample_tasks(family, options.split, share=options.concepts, n=options.n, seed=options.seed):
        started = time.perf_counter()
        program, failure = _program(reasoner, task.instruction, len(task.scenes), examples)
        seconds.append(time.perf_counter() - started)
        outcome = TaskOutcome(error=failure) if failure else outcome_of(task, program)
        judged = score(task, outcome)
        values[task.type].append(judged.value)
        if options.failures and not judged.correct:
            print(f"# {task.type}: {task.instruction}\n{judged.reason} {outcome.answer} {task.expected}\n{program}")
    everything = [value for type_values in values.values() for value in type_values]
    return {
        "share": round(sum(everything) / len(everything), 4),
        "n": len(everything),
        "seconds_median": round(sorted(seconds)[len(seconds) // 2], 3),
        "by_type": {name: round(sum(each) / len(each), 3) for name, each in sorted(values.items())},
        "seed": options.seed,
        "split": options.split,
        "concepts": options.concepts,
    }


def _corpus(reasoner: CaseReasoner, *, failures: bool) -> dict[str, Any]:
    outcomes: dict[str, list[bool]] = defaultdict(list)
    seconds, refused = [], 0
    for each in read_references():
        seen = SeenScenes(each.scenes)
        started = time.perf_counter()
        program, refusal = _program(reasoner, each.says, len(each.scenes), Examples())
        seconds.append(time.perf_counter() - started)
        is_right = bool(each.refuse) if refusal else not each.refuse and seen.is_right(seen.truth(program), each.row)
        refused += bool(refusal) and not is_right
        outcomes[each.kind].append(is_right)
        if failures and not is_right:
            print(f"# {each.kind}: {each.says}\n{refusal}\n{program}")
    everything = [one for kind in outcomes.values() for one in kind]
    return {
        "share": round(sum(everything) / len(everything), 4),
        "refused": round(refused / len(everything), 4),
        "n": len(everything),
        "seconds_median": round(sorted(seconds)[len(seconds) // 2], 3),
        "by_type": {name: round(sum(each) / len(each), 3) for name, each in sorted(outcomes.items())},
    }


def _remembered(reasoner: CaseReasoner, family: Family, options: argparse.Namespace) -> Examples:
    """What the reasoner solved rightly of the training split, as examples."""
    if not options.remembered:
        return Examples()
    found = []
    for task in sample_tasks(family, "train", share="novel", n=options.remembered, seed=options.seed):
        program, failure = _program(reasoner, task.instruction, len(task.scenes), Examples())
        if not failure and score(task, outcome_of(task, program)).correct:
            found.append(demonstration("program", task.instruction, plan=["Give the result."], program=program))
    return Examples(programs_correct=found)


def _program(reasoner: CaseReasoner, instruction: str, pictures: int, examples: Examples) -> tuple[str, str]:
    """Return the program of an instruction, or why it is refused."""
    asked = Asked(instruction, inputs_for(pictures))
    try:
        return asyncio.run(reasoner.write_program(asked, Plan([]), examples)), ""
    except ReasoningFailed as error:
        return "", str(error)


def outcome_of(task: WorldTask, program: str) -> TaskOutcome:
    """Run a program with perfect sight and return what came out."""
    oracle = Oracle(task.scenes)
    try:
        records = oracle.run(program)
    except SnellenError as error:
        return TaskOutcome(error=str(error))
    if records[-1].error:
        return TaskOutcome(error=records[-1].error)
    value = records[-1].value
    if not isinstance(value, Picture):
        return TaskOutcome(answer=as_text(value))
    return TaskOutcome(picture=oracle.get(value.id), regions=_tagged(records))


def _tagged(records: Sequence[StepRecord]) -> tuple[TaggedRegion, ...]:
    regions = [region for record in records if record.tool == "TAG" for region in from_json(record.arguments["object"])]
    return tuple(TaggedRegion(region.label, region.box) for region in regions)


def _table(report: dict[str, Any]) -> str:
    lines = []
    for family, figures in report.items():
        lines.append(f"{family}: {figures['share']:.3f} of {figures['n']} ({figures['seconds_median']} s a task)")
        lines += [f"  {name}: {share:.3f}" for name, share in figures["by_type"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
