"""How well instructions about pictures are read: what is denoted on the true scene, beside the right answer.

    python -m benchmarks.reading instructions.jsonl --scenes scenes.json
    python -m benchmarks.reading instructions.jsonl --scenes scenes.json --answers --out docs/results/reading

A row has an instruction, its pictures and what is right (`benchmarks.instruction_scores`; for edits also ``edit``: the
operation and the corners of the things). Scenes are those of the microworld, by the names of the pictures. A reading
is right, another (silently wrong), undefined (the answer presupposes what is not so, and says that), ambiguous (the
user is asked) or unread; where an instruction must be refused, unread, undefined and ambiguous are right.

With ``--answers`` the instructions are also asked as a user's are, with the embedded models: an answer is right, wrong
by reading, wrong by sight (what was read denotes the right answer), undecided, or none (refused, or asked back). Edits
that a row only describes are not asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from PIL import Image

from benchmarks.answered_instructions import AnsweredInstruction, answered, asking_context
from benchmarks.instruction_scores import InstructionAnswer, is_right
from benchmarks.picture_graphs import graphs_of
from snellen.cli.display import stages
from snellen.memory.home import using_home
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Scene
from snellen.profiles import load_profile
from snellen.reasoning.learned.fallback import read
from snellen.reasoning.meanings.denotation import Denotation, Depicted, Edited, Undefined, denotation
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.scene import Graphs
from snellen.reasoning.reading.reader import Ambiguous, Reading, Understood, Unread
from snellen.scoring.detection import iou
from snellen.tools.program.steps import UNDECIDED

OUTCOMES: Final = ("right", "other", "undefined", "ambiguous", "unread")
_SAME_BOX: Final = 0.4
_NEAR: Final = 16
_MOST_SAID: Final = 200
_OPERATIONS: Final = {
    "colour pop": "colorpop", "blur the rest": "blur", "replace": "replace", "remove": "remove", "emoji": "emoji",
    "tag": "tag", "crop": "crop",
}  # fmt: skip
ANSWERS: Final = ("right", "wrong by reading", "wrong by sight", "undecided", "none")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class ReadInstruction:
    """An instruction and how it was read.

    Attributes:
        row: What it says, and what is right.
        scenes: What its pictures show.
        reading: How it was read.
        outcome: One of `OUTCOMES`.
        seconds: How long reading took.
    """

    row: Row
    scenes: Sequence[Scene]
    reading: Reading
    outcome: str
    seconds: float


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer with what it is worth.

    Attributes:
        read: The instruction.
        got: The answer in words, or why there is none.
        judgement: One of `ANSWERS`.
    """

    read: ReadInstruction
    got: str
    judgement: str


def main() -> None:
    """Measure and print."""
    options = _options()
    results = list(_read(options.files, _scenes(options.scenes)))
    if options.failures:
        for each in results:
            if each.outcome != "right":
                print(f"{each.outcome:10s}{each.row['id']} {each.row['instruction']}\n          {_said(each.reading)}")
    report = _report(results)
    if options.answers:
        report["answers"] = _answers_report(asyncio.run(_answers(results)))
    text = json.dumps(report, indent=2, ensure_ascii=False)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "instructions.json").write_text(text + "\n", encoding="utf-8")
    print(text if options.json else _table(report))


def _read(files: Sequence[Path], scenes: Mapping[str, Scene]) -> Iterator[ReadInstruction]:
    facts = load_profile("embedded").facts_path()
    read("Is there a cat?", 1, facts)
    for file in files:
        for row in map(json.loads, filter(None, file.read_text(encoding="utf-8").splitlines())):
            shown = [scenes[name.removesuffix(".png")] for name in row["pictures"]]
            started = time.perf_counter()
            reading = read(row["instruction"], len(shown), facts)
            seconds = time.perf_counter() - started
            yield ReadInstruction(row, shown, reading, outcome(row, reading, graphs_of(shown)), seconds)


