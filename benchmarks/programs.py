"""How many programs that mean what an instruction says are right, with perfect sight and with that of models.

    python -m benchmarks.programs                               # a table for each sight
    python -m benchmarks.programs --sight perfect               # seconds, without checkpoints
    python -m benchmarks.programs --json --out docs/results/programs

The instructions and programs are those of ``tests/tools/reference_programs``, scored as the corpus scores answers
(`benchmarks.instruction_scores`). Of every wrong answer the steps at fault are found by giving steps what perfect sight
sees (`benchmarks.step_faults`), and listed by tool and cause. Models are asked, too, about fresh composed scenes
(`benchmarks.composed_scenes`): existence, and relations with what is beside.

Keys of the JSON: `instructions`, how many there are; `refused`, those for which no program is right, with the reason;
`weights`, the fingerprints of the checkpoints; `measured`, the day; and for `perfect` and `embedded`

    right, n   right programs, and all
    kinds      the same by kind of instruction
    failures   the wrong ones: `id`, `kind`, `says`, `answer`, `faults` (each with `tool`, `source`, `cause`)
    seconds    on the clock; `cpu_seconds` of this process

and for `composed` the same by kind of question, with `relations` and `existence` as sums, and their 95 % `interval`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.composed_scenes import RELATIONS, SceneProgram, sample_questions
from benchmarks.instruction_scores import InstructionAnswer
from benchmarks.program_tables import write_page
from benchmarks.reference_programs import Reference, SeenScenes, read_references
from benchmarks.step_faults import faults_of
from snellen.cli.display import stages
from snellen.models.loading import fingerprint
from snellen.models.vision.models import Models
from snellen.profiles import load_profile
from snellen.scoring import wilson_interval
from snellen.tools.program import StepRecord

Report = dict[str, Any]
Show = Callable[[int, int, str], None]

SIGHTS: Final = ("perfect", "embedded")
_MODELS: Final = ("loc", "vqa", "clip", "seg", "replace")


def main() -> None:
    """Measure, print, and write where asked."""
    options = _options()
    report = measure(options.sight or SIGHTS, scenes=options.scenes, seed=options.seed)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        (options.out / "report.json").write_text(text, encoding="utf-8")
        write_page(report, options.out / "README.md")
    print(json.dumps(report, indent=2, ensure_ascii=False) if options.json else _summary(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sight", nargs="+", choices=SIGHTS, help="whose sight (both)")
    parser.add_argument(
        "--scenes", type=int, default=120, help="composed scenes for the models; 0 for none (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=31, help="of the composed scenes (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write report.json and README.md there")
    return parser.parse_args()


def measure(sights: Sequence[str], *, scenes: int, seed: int) -> Report:
    """Run all programs with each sight; see the module for what is returned."""
    references = read_references()
    report: Report = {
        "instructions": len(references),
        "refused": {each.id: each.refuse for each in references if each.refuse},
        "measured": datetime.now(UTC).date().isoformat(),
    }
    answerable = [each for each in references if each.program]
    with stages() as stage:
        if "perfect" in sights:
            report["perfect"] = _timed(_measured, answerable, None, partial(stage, "programs, perfect sight"))
        if "embedded" in sights:
            profile = load_profile("embedded")
            models = Models(profile)
            report["weights"] = {key: fingerprint(profile, key) for key in _MODELS}
            report["embedded"] = _timed(_measured, answerable, models, partial(stage, "programs, embedded sight"))
            questions = sample_questions(models.expansion.all_names(), scenes=scenes, seed=seed)
            report["composed"] = {"scenes": scenes, "seed": seed} | _timed(
                _composed, questions, models, partial(stage, "composed scenes, embedded sight")
            )
    return report


def _timed(measured: Callable[..., Report], *arguments: object) -> Report:
    began, processed = time.perf_counter(), time.process_time()
    report = measured(*arguments)
    return report | {
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(time.process_time() - processed, 1),
    }


def _measured(references: Sequence[Reference], models: Models | None, show: Show) -> Report:
    outcomes: list[tuple[str, bool]] = []
    failures = []
    for done, each in enumerate(references, start=1):
        seen = SeenScenes(each.scenes, models)
        records = seen.truth(each.program) if models is None else seen.look(each.program)
        right = seen.is_right(records, each.row)
        outcomes.append((each.kind, right))
        if not right:
            row = {"id": each.id, "kind": each.kind, "says": each.says}
            failures.append(row | _failure(seen, each.program, records, partial(_is_right, seen, each.row), models))
        show(done, len(references), f"{sum(one for _, one in outcomes)} right")
    return _counted(outcomes) | {"failures": failures}


def _is_right(seen: SeenScenes, row: Mapping[str, Any], records: Sequence[StepRecord]) -> bool:
    return seen.is_right(records, row)


def _composed(questions: Sequence[SceneProgram], models: Models, show: Show) -> Report:
    outcomes: list[tuple[str, bool]] = []
    failures = []
    for done, each in enumerate(questions, start=1):
        seen = SeenScenes([each.scene], models)
        records = seen.look(each.program)
        right = _answers(each, seen, records)
        outcomes.append((each.kind, right))
        if not right:
            row = {"kind": each.kind, "scene": each.scene.seed, "right": ", ".join(each.answers)}
            failures.append(row | _failure(seen, each.program, records, partial(_answers, each, seen), models))
        show(done, len(questions), f"{sum(one for _, one in outcomes)} right")
    sums = {
        name: _with_interval([right for kind, right in outcomes if kind in kinds])
        for name, kinds in (("relations", RELATIONS), ("existence", ("existence",)))
    }
    return sums | _counted(outcomes) | {"failures": failures}


def _answers(question: SceneProgram, seen: SeenScenes, records: Sequence[StepRecord]) -> bool:
    text = seen.answer(records).text
    return tuple(sorted(part.strip() for part in text.split(","))) == question.answers


def _failure(
    seen: SeenScenes,
    program: str,
    records: Sequence[StepRecord],
    is_right: Callable[[Sequence[StepRecord]], bool],
    models: Models | None,
) -> Report:
    faults = [] if models is None else faults_of(seen, program, is_right)
    return {"answer": records[-1].error or _in_words(seen.answer(records)), "faults": [asdict(one) for one in faults]}


def _in_words(answer: InstructionAnswer) -> str:
    return answer.text if answer.picture is None else f"a picture, with {len(answer.tagged)} tagged"


def _counted(outcomes: Sequence[tuple[str, bool]]) -> Report:
    kinds: dict[str, list[bool]] = defaultdict(list)
    for kind, right in outcomes:
        kinds[kind].append(right)
    return {
        "right": sum(right for _, right in outcomes),
        "n": len(outcomes),
        "kinds": {kind: {"right": sum(each), "n": len(each)} for kind, each in sorted(kinds.items())},
    }


def _with_interval(outcomes: Sequence[bool]) -> Report:
    if not outcomes:
        return {"right": 0, "n": 0}
    interval = wilson_interval(sum(outcomes), len(outcomes))
    return {
        "right": sum(outcomes),
        "n": len(outcomes),
        "share": round(sum(outcomes) / len(outcomes), 4),
        "interval": [round(interval.low, 4), round(interval.high, 4)],
    }


def _summary(report: Report) -> str:
    lines = []
    for sight in SIGHTS:
        if sight not in report:
            continue
        part = report[sight]
        lines.append(f"{sight} sight: {part['right']} of {part['n']} programs right ({part['seconds']} s)")
        for one in part["failures"]:
            lines.append(f"  {one['id']} {one['says']} → {one['answer']}")
            lines += [f"      {fault['source']}: {fault['cause']}" for fault in one["faults"]]
        tools = Counter(fault["tool"] for one in part["failures"] for fault in one["faults"])
        lines += [f"  at fault: {', '.join(f'{tool} {count}' for tool, count in tools.most_common())}"] if tools else []
    for name in ("relations", "existence") if "composed" in report else ():
        part = report["composed"][name]
        lines.append(f"composed scenes, {name}: {part['right']} of {part['n']}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