async def _answers(results: Sequence[ReadInstruction]) -> list[JudgedAnswer]:
    """Ask the instructions whose answers can be judged."""
    asked = [each for each in results if "edit" not in each.row]
    judged: list[JudgedAnswer] = []
    with stages() as stage, tempfile.TemporaryDirectory(prefix="snellen-") as folder, using_home(Path(folder)):
        show, context = partial(stage, "instructions"), asking_context(Path(folder))
        for done, each in enumerate(asked, start=1):
            result = await answered(each.row["instruction"], each.scenes, context)
            got = result.refusal or result.answer.text or ("a picture" if result.answer.picture else "an error")
            judged.append(JudgedAnswer(each, got, _judgement(each, result)))
            show(done, len(asked), f"{sum(one.judgement == 'right' for one in judged)} right")
    return judged


def _judgement(read_one: ReadInstruction, result: AnsweredInstruction) -> str:
    if read_one.row.get("expect") == "refuse":
        refuses = result.refusal or result.answer.text == UNDECIDED or read_one.outcome == "right"
        return "right" if refuses else "wrong by reading"
    if result.refusal:
        return "none"
    if is_right(read_one.row, result.answer, draw(read_one.scenes[0])):
        return "right"
    if result.answer.text == UNDECIDED:
        return "undecided"
    return "wrong by sight" if read_one.outcome == "right" else "wrong by reading"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path, help="instructions, a JSON object a line")
    parser.add_argument("--scenes", nargs="+", type=Path, required=True, help="JSON: scenes by name")
    parser.add_argument("--answers", action="store_true", help="ask them, too, with the embedded models")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write instructions.json there")
    parser.add_argument("--failures", action="store_true", help="print what was not right")
    return parser.parse_args()


def _scenes(files: Sequence[Path]) -> dict[str, Scene]:
    scenes = {}
    for file in files:
        table = json.loads(file.read_text(encoding="utf-8"))
        for name, row in table.get("scenes", table).items():
            scenes[name] = Scene.from_json(row.get("spec", row))
    return scenes


def outcome(row: Row, reading: Reading, graphs: Graphs) -> str:
    """Return what became of an instruction: one of `OUTCOMES`."""
    must_refuse = row.get("expect") == "refuse"
    match reading:
        case Unread():
            return "right" if must_refuse else "unread"
        case Ambiguous():
            return "right" if must_refuse else "ambiguous"
    denoted = denotation(reading.meaning, graphs)
    if isinstance(denoted, Undefined) or (
        isinstance(denoted, tuple) and any(isinstance(x, Undefined) for x in denoted)
    ):
        return "right" if must_refuse else "undefined"
    return "right" if not must_refuse and _is_right(row, denoted) else "other"


def _is_right(row: Row, denoted: Denotation) -> bool:
    if isinstance(denoted, tuple) and denoted and isinstance(denoted[0], Edited):
        return _is_right_edit(row, [each for each in denoted if isinstance(each, Edited)])
    if not ({"answers", "contains"} & row.keys()):
        return False
    if row.get("ordered") and isinstance(denoted, tuple) and len(denoted) == len(row["contains"]):
        return all(str(name) in group for name, group in zip(denoted, row["contains"], strict=True))
    return is_right(row, InstructionAnswer(_text(denoted)), Image.new("RGB", (1, 1)))


def _text(denoted: Denotation) -> str:
    match denoted:
        case bool():
            return "yes" if denoted else "no"
        case Depicted():
            return ", ".join(entity.name for entity in denoted.entities)
        case tuple():
            return ", ".join(_text(each) for each in denoted)  # type: ignore[arg-type]
    return str(denoted)


def _is_right_edit(row: Row, edits: Sequence[Edited]) -> bool:
    boxes = [entity.box for each in edits for entity in each.entities]
    operation = _OPERATIONS[edits[0].operation]
    if "edit" in row:
        right = row["edit"]
        corners = [tuple(map(int, name.rsplit(" at ", 1)[1].split(","))) for name in right["objects"]]
        changes_others = right.get("role") == "change" and operation in {"blur", "colorpop"}
        near = [any(abs(b[0] - x) <= _NEAR and abs(b[1] - y) <= _NEAR for b in boxes) for x, y in corners]
        same = operation == right["op"]
        if changes_others:
            return same and not any(near)
        named = right.get("with") or right.get("emoji")
        return same and all(near) and len(boxes) == len(corners) and (not named or named in edits[0].by)
    if "expect_regions" in row:
        return operation == "tag" and _cover([each["box"] for each in row["expect_regions"]], boxes)
    if "crop" in row:
        return operation == "crop" and _cover([row["crop"]["box"]], boxes)
    keeps = operation in {"blur", "colorpop"}
    changed = [each["box"] for each in row.get("changed", ())]
    return not any(_overlaps(box, boxes) for box in changed) if keeps else bool(changed) and _cover(changed, boxes)


def _cover(right: Sequence[Any], boxes: Sequence[Any]) -> bool:
    return all(_overlaps(box, boxes) for box in right) and all(_overlaps(box, right) for box in boxes)


def _overlaps(box: Any, boxes: Sequence[Any]) -> bool:  # noqa: ANN401 - four numbers
    return any(iou(tuple(box), tuple(other)) >= _SAME_BOX for other in boxes)


def _said(reading: Reading) -> str:
    match reading:
        case Understood():
            return f"{echo(reading.meaning)} {reading.asides or ''} {reading.corrected or ''}".strip()
        case Ambiguous():
            return " | ".join(map(echo, reading.meanings))
    return reading.why


def _report(results: Sequence[ReadInstruction]) -> dict[str, Any]:
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for each in results:
        by_kind[each.row["kind"]][each.outcome] += 1
    seconds = sorted(each.seconds for each in results)
    return {
        "n": len(results),
        "answerable": _shares(Counter(each.outcome for each in results if not _must_be_refused(each))),
        "to refuse": _shares(Counter(each.outcome for each in results if _must_be_refused(each))),
        "milliseconds": {
            "median": round(1000 * seconds[len(seconds) // 2], 1),
            "95 %": round(1000 * seconds[int(0.95 * len(seconds))], 1),
            "longest": round(1000 * seconds[-1], 1),
        },
        "by kind": {kind: dict(counts) for kind, counts in sorted(by_kind.items())},
        "not right": [
            _told(each) | {"outcome": each.outcome, "understood": _said(each.reading)}
            for each in results
            if each.outcome != "right"
        ],
    }


def _answers_report(answers: Sequence[JudgedAnswer]) -> dict[str, Any]:
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for each in answers:
        by_kind[each.read.row["kind"]][each.judgement] += 1
    return {
        "answerable": _shares(Counter(each.judgement for each in answers if not _must_be_refused(each.read)), ANSWERS),
        "to refuse": _shares(Counter(each.judgement for each in answers if _must_be_refused(each.read)), ANSWERS),
        "by kind": {kind: dict(counts) for kind, counts in sorted(by_kind.items())},
        "not right": [
            _told(each.read)
            | {"judgement": each.judgement, "got": each.got[:_MOST_SAID], "understood": _said(each.read.reading)}
            for each in answers
            if each.judgement != "right"
        ],
    }


def _must_be_refused(each: ReadInstruction) -> bool:
    return bool(each.row.get("expect") == "refuse")


def _told(each: ReadInstruction) -> dict[str, Any]:
    right = {key: each.row[key] for key in ("answers", "contains", "edit", "expect") if key in each.row}
    return {"id": each.row["id"], "kind": each.row["kind"], "instruction": each.row["instruction"], "right": right}


def _shares(counts: Counter[str], names: Sequence[str] = OUTCOMES) -> dict[str, float]:
    total = sum(counts.values())
    return {"n": total} | {name: round(counts[name] / total, 3) for name in names if total}


def _table(report: Mapping[str, Any]) -> str:
    head = "".join(f"{name:>11s}" for name in OUTCOMES)
    lines = [f"{'':18s}{head}"]
    lines += [
        f"{kind:18s}" + "".join(f"{counts.get(name, 0):11d}" for name in OUTCOMES)
        for kind, counts in report["by kind"].items()
    ]
    lines += [f"{name}: {report[name]}" for name in ("answerable", "to refuse", "milliseconds")]
    if "answers" in report:
        lines += [f"answers, {name}: {report['answers'][name]}" for name in ("answerable", "to refuse")]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
